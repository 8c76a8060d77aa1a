"""Questions whose answer is an expression of the language of quantities: a count, a number, a shape or a vector."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.quantities import Answer
from glassformer.answers.quiz import claims
from glassformer.answers.quiz.arithmetic import plain, worked_out
from glassformer.answers.quiz.marking import RIGHT, Key, Marked, Own, Section, Wrong, explained, marked, simplest, unread
from glassformer.answers.quiz.numbers import NumbersKey, close, fits, written
from glassformer.answers.verdicts import judge
from glassformer.errors import GlassformerError, shown
from glassformer.expressions import Figure
from glassformer.expressions.exact import fixed
from glassformer.expressions.language import names_of
from glassformer.expressions.tree import Quantity, walk

Number = int | Fraction
Sizes = tuple[int, ...]
COARSE = 100  # numbers rounded more coarsely than 1% match too many mistakes to name one
LEFT_OUT = "left_out_counted"  # a convention other than the question's, with the usual credit
ABOUT = {
    "biases": ("attention_bias", "ffn_bias", "head_count_wrong"),
    "pooler": ("pooler_in_or_out",),
    "norms": ("layernorm_undercounted",),
}
OF_HEADS = ("heads_times_full_width", "one_head_vs_all_heads", "score_cost_times_heads", "grouped_queries_ignored")


@dataclass(frozen=True, eq=False)
class QuantityKey(Key):
    """The key of a quantity. `heads` if the question is about several attention heads."""

    answer: Answer
    own_wrongs: tuple[Wrong, ...] = ()
    heads: bool = True
    digits: int = 3
    tolerance: Any = 0
    convention_credit: Fraction = Fraction(1, 2)
    rule: str = ""  # the expression that gives the number from earlier answers
    drawn: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def value(self) -> Any:
        return plain(self.answer.scaled)

    @property
    def text(self) -> str:
        return self.shown(self.value)

    @abstractmethod
    def shown(self, value: Any) -> str:
        """Return a value as text."""

    @abstractmethod
    def differs(self, value: Any) -> bool:
        """Return whether a value is a wrong answer of the same kind."""

    def mistaken(self) -> Iterator[Wrong]:
        """Yield wrong answers; the set's own mistakes come first, and no other mistake is named for the same value."""
        own = [wrong._replace(text=self.shown(wrong.value)) for wrong in self.own_wrongs if self.differs(wrong.value)]
        yield from own
        seen = {("", wrong.text) for wrong in own}
        for wrong in self._known():
            text = self.shown(wrong.value) if self.differs(wrong.value) else ""
            if text and not {("", text), (wrong.code, text)} & seen:
                seen.add((wrong.code, text))
                yield wrong._replace(text=text)

    def _known(self) -> Iterator[Wrong]:
        """Yield the wrong answers of known mistakes that are possible in this question."""
        others = [other for other in self.answer.others if other.code and not other.excuses]
        for other in (*self.answer.found.mistakes(), *others):
            if other.code != LEFT_OUT and other.code not in self._excluded:
                yield Wrong("", plain(other.value, self.answer.scale), mistake(other.code), other.convention)

    def conventions(self) -> list[tuple[str, Any]]:
        """Return the values that are right under another usual convention."""
        counted = [one for one in self.answer.found.mistakes() if one.code == LEFT_OUT]
        usual = [one for one in self.answer.others if one.excuses]
        return [(one.convention, plain(one.value, self.answer.scale)) for one in (*usual, *counted)]

    @cached_property
    def _excluded(self) -> set[str]:
        """Codes of impossible mistakes: the question is not about heads, or excludes what they miscount."""
        words = {word for part in walk(self.answer.expression) if isinstance(part, Quantity) for word in _left_out(part)}
        return {code for word in words for code in ABOUT.get(word, ())} | (set() if self.heads else set(OF_HEADS))

    @abstractmethod
    def read(self, claim: str) -> Sequence[Any]:
        """Return the possible meanings of a claim, most likely first."""

    @abstractmethod
    def means(self, said: Any, value: Any) -> bool:
        """Return whether a claim matches a value at its precision."""

    def judge(self, claim: str) -> Marked:
        said = self.read(claim)
        if not said:
            return unread(self.wanted)
        alone = self.right(said)
        if alone is not None:
            return alone
        known = [wrong for wrong in self.wrongs() if self.means(said[0], wrong.value)]
        others = [name for name, value in self.conventions() if self.means(said[0], value)]
        if known or not others:
            return explained(known)
        says = f"right ({others[0]}), but the question uses another convention: {self.text} ({self.answer.convention})"
        return marked("convention", self.convention_credit, says, convention=others[0])

    def right(self, said: Sequence[Any]) -> Marked | None:
        """Return the mark of a right answer; None for a wrong one."""
        return RIGHT if self.means(said[0], self.value) else None

    def searched(self, claim: str) -> Marked | None:
        """Run the full diagnosis: two mistakes at once, swapped digits, near matches."""
        try:
            found = judge(self.answer, claim.strip())
        except GlassformerError:
            return None
        possible = [finding for finding in found.findings if not set(finding.codes) & self._excluded]
        return simplest(possible) if not found.right else None

    def solution(self) -> tuple[Section, ...]:
        lines = [" = ".join(filter(None, (n.what, n.symbols, n.numbers, _line(n.value)))) for n in self.answer.lines]
        total = [f"sum = {self.text}"] if len(lines) > 1 and all(line.symbols for line in self.answer.lines) else []
        return (("derivation", (*lines, *total)), ("convention", (self.answer.convention,)))


