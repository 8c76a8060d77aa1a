"""What a document has said so far: values of its symbols, its results, and which of them are wrong."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from glassformer.expressions import Figure, Real, Value, exactly
from glassformer.expressions.numerals import Numeral
from glassformer.expressions.tree import Name, Node, Number, walk

MOST_EFFORT = 250_000  # steps that one document may ask for; each takes some ten microseconds
PLAIN_DIGITS = 3  # a number with so many digits is taken for the same number where it comes again
NEAR = 2  # a shorter one only within so many results


@dataclass(frozen=True)
class Symbol:
    """A name with the value the document gives it, and the value it should have where that was worked out wrongly."""

    value: Value
    truth: Value
    line: int
    scope: int
    wrong: bool = False
    changed: bool = False  # whether it had another value before


@dataclass(frozen=True)
class Result:
    """A number that a line arrived at, and what it should have been."""

    figure: Figure
    truth: Real
    line: int
    faulty: bool
    order: int
    known: bool  # whether the number had been met before, so that it need not come from this line
    total: bool = False
    judged: bool = True  # whether it was worked out, not only written


@dataclass
class Memory:
    """Symbols, results in order, and the numbers met."""

    symbols: dict[str, Symbol] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    latest: dict[Fraction, Result] = field(default_factory=dict)
    met: set[Fraction] = field(default_factory=set)
    scope: int = 0
    effort: int = 0  # steps spent so far: counted, not timed, so that the same file always gets the same answer

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
        """A line's result."""
        result = Result(figure, truth, line, faulty, len(self.results), figure.value in self.met, total, judged)
        self.results.append(result)
        self.latest[figure.value] = result

    def source(self, numeral: Numeral) -> Result | None:
        """The faulty result that a written number comes from, where that is plain."""
        found = self.latest.get(numeral.value)
        if found is None or not found.faulty or found.known:
            return None
        digits = numeral.digits.rstrip("0") if "." not in numeral.text else numeral.digits
        plain = len(digits) >= PLAIN_DIGITS
        return found if plain or len(self.results) - found.order <= NEAR else None

    def touches(self, tree: Node) -> bool:
        """Whether an expression uses a result or a symbol of before."""
        return any(
            (isinstance(node, Number) and node.numeral.value in self.latest)
            or (isinstance(node, Name) and node.text in self.symbols)
            for node in walk(tree)
        )

    def true_value(self, numeral: Numeral) -> Real:
        """The number, or what it should be where it comes from a faulty or a rounded result."""
        found = self.latest.get(numeral.value)
        if found is None or (found.faulty and self.source(numeral) is None):
            return exactly(numeral.value)
        return found.truth

    def unrounded(self, numeral: Numeral) -> Real:
        """The number, or the longer one that it was rounded from."""
        found = self.latest.get(numeral.value)
        return found.truth if found is not None and found.judged and not found.faulty else exactly(numeral.value)
