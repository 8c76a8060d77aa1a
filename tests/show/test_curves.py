"""Learning curves: read, drawn, and overfitting named."""

import json
import random
from dataclasses import replace

import pytest

from glassformer.show.curves import Curve, curves_table, read_curve, save_curves
from glassformer.spec import GlassformerError

OVER = Curve("over", (1.0, 0.5, 0.2, 0.1), (1.0, 0.6, 0.7, 0.9), (0.5, 0.8, 0.9, 1.0), (0.5, 0.8, 0.79, 0.78))
FINE = Curve("fine", (1.0, 0.5), (1.1, 0.6), (0.5, 0.8), (0.5, 0.8))


def line(loss):
    both = {"loss": loss, "accuracy": 0.5}
    return json.dumps({"kind": "epoch", "train": both, "validation": both}) + "\n"


def test_where_the_loss_turned_and_overfitting():
    assert (OVER.turn, OVER.overfits) == (2, True)
    assert (FINE.turn, FINE.overfits) == (None, False)
    still = Curve("still", (1.0, 1.0), (0.6, 0.9), (0.5, 0.5), (0.5, 0.5))
    assert (still.turn, still.overfits) == (1, False)  # the training loss did not fall


def test_of_equal_accuracies_the_one_with_the_lower_loss_is_the_best_as_in_a_run():
    tied = Curve("tied", (1.0, 0.5, 0.2), (0.4, 0.3, 0.35), (0.5, 0.8, 0.9), (0.9, 0.9, 0.9))
    assert (tied.best, tied.to_dict()["best_epoch"]) == (2, 2)
    assert OVER.best == 2


def test_of_masked_tokens_the_lowest_loss_is_the_best_as_in_a_run(tmp_path):
    masked = replace(OVER, task="mlm", validation_accuracy=(0.5, 0.8, 0.82, 0.9))
    assert (masked.best, masked.to_dict()["best_epoch"], masked.to_dict()["best_accuracy"]) == (2, 2, 0.8)
    assert replace(masked, task="classify").best == 4
    (tmp_path / "metrics.jsonl").write_text(line(2.0) + line(1.0), encoding="utf-8")
    for about, task in (
        ('{"data": {"task": "mlm"}}', "mlm"),
        ('{"data": {"task": 3}}', ""),
        ('{"data": []}', ""),
        ("no json", ""),
    ):
        (tmp_path / "run.json").write_text(about, encoding="utf-8")
        assert read_curve(tmp_path).task == read_curve(tmp_path / "metrics.jsonl").task == task


@pytest.mark.parametrize("task", ["classify", "image", "tag", "mlm"])
def test_the_best_of_a_curve_is_what_the_loop_would_have_kept(task):
    better = pytest.importorskip("glassformer.training.tasks").better
    draws = random.Random(3)
    for _ in range(200):
        epochs = [{"accuracy": draws.choice([0.5, 0.7, 0.9]), "loss": draws.choice([0.2, 0.3, 0.4])} for _ in range(6)]
        kept, epoch = None, 0
        for number, found in enumerate(epochs, 1):
            if better(task, found, kept):
                kept, epoch = found, number
        columns = [tuple(one[what] for one in epochs) for what in ("loss", "loss", "accuracy", "accuracy")]
        assert Curve("drawn", *columns, task=task).best == epoch


def test_the_table_names_it():
    text = curves_table([OVER, FINE]).text()
    assert "over       4         0.1000           0.9000     78.0%  80.0%         2               2" in text
    assert text.endswith(
        "over overfits from epoch 2: the validation loss rose from 0.6 to 0.9 while the training loss still fell."
    )


@pytest.mark.parametrize("form", ["png", "svg"])
def test_a_picture_of_several_runs(tmp_path, form):
    one, two = (save_curves([OVER, FINE], tmp_path / f"{name}.{form}").read_bytes() for name in "ab")
    assert one == two
    assert one.startswith(b"\x89PNG" if form == "png" else b"<?xml")


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path):
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"kind": "step"}\n' + line(2.0) + line(1.0) + line(0.5)[:20], encoding="utf-8")
    assert read_curve(tmp_path).validation_loss == (2.0, 1.0)
    log.write_text("no json\n" + line(2.0), encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"line 1 is no line of a training log"):
        read_curve(tmp_path)


def test_what_is_no_run_is_said(tmp_path):
    with pytest.raises(GlassformerError, match=r"has no metrics\.jsonl: is it the folder of a run"):
        read_curve(tmp_path)
    (tmp_path / "metrics.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(GlassformerError, match="has no finished epoch yet"):
        read_curve(tmp_path)
