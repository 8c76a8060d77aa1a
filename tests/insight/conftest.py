"""A small classifier with a tokenizer, and labelled texts for it."""

import csv

import pytest
from checkpoint_files import CONFIG, WORDS, add_tokenizer, bert_folder, tensors_of

import glassformer as gf

CLASSIFIER = {
    **CONFIG,
    "architectures": ["BertForSequenceClassification"],
    "id2label": {"0": "plain", "1": "glass", "2": "wall"},
    "label2id": {"plain": 0, "glass": 1, "wall": 2},
}
MASKED = {**CONFIG, "architectures": ["BertForMaskedLM"]}


@pytest.fixture(scope="session")
def classifier(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifier")
    return add_tokenizer(bert_folder(folder, tensors=tensors_of(CLASSIFIER), **CLASSIFIER))


@pytest.fixture(scope="session")
def masked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked")
    return add_tokenizer(bert_folder(folder, tensors=tensors_of(MASKED), **MASKED))


@pytest.fixture(scope="session")
def texts():
    return [" ".join(WORDS[(7 * i + j) % len(WORDS)] for j in range(1 + i % 6)) for i in range(40)]


@pytest.fixture(scope="session")
def labelled(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerows([["text", "label"], *([text, ("plain", "glass", "wall")[i % 3]] for i, text in enumerate(texts))])
    return path


@pytest.fixture(scope="session")
def loaded(classifier):
    return gf.load(classifier, dtype="float64")
