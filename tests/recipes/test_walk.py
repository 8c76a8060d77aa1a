"""The walk's recipe: its sentences link words that are there, and its small version keeps its bands."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def sentences(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "recipes"))
    import walk_sentences

    return walk_sentences


def test_the_last_word_tells_what_it_is(sentences):
    chance = random.Random(0)
    for _ in range(300):
        one = sentences.crossed("en", chance)
        words = one.text.split()
        (pronoun, meant), (word, same) = one.links
        assert (words[pronoun], meant) == ("it", same)
        if words[word] in sentences.WIDE["en"].split():
            assert meant == words.index("because") - 1
        else:
            assert meant == 1


def test_feelings_and_languages_are_mixed(sentences):
    chance = random.Random(1)
    made = [sentences.sentence(chance) for _ in range(600)]
    assert 0.3 < sum(one.label for one in made) / len(made) < 0.7
    assert sum(any("\u0900" <= letter <= "\u097f" for letter in one.text) for one in made) > 60


@pytest.mark.slow
def test_the_small_recipe_keeps_its_bands(tmp_path):
    command = [sys.executable, ROOT / "recipes/walk.py", "--small", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert (done.returncode, "MISSED" in done.stdout) == (0, False), done.stdout + done.stderr
