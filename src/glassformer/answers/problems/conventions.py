"""Usual conventions that a question may leave open: the same method, other numbers, and nothing wrong with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from glassformer.answers.problems.work import Work, redo
from glassformer.numbers.by_hand.operations import Deviation, PositionEntries, PositionTable, Turn
from glassformer.program import Step
from glassformer.program.operations import Pointwise

EPSILONS = (1e-5, 1e-6, 1e-12, 1e-8, 1e-3)

# What one name means to some and another name to others, unless both are claimed.
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
    """Other right works of the same question, each with what is different in it."""
    for text, made in (*_norms(work), *_positions(work), *_gelu(work), *_all_queries(work)):
        if made is not None:
            yield text, made


def _norms(work: Work) -> Iterator[tuple[str, Work | None]]:
    """eps and its place, wherever the problem does not say. n − 1 for n is no convention of LayerNorm: it has to be asked for."""
    problem, roots = work.problem, work.steps(Deviation)
    if "eps" not in problem.options and roots:
        for eps in EPSILONS:
            yield f"eps = {eps:g} under the root", _with(work, roots, eps=eps)
    elif "eps_place" not in problem.options and roots and float(problem.option("eps")):
        yield "eps outside the root", _with(work, roots, place="outside")


def _with(work: Work, steps: list[Step], **changes: Any) -> Work:
    """The same operations with other settings."""
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
        yield "features i and i + d/2 turned together, not neighbours", _with(work, work.steps(Turn), pairs="halves")


def _gelu(work: Work) -> Iterator[tuple[str, Work | None]]:
    """GELU with erf or by its tanh formula: both are called GELU."""
    for own, other, formula in (("gelu", "gelu_tanh", "by its tanh formula"), ("gelu_tanh", "gelu", "exactly, with erf")):
        steps = [step for step in work.steps(Pointwise) if step.operation == Pointwise(own)]
        if steps:
            yield f"GELU {formula}", _with(work, steps, function=other)


def _all_queries(work: Work) -> Iterator[tuple[str, Work | None]]:
    """The whole matrix where one query was asked about."""
    problem = work.problem
    if problem.option("query") is not None:
        options = {name: value for name, value in problem.options.items() if name != "query"}
        yield "for all queries, of which one was asked", work.solved(problem.replace(options=options))
