"""Arithmetic on the drawn parameters of a question, in the language of quantities: `d / h`, `mod(d, h) = 0`, `softmax(x)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from glassformer.answers.expressions import Array, Evaluator, NotUnderstoodError, Reading, Real, Value, exactly
from glassformer.answers.expressions.arrays import matrix
from glassformer.answers.expressions.functions import floor
from glassformer.answers.expressions.language import read
from glassformer.answers.expressions.tree import Name, Node, Quantity, Relation, names_in
from glassformer.spec import GlassformerError, nearest, shown

LARGEST = 10**40
HOLDS: dict[str, Callable[[Real, Real], bool]] = {
    "=": lambda a, b: a.meets(b),
    "≠": lambda a, b: not a.meets(b),
    "<": lambda a, b: a.high < b.low,
    ">": lambda a, b: a.low > b.high,
    "≤": lambda a, b: a.low <= b.high,
    "≥": lambda a, b: a.high >= b.low,
}


def value_of(text: str, drawn: Mapping[str, Any]) -> Value:
    """`d / h` with d = 64 and h = 4: 16, exactly."""
    return evaluated(_tree(text), drawn, text)


def number_of(text: str, drawn: Mapping[str, Any]) -> Fraction:
    """The same, where one number is wanted."""
    found = value_of(text, drawn)
    if isinstance(found, Array):
        raise GlassformerError(f"'{shown(text)}' is a list, and a number is wanted.")
    if abs(found.middle) > LARGEST:
        raise GlassformerError(f"'{shown(text)}' becomes too large.")
    return found.middle


def holds(condition: str, drawn: Mapping[str, Any]) -> bool:
    """`mod(d, h) = 0 and d > h`: whether every comparison holds."""
    return all(_compared(part, drawn) for part in _comparisons(condition))


def check_condition(condition: str, names: Iterable[str]) -> None:
    """Refuse a condition that cannot be read, whatever the parameters will be."""
    with suppress(NotUnderstoodError):  # for these numbers alone, as a division by zero
        holds(condition, {name: place + 2 for place, name in enumerate(names)})


def names_used(text: str) -> set[str]:
    """The parameters that an expression or a condition names."""
    return {name for part in _comparisons(text) for name in names_in(_tree(part))}


def evaluated(tree: Node, drawn: Mapping[str, Any], text: str) -> Value:
    """The value of a tree, its names taken from what was drawn."""
    known = {name: _value(value) for name, value in drawn.items() if _is_number(value) or isinstance(value, list)}
    unknown = [name for name in names_in(tree) if name not in known]
    if unknown:
        raise GlassformerError(f"'{shown(text)}': no parameter is '{shown(unknown[0])}'.{nearest(unknown[0], known)}")
    try:
        return _Evaluator(Reading(), known).value(tree)
    except NotUnderstoodError as error:
        raise NotUnderstoodError(f"'{shown(text)}': {error}.") from None


class _Evaluator(Evaluator):
    """Arithmetic with remainders, as spreadsheets have them."""

    def value(self, node: Node) -> Value:
        match node:
            case Quantity("mod", (number, divisor), ()):
                one, other = self._real(number), self._real(divisor)
                return one - other * floor(one / other)
            case Quantity(name):
                raise GlassformerError(f"'{shown(name)}(…)' is a quantity of a model: it belongs into answer or gives.")
            case _:
                return super().value(node)


def _tree(text: str) -> Node:
    if "%" in text:
        raise GlassformerError(f"'{shown(text)}': the remainder is written mod(d, h), as in where = \"mod(d, h) = 0\".")
    try:
        return read(text)
    except GlassformerError as error:
        raise GlassformerError(f"'{shown(text)}' is not understood: {error}") from None


def _comparisons(text: str) -> list[str]:
    return text.split(" and ")


def _compared(text: str, drawn: Mapping[str, Any]) -> bool:
    tree = _tree(text)
    if not isinstance(tree, Relation) or any(sign not in HOLDS for sign in tree.signs):
        raise GlassformerError(f"'{shown(text)}' is no comparison: write one such as mod(d, h) = 0 or d > h.")
    sides = [evaluated(side, drawn, text) for side in tree.sides]
    numbers = [side for side in sides if isinstance(side, Real)]
    if len(numbers) != len(sides):
        raise GlassformerError(f"'{shown(text)}' compares a list: compare numbers.")
    return all(HOLDS[sign](one, two) for sign, one, two in zip(tree.signs, numbers, numbers[1:], strict=False))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def _value(value: Any) -> Value:
    if not isinstance(value, list):
        return exactly(value if isinstance(value, Fraction) else Fraction(repr(value)))
    items = [_value(item) for item in value]
    rows = [item.cells for item in items if isinstance(item, Array)]
    return matrix(rows) if rows else Array(tuple(item for item in items if isinstance(item, Real)))


__all__ = ["Name", "check_condition", "evaluated", "holds", "names_used", "number_of", "value_of"]
