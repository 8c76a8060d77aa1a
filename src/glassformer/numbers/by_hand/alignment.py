"""Alignment: how a query is compared with a key, and the divisor of the scores."""

from __future__ import annotations

import math

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand.builder import CONTRACT, ProblemBuilder
from glassformer.numbers.by_hand.entries import Entry, size_text
from glassformer.numbers.by_hand.operations import Cosine, Divide
from glassformer.numbers.by_hand.surd import Surd
from glassformer.program import Axis, Tensor
from glassformer.program.operations import Add, Pointwise

ADD, TANH = Add(), Pointwise("tanh")


def aligned_scores(builder: ProblemBuilder, q: Tensor, k: Tensor) -> Tensor:
    """One number for each query and key: `dot` if it is scaled afterwards, otherwise `scores`."""
    alignment = builder.problem.option("alignment", "scaled_dot")
    name = "scores" if divisor(builder, q.axes[-1]) is None and builder.problem.option("temperature") is None else "dot"
    square = (*[axis for axis in q.axes if axis.name == "head"], *[axis for axis in q.axes if axis.name == "t"], k.axis("s"))
    if alignment == "additive":
        return _additive(builder, q, k, name, square)
    if alignment == "general":
        q = _turned(builder, q, k)
    if q.axes[-1].size != k.axes[-1].size:
        raise _unequal(builder, q, k)
    k = k.seen(**{k.axes[-1].name: q.axes[-1].name})
    operation = Cosine(over=q.axes[-1].name) if alignment == "cosine" else CONTRACT
    dot = builder.step(name, operation, q, k, axes=square)
    builder.alias("dot", dot)
    return dot


def scaled(builder: ProblemBuilder, dot: Tensor) -> Tensor:
    """The scores: divided by the root of d_k or by the given divisor, then by the temperature."""
    source = next((step for step in builder.program.steps if step.name == dot.name), None)
    width = source.inputs[0].axes[-1] if source else None
    by = divisor(builder, width)
    temperature: Surd | None = builder.problem.option("temperature")
    if by is not None:
        dot = builder.step("scores", by, dot)
    if temperature is not None:
        name = "tempered" if by is not None else "scores"
        dot = builder.step(name, Divide(float(temperature), temperature.text()), dot)
    return dot


def divisor(builder: ProblemBuilder, width: Axis | None) -> Divide | None:
    """Return the divisor of the scores. By default only the scaled dot product has one."""
    alignment = builder.problem.option("alignment", "scaled_dot")
    scale = builder.problem.option("scale", "d_k" if alignment == "scaled_dot" else "none")
    if scale == "none":
        return None
    if isinstance(scale, Surd):
        return Divide(float(scale), scale.text())
    size = _size(builder, str(scale), width)
    if size is None:
        raise GlassformerError(
            f"the dot products should be divided by √{scale}, but {scale} is not known: give {scale}, or scale."
        )
    said = builder.problem.option(scale)
    if said is not None and width is not None and scale == "d_k" and said != width.size:
        builder.notes.append(f"d_k = {said} as given, although the queries shown have {width.size} numbers.")
    root = Surd.of(size).root()
    return Divide(math.sqrt(size), root.text() if root.decimal else f"√{size}", scale)


def _size(builder: ProblemBuilder, scale: str, width: Axis | None) -> int | None:
    said: int | None = builder.problem.option(scale)
    if said is not None:
        return said
    if scale == "d_k":
        return width.size if width else None
    x = next((tensor for tensor in builder.program.inputs if tensor.name in ("x", "embeddings")), None)
    return x.axes[-1].size if x else None


def _turned(builder: ProblemBuilder, q: Tensor, k: Tensor) -> Tensor:
    """q W of the bilinear form q W kᵀ. W is queries' width × keys' width in either convention."""
    if not builder.problem.has("W"):
        raise GlassformerError("alignment = general compares q W kᵀ: W is missing, a matrix of queries' width × keys' width.")
    wide, tall = k.axes[-1].size, q.axes[-1].size
    entry = builder.written_out("W", builder.problem.entries["W"], q)
    if entry.ndim != 2 or entry.shape != (tall, wide):
        turned = f" W transposed, {size_text(entry.shape[::-1])}, would fit." if entry.shape[::-1] == (tall, wide) else ""
        raise GlassformerError(
            f"q W kᵀ does not fit: q has {tall} features, k has {wide}, W is {size_text(entry.shape)}; "
            f"expected {tall} × {wide}.{turned}"
        )
    inside, outside = q.axes[-1], Axis("d_g", wide)
    columns = builder.problem.convention == "columns"
    axes = (outside, inside) if columns else (inside, outside)  # shown as it was given
    weight = builder.put("W", entry.turned() if columns else entry, *axes, kind="weight")
    return builder.contract("q_W", q, weight, *q.axes[:-1], outside)


