"""The built-in sets are what their READMEs say they are."""

import gzip
import hashlib
import itertools
import json
import re

import numpy as np
import pytest

from glassformer.training.data import SETS, load_data
from glassformer.training.data.sets import HOME, card, folder, labels
from glassformer.training.data.splits import content_keys
from glassformer.training.data.texts import Rows

COUNTS = {
    "digits": (1252, 181, 364),
    "fashion-mnist-small": (5000, 1000, 2000),
    "topic": (3420, 487, 974),
    "topic-fr": (3715, 531, 1057),
    "sentiment": (11450, 1608, 3254),
    "lid": (6316, 902, 1804),
    "lid4": (6993, 999, 1998),
    "lid-words": (894, 127, 255),
    "lid-words-romanised": (410, 64, 202),
    "mlm": (4821, 154, 153),
    "translation-en-fr": (17997, 1000, 999),
    "translation-en-hi": (4563, 254, 253),
}


def test_every_set_is_tested():
    assert list(COUNTS) == list(SETS)
    assert {folder(name).name for name in SETS} == {path.name for path in HOME.iterdir()}


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_the_rows_that_its_readme_states(name):
    data = load_data(name)
    assert (len(data.train), len(data.validation), len(data.test)) == COUNTS[name]
    assert {part: len(data.part(part)) for part in data.parts} == card(name).rows(name)


@pytest.mark.parametrize("name", SETS)
def test_the_files_have_the_sha256_of_the_readme_and_no_file_is_unnamed(name):
    home = folder(name)
    for file in card(name).files:
        assert hashlib.sha256((home / file.name).read_bytes()).hexdigest()[:16] == file.sha256
    beside = {"README.md", "LICENSE"} | ({"labels.json"} if SETS[name].task == "image" else set())
    assert {path.name for path in home.iterdir()} == beside | {file.name for file in card(name).files}


@pytest.mark.parametrize("name", SETS)
def test_licence_source_and_baseline_are_reported(name):
    provenance = load_data(name).provenance
    assert provenance.licence and provenance.source
    assert len((folder(name) / "LICENSE").read_text(encoding="utf-8")) > 200
    if SETS[name].to_beat is not None:
        assert f"{SETS[name].to_beat:g} %" in provenance.baseline.replace(".0 %", " %")


@pytest.mark.parametrize("name", SETS)
def test_no_equal_text_or_image_crosses_a_split(name):
    data = load_data(name)
    keys = {part: set(content_keys(Rows(data.task, data.part(part).inputs, None))) for part in data.parts}
    for one, other in itertools.combinations(keys, 2):
        assert not keys[one] & keys[other]


@pytest.mark.parametrize("name", [name for name in SETS if SETS[name].task == "classify"])
def test_labels_are_counted_as_in_the_readme(name):
    readme = (folder(name) / "README.md").read_text(encoding="utf-8")
    stated = dict(
        pair.split() for pair in re.search(r"^\| train\.jsonl\.\w+ .*\| ([^|]*) \|$", readme, re.MULTILINE)[1].split(", ")
    )
    train = load_data(name).train
    found = dict(zip(labels(name), np.bincount(train.targets).tolist(), strict=True))
    assert found == {label: int(count) for label, count in stated.items()}


@pytest.mark.parametrize("name", [name for name in SETS if SETS[name].task == "tag"])
def test_every_word_has_one_tag(name):
    data = load_data(name)
    for part in data.parts:
        split = data.part(part)
        assert all(len(words) == len(tags) for words, tags in zip(split.inputs, split.targets, strict=True))


def test_targets_are_the_labels_of_the_file():
    with gzip.open(folder("lid4") / "test.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    split = load_data("lid4").test
    assert split.inputs == [row["text"] for row in rows]
    assert [labels("lid4")[number] for number in split.targets] == [row["label"] for row in rows]


def test_image_labels_name_the_classes():
    assert labels("digits") == tuple("0123456789")
    assert labels("fashion-mnist-small")[8:] == ("bag", "ankle boot")
    digits = load_data("digits").train.inputs
    assert digits.shape == (1, 8, 8)
    assert digits.pixels.max() == digits.white == 16


def test_a_part_is_read_when_it_is_requested(monkeypatch):
    import glassformer.training.data.sets as sets

    read = []
    texts = sets._texts
    monkeypatch.setattr(sets, "_texts", lambda path, part, built_in: read.append(part) or texts(path, part, built_in))
    data = load_data("lid")
    assert read == []
    assert len(data.validation) == len(data.validation) == 902
    assert read == ["validation"]


def test_the_package_data_stays_small():
    assert sum(path.stat().st_size for path in HOME.rglob("*") if path.is_file()) < 8_000_000
