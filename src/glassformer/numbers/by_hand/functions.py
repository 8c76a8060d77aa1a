"""Single functions by hand: a distribution, a norm, a feed-forward block, positions, a linear map, a matrix product."""

from __future__ import annotations

from collections.abc import Callable

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand.alignment import scaled
from glassformer.numbers.by_hand.attention import DISTRIBUTIONS
from glassformer.numbers.by_hand.builder import ProblemBuilder
from glassformer.numbers.by_hand.entries import Entry, size_text
from glassformer.numbers.by_hand.layer import ADD, attention_problem, fed_forward, normalised, pointwise, summed
from glassformer.numbers.by_hand.masks import masked
from glassformer.numbers.by_hand.operations import PositionEntries, PositionTable, Row, Turn
from glassformer.numbers.by_hand.surd import Surd
from glassformer.numbers.by_hand.words import Kind
from glassformer.program import Axis, Tensor
from glassformer.program.operations import Scale


def the_vectors(builder: ProblemBuilder) -> Tensor:
    """x, a vector or rows of vectors."""
    if not builder.problem.has("X"):
        raise GlassformerError(
            f"the numbers are missing: a problem about {builder.problem.kind} needs x, a vector or rows of vectors."
        )
    x = builder.vectors("X", "x", "t", "d_model")
    if len(x.axes) == 2:
        builder.label(x.axes[0], builder.problem.option("tokens"), "tokens")
    return x


def distribution_problem(builder: ProblemBuilder) -> Tensor:
    """softmax(x / T), with an optional mask; or sparsemax, sigmoid, hardmax."""
    problem = builder.problem
    key = next((name for name in ("X", "masked") if problem.has(name)), None)
    if key is None:
        raise GlassformerError("the numbers are missing: a softmax needs x (or scores, logits), a vector or rows.")
    entry = builder.upright(key)
    if entry.described or entry.ndim not in (1, 2):
        raise GlassformerError(f"x is {size_text(entry.shape)}: expected a vector or rows of numbers.")
    s = Axis("s", entry.shape[-1])
    axes = (s,) if entry.ndim == 1 else (Axis("t", entry.shape[0]), s)
    builder.label(axes[0], entry.labels, "x")
    builder.label(s, problem.option("tokens"), "tokens")
    x = builder.put("x" if key == "X" else "masked", entry._replace(labels=None), *axes)
    builder.problem = problem.choosing(scale=problem.option("scale", "d_k" if problem.option("d_k") else "none"))
    x = scaled(builder, x)
    x = masked(builder, x)
    result = builder.step("output", DISTRIBUTIONS[problem.option("distribution", "softmax")], x)
    builder.alias("weights", result)
    builder.alias("softmax", result)
    return result


def norm_problem(builder: ProblemBuilder) -> Tensor:
    x = the_vectors(builder)
    if builder.problem.has("residual"):
        other = builder.vectors("residual", "residual", "t", "d_model")
        x = summed(builder, "sum", x, other)
    return normalised(builder, x)


def ffn_problem(builder: ProblemBuilder) -> Tensor:
    """A feed-forward block, optionally with the residual sum and the norm that follow it in a layer."""
    x = the_vectors(builder)
    residual = bool(builder.problem.option("residual"))
    norm = builder.problem.option("norm", "none") != "none" or builder.problem.has("gamma")
    result = fed_forward(builder, x, "ffn" if residual or norm else "output")
    result = summed(builder, "sum", x, result) if residual else result
    return normalised(builder, result) if norm else result


def activation_problem(builder: ProblemBuilder) -> Tensor:
    x = the_vectors(builder)
    operation = pointwise(builder.problem.option("activation", "relu"), x.axes[-1].name)
    if operation is None:
        raise GlassformerError("activation = none changes nothing: choose relu, gelu, tanh, …")
    return builder.step("output", operation, x)


def positions_problem(builder: ProblemBuilder) -> Tensor:
    """The sinusoidal table, or single entries of it, or embeddings with the table added."""
    problem = builder.problem
    x = builder.vectors("X", "x", "t", "d_model") if problem.has("X") else None
    width = problem.option("d_model") or (x.axes[-1].size if x else None)
    if width is None:
        raise GlassformerError("the width is missing: give d_model, the number of features of a position.")
    if x is not None and x.axes[-1].size != width:
        raise GlassformerError(f"d_model = {width}, but the embeddings have {x.axes[-1].size} features.")
    base, layout = float(problem.option("base", Surd.of(10000))), problem.option("layout", "interleaved")
    one = problem.option("position")
    if isinstance(one, int) and x is None:  # one position: one vector, or one number of it
        feature = problem.option("feature")
        features = range(width) if feature is None else (feature,)
        return _entries(builder, width, base, tuple((one, number) for number in features))
    if problem.option("entries"):
        return _entries(builder, width, base, problem.option("entries"))
    rows = _places(one if one is not None else problem.option("positions"), x)
    builder.labels["d_model"] = tuple(str(number) for number in range(width))
    table = builder.step("pe", PositionTable(width, base, layout, rows))
    builder.label(table.axes[0], problem.option("tokens") or tuple(f"pos {place:g}" for place in rows), "tokens")
    builder.alias("table", table)
    return _added(builder, x, table) if x is not None else table


