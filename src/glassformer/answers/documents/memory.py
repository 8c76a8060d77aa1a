"""State while reading a document: the values of its symbols, its results, and which of them are wrong."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from glassformer.expressions import Figure, Real, Value, exactly
from glassformer.expressions.numerals import Numeral
from glassformer.expressions.tree import Name, Node, Number, walk

MOST_EFFORT = 250_000  # the limit on steps per document; each takes about ten microseconds
PLAIN_DIGITS = 3  # a number with this many digits is recognised when it is used again
NEAR = 2  # a shorter one only within this many results


@dataclass(frozen=True)
class Symbol:
    """A name with its value in the document, and its right value if that was computed wrongly."""

    value: Value
    truth: Value
    line: int
    scope: int
    wrong: bool = False
    changed: bool = False  # whether it had another value before


@dataclass(frozen=True)
class Result:
    """The result of a line, and its right value."""

    figure: Figure
    truth: Real
    line: int
    faulty: bool
    order: int
    known: bool  # whether the number occurred before, so that it need not come from this line
    total: bool = False
    judged: bool = True  # whether it was computed, not only written


@dataclass
class Memory:
    """Symbols, results in order, and the numbers seen so far."""

    symbols: dict[str, Symbol] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    latest: dict[Fraction, Result] = field(default_factory=dict)
    met: set[Fraction] = field(default_factory=set)
    scope: int = 0
    effort: int = 0  # steps so far; counted, not timed, so that the result is reproducible

    @property
    def exhausted(self) -> bool:
        return self.effort > MOST_EFFORT

    def values(self, *, true: bool = False) -> dict[str, Value]:
        return {name: symbol.truth if true else symbol.value for name, symbol in self.symbols.items()}

    def define(self, name: str, symbol: Symbol) -> None:
        before = self.symbols.get(name)
        changed = before is not None and (before.changed or before.value != symbol.value)
        self.symbols[name] = replace(symbol, changed=changed)

    def arrive(
        self, figure: Figure, truth: Real, line: int, *, faulty: bool = False, total: bool = False, judged: bool = True
    ) -> None:
        """Record the result of a line."""
        result = Result(figure, truth, line, faulty, len(self.results), figure.value in self.met, total, judged)
        self.results.append(result)
        self.latest[figure.value] = result

    def source(self, numeral: Numeral) -> Result | None:
        """Return the wrong result that a number comes from, if that is clear."""
        found = self.latest.get(numeral.value)
        if found is None or not found.faulty or found.known:
            return None
        digits = numeral.digits.rstrip("0") if "." not in numeral.text else numeral.digits
        plain = len(digits) >= PLAIN_DIGITS
        return found if plain or len(self.results) - found.order <= NEAR else None

    def touches(self, tree: Node) -> bool:
        """Return whether an expression uses an earlier result or symbol."""
        return any(
            (isinstance(node, Number) and node.numeral.value in self.latest)
            or (isinstance(node, Name) and node.text in self.symbols)
            for node in walk(tree)
        )

    def true_value(self, numeral: Numeral) -> Real:
        """Return a number, or its right value if it comes from a wrong or rounded result."""
        found = self.latest.get(numeral.value)
        if found is None or (found.faulty and self.source(numeral) is None):
            return exactly(numeral.value)
        return found.truth

    def unrounded(self, numeral: Numeral) -> Real:
        """Return a number, or the unrounded one that it comes from."""
        found = self.latest.get(numeral.value)
        return found.truth if found is not None and found.judged and not found.faulty else exactly(numeral.value)
