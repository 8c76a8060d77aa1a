"""The training loss with smoothing and class weights, against torch's own; validation stays plain."""

import numpy as np
import pytest
import torch
from tiny_training import Quiet, logged, tiny_run
from torch.nn import functional

import glassformer as gf
from glassformer import GlassformerError
from glassformer.show.metric import Metric
from glassformer.training import loop
from glassformer.training.data import load_data
from glassformer.training.settings import Settings
from glassformer.training.tasks import TASKS
from glassformer.training.tasks.objective import PLAIN, Objective, balanced_weights, objective_of

LOGITS = torch.tensor([[2.0, 0.0, -1.0], [0.5, 0.5, 0.0], [0.0, 3.0, 1.0]])
LABELS = torch.tensor([0, -100, 2])


def test_smoothing_mixes_the_label_with_all_classes():
    logs = LOGITS.log_softmax(-1)
    wanted = -sum(0.9 * logs[row, label] + 0.1 * logs[row].mean() for row, label in ((0, 0), (2, 2)))
    assert Objective(smoothing=0.1).loss(LOGITS, LABELS) == pytest.approx(float(wanted), rel=1e-6)


def test_weights_multiply_the_loss_of_their_class_and_spare_outputs_weigh_one():
    plain = functional.cross_entropy(LOGITS, LABELS, reduction="none", ignore_index=-100)
    assert Objective(weights=(3.0, 1.0)).loss(LOGITS, LABELS) == pytest.approx(float(3 * plain[0] + plain[2]), rel=1e-6)


def test_balanced_weights_are_scikit_learns():
    weights = pytest.importorskip("sklearn.utils.class_weight")
    data = load_data("topic")
    targets = np.asarray(data.train.targets)
    wanted = weights.compute_class_weight("balanced", classes=np.arange(len(data.labels)), y=targets)
    assert balanced_weights(data) == pytest.approx(tuple(wanted))
    assert np.mean([balanced_weights(data)[label] for label in targets]) == pytest.approx(1.0)


def test_the_plain_loss_is_left_as_it_is():
    assert objective_of(load_data("topic"), Settings()) == PLAIN


def test_masked_tokens_have_no_class_weights():
    with pytest.raises(GlassformerError, match="class_weights=balanced needs classes, but the task mlm"):
        objective_of(load_data("mlm"), Settings(class_weights="balanced"))


@pytest.mark.parametrize("settings", [{"label_smoothing": 0.2}, {"class_weights": "balanced"}], ids=str)
def test_a_run_trains_on_it_and_validates_on_the_plain_loss(tmp_path, settings):
    run, data = tiny_run(tmp_path / "run", epochs=1, **settings)
    plain, _ = tiny_run(tmp_path / "plain", epochs=1)
    found = [loop.train(one, data, Quiet()) for one in (run, plain)]
    first = [logged(one)[0]["loss"] for one in (run, plain)]
    assert first[0] != first[1]
    if "label_smoothing" in settings:  # the smoothed loss of the same weights is larger than their plain one
        assert logged(run)[-1]["loss"] > found[0]["test"]["loss"]


def test_a_run_keeps_the_epoch_of_the_least_loss_where_that_decides(tmp_path):
    run, data = tiny_run(tmp_path / "run", epochs=4, lr=0.02, best_by="loss")
    figures = loop.train(run, data, Quiet())
    epochs = [line["validation"]["loss"] for line in logged(run, "epoch")]
    assert figures["best"]["loss"] == min(epochs)
    assert figures["best"]["epoch"] == 1 + epochs.index(min(epochs))


def test_best_by_names_a_figure_of_the_task():
    assert TASKS["similarity"].measured_by("auto").name == "spearman"
    assert TASKS["similarity"].measured_by("pearson") == Metric("pearson", percent=False)
    assert TASKS["multilabel"].measured_by("macro_f1") == Metric("macro_f1")
    assert TASKS["regress"].measured_by("loss").decider == "loss" and TASKS["regress"].measured_by("pearson").decider == "metric"
    with pytest.raises(
        GlassformerError, match=r"^best_by=f1 is not a metric of the task classify: one of auto, loss, accuracy\."
    ):
        TASKS["classify"].measured_by("f1")


def test_the_named_figure_decides_and_is_the_metric_of_the_run(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f'"{"good " * (i % 5)}{"bad " * (4 - i % 5)}thing {i}",{i % 5}\n' for i in range(60)]
    path.write_text("text,score\n" + "".join(lines), encoding="utf-8")
    figures = gf.train(path, "d_model=16 heads=2 layers=1", label="score", task="regress", epochs=4, lr=3e-3,
                       best_by="spearman", out=tmp_path / "run", progress=False)  # fmt: skip
    epochs = [line["validation"].get("spearman", -2.0) for line in logged(figures.run, "epoch")]
    assert figures.metrics["best"]["epoch"] == 1 + epochs.index(max(epochs)) or epochs.count(max(epochs)) > 1
    assert figures.metric.name == "spearman"
