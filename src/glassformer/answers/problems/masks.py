"""Mistakes about masks: zeros for −∞, a mask after the softmax, a mask turned round, no mask at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.parts import distribution_step, mask_steps
from glassformer.answers.problems.work import SAME, Instead, Rewrite, Work
from glassformer.program import Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.operations import Add
from glassformer.program.operations.base import aligned


def masking(work: Work) -> Iterator[Rewrite]:
    for step in mask_steps(work):
        yield from _hiding(work, step)
    for step in work.steps(Add):
        if step.name == "masked":
            what = "the mask was not added to the scores"
            yield Rewrite("mask_forgotten", what, step.name, work.doing(step.name, SAME, step.inputs[0]))


def _hiding(work: Work, step: Step) -> Iterator[Rewrite]:
    scores, mask = step.inputs
    seen = work.given.get(mask.name)
    if seen is None:
        return
    name = step.name
    unmasked = work.doing(name, SAME, scores)
    zeros = Instead(lambda value, mask_value: np.where(aligned(mask, mask_value, step.output) != 0, value, 0.0))
    yield Rewrite("mask_wrong", "masked scores were set to 0, not to −∞, before the softmax", name, work.doing(name, zeros))
    yield Rewrite("mask_forgotten", "no score was masked", name, unmasked)
    yield from _after(unmasked, mask)
    inverted = work.giving({mask.name: 1.0 - (seen != 0)})
    yield Rewrite("mask_wrong", "the mask was read the other way round: what it keeps was hidden", name, inverted)
    if seen.ndim == 2 and seen.shape[0] == seen.shape[1]:
        yield from _turned(work, step, mask, seen)


def _after(unmasked: Work, mask: Tensor) -> Iterator[Rewrite]:
    """The softmax over all keys, and only then zeros."""
    spread = distribution_step(unmasked)
    if spread is None:
        return
    operation = spread.operation

    def late(scores: Array, mask_value: Array) -> Array:
        weights = operation.evaluate(spread.inputs, spread.output, [scores])
        return np.where(aligned(mask, mask_value, spread.output) != 0, weights, 0.0)

    what = "the weights were masked after the softmax, so they no longer sum to one"
    yield Rewrite("mask_wrong", what, spread.name, unmasked.doing(spread.name, Instead(late), *spread.inputs, mask))


def _turned(work: Work, step: Step, mask: Tensor, seen: Array) -> Iterator[Rewrite]:
    turned = work.giving({mask.name: seen.T.copy()})
    yield Rewrite("mask_wrong", "the mask was transposed: each token saw the later ones", step.name, turned)
    own = seen * (1.0 - np.eye(len(seen)))
    hidden = work.giving({mask.name: own})
    yield Rewrite("mask_wrong", "each token was hidden from itself as well", step.name, hidden)
