"""Mistakes about weights: the softmax over the wrong axis or without its exponential, other distributions, temperature."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.parts import distribution_step, temperature_step
from glassformer.answers.problems.work import Instead, Rewrite, Work, axis_names
from glassformer.numbers.by_hand.operations import Divide, Hardmax, RowSoftmax, Sigmoid, Sparsemax
from glassformer.program import Step
from glassformer.program.axes import Array
from glassformer.program.operations import Operation


def softmax(work: Work) -> Iterator[Rewrite]:
    """What people do in place of a softmax along the keys."""
    step = distribution_step(work)
    if step is None:
        return
    name = step.name
    if isinstance(step.operation, RowSoftmax):
        if "t" in axis_names(step.output):
            along = work.doing(name, RowSoftmax("t"))
            yield Rewrite("softmax_wrong_axis", "the softmax went over the queries, not over the keys", name, along)
            at_once = work.doing(name, Instead(lambda scores: _softmax_of_all(step, scores)))
            yield Rewrite("softmax_wrong_axis", "one softmax was taken of all scores at once", name, at_once)
        shared = work.doing(name, Instead(_shares))
        yield Rewrite("exp_missing", "the scores were divided by their sum, without the exponential", name, shared)
        powers = work.doing(name, Instead(np.exp))
        yield Rewrite("softmax_not_normalised", "the powers of e were not divided by their sum", name, powers)
    if not isinstance(step.operation, Hardmax):
        hard = work.doing(name, Hardmax("s"))
        yield Rewrite("hard_or_uniform_attention", "the best key alone has all the weight", name, hard)
    even = work.doing(name, Instead(_uniform))
    yield Rewrite("hard_or_uniform_attention", "every key has the same weight", name, even)
    yield from _others(work, step)


def _others(work: Work, step: Step) -> Iterator[Rewrite]:
    others: dict[str, Operation] = {"softmax": RowSoftmax("s"), "sigmoid": Sigmoid(), "sparsemax": Sparsemax("s")}
    for word, operation in others.items():
        if type(operation) is not type(step.operation):
            yield Rewrite("wrong_distribution", f"{word} was used", step.name, work.doing(step.name, operation))


def temperature(work: Work) -> Iterator[Rewrite]:
    """A temperature left out, or multiplied in."""
    step = temperature_step(work)
    if step is None or not isinstance(step.operation, Divide) or step.operation.by == 1:
        return
    text = step.operation.text
    yield Rewrite("temperature", f"the temperature {text} was left out", step.name, work.doing(step.name, Divide(1.0, "1")))
    times = work.doing(step.name, Divide(1 / step.operation.by, "1"))
    yield Rewrite("temperature", f"the scores were multiplied by the temperature {text}", step.name, times)


def _softmax_of_all(step: Step, scores: Array) -> Array:
    """Over queries and keys together, head by head."""
    axes = tuple(number for number, axis in enumerate(step.output.axes) if axis.name in ("t", "s"))
    highest = scores.max(axes, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    return np.asarray(powers / powers.sum(axes, keepdims=True))


def _shares(scores: Array) -> Array:
    seen = np.where(np.isfinite(scores), scores, 0)
    return np.asarray(seen / seen.sum(-1, keepdims=True))


def _uniform(scores: Array) -> Array:
    seen = np.isfinite(scores).astype(float)
    return np.asarray(seen / np.maximum(seen.sum(-1, keepdims=True), 1))
