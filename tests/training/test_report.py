"""The report of a run: all of it from the folder, and its figures right."""

import json

import numpy as np
import pytest
from tiny_training import Quiet, tiny_run

from glassformer.model.checkpoints.loading import load_encoder
from glassformer.training import loop
from glassformer.training.data import load_data
from glassformer.training.data.prepare import prepare
from glassformer.training.report import by_class, report_markdown, report_of


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    run, data = tiny_run(tmp_path_factory.mktemp("runs") / "ended", epochs=3)
    loop.train(run, data, Quiet())
    return run


def test_precision_and_recall_are_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    chance = np.random.default_rng(3)
    true, said = chance.integers(0, 4, 300), chance.integers(0, 4, 300)
    found = by_class(metrics.confusion_matrix(true, said).tolist(), ["a", "b", "c", "d"])
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(true, said)
    for i, row in enumerate(found):
        assert (row["precision"], row["recall"], row["f1"]) == pytest.approx((precision[i], recall[i], f1[i]))
        assert row["rows"] == rows[i]


def test_a_class_that_is_never_predicted_has_no_precision():
    first, second = by_class([[3, 0], [2, 0]], ["a", "b"])
    assert (first["precision"], first["recall"]) == (0.6, 1.0)
    assert (second["precision"], second["recall"], second["f1"]) == (None, 0.0, 0.0)


def test_the_confusion_table_is_what_the_best_weights_say(ended):
    report = report_of(ended.path)
    test = load_data("digits").test
    rows = prepare(test)
    batch = rows.batch(np.arange(len(rows)), seed=0, epoch=0)
    said = load_encoder(ended.path / "best").encoder(batch.inputs).logits.argmax(-1)
    table = np.zeros((10, 10), dtype=int)
    np.add.at(table, (batch.labels.numpy(), said.numpy()), 1)
    assert report["test"]["confusion"] == table.tolist()
    assert report["test"]["accuracy"] == pytest.approx(np.trace(table) / table.sum())


def test_the_report_and_its_text_are_complete(ended):
    report = report_of(ended.path)
    json.dumps(report)  # a page is made from it elsewhere
    assert report["counts"]["task_specific"] == 16 * 10 + 10
    assert [line["epoch"] for line in report["epochs"]] == [1, 2, 3]
    text = (ended.path / "report.md").read_text(encoding="utf-8")
    assert text == report_markdown(report)
    for line in ("## Data", "## Encoder", "## Settings", "## Predicted and measured", "## Epochs", "## Test", "| lr | 0.003 |"):
        assert line in text
    assert f"Test accuracy {report['test']['accuracy']:.1%}, loss " in text
    assert f", with the weights of epoch {report['best']['epoch']}. " in text
    assert "| 9 |" in text and text.count("\n|") > 60


def test_a_label_cannot_break_a_table(ended):
    report = report_of(ended.path)
    report["data"] = report["data"] | {"labels": ["a|b", "c\nd", *"efghijkl"]}
    text = report_markdown(report)
    assert "a\\|b" in text and "c?d" in text
