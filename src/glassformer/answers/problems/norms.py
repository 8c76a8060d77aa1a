"""Mistakes about norms: the variance, its root, eps, the axis, gamma and beta, RMSNorm for LayerNorm, where the norm stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.work import SAME, Instead, Rewrite, Work, axis_names, several
from glassformer.numbers.by_hand.operations import Centre, Deviation, Spread
from glassformer.program import Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.operations import Add, Mean, Shift


def variance(work: Work) -> Iterator[Rewrite]:
    """n − 1 for n, no division by n, the variance for its root."""
    spreads = [step for step in work.steps(Spread) if len(step.inputs) == 2]
    asked = spreads[0].operation if spreads else None
    if isinstance(asked, Spread):
        less = 1 - asked.less
        said = "n − 1" if less else "n"
        if spreads[0].inputs[0].axis(asked.over).size > 1:
            for name, made in several(spreads, lambda w, s: w.doing(s.name, Spread(asked.over, less)), work):
                yield Rewrite("layernorm_variance", f"the squares were divided by {said} in the variance", name, made)
        for name, made in several(spreads, lambda w, s: w.doing(s.name, Instead(_sum_of_squares)), work):
            yield Rewrite("layernorm_variance", "the sum of the squares was not divided by n", name, made)
    roots = [step for step in work.steps(Deviation) if step.name.startswith("std")]
    for name, made in several(roots, _rootless, work):
        yield Rewrite("layernorm_variance", "the variance itself was divided by, not its root", name, made)


def _sum_of_squares(x: Array, mean: Array) -> Array:
    return np.asarray(np.square(x - np.expand_dims(mean, -1)).sum(-1))


def _rootless(work: Work, step: Step) -> Work:
    eps = getattr(step.operation, "eps", 0.0)
    return work.doing(step.name, Instead(lambda value: value + eps))


def eps(work: Work) -> Iterator[Rewrite]:
    """eps outside the root for inside (or the reverse), or left out."""
    steps = [step for step in work.steps(Deviation) if getattr(step.operation, "eps", 0.0)]

    def moved(made: Work, step: Step) -> Work:
        asked = step.operation
        assert isinstance(asked, Deviation)
        return made.doing(step.name, dataclasses.replace(asked, place="outside" if asked.place == "inside" else "inside"))

    for name, made in several(steps, moved, work):
        yield Rewrite("layernorm_variance", "eps was put on the other side of the root", name, made)
    for name, made in several(steps, lambda w, s: w.doing(s.name, Deviation()), work):
        yield Rewrite("layernorm_variance", "eps was left out", name, made)


def centring(work: Work) -> Iterator[Rewrite]:
    """The mean not taken away, or nothing divided."""
    steps = [step for step in work.steps(Centre) if len(step.inputs) == 3]

    def not_centred(made: Work, step: Step) -> Work:
        return made.doing(step.name, Centre(), step.inputs[0], step.inputs[2])

    def not_divided(made: Work, step: Step) -> Work:
        return made.doing(step.name, Instead(lambda x, mean: x - np.expand_dims(mean, -1)), *step.inputs[:2])

    for name, made in several(steps, not_centred, work):
        yield Rewrite("layernorm_half_done", "the mean was not subtracted", name, made)
    for name, made in several(steps, not_divided, work):
        yield Rewrite("layernorm_half_done", "the mean was subtracted, but nothing was divided by the deviation", name, made)


def axis(work: Work) -> Iterator[Rewrite]:
    """The norm taken over the tokens, or over the whole matrix."""
    steps = [step for step in work.steps(Centre) if len(step.inputs) == 3 and axis_names(step.inputs[0])[:-1] == ["t"]]
    for name, made in several(steps, lambda w, s: _over(w, s, 0), work):
        yield Rewrite("layernorm_wrong_axis", "mean and variance were taken over the tokens, feature by feature", name, made)
    for name, made in several(steps, lambda w, s: _over(w, s, None), work):
        yield Rewrite("layernorm_wrong_axis", "mean and variance were taken over the whole matrix", name, made)


def _over(work: Work, step: Step, along: int | None) -> Work:
    spread = work.step(step.inputs[2].name)
    root = spread.operation if spread is not None else None
    inside = root.eps if isinstance(root, Deviation) else 0.0

    def normalised(x: Array) -> Array:
        centred = x - x.mean(along, keepdims=True)
        deviation = np.sqrt(np.square(centred).mean(along, keepdims=True) + inside)
        return np.asarray(centred / np.where(deviation == 0, 1, deviation))

    return work.doing(step.name, Instead(normalised), step.inputs[0])


def gamma_beta(work: Work) -> Iterator[Rewrite]:
    """Scale and shift left out, together or one of them."""
    shifts = work.steps(Shift)
    for name, made in several(shifts, lambda w, s: w.doing(s.name, SAME, s.inputs[0]), work):
        both = "gamma and beta were" if any(len(step.inputs) == 3 for step in shifts) else "gamma was"
        yield Rewrite("gamma_beta_forgotten", f"{both} left out", name, made)
    three = [step for step in shifts if len(step.inputs) == 3]
    for name, made in several(three, lambda w, s: w.doing(s.name, Shift(), *s.inputs[:2]), work):
        yield Rewrite("gamma_beta_forgotten", "beta was left out", name, made)
    for name, made in several(three, lambda w, s: w.doing(s.name, Add(), s.inputs[0], s.inputs[2]), work):
        yield Rewrite("gamma_beta_forgotten", "gamma was left out", name, made)
    lone = [step for step in work.steps(Add) if step.inputs[-1].name.startswith("beta")]
    for name, made in several(lone, lambda w, s: w.doing(s.name, SAME, s.inputs[0]), work):
        yield Rewrite("gamma_beta_forgotten", "beta was left out", name, made)


def residuals(work: Work) -> Iterator[Rewrite]:
    """The sum left out: the norm, or the next part, gets the sub-layer's result alone."""
    steps = [step for step in work.steps(Add) if step.name in ("sum", "sum_1", "sum_2")]
    for name, made in several(steps, lambda w, s: w.doing(s.name, SAME, s.inputs[1]), work):
        yield Rewrite("residual_forgotten", "the residual was not added", name, made)
    if work.problem.kind == "layer_norm" and steps:  # either of the two may be called the sub-layer's result
        alone = work.doing(steps[0].name, SAME, steps[0].inputs[0])
        yield Rewrite("residual_forgotten", f"the norm was taken of {steps[0].inputs[0].name} alone", steps[0].name, alone)