def _places(places: object, x: Tensor | None) -> tuple[float, ...]:
    if places in (None, "sinusoidal") and x is not None:
        return tuple(float(place) for place in range(x.axes[0].size if len(x.axes) == 2 else 1))
    if isinstance(places, tuple):
        return places
    if isinstance(places, int | float) and x is not None and len(x.axes) == 1:
        return (float(places),)
    if isinstance(places, int) and places >= 1:
        return tuple(float(place) for place in range(places))
    raise GlassformerError(
        "positions is missing: how many rows of the table (positions = 4), or which ones (positions = [0, 2])."
    )


def _entries(builder: ProblemBuilder, width: int, base: float, pairs: tuple[tuple[int, int], ...]) -> Tensor:
    for _, feature in pairs:
        if feature >= width:
            raise GlassformerError(f"feature {feature} is outside the table: d_model = {width} has features 0 to {width - 1}.")
    layout = builder.problem.option("layout", "interleaved")
    result = builder.step("pe", PositionEntries(width, base, layout, pairs))
    builder.label(result.axes[0], tuple(f"PE({position}, {feature})" for position, feature in pairs), "entries")
    return result


def _added(builder: ProblemBuilder, x: Tensor, table: Tensor) -> Tensor:
    scale = builder.problem.option("embedding_scale", "none")
    if scale != "none":
        by = Surd.of(x.axes[-1].size).root() if isinstance(scale, str) else scale
        x = builder.step("embedded", Scale(float(by), by.text()), x)
    if len(x.axes) == 1:
        table = builder.step("pe_row", Row("t", 0, builder.labels["t"][0]), table)
    if x.shape != table.shape:
        raise GlassformerError(f"x + PE does not fit: x is {builder.size(x)}, the table is {builder.size(table)}.")
    return builder.step("output", ADD, x, table)


def rotary_problem(builder: ProblemBuilder) -> Tensor:
    x = the_vectors(builder)
    width = x.axes[-1].size
    if width % 2:
        raise GlassformerError(f"x has {width} features: rotary positions rotate them in pairs, so the number must be even.")
    places = builder.problem.option("positions", tuple(range(x.axes[0].size)) if len(x.axes) == 2 else None)
    if places is None:
        raise GlassformerError("position is missing: give the position of the vector, counted from 0.")
    if isinstance(places, str):
        raise GlassformerError(f"positions = {places} is not allowed here: give the positions as numbers, as in [0, 1].")
    places = places if isinstance(places, tuple) else (places,)
    count = x.axes[0].size if len(x.axes) == 2 else 1
    if len(places) != count:
        raise GlassformerError(f"{len(places)} positions are given for {count} vectors.")
    base = float(builder.problem.option("base", Surd.of(10000)))
    turn = Turn(places, base, builder.problem.option("pairs", "neighbours"), "t" if len(x.axes) == 2 else None)
    return builder.step("output", turn, x)


def linear_problem(builder: ProblemBuilder) -> Tensor:
    """x W + b, optionally followed by a softmax or an activation."""
    x = the_vectors(builder)
    if not builder.problem.has("W"):
        raise GlassformerError("a linear map is x W + b: W is missing.")
    operation = pointwise(builder.problem.option("activation", "none"), "d_out")
    result = builder.project(x, "W", "output" if operation is None else "hidden", "d_out", bias="b")
    return builder.step("output", operation, result) if operation else result


def product_problem(builder: ProblemBuilder) -> Tensor:
    """A B, or A B C: as they are written, in either convention."""
    for key in ("A", "B"):
        if not builder.problem.has(key):
            raise GlassformerError(f"a product is A B: {key} is missing.")
    left = _factor(builder, "A", "i", "j")
    keys = [key for key in ("B", "C") if builder.problem.has(key)]
    for key, letter in zip(keys, "kl", strict=False):
        if not left.axes:
            raise GlassformerError(f"{left.name} is one number: it cannot be multiplied with the matrix {key}.")
        inner = left.axes[-1]
        right = _factor(builder, key, inner.name, letter)
        if inner.size != right.axes[0].size:
            turned = f" {key} transposed, {size_text(right.shape[::-1])}, would fit." if right.shape[-1] == inner.size else ""
            raise GlassformerError(
                f"{left.name} {key} does not fit: {left.name} is {size_text(left.shape)}, {key} is {size_text(right.shape)}, "
                f"and {inner.size} is not {right.axes[0].size}.{turned}"
            )
        name = "output" if key == keys[-1] else f"{left.name}{key}"
        left = builder.contract(name, left, right, *left.axes[:-1], *right.axes[1:])
    builder.alias("product", left)
    return left


def _factor(builder: ProblemBuilder, key: str, rows: str, columns: str) -> Tensor:
    """Return a matrix with named axes; a vector is a row before the first operator, and a column after it."""
    entry: Entry = builder.problem.entries[key]
    if entry.described or entry.ndim not in (1, 2):
        raise GlassformerError(f"{key} is {size_text(entry.shape)}: expected a vector or a matrix.")
    names = (rows, columns) if entry.ndim == 2 else (columns,) if key == "A" else (rows,)
    axes = tuple(Axis(name, size) for name, size in zip(names, entry.shape, strict=True))
    if entry.labels is not None:
        builder.labels.setdefault(axes[0].name, entry.labels)
    return builder.put(key, entry._replace(labels=None), *axes)


BUILDERS: dict[Kind, Callable[[ProblemBuilder], Tensor]] = {
    "attention": attention_problem,
    "encoder_layer": attention_problem,
    "softmax": distribution_problem,
    "layer_norm": norm_problem,
    "rms_norm": norm_problem,
    "ffn": ffn_problem,
    "activation": activation_problem,
    "positions": positions_problem,
    "rotary": rotary_problem,
    "linear": linear_problem,
    "product": product_problem,
}
