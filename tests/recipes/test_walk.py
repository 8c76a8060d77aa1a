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


def test_the_last_word_determines_what_it_refers_to(sentences):
    chance = random.Random(0)
    for _ in range(300):
        one = sentences.crossed("en", chance)
        about = {word: one.words[meant] for word, (_, meant) in zip(one.words, one.links, strict=True)}
        reason = next(word for word in reversed(one.words) if word != ".")
        assert about["it"] == about[reason]
        street = one.words[one.words.index("because") - 1]
        assert (about["it"] == street) == (reason in sentences.WIDE["en"].split())


def test_every_word_is_in_the_text_and_is_about_a_word_of_the_sentence(sentences):
    chance = random.Random(2)
    for _ in range(2000):
        one = sentences.sentence(chance)
        at = 0
        for word in one.words:
            at = one.text.index(word, at) + len(word)
        assert at == len(one.text)
        assert [asks for asks, _ in one.links] == list(range(len(one.words)))
        assert {about for _, about in one.links} <= set(range(len(one.words)))


def test_sentiments_and_languages_are_mixed(sentences):
    chance = random.Random(1)
    made = [sentences.sentence(chance) for _ in range(600)]
    labels = [one.label for one in made if one.label != sentences.NO_FEELING]
    assert 0.3 < sum(labels) / len(labels) < 0.7
    assert sum(any("\u0900" <= letter <= "\u097f" for letter in one.text) for one in made) > 60


@pytest.mark.slow
def test_the_small_recipe_keeps_its_bands(tmp_path):
    command = [sys.executable, ROOT / "recipes/walk.py", "--small", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert (done.returncode, "MISSED" in done.stdout) == (0, False), done.stdout + done.stderr