def kinds_of_norm(work: Work) -> Iterator[Rewrite]:
    """RMSNorm for LayerNorm and the reverse; the norm before for after; no norm."""
    problem = work.problem
    means, centres = work.steps(Mean), work.steps(Centre)
    if not centres or not work.pristine:
        return
    first = centres[0].name
    if means:
        made = work.solved(problem.choosing(norm_kind="rms"))
        if made:
            yield Rewrite("rmsnorm_for_layernorm", "RMSNorm was computed: no mean was subtracted anywhere", first, made)
    else:
        layer = problem.replace(kind="layer_norm") if problem.kind == "rms_norm" else problem
        made = work.solved(layer.choosing(norm_kind="layer"))
        if made:
            yield Rewrite("layernorm_for_rmsnorm", "LayerNorm was computed: the mean was subtracted", first, made)
    place = problem.option("norm")
    if place not in ("pre", "post") or problem.kind not in ("attention", "encoder_layer"):
        return
    made = work.solved(problem.choosing(norm="post" if place == "pre" else "pre"))
    if made:
        code, what = ("pre_for_post", "before") if place == "post" else ("post_for_pre", "after")
        yield Rewrite(code, f"the norm was put {what} the sub-layer", first, made)
    without = work.solved(problem.choosing(norm="none"))
    if without:
        yield Rewrite("norm_forgotten", "no norm was applied", first, without)


def norm_alone(work: Work) -> Iterator[Rewrite]:
    """x + norm(sub-layer): the residual added after the norm."""
    for step in work.steps(Centre):
        total = work.step(step.inputs[0].name)
        if total is None or total.name not in ("sum", "sum_1", "sum_2") or type(total.operation) is not Add:
            continue
        x, y = total.inputs
        if axis_names(x) != axis_names(y) or len(step.inputs) != 3:
            continue
        final = next((s for s in work.steps(Shift) if s.inputs[0].name == step.name), step)
        for one, other in ((x, y), (y, x)) if work.problem.kind == "layer_norm" else ((x, y),):
            inner = work.doing(total.name, SAME, other)
            yield Rewrite("residual_after_norm", "the residual was added after the norm", final.name, _added(inner, final, one))


def _added(work: Work, final: Step, residual: Tensor) -> Work:
    """The result of a norm with the residual added to it."""
    own = len(final.inputs)
    operation = final.operation

    def summed(*values: Array) -> Array:
        return np.asarray(operation.evaluate(final.inputs, final.output, values[:own]) + values[own])

    return work.doing(final.name, Instead(summed), *final.inputs, residual)
