"""Mistakes in norms: variance, square root, eps, axis, gamma and beta, RMSNorm instead of LayerNorm, pre- and post-norm."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from glassformer.answers.problems.work import Instead, Rewrite, Work, at, axis_names, having, redo, rows, unchanged
from glassformer.numbers.by_hand.operations import Centre, Deviation, Spread
from glassformer.program import Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.operations import Add, Mean, Shift
from glassformer.program.operations.base import aligned

SUMS = ("sum", "sum_1", "sum_2")
SPREADS, CENTRED = having(Spread, inputs=2), having(Centre, inputs=3)
SHIFTS, GAMMA_AND_BETA = having(Shift), having(Shift, inputs=3)
RESIDUAL_SUMS = having(Add, named=SUMS)


def _asked(step: Step) -> Any:
    """Return the operation of a step, which has the settings eps, over and less."""
    return step.operation


def _other_divisor(step: Step) -> Step | None:
    asked = _asked(step)
    return redo(step, Spread(asked.over, 1 - asked.less)) if step.inputs[0].axis(asked.over).size > 1 else None


def _sum_of_squares(x: Array, mean: Array) -> Array:
    return np.asarray(np.square(x - np.expand_dims(mean, -1)).sum(-1))


def _rootless(step: Step) -> Step:
    return redo(step, Instead(lambda value: value + _asked(step).eps))


def _other_side(step: Step) -> Step:
    return redo(step, dataclasses.replace(_asked(step), place="outside" if _asked(step).place == "inside" else "inside"))


def _not_divided(step: Step) -> Step:
    return redo(step, Instead(lambda x, mean: x - np.expand_dims(mean, -1)), *step.inputs[:2])


def _divisor(steps: Sequence[Step]) -> str:
    return f"the variance was computed with divisor {'n' if _asked(steps[0]).less else 'n − 1'}"


def _left_out(steps: Sequence[Step]) -> str:
    return f"{'gamma and beta were' if any(len(step.inputs) == 3 for step in steps) else 'gamma was'} left out"


def _beta_first(step: Step) -> Step | None:
    gamma, beta = step.inputs[1:]
    if _asked(step).plus_one:
        return None

    def shifted(x: Array, gamma_value: Array, beta_value: Array) -> Array:
        return (x + aligned(beta, beta_value, step.output)) * aligned(gamma, gamma_value, step.output)

    return redo(step, Instead(shifted))


variance = rows(
    at(
        SPREADS,
        ("layernorm_variance", _divisor, _other_divisor),
        ("layernorm_variance", "the sum of the squares was not divided by n", Instead(_sum_of_squares)),
    ),
    at(
        lambda work: [step for step in work.steps(Deviation) if step.role == "deviation"],
        ("layernorm_variance", "divided by the variance, not by its square root", _rootless),
    ),
)
eps = at(
    lambda work: [step for step in work.steps(Deviation) if _asked(step).eps],
    ("layernorm_variance", "eps was put on the other side of the root", _other_side),
    ("layernorm_variance", "eps was left out", Deviation()),
)
centring = at(
    CENTRED,
    ("layernorm_half_done", "the mean was not subtracted", lambda step: redo(step, Centre(), *step.inputs[::2])),
    ("layernorm_half_done", "the mean was subtracted, but the result was not divided by the standard deviation", _not_divided),
)
gamma_beta = rows(
    at(SHIFTS, ("gamma_beta_forgotten", _left_out, unchanged)),
    at(GAMMA_AND_BETA, ("gamma_beta_order", "beta was added before gamma was multiplied", _beta_first)),
    at(
        GAMMA_AND_BETA,
        ("gamma_beta_forgotten", "beta was left out", lambda step: redo(step, Shift(), *step.inputs[:2])),
        ("gamma_beta_forgotten", "gamma was left out", lambda step: redo(step, Add(), *step.inputs[::2])),
    ),
    at(
        lambda work: [step for step in work.steps(Add) if step.inputs[-1].role == "beta"],
        ("gamma_beta_forgotten", "beta was left out", unchanged),
    ),
)
residuals = rows(
    at(RESIDUAL_SUMS, ("residual_forgotten", "the residual was not added", lambda step: unchanged(step, step.inputs[1]))),
    at(  # in a problem about a norm only, either summand may be the output of the sub-layer
        lambda work: RESIDUAL_SUMS(work)[:1] if work.problem.kind == "layer_norm" else [],
        ("residual_forgotten", lambda steps: f"the norm was applied to {steps[0].inputs[0].name} only", unchanged),
    ),
)


def axis(work: Work) -> Iterator[Rewrite]:
    """Yield the norm taken over the tokens, or over the whole matrix."""
    steps = [step for step in CENTRED(work) if axis_names(step.inputs[0])[:-1] == ["t"]]

    def over(along: int | None) -> Callable[[Step], Step]:
        def normalised(step: Step) -> Step:
            root = work.step(step.inputs[2].name)
            inside = root.operation.eps if root is not None and isinstance(root.operation, Deviation) else 0.0
            return redo(step, Instead(lambda x: _normalised(x, along, inside)), step.inputs[0])

        return normalised

    code, taken = "layernorm_wrong_axis", "mean and variance were taken over"
    tokens, matrix = (code, f"{taken} the tokens, for each feature", over(0)), (code, f"{taken} the whole matrix", over(None))
    return iter(at(lambda _: steps, tokens, matrix)(work))


def _normalised(x: Array, along: int | None, inside: float) -> Array:
    centred = x - x.mean(along, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(along, keepdims=True) + inside)
    return np.asarray(centred / np.where(deviation == 0, 1, deviation))


def kinds_of_norm(work: Work) -> Iterator[Rewrite]:
    """Yield RMSNorm instead of LayerNorm and the reverse, pre-norm instead of post-norm and the reverse, and no norm."""
    problem, centres = work.problem, work.steps(Centre)
    if not centres or not work.pristine:
        return
    layer = problem.replace(kind="layer_norm") if problem.kind == "rms_norm" else problem
    place = problem.option("norm") if problem.kind in ("attention", "encoder_layer") else None
    rms, pre, post = not work.steps(Mean), place == "pre", place == "post"
    others = (
        (not rms, "rmsnorm_for_layernorm", "RMSNorm was computed: the mean was not subtracted", {"norm_kind": "rms"}),
        (rms, "layernorm_for_rmsnorm", "LayerNorm was computed: the mean was subtracted", {"norm_kind": "layer"}),
        (post, "pre_for_post", "the norm was applied before the sub-layer", {"norm": "pre"}),
        (pre, "post_for_pre", "the norm was applied after the sub-layer", {"norm": "post"}),
        (pre or post, "norm_forgotten", "no norm was applied", {"norm": "none"}),
    )
    for possible, code, what, choice in others:
        made = work.solved((layer if rms else problem).choosing(**choice)) if possible else None
        if made is not None:
            yield Rewrite(code, what, centres[0].name, made)


def norm_alone(work: Work) -> Iterator[Rewrite]:
    """Yield x + norm(sub-layer): the residual added after the norm."""
    for step in CENTRED(work):
        total = work.step(step.inputs[0].name)
        if total is None or total.name not in SUMS or type(total.operation) is not Add:
            continue
        x, y = total.inputs
        if axis_names(x) == axis_names(y):
            final = next((shift for shift in work.steps(Shift) if shift.inputs[0].name == step.name), step)
            for one, other in ((x, y), (y, x)) if work.problem.kind == "layer_norm" else ((x, y),):
                steps = _added(final, one), unchanged(total, other)
                yield work.wrong("residual_after_norm", "the residual was added after the norm", *steps)


def _added(final: Step, residual: Tensor) -> Step:
    """Return the result of a norm with the residual added."""

    def summed(*values: Array) -> Array:
        return np.asarray(final.operation.evaluate(final.inputs, final.output, values[:-1]) + values[-1])

    return redo(final, Instead(summed), *final.inputs, residual)
