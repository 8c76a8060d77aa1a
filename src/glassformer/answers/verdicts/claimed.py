"""A claimed value: a written number or list at its own precision, a shape, a class, or the value of an expression."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from glassformer.answers.mistakes.implied import gap_behind
from glassformer.answers.quantities.answer import Shape, Value
from glassformer.answers.quantities.classes import Growth, class_of
from glassformer.answers.quantities.evaluation import Evaluation, as_number, is_leaf
from glassformer.answers.quantities.formulas import symbolic_shape
from glassformer.errors import shown
from glassformer.expressions.arrays import Array
from glassformer.expressions.exact import Real
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.plain import plain
from glassformer.expressions.precision import Figure, Figures, agrees, equal, last_significant, written
from glassformer.expressions.tree import List, Measured, Name, Node, Number, Product, Quantity, walk

COARSE = 200  # numbers of two digits match too many mistakes to name one


class ClaimedValue:
    """A claimed value: a written number or list at its own precision, a shape, a class, or the value of an expression."""

    def __init__(self, node: Node, *, loosely: bool) -> None:
        self.node, self.loosely = node, loosely
        self.figure: Figure | Figures | None = None
        self.sizes: Shape | None = None
        self.growth: Growth | None = None
        self.number: Real | Array | None = None

    @staticmethod
    def read(node: Node, due: Value, evaluation: Evaluation, *, loosely: bool) -> ClaimedValue:
        claimed = ClaimedValue(node, loosely=loosely)
        if isinstance(due, Growth):
            claimed.growth = class_of(node)
        elif isinstance(due, tuple):
            symbols = any(isinstance(size, str) for size in due)
            claimed.sizes = (symbolic_shape(node) if symbols else None) or _sizes(node, evaluation)
        elif (figure := written(node)) is not None:
            claimed.figure = figure
        else:
            claimed.number = evaluation.number(node)
        return claimed

    def is_(self, value: Value) -> bool:
        """Return whether a value is the claimed one."""
        if isinstance(value, Growth) or self.growth is not None:
            return self.growth == value
        if isinstance(value, tuple) or self.sizes is not None:
            return self.sizes == value
        number = as_number(value, self.node)
        if self.figure is not None:
            return agrees(number, self.figure, loosely=self.loosely) is not None
        assert self.number is not None
        return equal(number, self.number, loosely=self.loosely) is not None

    @property
    def one_number(self) -> Figure | None:
        """The claimed number, written out or as the whole value of an expression."""
        if isinstance(self.number, Real) and self.number.whole:
            return Figure(self.number.low, Fraction(1), text=str(self.number.low))
        return self.figure if isinstance(self.figure, Figure) else None

    @property
    def exact_number(self) -> bool:
        claim = self.one_number
        return claim is not None and claim.unit >= 1 and not claim.rounded and not self.loosely

    @property
    def rounded(self) -> bool:
        """Whether the claim is one rounded number."""
        return isinstance(self.figure, Figure) and not self.exact_number

    @property
    def coarse(self) -> bool:
        """Whether the claim has too few digits to distinguish mistakes."""
        if not isinstance(self.figure, Figure) or self.exact_number:
            return False
        return last_significant(self.figure) / 2 * COARSE > abs(self.figure.value)

    def implied_gap(self, subject: Node) -> str:
        """Return what wrong softmax weights of two scores say about the scores; empty for other claims."""
        return gap_behind(subject, self.figure, {}) if self.figure is not None and is_plain(subject) else ""

    def names(self, value: Any) -> bool:
        """Whether a value is the claimed one to its last digit, not only when it is rounded."""
        if not isinstance(self.figure, Figure):
            return True
        return isinstance(value, int | Fraction | float) and Fraction(value) == self.figure.value


def _sizes(node: Node, evaluation: Evaluation) -> Shape:
    """Return the sizes of `768 x 768`, `[1, 5, 768]`, `t x d_model`, or of a quantity that is a shape."""
    match node:
        case Product(factors) if all(sign == "×" for sign, _ in factors[1:]):
            parts = [factor for _, factor in factors]
        case List(items):
            parts = list(items)
        case Number() | Measured():
            parts = [node]
        case Quantity() | Name():
            value = evaluation.found(node).value
            if isinstance(value, tuple):
                return value
            parts = [node]
        case _:
            raise NotUnderstoodError(f"'{shown(plain(node))}' is not a shape: write 64 x 32 or [1, 5, 768].")
    return tuple(_size(part, evaluation) for part in parts)


def _size(node: Node, evaluation: Evaluation) -> int:
    value = evaluation.number(node)
    if not isinstance(value, Real) or not value.whole:
        raise NotUnderstoodError(f"'{shown(plain(node))}' is not a size: write 64 x 32 or [1, 5, 768].")
    return int(value.low)


def is_plain(node: Node) -> bool:
    """Return whether a side consists of numbers only."""
    return not any(isinstance(leaf, Name | Quantity) and is_leaf(leaf) for leaf in walk(node))
