"""The rules of products: which sizes must agree, what meets what, and what comes out."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from glassformer.answers.shapes.axes import Axis, AxisBook, Role
from glassformer.answers.shapes.nodes import Node, Product
from glassformer.answers.shapes.sizes import Size, agreement
from glassformer.answers.shapes.trace import Attending, MismatchError, Projection, Trace
from glassformer.answers.shapes.values import Pair, Scalar, Scale, Value, Weights


class Products:
    """Matrix products, and the roles that their factors play in attention."""

    trace: Trace
    book: AxisBook
    known: dict[str, Size]
    operands: dict[Node, tuple[tuple[Size, ...], ...]]

    def same(self, left: Size, right: Size) -> bool:
        """Whether two sizes agree; a lone symbol takes the number that it meets, and what must hold is noted."""
        left, right = left.put_in(self.known), right.put_in(self.known)
        found = agreement(left, right)
        if found == "bound":
            symbol, size = (left.symbol, right) if left.symbol else (right.symbol, left)
            assert symbol is not None
            self.known[symbol] = size
            self.trace.note(f"{symbol} = {size}")
        elif found == "conditional":
            self.trace.note(f"{left} = {right}")
        return found != "different"

    def multiplied(self, node: Product, left: Value, right: Value) -> Value:
        """A matrix product: the inner sizes agree, the outer ones are the result."""
        if left.loose and not self.unit(right.axes[0]) and self.agree(left.axes[0], right.axes[0]):
            left = left.transposed()  # a vector lies down in front of a matrix
        inner, outer = left.axes[1], right.axes[0]
        for one, other in ((left, right), (right, left)):
            if all(map(self.unit, one.axes)) and not self.agree(inner, outer):
                return replace(other, scales=(*other.scales, Scale(Scalar(), node)))  # q^T k is a number
        self.operands[node] = (left.sizes, right.sizes)
        if not self.same(inner.size, outer.size):
            inner_size, outer_size = self.trace.sizes((inner, outer))
            raise MismatchError(
                node, (left, right), f"{counted(inner_size, 'column')} on the left, {counted(outer_size, 'row')} on the right"
            )
        if left.source == "weight" and right.source == "weight":
            self.book.merge(inner, outer)
            return Value((left.axes[0], right.axes[1]), "weight", role=self.shared_role(left, right))
        if "weight" in (left.source, right.source):
            return self.projected(node, left, right)
        if (left.weights is None) != (right.weights is None):
            return self.attended(node, left, right)
        return self.paired(node, left, right)

    def unit(self, axis: Axis) -> bool:
        return axis.size.put_in(self.known).number == 1

    def agree(self, left: Axis, right: Axis) -> bool:
        return agreement(left.size.put_in(self.known), right.size.put_in(self.known)) != "different"

    def shared_role(self, left: Value, right: Value) -> Role | None:
        return left.role if left.role == right.role or right.role is None else None if left.role else right.role

    def projected(self, node: Product, left: Value, right: Value) -> Value:
        """Data and a weight. What meets the weight is features; what stays free is tokens."""
        side: Literal["left", "right"] = "left" if left.source == "weight" else "right"
        weight, data = (left, right) if side == "left" else (right, left)
        weight_node, data_node = (node.left, node.right) if side == "left" else (node.right, node.left)
        fits = self.book.merge(left.axes[1], right.axes[0])
        free = data.axes[1] if side == "left" else data.axes[0]
        if fits and data.weights is None and data.pair is None:
            self.book.mark(free, "tokens")
        self.trace.events.append(Projection(node, data, weight, data_node, weight_node, side, clash=not fits))
        kept = data.attended if fits and data.attended == (1 if side == "left" else 0) else None
        return Value(
            (left.axes[0], right.axes[1]),
            "data",
            role=data.role or weight.role,
            origins=data.origins,
            scales=(*left.scales, *right.scales),
            attended=kept,
        )

    def paired(self, node: Product, left: Value, right: Value) -> Value:
        """Data times data: scores, if a softmax comes next."""
        fits = self.book.merge(left.axes[1], right.axes[0])
        roles = (left.role, right.role)
        if roles in (("queries", None), (None, "keys")):
            roles = ("queries", "keys")
        elif roles in (("keys", None), (None, "queries")):
            roles = ("keys", "queries")
        elif set(roles) != {"queries", "keys"}:
            roles = (None, None)
        return Value(
            (left.axes[0], right.axes[1]),
            "data",
            origins=left.origins | right.origins,
            scales=(*left.scales, *right.scales),
            pair=Pair(node, left, right, roles, clash=not fits),
        )

    def attended(self, node: Product, left: Value, right: Value) -> Value:
        """Attention weights times values."""
        weights, values = (left, right) if left.weights else (right, left)
        assert weights.weights is not None
        side: Literal["left", "right"] = "right" if values is right else "left"
        inner, outer = left.axes[1], right.axes[0]
        event = Attending(node, weights, values, side, clash=False, from_queries=self.from_queries(weights.weights, values, side))
        fits = self.book.merge(inner, outer)
        self.trace.events.append(replace(event, clash=not fits))
        return Value(
            (left.axes[0], right.axes[1]),
            "data",
            origins=left.origins | right.origins,
            attended=0 if side == "right" else 1,
        )

    def from_queries(self, weights: Weights, values: Value, side: str) -> bool:
        """Whether the values are the queries' own tokens, and the keys certainly other ones."""
        sides = {role: weights.pair.of(role) for role in ("queries", "keys")}
        queries, keys = sides["queries"], sides["keys"]
        if not (queries and keys and keys[1].origins and values.origins):
            return False
        contracted = values.axes[0 if side == "right" else 1]
        places = {role: weights.axes[weights.pair.roles.index(role)] for role in ("queries", "keys")}
        made = all(self.trace.given[origin][1].role is None for origin in keys[1].origins if origin in self.trace.given)
        same = {role: self.book.root(axis) == self.book.root(contracted) for role, axis in places.items()}
        return made and same["queries"] and not same["keys"] and not keys[1].origins & values.origins


def counted(size: Size, word: str) -> str:
    """`6 columns`, `1 row`."""
    return f"{size} {word}" if size.number == 1 else f"{size} {word}s"
