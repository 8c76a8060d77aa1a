"""Probes: information in the states is found, and the control task shows what the probe memorises."""

import csv

import numpy as np
import pytest
import torch
from checkpoint_files import WORDS

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.insight.probing import _right


@pytest.fixture(scope="module")
def last_words(tmp_path_factory):
    """Texts whose label is their last word: it is in the embeddings, and no other word tells it."""
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        for number in range(240):
            words = [WORDS[i] for i in random.integers(5, len(WORDS), 3)]
            rows.writerow([" ".join([*words, WORDS[number % 3]]), WORDS[number % 3]])
    return path


def test_a_word_that_is_in_the_embeddings_is_found_and_the_control_is_not(classifier, last_words):
    found = gf.probe(classifier, last_words)
    assert [one.depth for one in found.probes] == ["embeddings", "layer 0", "layer 1"]
    assert found.probes[0].accuracy.value > 0.7 > found.always_one
    assert found.probes[0].selectivity == found.probes[0].accuracy.value - found.probes[0].control.value
    assert (found.train_rows, found.test_rows) == (192, 24)


def test_a_probe_is_a_logistic_regression():
    random = np.random.default_rng(0)
    x = torch.from_numpy(random.normal(size=(300, 4))).float()
    labels = (x[:, 0] + 0.1 * x[:, 1] > 0).long().numpy()
    assert _right(x[:200], labels[:200], x[200:], labels[200:], 2) >= 95
    assert 30 <= _right(x[:200], random.integers(0, 2, 200), x[200:], random.integers(0, 2, 100), 2) <= 70


def test_data_without_labels_is_refused(classifier):
    with pytest.raises(GlassformerError, match="mlm is mlm data: probe needs texts with one label each"):
        gf.probe(classifier, "mlm")
