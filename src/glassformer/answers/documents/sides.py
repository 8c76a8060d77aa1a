"""The two sides of an equality, parsed and evaluated under one reading after another until they agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import isqrt

from glassformer.answers.documents.memory import Memory
from glassformer.answers.documents.statements import Run
from glassformer.answers.expressions import (
    Array,
    Evaluator,
    Figure,
    Figures,
    NotUnderstoodError,
    Reading,
    Real,
    Value,
    agrees,
    exactly,
    parse,
    readings,
    written,
)
from glassformer.answers.expressions.evaluate import as_written
from glassformer.answers.expressions.exact import about
from glassformer.answers.expressions.numerals import Numeral
from glassformer.answers.expressions.precision import Agreement, Written, equal, widened
from glassformer.answers.expressions.tree import Name, Node, Number, Parsed, Percent, numerals_in, ungrouped, walk

ENOUGH_DIGITS = 3  # a decimal with fewer is taken at its word, one with more may have been rounded


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
        """About how many steps it takes to evaluate: functions cost more, and as often as they have items."""
        costly = sum(token.kind == "function" or token.text == "^" for token in self.run.tokens)
        items = sum(token.kind in ("comma", "cell") or token.text.count(",") for token in self.run.tokens)
        return 3 + len(self.run.tokens) + 12 * costly * (1 + items) + items * isqrt(items)

    @cached_property
    def tree(self) -> Node | None:
        """In the first reading that has one."""
        for reading in readings(self.run.tokens):
            try:
                return self.parsed(reading).tree
            except NotUnderstoodError:
                continue
        return None

    @cached_property
    def written(self) -> Written | None:
        """The number or the list of numbers that it is, with nothing to be worked out."""
        return written(self.tree) if self.tree is not None else None

    @property
    def name(self) -> str | None:
        inner = ungrouped(self.tree) if self.tree is not None else None
        return inner.text if isinstance(inner, Name) else None

    @property
    def problem(self) -> str:
        """Why its usual reading fails."""
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
        """Whether a number stands against a number, or a list against a list."""
        array = isinstance(self.value, Array)
        if self.claim is not None:
            return array != isinstance(self.claim, Figure)
        return array == isinstance(self.other, Array)


Numbers = Callable[[Numeral], Real]


def pair_of(left: Side, right: Side, reading: Reading, names: Mapping[str, Value], number: Numbers = as_written) -> Pair:
    """Both sides evaluated."""
    one, two = left.parsed(reading), right.parsed(reading)
    claim = written(two.tree, reading)
    value = Evaluator(reading, names, number).value(one.tree)
    other = None if claim is not None else Evaluator(reading, names, number).value(two.tree)
    return Pair(reading, one, two, value, claim, other)


def agreement(pair: Pair, *, loosely: bool) -> Agreement | None:
    """How the two sides go together: a result at its own precision, two expressions by their values."""
    if pair.claim is not None:
        found = agrees(pair.value, pair.claim, loosely=loosely)
        if found is not None:
            return None if found == "cut" and _cut_to_nothing(pair.value, pair.claim) else found
    mine = written(pair.left.tree, pair.reading)
    if mine is not None and pair.other is not None:
        found = agrees(pair.other, mine, loosely=loosely)
        if found is not None:
            return found
    if isinstance(mine, Figure) and isinstance(pair.claim, Figure) and mine.unit > pair.claim.unit:
        return agrees(exactly(pair.claim.value), mine, loosely=loosely)
    return equal(pair.value, pair.other, loosely=loosely) if pair.other is not None else None


def _cut_to_nothing(value: Value, claim: Written) -> bool:
    """`softmax([2, 1]) = [0, 0]`: a zero in place of a number that does not round to it."""
    cells = value.cells if isinstance(value, Array) else (value,)
    figures = claim.cells if isinstance(claim, Figures) else (claim,)
    return any(not figure.value and abs(cell.middle) > figure.unit / 2 for cell, figure in zip(cells, figures, strict=True))


def within_rounding(left: Side, right: Side, reading: Reading, names: Mapping[str, Value], *, loosely: bool) -> bool:
    """Whether they agree when long decimals are taken for rounded numbers."""
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

    return _agrees(left, right, reading, names, rounded, loosely=loosely) is not None


def from_memory(left: Side, right: Side, reading: Reading, memory: Memory, *, loosely: bool, true: bool) -> Pair | None:
    """The pair with earlier results put right (or only unrounded), where the two sides then agree."""
    if not memory.touches(left.parsed(reading).tree):
        return None
    number = memory.true_value if true else memory.unrounded
    return _agrees(left, right, reading, memory.values(true=true), number, loosely=loosely)


def _agrees(
    left: Side, right: Side, reading: Reading, names: Mapping[str, Value], number: Numbers, *, loosely: bool
) -> Pair | None:
    try:
        pair = pair_of(left, right, reading, names, number)
    except NotUnderstoodError:
        return None
    return pair if agreement(pair, loosely=loosely) in ("exact", "rounded") else None


def _may_be_rounded(numeral: Numeral) -> bool:
    return numeral.decimal and len(numeral.digits) >= ENOUGH_DIGITS
