"""Whether a run overfits: losses of rows, and an interval that is above 0 only where the last weights are worse."""

import shutil

import numpy as np
import pytest

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.lab.pages.train_overfitting import overfitting_of
from glassformer.lab.runs import RunsFolder

pytest.importorskip("torch")
SMALL = {"d_model": 16, "layers": 1, "heads": 2, "d_ff": 16}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    gf.train("digits", fields=SMALL, out=folder / "one", epochs=2)
    return RunsFolder(folder)


def test_the_losses_of_rows_have_the_mean_that_evaluate_prints(runs):
    from glassformer.encoding import streams
    from glassformer.encoding.evaluation import row_losses
    from glassformer.training.data import load_data

    model = streams.load_on(runs.path("one") / "best", device="cpu", dtype="float32", as_class=None)
    losses = row_losses(model, load_data("digits"), "validation")
    assert losses.shape == (181,)
    assert losses.mean() == pytest.approx(
        gf.evaluate(runs.path("one"), "digits", part="validation").calibration.log_loss, rel=1e-6
    )


def test_equal_weights_have_no_change_and_worse_ones_an_interval_above_zero(runs):
    from safetensors.numpy import load_file, save_file

    run = runs.path("one")
    shutil.rmtree(run / "last")
    shutil.copytree(run / "best", run / "last")
    found = overfitting_of(runs, "one")
    assert (found["change"], found["low"], found["high"], found["rows"]) == (0, 0, 0, 181)
    weights = load_file(run / "last/model.safetensors")
    random = np.random.default_rng(0)
    save_file(
        {name: value + random.normal(0, 0.5, value.shape).astype(value.dtype) for name, value in weights.items()},
        run / "last/model.safetensors",
        metadata={"format": "pt"},
    )
    worse = overfitting_of(runs, "one")
    assert 0 < worse["low"] < worse["change"] < worse["high"]
    shutil.rmtree(run / "last")
    with pytest.raises(GlassformerError, match="has no last weights"):
        overfitting_of(runs, "one")
