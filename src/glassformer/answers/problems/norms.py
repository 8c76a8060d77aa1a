"""Mistakes about norms: the variance, its root, eps, the axis, gamma and beta, RMSNorm for LayerNorm, where the norm stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from glassformer.answers.problems.work import Instead, Rewrite, Row, Work, axis_names, redo, rows, unchanged
from glassformer.numbers.by_hand.operations import Centre, Deviation, Spread
from glassformer.program import Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.operations import Add, Mean, Shift

SUMS = ("sum", "sum_1", "sum_2")


def _asked(step: Step) -> Any:
    """The settings of a step's operation: eps, over, less."""
    return step.operation


def _spreads(work: Work) -> list[Step]:
    return [step for step in work.steps(Spread) if len(step.inputs) == 2]


def _with_eps(work: Work) -> list[Step]:
    return [step for step in work.steps(Deviation) if _asked(step).eps]


def _centred(work: Work) -> list[Step]:
    return [step for step in work.steps(Centre) if len(step.inputs) == 3]


def _of_tokens(work: Work) -> list[Step]:
    return [step for step in _centred(work) if axis_names(step.inputs[0])[:-1] == ["t"]]


def _shifts(work: Work) -> list[Step]:
    return work.steps(Shift)


def _gamma_and_beta(work: Work) -> list[Step]:
    return [step for step in work.steps(Shift) if len(step.inputs) == 3]


def _beta_alone(work: Work) -> list[Step]:
    return [step for step in work.steps(Add) if step.inputs[-1].name.startswith("beta")]


def _residual_sums(work: Work) -> list[Step]:
    return [step for step in work.steps(Add) if step.name in SUMS]


def _other_divisor(step: Step) -> Step | None:
    asked = _asked(step)
    return redo(step, Spread(asked.over, 1 - asked.less)) if step.inputs[0].axis(asked.over).size > 1 else None


def _sum_of_squares(x: Array, mean: Array) -> Array:
    return np.asarray(np.square(x - np.expand_dims(mean, -1)).sum(-1))


def _rootless(step: Step) -> Step:
    eps = _asked(step).eps
    return redo(step, Instead(lambda value: value + eps))


def _other_side(step: Step) -> Step:
    return redo(step, dataclasses.replace(_asked(step), place="outside" if _asked(step).place == "inside" else "inside"))


def _not_divided(step: Step) -> Step:
    return redo(step, Instead(lambda x, mean: x - np.expand_dims(mean, -1)), *step.inputs[:2])


variance = rows(
    Row(
        "layernorm_variance",
        lambda steps: f"the squares were divided by {'n' if _asked(steps[0]).less else 'n − 1'} in the variance",
        _spreads,
        _other_divisor,
    ),
    Row(
        "layernorm_variance",
        "the sum of the squares was not divided by n",
        _spreads,
        lambda step: redo(step, Instead(_sum_of_squares)),
    ),
    Row(
        "layernorm_variance",
        "the variance itself was divided by, not its root",
        lambda work: [step for step in work.steps(Deviation) if step.name.startswith("std")],
        _rootless,
    ),
)
eps = rows(
    Row("layernorm_variance", "eps was put on the other side of the root", _with_eps, _other_side),
    Row("layernorm_variance", "eps was left out", _with_eps, lambda step: redo(step, Deviation())),
)
centring = rows(
    Row(
        "layernorm_half_done",
        "the mean was not subtracted",
        _centred,
        lambda step: redo(step, Centre(), step.inputs[0], step.inputs[2]),
    ),
    Row("layernorm_half_done", "the mean was subtracted, but nothing was divided by the deviation", _centred, _not_divided),
)
gamma_beta = rows(
    Row(
        "gamma_beta_forgotten",
        lambda steps: f"{'gamma and beta were' if any(len(s.inputs) == 3 for s in steps) else 'gamma was'} left out",
        _shifts,
        unchanged,
    ),
    Row("gamma_beta_forgotten", "beta was left out", _gamma_and_beta, lambda step: redo(step, Shift(), *step.inputs[:2])),
    Row("gamma_beta_forgotten", "gamma was left out", _gamma_and_beta, lambda step: redo(step, Add(), *step.inputs[::2])),
    Row("gamma_beta_forgotten", "beta was left out", _beta_alone, unchanged),
)
residuals = rows(
    Row("residual_forgotten", "the residual was not added", _residual_sums, lambda step: unchanged(step, step.inputs[1])),
    Row(  # of a norm alone, either of the two may be called the sub-layer's result
        "residual_forgotten",
        lambda steps: f"the norm was taken of {steps[0].inputs[0].name} alone",
        lambda work: _residual_sums(work)[:1] if work.problem.kind == "layer_norm" else [],
        unchanged,
    ),
)


