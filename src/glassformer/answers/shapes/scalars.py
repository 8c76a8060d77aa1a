"""Numbers in a formula: scales, roots and powers, as far as they can be followed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from glassformer.answers.shapes.functions import Functions
from glassformer.answers.shapes.nodes import Call, Name, Negative, Node, Number, Power, Product, Quotient
from glassformer.answers.shapes.sizes import Size
from glassformer.answers.shapes.values import Scale, Value, number
from glassformer.answers.shapes.writing import written
from glassformer.spec import GlassformerError, shown


class Scalars(Functions):
    """`sqrt(d_k)`, `d_k^(-1/2)`, `1 / 8`: what the scores are divided by."""

    def name(self, node: Name, *, as_number: bool = False) -> Value:
        """The value of a name."""
        raise NotImplementedError

    def number(self, node: Number) -> Value:
        return number(Size.of(node.value))

    def as_number(self, node: Node) -> Value:
        """An expression where a number belongs: below a line, under a root. A name may be new here."""
        if isinstance(node, Name):
            return self.name(node, as_number=True)
        if isinstance(node, Call) and node.function == "sqrt":
            return self.root(self.as_number(node.arguments[0]))
        if isinstance(node, Power):
            return self.raised(self.as_number(node.of), node.exponent)
        if isinstance(node, Product | Quotient):
            pair = (node.left, node.right) if isinstance(node, Product) else (node.above, node.below)
            left, right = map(self.as_number, pair)
            if not left.axes and not right.axes:
                return self.numbers(left, right, divide=isinstance(node, Quotient))
        return self.value(node)

    def negative(self, node: Negative) -> Value:
        value = self.value(node.of)
        return number() if not value.axes else value

    def power(self, node: Power) -> Value:
        return self.raised(self.as_number(node.of), node.exponent)

    def raised(self, value: Value, exponent: Fraction) -> Value:
        if value.axes or value.scalar is None:
            return replace(value, pair=None, weights=None)
        return number(value.scalar.base, value.scalar.exponent * exponent)

    def root(self, value: Value) -> Value:
        return self.raised(value, Fraction(1, 2))

    def quotient(self, node: Quotient) -> Value:
        above, below = self.value(node.above), self.as_number(node.below)
        if below.axes:
            return self.broadcast(node, above, below)
        if not above.axes:
            return self.numbers(above, below, divide=True)
        assert below.scalar is not None
        if below.scalar.base is not None and not below.scalar.base.terms:
            raise GlassformerError(f"'{shown(written(node))}' divides by zero.")
        return replace(above, scales=(*above.scales, Scale(below.scalar, node.below)))

    def numbers(self, left: Value, right: Value, *, divide: bool) -> Value:
        """Two numbers multiplied or divided, as far as they can be followed."""
        a, b = left.scalar, right.scalar
        if a is None or b is None or a.base is None or b.base is None:
            return number()
        if divide and not b.base.terms:
            raise GlassformerError("the formula divides by zero.")
        if a.base == Size.of(1) and divide:
            return number(b.base, -b.exponent)
        if a.exponent == b.exponent and (not divide or len(b.base.terms) == 1):
            return number(a.base / b.base if divide else a.base * b.base, a.exponent)
        return number()
