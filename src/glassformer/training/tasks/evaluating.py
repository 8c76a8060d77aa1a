"""Evaluating an encoder on batches of its task, and which of two validations is the better one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

import torch

from glassformer.model import Encoder
from glassformer.model.fast.compiling import as_written
from glassformer.show.metric import Metric
from glassformer.training.data.dataset import Dataset
from glassformer.training.data.examples import Batch
from glassformer.training.settings import Settings
from glassformer.training.tasks.objective import objective_of
from glassformer.training.tasks.task import Judged, Task

Judge: TypeAlias = Callable[[Encoder, Batch], Judged]


@torch.no_grad()  # not inference_mode: FSDP2 could not use its tensors in the next step
def evaluate(
    encoder: Encoder, batches: Iterable[Batch], device: torch.device, task: Task, *, detailed: Dataset | None = None
) -> dict[str, Any]:
    """Return loss and metrics in evaluation mode, over all processes; no random numbers are drawn.

    `detailed` is the data whose labels the figures are broken down by, such as a confusion matrix: rows are true classes.
    """
    was_training = encoder.training
    encoder.eval()
    meter = task.meter(detailed, device)
    for batch in batches:
        here = batch.to(device, non_blocking=True)
        with as_written(encoder):
            meter.add(batch, task.judge(encoder, here))
    encoder.train(was_training)
    return meter.figures()


def training_judge(task: Task, data: Dataset, settings: Settings) -> Judge:
    """Return the loss of training: with smoothing and weights, which an evaluation leaves out."""
    return partial(task.judge, objective=objective_of(data, settings))


def better(metric: Metric, new: dict[str, float], old: dict[str, float] | None) -> bool:
    """Return whether a validation result is better: by the metric, then by loss; or by the loss alone."""
    if old is None:
        return True
    return metric.merit(metric.of(new), new["loss"]) > metric.merit(metric.of(old), old["loss"])
