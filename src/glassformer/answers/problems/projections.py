"""Mistakes about linear maps: a matrix transposed, a bias left out, a map not applied at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.work import SAME, Rewrite, Work
from glassformer.program import Step
from glassformer.program.operations import Affine, Contract

CONTRACT = Contract()


def _maps(work: Work) -> dict[str, Step]:
    """Weight -> the first step that applies it."""
    weights = {parameter.name for parameter in work.program.parameters if parameter.kind == "weight"}
    found: dict[str, Step] = {}
    for step in work.program.steps:
        if isinstance(step.operation, Contract) and len(step.inputs) > 1 and step.inputs[1].name in weights:
            found.setdefault(step.inputs[1].name, step)
    return found


def transposed(work: Work) -> Iterator[Rewrite]:
    """W x for x W: with square matrices nothing looks wrong. All of them, or one."""
    turned = {}
    for name in _maps(work):
        value = work.given[name]
        if value.ndim >= 2 and value.shape[-1] == value.shape[-2] and not np.array_equal(value, np.swapaxes(value, -1, -2)):
            turned[name] = np.swapaxes(value, -1, -2).copy()
    steps = _maps(work)
    if len(turned) > 1:
        first = steps[next(iter(turned))].name
        yield Rewrite("row_column_convention", f"{_listed(list(turned))} were used transposed", first, work.giving(turned))
        three = {name: value for name, value in turned.items() if name in ("W_Q", "W_K", "W_V")}
        if 1 < len(three) < len(turned):
            yield Rewrite("row_column_convention", f"{_listed(list(three))} were used transposed", first, work.giving(three))
    for name, value in turned.items():
        yield Rewrite("row_column_convention", f"{name} was used transposed", steps[name].name, work.giving({name: value}))


def biases(work: Work) -> Iterator[Rewrite]:
    """x W for x W + b: every bias, or one."""
    steps = work.steps(Affine)
    if len(steps) > 1:
        made = work
        for step in steps:
            made = made.doing(step.name, CONTRACT, *step.inputs[:2])
        listed = _listed([step.inputs[2].name for step in steps])
        yield Rewrite("bias_forgotten", f"{listed} were not added", steps[0].name, made)
    for step in steps:
        made = work.doing(step.name, CONTRACT, *step.inputs[:2])
        yield Rewrite("bias_forgotten", f"{step.inputs[2].name} was not added", step.name, made)


def not_applied(work: Work) -> Iterator[Rewrite]:
    """The vectors themselves used where they should have been projected: one of the three maps left out, or all."""
    square = {
        name: step
        for name, step in _maps(work).items()
        if name in ("W_Q", "W_K", "W_V") and step.inputs[0].shape == step.output.shape
    }
    for name, step in square.items():
        yield Rewrite("projection_forgotten", f"{name} was not applied", step.name, work.doing(step.name, SAME, step.inputs[0]))
    if len(square) > 1:
        made = work
        for step in square.values():
            made = made.doing(step.name, SAME, step.inputs[0])
        first = next(iter(square.values())).name
        yield Rewrite("projection_forgotten", f"{_listed(list(square))} were not applied", first, made)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
