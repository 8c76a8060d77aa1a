"""Learning curves: read, drawn, and overfitting named."""

import json
import random
from dataclasses import replace

import pytest

from glassformer.errors import GlassformerError
from glassformer.show.curves import Curve, curves_figure, curves_table, distinct_names, hues_for, read_curve, runs_in, save_curves
from glassformer.show.metric import ACCURACY, decided_by

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
    masked = replace(OVER, metric=ACCURACY._replace(decider="loss"), validation_score=(0.5, 0.8, 0.82, 0.9))
    assert (masked.best, masked.to_dict()["best_epoch"], masked.to_dict()["best_accuracy"]) == (2, 2, 0.8)
    assert replace(masked, metric=ACCURACY).best == 4
    (tmp_path / "metrics.jsonl").write_text(line(2.0) + line(1.0), encoding="utf-8")
    for about, metric in (
        ('{"data": {"task": "mlm"}}', ACCURACY._replace(decider="loss")),
        ('{"data": {"task": 3}}', ACCURACY),
        ('{"data": []}', ACCURACY),
        ('{"metric": {"name": "accuracy", "percent": true, "decider": "loss"}}', ACCURACY._replace(decider="loss")),
        ('{"metric": 3}', ACCURACY),
        ("no json", ACCURACY),
    ):
        (tmp_path / "run.json").write_text(about, encoding="utf-8")
        assert read_curve(tmp_path).metric == read_curve(tmp_path / "metrics.jsonl").metric == metric


@pytest.mark.parametrize("best_by", ["auto", "accuracy", "loss"])
@pytest.mark.parametrize("task", ["classify", "image", "tag", "mlm"])
def test_the_best_of_a_curve_is_what_the_loop_would_have_kept(task, best_by):
    better = pytest.importorskip("glassformer.training.tasks.evaluating").better
    own = pytest.importorskip("glassformer.training.tasks").TASKS[task].metric
    metric = decided_by(own, best_by)
    draws = random.Random(3)
    for _ in range(200):
        epochs = [{"accuracy": draws.choice([0.5, 0.7, 0.9]), "loss": draws.choice([0.2, 0.3, 0.4])} for _ in range(6)]
        kept, epoch = None, 0
        for number, found in enumerate(epochs, 1):
            if better(metric, found, kept):
                kept, epoch = found, number
        columns = [tuple(one[what] for one in epochs) for what in ("loss", "loss", "accuracy", "accuracy")]
        assert Curve("drawn", *columns, metric).best == epoch
        if best_by == "loss":
            assert kept["loss"] == min(one["loss"] for one in epochs)


def test_what_decides_the_best_epoch_is_read_from_the_run(tmp_path):
    lines = [
        {"kind": "epoch", "train": {"loss": 1.0, "accuracy": 0.5}, "validation": {"loss": loss, "accuracy": accuracy}}
        for loss, accuracy in ((0.5, 0.6), (0.4, 0.7), (0.6, 0.9))
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for written, best in (
        ('{"best_by": "loss"}', 2),
        ('{"best_by": "auto"}', 3),
        ("{}", 3),
        ('{"best_by": 3}', 3),
        ("no json", 3),
    ):
        (tmp_path / "settings.json").write_text(written, encoding="utf-8")
        assert read_curve(tmp_path).best == best


def test_one_low_epoch_is_not_overfitting():
    """Seen on 181 validation rows: a level of 0.50, one epoch at 0.48, and training that goes on."""
    falling = tuple(1 - 0.04 * epoch for epoch in range(20))
    dip = [0.9, 0.8, 0.7, 0.6, *[0.5, 0.505] * 8]
    dip[14] = 0.48
    noisy = Curve("noisy", falling, tuple(dip), falling, falling)
    assert noisy.turn == 15 and not noisy.overfits
    assert Curve("rising", falling, (*dip[:16], 0.55, 0.6, 0.65, 0.7), falling, falling).overfits
    last_up = Curve("last up", falling[:3], (0.6, 0.5, 0.7), falling[:3], falling[:3])
    assert not last_up.overfits  # one epoch is not a trend


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


def test_a_run_of_one_epoch_has_one_tick_and_no_point_at_the_border():
    once = Curve("once", (1.43,), (1.32,), (0.1,), (0.25,))
    loss, accuracy = curves_figure([once]).axes
    assert list(loss.get_xticks()) == list(accuracy.get_xticks()) == [1]
    assert loss.get_ylim() == pytest.approx((0, 1.06 * 1.43))


def test_the_marked_epochs_of_a_single_run_are_in_the_titles_and_never_on_a_line():
    loss, accuracy = curves_figure([OVER]).axes
    assert (loss.get_title(), loss.get_title(loc="left")).count("loss, turns at epoch 2") == 1
    assert "accuracy, 80.0% at epoch 2" in (accuracy.get_title(), accuracy.get_title(loc="left"))
    assert [text.get_text() for axes in (loss, accuracy) for text in axes.texts] == []


def test_many_runs_have_a_colour_each_and_a_legend_beside_the_curves():
    assert all(len(set(hues_for(count))) == count for count in (1, 6, 7, 20))
    figure = curves_figure([replace(FINE, name=f"run {number}") for number in range(12)])
    assert figure.axes[0].get_legend() is None
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == ["run 0", "run 1"]


def test_runs_in_a_folder_are_in_the_order_of_their_numbers_and_are_distinguished(tmp_path):
    for place in ("a/epochs-10", "a/epochs-9", "b/epochs-9", "a/notes"):
        (tmp_path / place).mkdir(parents=True)
        if "epochs" in place:
            (tmp_path / place / "run.json").write_text("{}", encoding="utf-8")
    runs = [*runs_in(tmp_path / "a"), *runs_in(tmp_path / "b")]
    assert distinct_names(runs) == ["a/epochs-9", "epochs-10", "b/epochs-9"]
    assert runs_in(tmp_path / "nowhere") == []


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path):
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"kind": "step"}\n' + line(2.0) + line(1.0) + line(0.5)[:20], encoding="utf-8")
    assert read_curve(tmp_path).validation_loss == (2.0, 1.0)
    log.write_text("no json\n" + line(2.0), encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"line 1 is not a line of a training log"):
        read_curve(tmp_path)


def test_a_folder_without_a_run_is_reported(tmp_path):
    with pytest.raises(GlassformerError, match=r"has no metrics\.jsonl: is it the folder of a run"):
        read_curve(tmp_path)
    (tmp_path / "metrics.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(GlassformerError, match="has no finished epoch yet"):
        read_curve(tmp_path)