@dataclass(frozen=True, eq=False)
class Counted(QuantityKey):
    """The key of one number: whole and exact, or with some decimals."""

    @property
    def whole(self) -> bool:
        return Fraction(self.value).denominator == 1

    @property
    def wanted(self) -> str:  # type: ignore[override]
        unit = f" in {self.answer.scale[0]}" if self.answer.scale else ""
        return f"a whole number{unit}" if self.whole else f"a number{unit}, to {self.digits} decimals"

    @property
    def room(self) -> Fraction:
        """The tolerance of a right answer."""
        return self.tolerance if self.tolerance is not None else Fraction(0) if self.whole else Fraction(1, 10**self.digits)

    def shown(self, value: Any) -> str:
        return f"{int(value):,}" if Fraction(value).denominator == 1 else fixed(Fraction(value), self.digits)

    def differs(self, value: Any) -> bool:
        return (
            isinstance(value, Number) and value > 0 and abs(value - self.value) > 2 * self.room and self.shown(value) != self.text
        )

    def read(self, claim: str) -> Sequence[Figure]:
        return claims.numbers(claim)

    def means(self, said: Figure, value: Any) -> bool:
        fine = said.unit * COARSE <= 2 * abs(said.value)
        return isinstance(value, Number) and (abs(said.value - value) <= self.room or (fine and claims.allows(said, value)))

    def right(self, said: Sequence[Figure]) -> Marked | None:
        """Return the mark if the claim is right in the requested unit, or in its own: `4 MB`."""
        values = [value for value in (self.value, plain(self.answer.exact)) if isinstance(value, Number)]
        if any(abs(figure.value - value) <= self.room for figure in said for value in values):
            return RIGHT
        if not any(claims.allows(figure, value) for figure in said for value in values):
            return None
        says = f"right, but rounded; expected {self.text}"
        return marked("convention", self.convention_credit, says, convention="rounded")

    def own(self, claim: str) -> Own | None:
        numbers = claims.numbers(claim)
        return numbers[0].value if numbers and numbers[0].value else None

    def carried(self, earlier: Mapping[str, Own], claim: str) -> Marked | None:
        values = {name: value for name, value in earlier.items() if isinstance(value, Fraction)}
        if not self.rule or len(values) != len(earlier):
            return None
        try:
            found = self.follows(values)
        except GlassformerError:  # division by a student's zero, or a number that is too large
            return None
        given = [Fraction(value) for value in self.drawn.values() if isinstance(value, int | float)]
        if found in (0, self.value, *given):  # the earlier answer makes this one trivial
            return None
        return RIGHT if any(self.means(figure, found) for figure in claims.numbers(claim)) else None

    def follows(self, earlier: Mapping[str, Fraction]) -> Fraction:
        """Return the number that follows from earlier answers."""
        found = plain(worked_out(self.rule, {**self.drawn, **earlier}, self.answer.request, "carried").scaled)
        if not isinstance(found, Number):
            raise GlassformerError(f"carried = '{shown(self.rule)}' is not a number: write how it follows from earlier answers.")
        return Fraction(found)


@dataclass(frozen=True, eq=False)
class Shaped(QuantityKey):
    """The key of a shape."""

    wanted: str = "a shape, such as 64 × 32"

    def shown(self, value: Any) -> str:
        return " × ".join(map(str, value))

    def differs(self, value: Any) -> bool:
        usual = [sizes for _, sizes in self.conventions()]
        return isinstance(value, tuple) and not same(value, self.value) and value not in usual

    def read(self, claim: str) -> Sequence[Sizes]:
        return claims.shapes(claim)

    def means(self, said: Sizes, value: Any) -> bool:
        return same(said, value)

    def own(self, claim: str) -> Own | None:
        """Return the number of elements, which is what a shape carries forward."""
        shapes = claims.shapes(claim)
        elements = math.prod(list(shapes[0])) if shapes else 0
        return Fraction(elements) if elements else None


@dataclass(frozen=True, eq=False)
class Listed(NumbersKey, QuantityKey):
    """The key of a vector or a matrix."""

    value = QuantityKey.value

    def shown(self, value: Any) -> str:
        return written(value, self.digits)

    def read(self, claim: str) -> Sequence[Any]:
        return claims.grids(claim)

    def means(self, said: Any, value: Any) -> bool:
        return fits(said, value) and close(said, value, self.tolerance)


def same(one: Sizes, other: Sizes) -> bool:
    """Return whether two shapes are equal; a vector may also be written as one row or one column."""
    return one == other or (len(other) == 1 and tuple(size for size in one if size != 1) == other)


def _left_out(quantity: Quantity) -> tuple[str, ...]:
    return names_of([value for key, value in quantity.options if key == "without"])


def _line(value: Any) -> str:
    found = plain(value)
    if isinstance(found, tuple):
        return " × ".join(map(str, found))
    return f"{found:,}" if isinstance(found, int) else written(np.asarray(found, dtype=float), 4)
