"""The notations of masks: causal, a padding list, zeros and ones, or numbers to add."""

from __future__ import annotations

from typing import Literal

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand.builder import ProblemBuilder
from glassformer.numbers.by_hand.entries import size_text, whole_entry
from glassformer.numbers.by_hand.operations import Hide
from glassformer.program import Axis, Tensor
from glassformer.program.axes import Array
from glassformer.program.operations import Add

ADD = Add()
Means = Literal["attend", "add", "hide"]


def masked(builder: ProblemBuilder, scores: Tensor, *, query: int | None = None) -> Tensor:
    """Return the scores with masked ones set to −∞, or with the given numbers added; `query` is the query of a single row."""
    if scores.name == "masked" and (
        builder.problem.option("causal") or builder.problem.has("mask") or builder.problem.has("padding")
    ):
        raise GlassformerError("masked scores are given, and a mask as well: give the scores and a mask, or the masked scores.")
    seen: Array | None = None
    reasons: list[str] = []
    for key, reason in (("mask", "the mask is 0"), ("padding", "the key is padding")):
        if not builder.problem.has(key):
            continue
        values = _fitted(builder, key, scores, query)
        means = _meaning(builder, key, values)
        if means == "add":
            added = builder.put(key, whole_entry(values), *_axes(scores, values))
            scores = builder.step("masked", ADD, scores, added)
            continue
        kept = values != 0 if means == "attend" else values == 0
        seen = kept if seen is None else seen & kept
        reasons.append(reason)
    if builder.problem.option("causal"):
        causal = _causal(scores, query)
        seen = causal if seen is None else seen & causal
        reasons.append("a key comes after its query")
    if seen is None:
        return scores
    _say_empty_rows(builder, seen)
    taken = any(step.name == "masked" for step in builder.program.steps)
    mask = builder.put("mask" if "mask" not in builder.given else "hidden", whole_entry(seen), *_axes(scores, seen))
    return builder.step("masked_too" if taken else "masked", Hide(" or ".join(reasons)), scores, mask)


def _fitted(builder: ProblemBuilder, key: str, scores: Tensor, query: int | None) -> Array:
    """The numbers of a mask, in the shape of the scores or of one row of them."""
    values = builder.upright(key).values
    keys = scores.axes[-1].size
    if values.ndim == 2 and query is not None and values.shape[0] > query:
        values = values[query]
    wanted = tuple(axis.size for axis in scores.axes if axis.name != "head")
    if values.shape not in ((keys,), wanted, scores.shape):
        turned = " Its transpose would fit." if values.shape[::-1] == wanted else ""
        raise GlassformerError(
            f"{key} is {size_text(values.shape)}, but the scores are {size_text(wanted)}: "
            f"one number for each key ({keys}), or one for each score.{turned}"
        )
    return values


def _axes(scores: Tensor, values: Array) -> tuple[Axis, ...]:
    without_heads = tuple(axis for axis in scores.axes if axis.name != "head")
    return {1: scores.axes[-1:], len(without_heads): without_heads, len(scores.axes): scores.axes}[values.ndim]


def _meaning(builder: ProblemBuilder, key: str, values: Array) -> Means:
    """Interpret the numbers: with zeros and ones, 1 keeps a score; any other numbers are added."""
    said: Means | None = builder.problem.option(f"{key}_means")
    zeros_and_ones = bool(np.isin(values, (0, 1)).all())
    if said is None:
        said = "attend" if zeros_and_ones else "add"
    if said != "add" and not zeros_and_ones:
        raise GlassformerError(f"{key} must hold only 0 and 1 to {said}; numbers to add are written {key} = {{add = …}}.")
    if key == "padding" and said == "add":
        raise GlassformerError("padding must hold only 0 and 1, one for each key: 1 is a real token, 0 is padding.")
    return said


def _causal(scores: Tensor, query: int | None) -> Array:
    keys = scores.axes[-1].size
    if len([axis for axis in scores.axes if axis.name != "head"]) == 2:
        return np.tri(scores.axes[-2].size, keys, dtype=bool)
    if query is None:
        raise GlassformerError(
            "a causal mask needs the position of the query: give all queries as rows, or query = 2 (counted from 1)."
        )
    return np.arange(keys) <= query


def _say_empty_rows(builder: ProblemBuilder, seen: Array) -> None:
    rows = np.argwhere(~np.atleast_2d(seen).any(-1))
    if len(rows):
        which = ", ".join(str(int(row[-1]) + 1) for row in rows[:8])
        builder.notes.append(f"Row {which} is masked entirely, so its weights are all 0.")
