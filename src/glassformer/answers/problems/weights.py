"""Mistakes in attention weights: softmax over the wrong axis or without the exponential, other functions, temperature, masks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.parts import distribution_step, mask_steps, temperature_step
from glassformer.answers.problems.work import Does, Instead, Rewrite, Work, at, axis_names, redo, rows, unchanged
from glassformer.numbers.by_hand.operations import Divide, Hardmax, RowSoftmax, Sigmoid, Sparsemax
from glassformer.program import Step
from glassformer.program.axes import Array
from glassformer.program.operations import Add, Operation
from glassformer.program.operations.base import aligned

OTHERS: dict[str, Operation] = {"softmax": RowSoftmax("s"), "sigmoid": Sigmoid(), "sparsemax": Sparsemax("s")}


def _distributions(work: Work) -> list[Step]:
    step = distribution_step(work)
    return [step] if step is not None else []


def _softmaxes(work: Work) -> list[Step]:
    return [step for step in _distributions(work) if isinstance(step.operation, RowSoftmax)]


def _of_queries(work: Work) -> list[Step]:
    return [step for step in _softmaxes(work) if "t" in axis_names(step.output)]


def _at_once(step: Step) -> Step:
    """Return a softmax over queries and keys together, for each head."""
    axes = tuple(number for number, axis in enumerate(step.output.axes) if axis.name in ("t", "s"))

    def softmax_of_all(scores: Array) -> Array:
        highest = scores.max(axes, keepdims=True)
        powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
        return np.asarray(powers / powers.sum(axes, keepdims=True))

    return redo(step, Instead(softmax_of_all))


def _shares(scores: Array) -> Array:
    seen = np.where(np.isfinite(scores), scores, 0)
    return np.asarray(seen / seen.sum(-1, keepdims=True))


def _uniform(scores: Array) -> Array:
    seen = np.isfinite(scores).astype(float)
    return np.asarray(seen / np.maximum(seen.sum(-1, keepdims=True), 1))


def _other(operation: Operation) -> Does:
    return lambda step: None if type(operation) is type(step.operation) else redo(step, operation)


softmax = rows(
    at(
        _of_queries,
        ("softmax_wrong_axis", "the softmax was taken over the queries, not over the keys", RowSoftmax("t")),
        ("softmax_wrong_axis", "one softmax was taken over all scores at once", _at_once),
    ),
    at(
        _softmaxes,
        ("exp_missing", "the scores were divided by their sum, without the exponential", Instead(_shares)),
        ("softmax_not_normalised", "the exponentials were not divided by their sum", Instead(np.exp)),
    ),
    at(
        _distributions,
        ("softmax_forgotten", "the scores were used as weights, without the softmax", lambda step: unchanged(step)),
        ("hard_or_uniform_attention", "the best key has all the weight", _other(Hardmax("s"))),
        ("hard_or_uniform_attention", "every key has the same weight", Instead(_uniform)),
        *(("wrong_distribution", f"{word} was used", _other(operation)) for word, operation in OTHERS.items()),
    ),
)


def temperature(work: Work) -> Iterator[Rewrite]:
    """Yield the temperature left out, or multiplied."""
    step = temperature_step(work)
    if step is not None and isinstance(step.operation, Divide):
        text, times = step.operation.text, Divide(1 / step.operation.by, "1")
        yield work.wrong("temperature", f"the temperature {text} was left out", unchanged(step))
        yield work.wrong("temperature", f"the scores were multiplied by the temperature {text}", redo(step, times))


def masking(work: Work) -> Iterator[Rewrite]:
    """Yield zeros instead of −∞, a mask after the softmax, an inverted or transposed mask, and no mask."""
    for step in mask_steps(work):
        yield from _hiding(work, step)
    for step in work.steps(Add):
        if step.name == "masked":
            yield work.wrong("mask_forgotten", "the mask was not added to the scores", unchanged(step))


def _hiding(work: Work, step: Step) -> Iterator[Rewrite]:
    mask = step.inputs[1]
    seen = work.given.get(mask.name)
    if seen is None:
        return
    zeros = Instead(lambda value, mask_value: np.where(aligned(mask, mask_value, step.output) != 0, value, 0.0))
    yield work.wrong("mask_wrong", "masked scores were set to 0, not to −∞, before the softmax", redo(step, zeros))
    yield work.wrong("mask_forgotten", "no score was masked", unchanged(step))
    yield from _masked_late(work, step)
    other_masks = {"the mask was inverted: what it keeps was hidden": 1.0 - (seen != 0)}
    if seen.ndim == 2 and seen.shape[0] == seen.shape[1]:
        other_masks["the mask was transposed: each token attended to later ones"] = seen.T.copy()
        other_masks["each token was also hidden from itself"] = seen * (1.0 - np.eye(len(seen)))
    for what, other in other_masks.items():
        yield Rewrite("mask_wrong", what, step.name, work.giving({mask.name: other}))


def _masked_late(work: Work, step: Step) -> Iterator[Rewrite]:
    """Yield the mask applied after the softmax."""
    spread, mask = distribution_step(work), step.inputs[1]
    if spread is None:
        return

    def late(scores: Array, mask_value: Array) -> Array:
        weights = spread.operation.evaluate(spread.inputs, spread.output, [scores])
        return np.where(aligned(mask, mask_value, spread.output) != 0, weights, 0.0)

    steps = redo(spread, Instead(late), *spread.inputs, mask), unchanged(step)
    yield work.wrong("mask_wrong", "the weights were masked after the softmax, so they no longer sum to one", *steps)