def axis(work: Work) -> Iterator[Rewrite]:
    """The norm taken over the tokens, or over the whole matrix."""
    for along, what in ((0, "the tokens, feature by feature"), (None, "the whole matrix")):

        def normalised(step: Step, along: int | None = along) -> Step:
            root = work.step(step.inputs[2].name)
            inside = root.operation.eps if root is not None and isinstance(root.operation, Deviation) else 0.0
            return redo(step, Instead(lambda x: _normalised(x, along, inside)), step.inputs[0])

        yield from Row("layernorm_wrong_axis", f"mean and variance were taken over {what}", _of_tokens, normalised).made(work)


def _normalised(x: Array, along: int | None, inside: float) -> Array:
    centred = x - x.mean(along, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(along, keepdims=True) + inside)
    return np.asarray(centred / np.where(deviation == 0, 1, deviation))


def kinds_of_norm(work: Work) -> Iterator[Rewrite]:
    """RMSNorm for LayerNorm and the reverse; the norm before for after; no norm."""
    problem, centres = work.problem, work.steps(Centre)
    if not centres or not work.pristine:
        return
    if work.steps(Mean):
        others = [
            ("rmsnorm_for_layernorm", "RMSNorm was computed: no mean was subtracted anywhere", problem.choosing(norm_kind="rms"))
        ]
    else:
        layer = problem.replace(kind="layer_norm") if problem.kind == "rms_norm" else problem
        others = [("layernorm_for_rmsnorm", "LayerNorm was computed: the mean was subtracted", layer.choosing(norm_kind="layer"))]
    if problem.kind in ("attention", "encoder_layer"):
        if problem.option("norm") == "post":
            others.append(("pre_for_post", "the norm was put before the sub-layer", problem.choosing(norm="pre")))
        if problem.option("norm") == "pre":
            others.append(("post_for_pre", "the norm was put after the sub-layer", problem.choosing(norm="post")))
        if problem.option("norm") in ("pre", "post"):
            others.append(("norm_forgotten", "no norm was applied", problem.choosing(norm="none")))
    for code, what, other in others:
        if made := work.solved(other):
            yield Rewrite(code, what, centres[0].name, made)


def norm_alone(work: Work) -> Iterator[Rewrite]:
    """x + norm(sub-layer): the residual added after the norm."""
    for step in _centred(work):
        total = work.step(step.inputs[0].name)
        if total is None or total.name not in SUMS or type(total.operation) is not Add:
            continue
        x, y = total.inputs
        if axis_names(x) == axis_names(y):
            final = next((shift for shift in work.steps(Shift) if shift.inputs[0].name == step.name), step)
            for one, other in ((x, y), (y, x)) if work.problem.kind == "layer_norm" else ((x, y),):
                made = work.redone(unchanged(total, other), _added(final, one))
                yield Rewrite("residual_after_norm", "the residual was added after the norm", final.name, made)


def _added(final: Step, residual: Tensor) -> Step:
    """The result of a norm with the residual added to it."""

    def summed(*values: Array) -> Array:
        return np.asarray(final.operation.evaluate(final.inputs, final.output, values[:-1]) + values[-1])

    return redo(final, Instead(summed), *final.inputs, residual)
