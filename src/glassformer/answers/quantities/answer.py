"""Answers: a value with its unit, convention and derivation, and its values under other conventions and known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from glassformer.algebra import Result
from glassformer.answers.quantities.classes import Growth
from glassformer.configs.reading import Request
from glassformer.expressions.arrays import Array
from glassformer.expressions.exact import Real, exactly
from glassformer.expressions.language import write
from glassformer.expressions.tree import Node

Shape: TypeAlias = tuple[int | str, ...]
Value: TypeAlias = int | Fraction | Real | Array | Shape | Growth


@dataclass(frozen=True)
class Line:
    """One step of a derivation: symbols, the same with numbers, result."""

    what: str
    symbols: str
    numbers: str
    value: Value

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "symbols": self.symbols, "numbers": self.numbers, "value": plain_value(self.value)}


@dataclass(frozen=True)
class Other:
    """The value under another convention, or the value that a known mistake gives."""

    convention: str  # what is counted differently, or what exactly was done
    value: Value
    excuses: bool = True  # whether a claim of this value counts as right under this convention
    code: str = ""  # the mistake made by claiming this value without stating the convention
    left_out: tuple[str, ...] = ()  # for a count: the groups that the convention leaves out

    def to_dict(self) -> dict[str, Any]:
        return {"convention": self.convention, "value": plain_value(self.value)}


def no_mistakes() -> Iterable[Other]:
    return ()


@dataclass(frozen=True)
class Found:
    """A quantity computed for a spec. `mistakes` yields the values that known mistakes give, computed on demand."""

    value: Value
    unit: str
    convention: str
    lines: tuple[Line, ...] = ()
    others: tuple[Other, ...] = ()
    mistakes: Callable[[], Iterable[Other]] = field(default=no_mistakes, compare=False)
    nothing_without: tuple[str, ...] = ()  # for a count: groups that contain all of it, which no convention can leave out


def found(
    value: Value,
    unit: str,
    convention: str,
    lines: Iterable[Line],
    others: Iterable[Other] = (),
    mistakes: Callable[[], Iterable[Other]] = no_mistakes,
) -> Found:
    """Return a `Found` whose alternatives differ from the value, each value once."""
    unique: dict[Value, Other] = {}
    for other in others:
        if other.value != value:
            unique.setdefault(other.value, other)
    return Found(value, unit, convention, tuple(lines), tuple(unique.values()), mistakes)


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """The answer to an expression."""

    expression: Node
    request: Request | None
    found: Found
    scale: tuple[str, Fraction] | None = None  # the unit given with `in`, and its factor
    digits: int | None = None

    def __repr__(self) -> str:
        return f"<Answer {self.text}: {self.value!r} {self.unit}>"

    @property
    def text(self) -> str:
        """The expression in its canonical form."""
        return write(self.expression)

    @property
    def label(self) -> str:
        return self.request.label if self.request is not None else ""

    @property
    def exact(self) -> Value:
        """The value as computed: a rational, an interval, an array, a shape or a complexity class."""
        return self.found.value

    @property
    def value(self) -> Any:
        """The value as a Python object: an int, a float, a tuple of sizes, a list of numbers, or a class as text."""
        return plain_value(self.scaled, tuples=True)

    @property
    def scaled(self) -> Value:
        """The value in the requested unit."""
        return self.in_unit(self.exact)

    def in_unit(self, value: Value) -> Value:
        return value if self.scale is None else divided(value, self.scale[1])

    @property
    def unit(self) -> str:
        return self.scale[0] if self.scale is not None else self.found.unit

    @property
    def convention(self) -> str:
        return self.found.convention

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.found.lines

    @property
    def others(self) -> tuple[Other, ...]:
        return self.found.others

    def to_dict(self) -> dict[str, Any]:
        value = plain_value(self.scaled)
        document = {
            "expression": self.text,
            "label": self.label,
            "value": value,
            "total": value,
            "unit": self.unit,
            "convention": self.convention,
            "rows": [line.to_dict() for line in self.lines],
            "left_out": [],
            "others": [other.to_dict() | {"value": plain_value(self.in_unit(other.value))} for other in self.others],
        }
        if isinstance(self.scaled, Fraction):
            document["exact"] = str(self.scaled)
        if self.request is not None:
            document["spec"] = self.request.spec.to_dict()
        return document


@dataclass(frozen=True, repr=False)
class Table(Result):
    """One expression for several sizes."""

    expression: Node
    sizes: tuple[str, ...]  # the names of the sizes that differ
    rows: tuple[tuple[tuple[str, ...], Answer], ...]

    def __repr__(self) -> str:
        return f"<Table {write(self.expression)}: {len(self.rows)} rows over {', '.join(self.sizes)}>"

    @property
    def text(self) -> str:
        return write(self.expression)

    @property
    def value(self) -> list[Any]:
        return [answer.value for _, answer in self.rows]

    def to_dict(self) -> dict[str, Any]:
        first = self.rows[0][1]
        return {
            "expression": write(self.expression),
            "label": first.label,
            "unit": first.unit,
            "convention": first.convention,
            "total": len(self.rows),
            "left_out": [],
            "rows": [
                dict(zip(self.sizes, values, strict=True)) | {"value": plain_value(answer.scaled)} for values, answer in self.rows
            ],
        }


def plain_value(value: Value, *, tuples: bool = False) -> Any:
    """Return a value as plain Python objects; a shape becomes a list (for JSON) unless `tuples`."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    if isinstance(value, Real):
        return int(value.low) if value.whole else float(value.middle)
    if isinstance(value, Array):
        cells = [plain_value(cell) for cell in value.cells]
        width = value.columns
        return cells if width is None else [cells[start : start + width] for start in range(0, len(cells), width)]
    if isinstance(value, Growth):
        return value.text
    return (value if tuples else list(value)) if isinstance(value, tuple) else value


def divided(value: Value, by: Fraction) -> Value:
    if isinstance(value, int | Fraction):
        return simple(Fraction(value) / by)
    if isinstance(value, Real):
        return value / exactly(by)
    return value


def simple(value: Fraction | int) -> int | Fraction:
    """A whole number as an int."""
    return int(value) if Fraction(value).denominator == 1 else Fraction(value)


def mistaken(code: str, what: str, value: Value) -> Other:
    """Return the value that a known mistake gives, with a description of what was done."""
    return Other(what, value, excuses=False, code=code)
