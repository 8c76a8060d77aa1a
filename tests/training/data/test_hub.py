"""hf:NAME, against a fake datasets package: nothing here uses the network."""

import builtins
import sys
from types import SimpleNamespace

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data import load_data


class Part(list):
    """A split as the package returns it: rows, column names, features."""

    def __init__(self, rows, features=None):
        super().__init__(rows)
        self.column_names = list(rows[0])
        self.features = features or {}
        self.info = SimpleNamespace(license="MIT")

    def __getitem__(self, key):
        return [row[key] for row in self] if isinstance(key, str) else super().__getitem__(key)


@pytest.fixture
def hub(monkeypatch):
    """Replaces the package by a fake; returns its sets, and the requests to it."""
    sets, asked = {}, []

    def load_dataset(name, config):
        asked.append((name, config))
        if name not in sets:
            raise FileNotFoundError(f"Couldn't find any data\nfile at {name}")
        return sets[name]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    return sets, asked


def reviews(count, *, label=None):
    return [{"text": f"{'good' if i % 2 else 'bad'} {i}", "label": i % 2 if label is None else label} for i in range(count)]


def test_numbers_get_their_names_and_hidden_labels_are_left_out(hub):
    sets, asked = hub
    names = {"label": SimpleNamespace(names=["neg", "pos"])}
    sets["org/imdb"] = {
        "train": Part(reviews(50), names),
        "test": Part(reviews(9, label=-1), names),
        "unsupervised": Part(reviews(3)),
    }
    data = load_data("hf:org/imdb:plain")
    assert asked == [("org/imdb", "plain")]
    assert (data.labels, data.task) == (("neg", "pos"), "classify")
    assert (len(data.train), len(data.validation), len(data.test)) == (40, 5, 5)
    assert data.notes[0] == "left out: a part whose labels are all -1: 1 (first: test)"
    assert data.provenance.source == "Hugging Face hub, org/imdb:plain"
    assert data.provenance.licence == "MIT"


def test_lists_of_numbers_get_their_names(hub):
    sets, _ = hub
    feature = SimpleNamespace(feature=SimpleNamespace(names=["O", "PER"]))
    rows = [{"words": ["Tom", "runs", str(i)], "ner": [1, 0, 0]} for i in range(30)]
    sets["ner"] = {"train": Part(rows, {"ner": feature})}
    data = load_data("hf:ner", text="words", label="ner")
    assert (data.task, data.labels) == ("tag", ("O", "PER"))
    assert data.train.targets[0] == (1, 0, 0)


def test_what_cannot_be_loaded_is_one_line(hub):
    sets, _ = hub
    sets["odd"] = {"everything": Part(reviews(5))}
    for what, message in (
        ("hf:nothing", "hf:nothing cannot be loaded: Couldn't find any data?file at nothing."),
        ("hf:odd", "hf:odd has no part 'train'. It has everything."),
        ("hf:", "hf: needs a name, as in hf:imdb"),
    ):
        with pytest.raises(GlassformerError) as error:
            load_data(what)
        assert message in str(error.value)


def test_without_the_package_the_line_to_install_it_is_reported(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "datasets":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(GlassformerError, match=r"hf:imdb needs the package datasets: pip install 'glassformer\[data\]'."):
        load_data("hf:imdb")
