"""Usual conventions that a question may leave open: other right solutions with other numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from glassformer.answers.problems.work import Work, redo
from glassformer.numbers.by_hand.operations import Deviation, PositionEntries, PositionTable, Turn
from glassformer.program import Step
from glassformer.program.operations import Pointwise

EPSILONS = (1e-5, 1e-6, 1e-12, 1e-8, 1e-3)

# Quantities that share a name in common usage, unless both are claimed.
ALSO_CALLED = {
    "scores": {
        "dot": "the dot products before they are scaled",
        "masked": "the scores after the mask",
        "tempered": "the scores after the temperature",
    },
    "dot": {"scores": "the dot products after they are scaled"},
    "masked": {"scores": "the scores before the mask"},
}


def conventions(work: Work) -> Iterator[tuple[str, Work]]:
    """Yield other right solutions of the same question, each with a description of the difference."""
    for text, made in (*_norms(work), *_positions(work), *_gelu(work), *_all_queries(work)):
        if made is not None:
            yield text, made


def _norms(work: Work) -> Iterator[tuple[str, Work | None]]:
    """Yield solutions with another eps or place of eps, if the problem leaves it open. LayerNorm never uses n − 1 by default."""
    problem, roots = work.problem, work.steps(Deviation)
    if "eps" not in problem.options and roots:
        for eps in EPSILONS:
            yield f"eps = {eps:g} under the root", _with(work, roots, eps=eps)
    elif "eps_place" not in problem.options and roots and float(problem.option("eps")):
        yield "eps outside the root", _with(work, roots, place="outside")


def _with(work: Work, steps: list[Step], **changes: Any) -> Work:
    """Return the work with other settings for some operations."""
    return work.redone(*(redo(step, dataclasses.replace(step.operation, **changes)) for step in steps))  # type: ignore[type-var]


def _positions(work: Work) -> Iterator[tuple[str, Work | None]]:
    problem = work.problem
    tables = work.steps(PositionTable, PositionEntries)
    if tables and "layout" not in problem.options:
        text = "all sines in the first half of the features, all cosines in the second"
        yield text, _with(work, tables, layout="halves")
    if tables and problem.kind == "positions" and problem.has("X") and "embedding_scale" not in problem.options:
        yield "embeddings multiplied by √d_model first", work.solved(problem.choosing(embedding_scale="sqrt_d_model"))
    if work.steps(Turn) and "pairs" not in problem.options:
        yield "features i and i + d/2 rotated as pairs, not neighbours", _with(work, work.steps(Turn), pairs="halves")


def _gelu(work: Work) -> Iterator[tuple[str, Work | None]]:
    """Yield the solution with the other form of GELU: exact with erf, or the tanh approximation."""
    for own, other, formula in (("gelu", "gelu_tanh", "by its tanh approximation"), ("gelu_tanh", "gelu", "exactly, with erf")):
        steps = [step for step in work.steps(Pointwise) if step.operation == Pointwise(own)]
        if steps:
            yield f"GELU {formula}", _with(work, steps, function=other)


def _all_queries(work: Work) -> Iterator[tuple[str, Work | None]]:
    """Yield the whole matrix, if one query was asked about."""
    problem = work.problem
    if problem.option("query") is not None:
        options = {name: value for name, value in problem.options.items() if name != "query"}
        yield "for all queries, although one was asked for", work.solved(problem.replace(options=options))