def _additive(builder: ProblemBuilder, q: Tensor, k: Tensor, name: str, square: tuple[Axis, ...]) -> Tensor:
    """v · tanh(W_1 q + W_2 k) (Bahdanau et al. 2015), step by step."""
    first, second = _pair(builder, q, k)
    mapped_q = _mapped(builder, q, first, "W_1", "q_mapped")
    mapped_k = _mapped(builder, k, second, "W_2", "k_mapped")
    if mapped_q.axes[-1].size != mapped_k.axes[-1].size:
        raise GlassformerError(
            f"W_1 q + W_2 k does not fit: W_1 q has {mapped_q.axes[-1].size} numbers, W_2 k has {mapped_k.axes[-1].size}."
        )
    d_a = Axis("d_a", mapped_q.axes[-1].size)
    terms = [mapped_q.seen(**{mapped_q.axes[-1].name: "d_a"}), mapped_k.seen(**{mapped_k.axes[-1].name: "d_a"})]
    if builder.problem.has("b_a"):
        terms.append(builder.feature("b_a", d_a, "b_a", "bias"))
    total = builder.step("mapped_sum", ADD, *terms, axes=(*square, d_a))
    hidden = builder.step("tanh", TANH, total)
    if not builder.problem.has("v_a"):
        raise GlassformerError("alignment = additive is v · tanh(W_1 q + W_2 k): the vector v (or v_a) is missing.")
    v = builder.feature("v_a", d_a, "v_a", "weight")
    dot = builder.contract(name, hidden, v, *square)
    builder.alias("dot", dot)
    return dot


def _pair(builder: ProblemBuilder, q: Tensor, k: Tensor) -> tuple[Entry | None, Entry | None]:
    """W_1 and W_2 as d_a × width; one W over the concatenation [q; k] is cut in two."""
    left = builder.problem.option("apply", "W x") == "W x"
    entries = {key: builder.problem.entries.get(key) for key in ("W", "W_a1", "W_a2")}
    both = entries["W"]
    if both is None or entries["W_a1"] is not None:
        pair = (entries["W_a1"], entries["W_a2"])
        first, second = (entry if entry is None or left else entry.turned() for entry in pair)
        return first, second
    both = both if left else both.turned()
    wide = q.axes[-1].size + k.axes[-1].size
    if both.ndim != 2 or both.shape[1] != wide:
        turned = " W transposed would fit." if both.ndim == 2 and both.shape[0] == wide else ""
        raise GlassformerError(f"W [q; k] does not fit: W is {size_text(both.shape)}, [q; k] has {wide} numbers.{turned}")
    return both.at(slice(None), slice(0, q.axes[-1].size)), both.at(slice(None), slice(q.axes[-1].size, None))


def _mapped(builder: ProblemBuilder, x: Tensor, entry: Entry | None, key: str, name: str) -> Tensor:
    """W x with W as d_a × width, as given; without a W, x itself."""
    if entry is None:
        return x
    inside = x.axes[-1]
    entry = builder.written_out(key, entry, x)
    if entry.ndim != 2 or entry.shape[1] != inside.size:
        turned = ""
        if entry.ndim == 2 and entry.shape[0] == inside.size:
            turned = f' {key} transposed, {size_text(entry.shape[::-1])}, would fit: apply = "x W" turns both.'
        raise GlassformerError(
            f"{key} {x.name} does not fit: {key} is {size_text(entry.shape)}, "
            f"{x.name} has {inside.size} numbers a vector.{turned}"
        )
    outside = Axis("d_a", entry.shape[0])
    rows = builder.problem.convention == "rows"
    pair = (outside, inside) if rows else (inside, outside)
    weight = builder.put(key, entry if rows else entry.turned(), *pair, kind="weight")
    return builder.contract(name, x, weight, *x.axes[:-1], outside)


def _unequal(builder: ProblemBuilder, q: Tensor, k: Tensor) -> GlassformerError:
    """q kᵀ with features that differ; perhaps the keys were given the other way round."""
    product = "q kᵀ" if builder.problem.convention == "rows" else "kᵀ q"
    what = (
        f"{product} does not fit: q is {builder.size(q)}, k is {builder.size(k)}, and {q.axes[-1].size} is not {k.axes[-1].size}."
    )
    if k.axis("s").size == q.axes[-1].size:
        now, other = ("rows", "columns") if builder.problem.convention == "rows" else ("columns", "rows")
        turned = size_text(tuple(int(size) for size in builder.size(k).split(" × "))[::-1])
        return GlassformerError(
            f"{what} k transposed, {turned}, would fit: tokens are {now} here; if they should be {other}, "
            f'write convention = "{other}".'
        )
    if q.axes[-1].size == 1 and builder.size(q).split(" × ")[0] == str(k.axes[-1].size):
        return GlassformerError(
            f"{what} q is a column, one number for each of {k.axes[-1].size} tokens: write one query as [1, 2, …]."
        )
    return GlassformerError(f"{what} A dot product needs queries and keys of one width; alignment = general does not need that.")
