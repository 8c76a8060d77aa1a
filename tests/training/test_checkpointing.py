"""Runs with --checkpointing yes: the same losses to the last bit, in less memory, and resumed."""

import pytest
from tiny_training import Quiet, losses, tiny_run

from glassformer.training import loop
from glassformer.training.prediction import prediction
from glassformer.training.runs import Run

FIELDS = {"layers": 3, "dropout": 0.1}
SETTINGS = {"data": "topic", "vocab": 300, "max_length": 12, "batch_size": 256, "augment": "hide", "epochs": 1, "fields": FIELDS}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    run, rows = tiny_run(tmp_path_factory.mktemp("runs") / "plain", **SETTINGS)
    loop.train(run, rows, Quiet())
    return run


def test_the_losses_are_the_same_to_the_last_bit(plain, tmp_path):
    run, rows = tiny_run(tmp_path / "run", **SETTINGS, checkpointing="yes")
    loop.train(run, rows, Quiet())
    assert len(losses(run)) > 5 and losses(run) == losses(plain)


def test_a_run_that_was_stopped_resumes_bit_for_bit(plain, tmp_path):
    run, rows = tiny_run(tmp_path / "run", **SETTINGS, checkpointing="yes")

    def stop(step):
        if step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop.train(run, rows, Quiet(stop))
    loop.train(Run.open(run.path), rows, Quiet())
    assert losses(run) == losses(plain)


def test_less_memory_and_more_flops_are_predicted(plain):
    said, less = (prediction(plain.spec.replace(layers=12), plain.settings.replace(checkpointing=one)) for one in ("no", "yes"))
    fixed = said["bytes_by"]["fixed"]
    assert less["bytes"] - fixed < 0.3 * (said["bytes"] - fixed)
    assert 1.2 < less["matrix_flops"] / said["matrix_flops"] <= 4 / 3
