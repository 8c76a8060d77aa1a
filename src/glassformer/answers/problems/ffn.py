"""Mistakes about the feed-forward block: no activation, another one, the second map left out."""

from __future__ import annotations

from collections.abc import Iterator

from glassformer.answers.problems.work import SAME, Rewrite, Work
from glassformer.numbers.by_hand.operations import Sigmoid
from glassformer.program import Tensor
from glassformer.program.operations import Pointwise


def activation(work: Work) -> Iterator[Rewrite]:
    """The activation left out, or another one in its place."""
    for step in work.steps(Pointwise, Sigmoid):
        if step.name in ("weights", "tanh") or (step.name == "output" and work.problem.kind == "softmax"):
            continue  # a distribution, or a part of an additive alignment
        own = step.operation.function if isinstance(step.operation, Pointwise) else "sigmoid"
        if work.problem.kind != "activation":
            yield Rewrite("activation_forgotten", f"{own} was not applied", step.name, work.doing(step.name, SAME))
        for other in ("relu", "gelu", "silu", "tanh"):
            if other != own and not (own.startswith("gelu") and other == "gelu"):
                made = work.doing(step.name, Pointwise(other))
                yield Rewrite("activation_forgotten", f"{other} was used for {own}", step.name, made)


def second_map(work: Work) -> Iterator[Rewrite]:
    """The hidden layer given as the result."""
    for step in work.program.steps:
        if len(step.inputs) < 2 or step.inputs[1].name != "W_2" or step.inputs[0].axes[-1].name != "d_ff":
            continue  # an additive alignment has a W_2 too
        active = step.inputs[0]
        if active.axes[-1].size == step.output.axes[-1].size:
            made = work.doing(step.name, SAME, active)
        else:
            made = work.reshaped(step.name, Tensor(step.name, active.axes), SAME, active)
        yield Rewrite("second_map_forgotten", "W_2 was not applied", step.name, made)
