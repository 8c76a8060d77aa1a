"""The rules of sums and joins: equal shapes, vectors along one axis, matrices beside or below each other."""

from __future__ import annotations

from dataclasses import replace

from glassformer.answers.shapes.axes import Axis
from glassformer.answers.shapes.nodes import Joined, Name, Node, Sum
from glassformer.answers.shapes.products import Products
from glassformer.answers.shapes.sizes import Size
from glassformer.answers.shapes.trace import Adding, Joining, MismatchError
from glassformer.answers.shapes.values import Source, Value
from glassformer.answers.shapes.writing import written
from glassformer.spec import GlassformerError, shown


class Joins(Products):
    """Sums, operations entry by entry, and concatenation."""

    def broadcast(self, node: Node, left: Value, right: Value) -> Value:
        """A sum, or any operation entry by entry: equal shapes, or a vector along one axis."""
        if not left.axes or not right.axes:
            found = left if left.axes else right
            return found if found.axes else replace(found, scalar=replace(found.scalar, base=None) if found.scalar else None)
        if left.loose != right.loose:
            matrix, vector = (right, left) if left.loose else (left, right)
            laid = self.laid(vector, matrix)
            left, right = (laid, matrix) if left.loose else (matrix, laid)
        axes: list[Axis] = []
        clash = False
        for a, b in zip(left.axes, right.axes, strict=True):
            if self.unit(a) != self.unit(b):
                axes.append(b if self.unit(a) else a)
                continue
            if not self.same(a.size, b.size):
                raise MismatchError(
                    node,
                    (left, right),
                    f"{self.trace.shape(left.axes)} and {self.trace.shape(right.axes)} cannot be added entry by entry",
                )
            clash |= not self.book.merge(a, b)
            axes.append(a)
        if clash and isinstance(node, Sum):
            self.trace.events.append(Adding(node, left, right))
        return self.blended(tuple(axes), left, right)

    def laid(self, vector: Value, matrix: Value) -> Value:
        """A loose vector beside a matrix: along the axis of its length; along the features where both would do."""
        fits = [axis for axis in (0, 1) if self.agree(vector.axes[0], matrix.axes[axis])]
        if vector.source == "weight" and len(fits) == 2 and matrix.tokens_axis(self.book) is not None:
            fits = [1 - (matrix.tokens_axis(self.book) or 0)]
        elif len(fits) == 2 and not self.unit(matrix.axes[1]):
            return Value((self.book.new(Size.of(1)), self.book.new(matrix.axes[1].size)), vector.source)
        return vector.transposed() if fits == [1] else vector

    def blended(self, axes: tuple[Axis, ...], left: Value, right: Value) -> Value:
        """What two summands' pasts become in their sum."""
        parameter = left.source == "weight" or right.source == "weight"
        pair = left.pair or right.pair
        if left.pair and right.pair:
            pair = replace(left.pair, several=True)
        kept = left if left.source == "data" else right
        return Value(
            axes,
            "data" if "data" in (left.source, right.source) else "weight",
            loose=left.loose and right.loose,
            role=self.shared_role(left, right),
            origins=left.origins | right.origins,
            scales=kept.scales if parameter or pair else (),
            pair=pair,
            weights=None,
            attended=kept.attended if parameter else None,
        )

    def axis_of(self, word: str | None, value: Value, *, rowwise: bool = False) -> int | None:
        """The number of the axis that a word means. `rows` means row by row for a softmax, and is refused elsewhere."""
        if word is None:
            return None
        if word.startswith("axis="):
            return {"0": 0, "1": 1, "-1": 1, "-2": 0}.get(word.removeprefix("axis="), self.no_axis(word))
        if rowwise and word in ("rows", "row", "columns", "column", "cols", "col"):
            return 1 if word.startswith("row") else 0
        if word in ("vertical", "horizontal"):
            return 0 if word == "vertical" else 1
        if word in ("tokens", "features"):
            kinds = self.book.kinds(value.axes)
            return kinds.index(word) if kinds.count(word) == 1 else self.no_axis(word)
        if rowwise and word in ("keys", "queries") and value.pair and word in value.pair.roles:
            return value.pair.roles.index(word)
        return self.no_axis(word)

    def no_axis(self, word: str) -> int:
        if word in ("axis=0", "axis=1", "axis=-1", "axis=-2"):
            return 0
        raise GlassformerError(f"which axis is '{shown(word)}' here? Write axis=0 (down the columns) or axis=1 (along the rows).")

    def join(self, node: Joined, values: list[Value]) -> Value:
        """Matrices beside or below each other; `concat` without an axis joins features."""
        first = values[0]
        if any(not value.axes for value in values):
            raise GlassformerError(f"{shown(written(node))} joins a number: matrices and vectors can be joined.")
        chosen = {"beside": 1, "below": 0}.get(node.direction or "", self.axis_of(node.axis, first))
        tokens = first.tokens_axis(self.book)
        tokens = first.attended if tokens is None else tokens
        axis = chosen if chosen is not None else 0 if first.loose else 1 - tokens if tokens is not None else 1
        for other in values[1:]:
            if not self.same(first.axes[1 - axis].size, other.axes[1 - axis].size):
                where = "beside" if axis else "below"
                raise MismatchError(
                    node,
                    (first, other),
                    f"{self.trace.shape(first.axes)} and {self.trace.shape(other.axes)} cannot be put {where} each other",
                )
            self.book.merge(first.axes[1 - axis], other.axes[1 - axis])
        self.trace.events.append(Joining(node, tuple(values), axis, chosen is not None))
        total = first.axes[axis].size * self.copies(node) if node.until else Size.of(0)
        if not node.until:
            for value in values:
                total = total + value.axes[axis].size
        axes = list(first.axes)
        axes[axis] = self.book.new(total, self.book.kind(first.axes[axis]))
        attended = first.attended if first.attended is not None and first.attended != axis else None
        source: Source = "data" if any(value.source == "data" for value in values) else "weight"
        origins = frozenset[str]().union(*(value.origins for value in values))
        loose = axis == 0 and all(value.loose for value in values)
        return Value(tuple(axes), source, loose=loose, role=first.role, origins=origins, attended=attended)

    def copies(self, node: Joined) -> Size:
        """How many there are from the first part to the one after the dots: its index."""
        inner: list[Node] = [node.until] if node.until else []
        while inner:
            found = inner.pop()
            if isinstance(found, Name) and found.indexes:
                index = found.indexes[-1]
                if index.isdecimal():
                    return Size.of(max(1, int(index[:9])))
                return Size.of("heads") if index not in self.known and "heads" in self.known else Size.of(index)
            inner += found.inner
        raise GlassformerError(
            f"{shown(written(node))}: how many? The part after the dots needs an index, as in head_8 or head_h."
        )
