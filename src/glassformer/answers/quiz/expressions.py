"""The small arithmetic of a question: + - * / % and comparisons on its parameters, exact, bounded, and never `eval`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from glassformer.spec import GlassformerError, nearest, shown

MOST_CHARACTERS = 400
DEEPEST = 30
LARGEST = 10**40

_TOKEN = re.compile(r"\s*(?:(\d{1,18}(?:\.\d{1,18})?)|([A-Za-z_]\w{0,40})|(==|!=|<=|>=|[-+*/%()<>]))")

_SUMS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {"+": lambda a, b: a + b, "-": lambda a, b: a - b}
_PRODUCTS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
}
_COMPARISONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}


class ZeroDivisorError(GlassformerError):
    """An expression that can be read, but not for these parameters."""


def value_of(text: str, values: Mapping[str, Fraction | int]) -> Fraction:
    """`d / h` with d = 64 and h = 4: 16, exactly."""
    reader = _Reader(text, values)
    found = reader.sum()
    reader.end()
    return found


def holds(text: str, values: Mapping[str, Fraction | int]) -> bool:
    """`d % h == 0 and d > h`: whether every comparison holds."""
    reader = _Reader(text, values)
    found = reader.comparison()
    while reader.took("and"):
        found = reader.comparison() and found
    reader.end()
    return found


def check_condition(text: str, names: Iterable[str]) -> None:
    """Refuse a condition that cannot be read, whatever the parameters will be."""
    with suppress(ZeroDivisorError):
        holds(text, {name: Fraction(place + 2) for place, name in enumerate(names)})


def names_in(text: str) -> set[str]:
    """The parameters that an expression speaks of."""
    return {name for _, name, _ in _tokens(text) if name and name != "and"}


def _tokens(text: str) -> Iterator[tuple[str, str, str]]:
    """(number, name, sign) one after the other, two of them empty."""
    if len(text) > MOST_CHARACTERS:
        raise GlassformerError(f"'{shown(text)}' is too long: at most {MOST_CHARACTERS} characters.")
    position, text = 0, text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise GlassformerError(
                f"'{shown(text)}' is not understood from '{shown(text[position:].strip(), limit=12)}' on: "
                "numbers, parameters, + - * / % ( ) and comparisons are."
            )
        yield found[1] or "", found[2] or "", found[3] or ""
        position = found.end()


@dataclass
class _Reader:
    """Reads an expression from left to right; every rule of the grammar is one method."""

    text: str
    values: Mapping[str, Fraction | int]
    place: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self.tokens = list(_tokens(self.text))

    def comparison(self) -> bool:
        left = self.sum()
        sign = self.sign()
        if sign not in _COMPARISONS:
            raise self.unclear("a comparison, as in d % h == 0")
        self.place += 1
        return _COMPARISONS[sign](left, self.sum())

    def sum(self) -> Fraction:
        found = self.product()
        while self.sign() in _SUMS:
            found = self.apply(_SUMS, found, self.product)
        return found

    def product(self) -> Fraction:
        found = self.factor()
        while self.sign() in _PRODUCTS:
            found = self.apply(_PRODUCTS, found, self.factor)
        return found

    def factor(self) -> Fraction:
        number, name, sign = self.tokens[self.place] if self.place < len(self.tokens) else ("", "", "")
        self.place += 1
        if number:
            return Fraction(number)
        if name:
            if name not in self.values:
                raise GlassformerError(f"'{shown(self.text)}': no parameter is '{shown(name)}'.{nearest(name, self.values)}")
            return Fraction(self.values[name])
        self.depth += 1
        if self.depth > DEEPEST or sign not in ("(", "-", "+"):
            self.place -= 1
            raise self.unclear("a number or a parameter")
        if sign == "(":
            found = self.sum()
            if not self.took(")"):
                raise self.unclear("a closing bracket")
        else:
            found = self.factor() if sign == "+" else -self.factor()
        self.depth -= 1
        return found

    def apply(
        self, rules: Mapping[str, Callable[[Fraction, Fraction], Fraction]], left: Fraction, right: Callable[[], Fraction]
    ) -> Fraction:
        rule = rules[self.sign()]
        self.place += 1
        try:
            found = rule(left, right())
        except ZeroDivisionError:
            raise ZeroDivisorError(f"'{shown(self.text)}' divides by zero.") from None
        if abs(found.numerator) > LARGEST or found.denominator > LARGEST:
            raise GlassformerError(f"'{shown(self.text)}' becomes too large.")
        return found

    def sign(self) -> str:
        return self.tokens[self.place][2] if self.place < len(self.tokens) else ""

    def took(self, word: str) -> bool:
        there = self.place < len(self.tokens) and word in self.tokens[self.place][1:]
        self.place += there
        return there

    def end(self) -> None:
        if self.place < len(self.tokens):
            raise self.unclear("the end")

    def unclear(self, wanted: str) -> GlassformerError:
        met = "".join(self.tokens[self.place]) if self.place < len(self.tokens) else "the end"
        return GlassformerError(f"'{shown(self.text)}' is not understood: {wanted} is wanted where '{shown(met)}' stands.")
