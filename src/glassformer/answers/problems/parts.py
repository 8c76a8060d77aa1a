"""Finds the steps of attention in a work: dot products, scaling, mask, softmax, weighted sum of the values."""

from __future__ import annotations

from glassformer.answers.problems.work import Work, axis_names, size_of
from glassformer.numbers.by_hand.operations import Cosine, Divide, Hide
from glassformer.program import Step, Tensor
from glassformer.program.operations import Contract


def dot_step(work: Work) -> Step | None:
    """Return the step that multiplies queries with keys, if they are compared by a product."""
    if work.problem.option("alignment") == "additive":
        return None
    own = [step for step in work.steps(Contract, Cosine) if step.name in ("dot", "scores")]
    return own[0] if own and "s" in axis_names(own[0].output) else None


def scale_step(work: Work) -> Step | None:
    """Return the division by √d_k, or by what the problem specifies."""
    steps = work.steps(Divide)
    tempered = work.problem.option("temperature") is not None
    wanted = steps[: len(steps) - tempered]
    return wanted[0] if wanted else None


def temperature_step(work: Work) -> Step | None:
    steps = work.steps(Divide)
    return steps[-1] if steps and work.problem.option("temperature") is not None else None


def mask_steps(work: Work) -> list[Step]:
    """Return the steps that mask scores."""
    return work.steps(Hide)


def distribution_step(work: Work) -> Step | None:
    """Return the step that turns scores into weights."""
    name = "output" if work.problem.kind == "softmax" else "weights"
    step = work.step(name)
    return step if step is not None and "s" in axis_names(step.output) and len(step.inputs) == 1 else None


def mix_step(work: Work) -> Step | None:
    """Return the product of weights and values."""
    for step in work.steps(Contract):
        if step.inputs[0].name == "weights" and "s" not in axis_names(step.output):
            return step
    return None


def widths(work: Work) -> dict[str, int]:
    """Return the sizes that the scores might be scaled by: d_k, d_v, d_model, and the number of keys."""
    found: dict[str, int] = {}
    dot, mix, spread = dot_step(work), mix_step(work), distribution_step(work)
    d_k = work.problem.option("d_k") or (dot.inputs[0].axes[-1].size if dot else None)
    d_v = size_of(mix.inputs[1], "d_v") if mix else None
    keys = size_of(spread.output, "s") if spread else None
    for name, size in (("d_k", d_k), ("d_model", _d_model(work, dot)), ("d_v", d_v), ("the number of keys", keys)):
        if size:
            found[name] = int(size)
    return found


def _d_model(work: Work, dot: Step | None) -> int | None:
    said: int | None = work.problem.option("d_model")
    if said:
        return said
    x = next((tensor for tensor in work.program.inputs if tensor.name in ("x", "embeddings")), None)
    if x is not None:
        return x.axes[-1].size
    heads = size_of(dot.inputs[0], "head") if dot else None
    return heads * dot.inputs[0].axes[-1].size if heads and dot else None


def square(tensor: Tensor) -> bool:
    """Return whether there are as many queries as keys."""
    queries, keys = size_of(tensor, "t"), size_of(tensor, "s")
    return queries is not None and queries == keys
