"""Shape rules of products, sums and concatenations: which sizes must agree, and the axes of the result."""

from __future__ import annotations

from dataclasses import replace

from glassformer.algebra.formulas.form import DOTS, indexed
from glassformer.algebra.formulas.sizes import Size, agreement
from glassformer.algebra.formulas.trace import Adding, Attending, Joining, MismatchError, Projection, Side, Trace, counted
from glassformer.algebra.formulas.values import Axis, AxisBook, Pair, Role, Roles, Scalar, Scale, Source, Value, Weights
from glassformer.algebra.formulas.writing import axis_text, written
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.tree import Call, Grid, List, Node, Product, Sum

ROWWISE = {"rows": 1, "row": 1, "columns": 0, "column": 0, "cols": 0, "col": 0}  # per row: along the second axis
AXIS_NUMBERS = {"0": 0, "1": 1, "-1": 1, "-2": 0, "vertical": 0, "horizontal": 1}


class Rules:
    """Computes the shapes of results and the roles of matrices in attention."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.book: AxisBook = trace.book
        self.known = trace.known

    def same(self, left: Size, right: Size) -> bool:
        """Return whether two sizes agree; a single symbol is bound to the other's number, and conditions are recorded."""
        left, right = left.put_in(self.known), right.put_in(self.known)
        found = agreement(left, right)
        if found == "bound":
            symbol, size = (left.symbol, right) if left.symbol else (right.symbol, left)
            self.known[str(symbol)] = size
            self.trace.conditions[f"{symbol} = {size}"] = None
        elif found == "conditional":
            self.trace.conditions[f"{left} = {right}"] = None
        return found != "different"

    def agree(self, left: Axis, right: Axis) -> bool:
        return agreement(left.size.put_in(self.known), right.size.put_in(self.known)) != "different"

    def unit(self, axis: Axis) -> bool:
        return axis.size.put_in(self.known).number == 1

    # Products

    def multiplied(self, node: Product, left: Value, right: Value) -> Value:
        """Evaluate a matrix product: the inner sizes must agree, the outer ones are the result."""
        if left.loose and not self.unit(right.axes[0]) and self.agree(left.axes[0], right.axes[0]):
            left = left.transposed()  # a vector left of a matrix is a row
        inner, outer = left.axes[1], right.axes[0]
        for one, other in ((left, right), (right, left)):
            if all(map(self.unit, one.axes)) and not self.agree(inner, outer):
                return replace(other, scales=(*other.scales, Scale(Scalar(), node)))  # q^T k is a number
        self.trace.operands[node] = (left.sizes, right.sizes)
        if not self.same(inner.size, outer.size):
            columns, rows = self.trace.sizes((inner, outer))
            why = f"{counted(columns, 'column')} on the left, {counted(rows, 'row')} on the right"
            raise MismatchError(node, (left, right), why)
        if left.source == "weight" and right.source == "weight":
            self.book.merge(inner, outer)
            return Value((left.axes[0], right.axes[1]), "weight", role=shared_role(left, right))
        if "weight" in (left.source, right.source):
            return self.projected(node, left, right)
        if (left.weights is None) != (right.weights is None):
            return self.attended(node, left, right)
        return self.paired(node, left, right)

    def projected(self, node: Product, left: Value, right: Value) -> Value:
        """Evaluate data times weight: the axis that is summed over is features, the other one tokens."""
        side: Side = "left" if left.source == "weight" else "right"
        weight, data = (left, right) if side == "left" else (right, left)
        fits = self.book.merge(left.axes[1], right.axes[0])
        free = 1 if side == "left" else 0
        if fits and data.weights is None and data.pair is None:
            self.book.mark(data.axes[free], "tokens")
        self.trace.events.append(Projection(node, data, weight, side, clash=not fits))
        return Value(
            (left.axes[0], right.axes[1]),
            "data",
            role=data.role or weight.role,
            origins=data.origins,
            scales=(*left.scales, *right.scales),
            attended=free if fits and data.attended == free else None,
        )

    def paired(self, node: Product, left: Value, right: Value) -> Value:
        """Evaluate data times data, which are scores if a softmax follows."""
        fits = self.book.merge(left.axes[1], right.axes[0])
        roles: Roles = (None, None)
        if {left.role, right.role} <= {"queries", "keys", None} and left.role != right.role:
            first: Role = "queries" if left.role == "queries" or right.role == "keys" else "keys"
            roles = (first, "keys" if first == "queries" else "queries")
        return Value(
            (left.axes[0], right.axes[1]),
            "data",
            origins=left.origins | right.origins,
            scales=(*left.scales, *right.scales),
            pair=Pair(node, left, right, roles, clash=not fits),
        )

    def attended(self, node: Product, left: Value, right: Value) -> Value:
        """Evaluate attention weights times values."""
        side: Side = "right" if left.weights else "left"
        weights, values = (left.weights, right) if left.weights else (right.weights, left)
        assert weights is not None
        strange = self.from_queries(weights, values, side)
        fits = self.book.merge(left.axes[1], right.axes[0])
        self.trace.events.append(Attending(node, weights, values, side, clash=not fits, from_queries=strange))
        axes = (left.axes[0], right.axes[1])
        return Value(axes, "data", origins=left.origins | right.origins, attended=0 if side == "right" else 1)

    def from_queries(self, weights: Weights, values: Value, side: Side) -> bool:
        """Return whether the values come from the queries' tokens while the keys come from others."""
        keys = weights.pair.of("keys")
        if not (weights.pair.of("queries") and keys and keys[1].origins and values.origins):
            return False
        contracted = self.book.root(values.axes[0 if side == "right" else 1])
        queries_axis, keys_axis = (self.book.root(weights.axes[weights.pair.roles.index(role)]) for role in ("queries", "keys"))
        given = self.trace.given
        made = all(given[origin][1].role is None for origin in keys[1].origins if origin in given)
        return made and queries_axis == contracted != keys_axis and not keys[1].origins & values.origins

    # Sums

    def broadcast(self, node: Node, left: Value, right: Value) -> Value:
        """Evaluate a sum or another element-wise operation: equal shapes, or a vector along one axis."""
        if not left.axes or not right.axes:
            found = left if left.axes else right
            return found if found.axes else replace(found, scalar=Scalar())
        if left.loose != right.loose:
            left, right = (self.laid(left, right), right) if left.loose else (left, self.laid(right, left))
        axes: list[Axis] = []
        clash = False
        for a, b in zip(left.axes, right.axes, strict=True):
            if self.unit(a) != self.unit(b):
                axes.append(b if self.unit(a) else a)
                continue
            if not self.same(a.size, b.size):
                raise self.mismatch(node, left, right, "added element by element")
            clash |= not self.book.merge(a, b)
            axes.append(a)
        if clash and isinstance(node, Sum):
            self.trace.events.append(Adding(node, left, right))
        return blended(tuple(axes), left, right)

    def mismatch(self, node: Node, left: Value, right: Value, what: str) -> MismatchError:
        shapes = f"{self.trace.shape(left.axes)} and {self.trace.shape(right.axes)}"
        return MismatchError(node, (left, right), f"{shapes} cannot be {what}")

    def laid(self, vector: Value, matrix: Value) -> Value:
        """Orient a vector for an operation with a matrix: along the axis of its length; along the features if both fit."""
        fits = [axis for axis in (0, 1) if self.agree(vector.axes[0], matrix.axes[axis])]
        tokens = matrix.tokens_axis(self.book)
        if vector.source == "weight" and len(fits) == 2 and tokens is not None:
            fits = [1 - tokens]
        elif len(fits) == 2 and not self.unit(matrix.axes[1]):
            return Value((self.book.new(Size.of(1)), self.book.new(matrix.axes[1].size)), vector.source)
        return vector.transposed() if fits == [1] else vector

    # Concatenations

    def axis_of(self, word: str, value: Value, *, rowwise: bool = False) -> int | None:
        """Return the number of the axis that a word names. `rows` means per row for a softmax, and is an error elsewhere."""
        kinds, roles = self.book.kinds(value.axes), value.pair.roles if value.pair else ()
        if not word or word in AXIS_NUMBERS:
            return AXIS_NUMBERS.get(word)
        if rowwise and word in ROWWISE:
            return ROWWISE[word]
        for named in (kinds, roles if rowwise else ()):
            if list(named).count(word) == 1:  # type: ignore[arg-type]
                return list(named).index(word)  # type: ignore[arg-type]
        raise GlassformerError(
            f"'{shown(axis_text(word))}' does not name one axis here: write axis=0 (down the columns) or axis=1 (along the rows)."
        )

    def join(self, node: Call | List | Grid, values: list[Value], copies: Size | None = None) -> Value:
        """Concatenate matrices; `concat` without an axis joins features; after dots, there are `copies` of the first."""
        first = values[0]
        if any(not value.axes for value in values):
            raise GlassformerError(f"{shown(written(node))} contains a number: only matrices and vectors can be concatenated.")
        chosen = self.axis_of(node.axis, first) if isinstance(node, Call) else 1 if isinstance(node, List) else 0
        tokens = first.tokens_axis(self.book)
        tokens = first.attended if tokens is None else tokens
        axis = chosen if chosen is not None else 0 if first.loose else 1 - tokens if tokens is not None else 1
        for other in values[1:]:
            if not self.same(first.axes[1 - axis].size, other.axes[1 - axis].size):
                raise self.mismatch(node, first, other, f"placed {'side by side' if axis else 'one below the other'}")
            self.book.merge(first.axes[1 - axis], other.axes[1 - axis])
        self.trace.events.append(Joining(node, tuple(values), axis, chosen is not None))
        total = first.axes[axis].size * copies if copies else sum((value.axes[axis].size for value in values), Size(()))
        axes = list(first.axes)
        axes[axis] = self.book.new(total, self.book.kind(first.axes[axis]))
        source: Source = "data" if any(value.source == "data" for value in values) else "weight"
        origins = frozenset[str]().union(*(value.origins for value in values))
        return Value(
            tuple(axes),
            source,
            loose=axis == 0 and all(value.loose for value in values),
            role=first.role,
            origins=origins,
            attended=first.attended if first.attended != axis else None,
        )

    def copies(self, node: Node, last: Node) -> Size:
        """Return the number of parts in a concatenation with dots: the index of the last one."""
        for text in indexed(last):
            index = text.rpartition("_")[2]
            if index.isdecimal():
                return Size.of(max(1, int(index[:9])))
            if index != text:
                return Size.of("heads") if index not in self.known and "heads" in self.known else Size.of(index)
        raise GlassformerError(
            f"{shown(written(node))}: how many parts? The one after the dots needs an index, as in head_8 or head_h."
        )


def shared_role(left: Value, right: Value) -> Role | None:
    return left.role if left.role == right.role or right.role is None else None if left.role else right.role


def blended(axes: tuple[Axis, ...], left: Value, right: Value) -> Value:
    """Combine the origins and roles of two summands."""
    parameter = left.source == "weight" or right.source == "weight"
    pair = left.pair or right.pair
    if left.pair and right.pair:
        pair = replace(left.pair, several=True)
    kept = left if left.source == "data" else right
    return Value(
        axes,
        "data" if "data" in (left.source, right.source) else "weight",
        loose=left.loose and right.loose,
        role=shared_role(left, right),
        origins=left.origins | right.origins,
        scales=kept.scales if parameter or pair else (),
        pair=pair,
        attended=kept.attended if parameter else None,
    )


def before_dots(parts: tuple[Node, ...]) -> tuple[tuple[Node, ...], Node | None]:
    """Return the parts of a concatenation before its dots, and the one after them."""
    if DOTS not in parts:
        return parts, None
    place = parts.index(DOTS)
    if place == 0 or place != len(parts) - 2:
        raise GlassformerError("dots must be between the first parts and the last one, as in head_1, …, head_h.")
    return parts[:place], parts[-1]
