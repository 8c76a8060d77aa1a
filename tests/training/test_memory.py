"""Memory that runs out is one line, with the forecast and the batch that fits."""

import dataclasses

import pytest
import torch
from tiny_training import Quiet, tiny_run

from glassformer.training import loop
from glassformer.training.memory import OutOfMemory, forecast, largest_batch
from glassformer.training.prediction import prediction
from glassformer.training.tasks import TASKS


def test_memory_that_runs_out_is_one_line_with_the_batch_that_fits(tmp_path, monkeypatch, figure):
    run, data = tiny_run(tmp_path / "run")
    predicted = prediction(run.spec, run.settings)
    run = dataclasses.replace(run, about=run.about | {"predicted": predicted})
    real, calls, free = loop.training_judge(TASKS["image"], data, run.settings), [], round(predicted["bytes"] / 2)
    monkeypatch.setattr("glassformer.training.memory.free_bytes", lambda _: free)
    fits = largest_batch(predicted, round(0.9 * free))
    size = predicted["bytes_by"]
    assert size["fixed"] + fits * size["row"] <= 0.9 * free < size["fixed"] + (fits + 1) * size["row"]
    assert 1 <= fits < 64

    def judge(*given):
        calls.append(1)
        return torch.empty(10**15) if len(calls) == 5 else real(*given)  # an allocation that really fails

    monkeypatch.setattr(loop, "training_judge", lambda *_: judge)
    watch = Quiet()
    with pytest.raises(OutOfMemory) as found:
        loop.train(run, data, watch)
    times = -(-128 // fits)
    way = f" is available. At most {fits} rows fit: train again with --batch-size {fits} --accumulate {times}."
    assert watch.said[0].startswith("memory may run out: a step of 128 rows needs ") and watch.said[0].endswith(way)
    assert str(found.value).startswith("out of memory: a step of 128 rows needs ")
    assert str(found.value).endswith(f"{way} Last good checkpoint: step 3; nothing was overwritten.")
    assert found.value.code == 1
    assert not list(run.checkpoints.glob("*.tmp-*"))
    figure(
        "T10",
        "reported before the first step, and if an allocation fails, in one line: prediction, free memory, the batch that fits",
    )


def test_other_errors_than_memory_are_not_hidden(tmp_path, monkeypatch):
    run, data = tiny_run(tmp_path / "run")

    def judge(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(loop, "training_judge", lambda *_: judge)
    with pytest.raises(RuntimeError, match=r"^a bug$"):
        loop.train(run, data, Quiet())


def test_a_token_budget_is_forecast_by_its_rows_of_maximum_length(tmp_path):
    run, _ = tiny_run(tmp_path / "run", "lid-words", batch_tokens=1000, vocab=300, max_length=48)
    predicted = prediction(run.spec, run.settings)
    assert predicted["batch"] == 1000 // 48 == 20
    assert predicted["bytes"] == prediction(run.spec, run.settings.replace(batch_tokens=None, batch_size=20))["bytes"]
    run = dataclasses.replace(run, about=run.about | {"predicted": predicted})
    room = round(predicted["bytes"] / 2)
    fits = largest_batch(predicted, room)
    way = f"At most {fits} rows fit: train again with --batch-tokens {48 * fits} --accumulate {-(-20 // fits)}."
    assert forecast(run, room).startswith("a step of 20 rows needs ") and forecast(run, room).endswith(way)
