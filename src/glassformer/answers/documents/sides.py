"""The two sides of an equation, parsed and evaluated under each possible reading until they agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import isqrt

from glassformer.answers.documents.memory import Memory
from glassformer.answers.documents.statements import Run
from glassformer.expressions import (
    Array,
    Evaluator,
    Figure,
    NotUnderstoodError,
    Reading,
    Real,
    Value,
    agrees,
    exactly,
    parse,
    plain,
    readings,
    shown_number,
    shown_value,
    written,
)
from glassformer.expressions.evaluate import as_written
from glassformer.expressions.exact import about
from glassformer.expressions.numerals import Numeral
from glassformer.expressions.precision import Agreement, Written, equal, widened
from glassformer.expressions.tree import Name, Node, Number, Parsed, Percent, numerals_in, ungrouped, walk

ENOUGH_DIGITS = 3  # a decimal with fewer digits is exact, one with more may have been rounded
LONGEST, LONGEST_CLAIM = 90, 2_000  # the longest expression in a sentence, and the longest claim

Numbers = Callable[[Numeral], Real]


@dataclass
class Side:
    """A run of tokens with its trees, one for each reading."""

    run: Run
    trees: dict[Reading, Parsed | NotUnderstoodError] = field(default_factory=dict)

    def parsed(self, reading: Reading) -> Parsed:
        if reading not in self.trees:
            try:
                self.trees[reading] = parse(self.run.tokens, reading)
            except NotUnderstoodError as problem:
                self.trees[reading] = problem
        found = self.trees[reading]
        if isinstance(found, NotUnderstoodError):
            raise found
        return found

    @cached_property
    def weight(self) -> int:
        """The approximate number of steps to evaluate it: functions cost more, for each of their items."""
        costly = sum(token.kind == "function" or token.text == "^" for token in self.run.tokens)
        items = sum(token.kind in ("comma", "cell") or token.text.count(",") for token in self.run.tokens)
        return 3 + len(self.run.tokens) + 12 * costly * (1 + items) + items * isqrt(items)

    @cached_property
    def tree(self) -> Node | None:
        """The tree in the first reading that has one."""
        for reading in readings(self.run.tokens):
            try:
                return self.parsed(reading).tree
            except NotUnderstoodError:
                continue
        return None

    @cached_property
    def written(self) -> Written | None:
        """The number or list of numbers, if nothing has to be computed."""
        return written(self.tree) if self.tree is not None else None

    @property
    def name(self) -> str | None:
        inner = ungrouped(self.tree) if self.tree is not None else None
        return inner.text if isinstance(inner, Name) else None

    @property
    def problem(self) -> str:
        """Why its default reading fails."""
        found = self.trees.get(Reading())
        return str(found) if isinstance(found, NotUnderstoodError) else "it can be read in several ways"


@dataclass(frozen=True)
class Pair:
    """Both sides under one reading: the left value, and the right one as written or as a value."""

    reading: Reading
    left: Parsed
    right: Parsed
    value: Value
    claim: Written | None
    other: Value | None

    @property
    def comparable(self) -> bool:
        """Whether both sides are numbers, or both are lists."""
        array = isinstance(self.value, Array)
        return array != isinstance(self.claim, Figure) if self.claim is not None else array == isinstance(self.other, Array)

    @property
    def claimed(self) -> str:
        """The written result, without LaTeX."""
        text = plain(self.right.tree).replace("\\,", ",") if self.claim is not None else ""
        return text if len(text) <= LONGEST_CLAIM else ""

    def like(self, value: Value) -> str:
        """Return a value as text, in the form of the claim."""
        if isinstance(ungrouped(self.right.tree), Percent) and isinstance(value, Real) and self.reading.percent == "hundredth":
            return f"{shown_number(value * exactly(100))}%"
        return shown_value(value, self.claim)

    def contradiction(self) -> str:
        """Return the sentence `3 × 4 is 12, not 13.`"""
        left, right, due = short(self.left.tree), short(self.right.tree), self.like(self.value)
        if self.other is not None and (mine := written(self.left.tree)) is not None:
            return f"{right} is {shown_value(self.other, mine)}, not {left}."
        if self.other is not None:
            return f"{left} is {due}, but {right} is {shown_value(self.other)}."
        said = self.claimed or "what is written"
        return f"{left} is not {said}." if due == left else f"{left} is {due}, not {said}."


def short(tree: Node) -> str:
    """Return an expression as text for a sentence."""
    text = plain(tree)
    return text if len(text) <= LONGEST else "the left side"


def pair_of(left: Side, right: Side, reading: Reading, names: Mapping[str, Value], number: Numbers = as_written) -> Pair:
    """Evaluate both sides."""
    one, two = left.parsed(reading), right.parsed(reading)
    claim = written(two.tree, reading)
    value = Evaluator(reading, names, number).value(one.tree)
    other = None if claim is not None else Evaluator(reading, names, number).value(two.tree)
    return Pair(reading, one, two, value, claim, other)


def agreement(pair: Pair, *, loosely: bool) -> Agreement | None:
    """Return how the two sides agree: a result at its own precision, two expressions by their values."""
    mine = written(pair.left.tree, pair.reading)
    found = agrees(pair.value, pair.claim, loosely=loosely) if pair.claim is not None else None
    if found is None and mine is not None and pair.other is not None:
        found = agrees(pair.other, mine, loosely=loosely)
    if found is None and isinstance(mine, Figure) and isinstance(pair.claim, Figure) and mine.unit > pair.claim.unit:
        return agrees(exactly(pair.claim.value), mine, loosely=loosely)
    return found or (equal(pair.value, pair.other, loosely=loosely) if pair.other is not None else None)


def within_rounding(left: Side, right: Side, reading: Reading, names: Mapping[str, Value], *, loosely: bool) -> bool:
    """Return whether the sides agree if long decimals are rounded numbers."""
    tree, other = left.parsed(reading).tree, right.parsed(reading).tree
    both = written(other, reading) is None
    if not both and isinstance(ungrouped(tree), Number):
        return False
    numerals = [*numerals_in(tree), *(numerals_in(other) if both else ())]
    percents = any(isinstance(node, Percent) for node in walk(tree))
    if not percents and not any(_may_be_rounded(numeral) or both for numeral in numerals if numeral.decimal):
        return False

    def rounded(one: Numeral) -> Real:
        if percents and one.unit == 1 and 1 < one.value < 100:
            return about(one.value, Fraction(1, 2))  # 33% + 33% + 33% = 100%
        return widened(one) if both or _may_be_rounded(one) else as_written(one)

    return agreeing(left, right, reading, names, rounded, loosely=loosely) is not None


def from_memory(left: Side, right: Side, reading: Reading, memory: Memory, *, loosely: bool, true: bool) -> Pair | None:
    """Return the pair with earlier results corrected (or only unrounded), if the two sides then agree."""
    if not memory.touches(left.parsed(reading).tree):
        return None
    number = memory.true_value if true else memory.unrounded
    return agreeing(left, right, reading, memory.values(true=true), number, loosely=loosely)


def agreeing(
    left: Side, right: Side, reading: Reading, names: Mapping[str, Value], number: Numbers, *, loosely: bool
) -> Pair | None:
    """Return the pair if the two sides agree with these numbers."""
    try:
        pair = pair_of(left, right, reading, names, number)
    except NotUnderstoodError:
        return None
    return pair if agreement(pair, loosely=loosely) in ("exact", "rounded") else None


def _may_be_rounded(numeral: Numeral) -> bool:
    return numeral.decimal and len(numeral.digits) >= ENOUGH_DIGITS
