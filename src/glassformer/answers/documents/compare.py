"""Compares the two sides of an equation: right, wrong, carried forward or not understood, and why."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from glassformer.answers.documents import outcome
from glassformer.answers.documents.memory import Memory
from glassformer.answers.documents.outcome import Outcome, carried, explained, unclear
from glassformer.answers.documents.sides import Pair, Side, agreement, from_memory, pair_of, within_rounding
from glassformer.answers.documents.sizes import compare_sizes
from glassformer.answers.mistakes.arithmetic import slips
from glassformer.answers.mistakes.implied import gap_behind
from glassformer.answers.mistakes.slips import pen_slips
from glassformer.answers.verdicts.verdict import Finding
from glassformer.expressions import (
    Array,
    Evaluator,
    Figure,
    NotUnderstoodError,
    Reading,
    Real,
    Value,
    agrees,
    plain,
    readings,
    written,
)
from glassformer.expressions import tree as trees
from glassformer.expressions.limits import MOST_SIZES
from glassformer.expressions.operands import SPACED
from glassformer.expressions.precision import Agreement
from glassformer.expressions.tree import Node
from glassformer.expressions.vocabulary import CONVERTIBLE, LINKING

LABEL = unclear("a number with a label")  # not a claim, so it is not reported
UNITS = "the two sides use different units"
OTHER_SUMS = frozenset("squared cubed dozen twice half double each remaining modulo mod".split())


def compare(left: Side, right: Side, sign: str, memory: Memory) -> Outcome:
    """Compare two sides under every reading; wrong only if none is right and the context leaves no doubt."""
    if memory.exhausted:
        return unclear("the document exceeds the limit on computation", kind="limit")
    loosely = sign == "≈"
    names = memory.values()
    weight = left.weight + right.weight
    first: Pair | None = None
    problem = "the two sides cannot be read in the same way"
    for reading in readings([*left.run.tokens, *right.run.tokens]):
        memory.effort += weight
        try:
            pair = pair_of(left, right, reading, names)
        except NotUnderstoodError as met:
            problem = str(met) if first is None and reading == Reading() else problem
            continue
        first = first or pair
        how = agreement(pair, loosely=loosely)
        if how is not None:
            return _right(pair, how, memory)
    as_sizes = compare_sizes(left, right, sign, memory)
    if first is None or (as_sizes is not None and as_sizes.verdict == "right"):
        return as_sizes or unclear(problem)
    memory.effort += 3 * weight
    if not first.comparable:
        if _counts(first):
            return outcome.right(first, note="the number of elements of this shape", kind="shape")
        return as_sizes or unclear("one side is a list and the other a number", first)
    return _not_as_written(left, right, first, memory, loosely=loosely) or as_sizes or _wrong(left, right, first, memory)


def _counts(pair: Pair) -> bool:
    """Return whether the sides are a shape and its number of elements: `[8, 768] = 6,144`."""
    if not (isinstance(pair.value, Array) and isinstance(pair.claim, Figure) and len(pair.value.cells) <= MOST_SIZES):
        return False
    return prod((cell.middle for cell in pair.value.cells), start=Fraction(1)) == pair.claim.value


def _right(pair: Pair, how: Agreement, memory: Memory) -> Outcome:
    """Return the outcome of a right equation; carried forward if it uses a wrong number."""
    lines = _faulty_lines(pair, memory)
    return carried(pair, lines, true_value(pair, memory)) if lines else outcome.right(pair, how, pair.reading.said())


def _faulty_lines(pair: Pair, memory: Memory) -> tuple[int, ...]:
    """Return the lines of the wrong results that the left side uses."""
    results = [memory.source(numeral) for numeral in trees.numerals_in(pair.left.tree)]
    symbols = [memory.symbols[name] for name in trees.names_in(pair.left.tree) if name in memory.symbols]
    lines = [found.line for found in results if found is not None] + [symbol.line for symbol in symbols if symbol.wrong]
    return tuple(dict.fromkeys(lines))


def true_value(pair: Pair, memory: Memory) -> Value | None:
    """Return the value of the left side with earlier errors corrected."""
    try:
        return Evaluator(pair.reading, memory.values(true=True), memory.true_value).value(pair.left.tree)
    except NotUnderstoodError:
        return None


def _not_as_written(left: Side, right: Side, pair: Pair, memory: Memory, *, loosely: bool) -> Outcome | None:
    """Return the outcome if it is right with earlier numbers unrounded or corrected, or within the rounding of its inputs."""
    kept = from_memory(left, right, pair.reading, memory, loosely=loosely, true=False)
    if kept is not None:
        return _right(kept, "rounded", memory)
    put_right = from_memory(left, right, pair.reading, memory, loosely=loosely, true=True)
    if put_right is not None:
        return outcome.right(put_right, note="right with the earlier errors corrected")
    if not _worked_exactly(pair) and within_rounding(left, right, pair.reading, memory.values(), loosely=loosely):
        lines = _faulty_lines(pair, memory)
        return carried(pair, lines, None) if lines else outcome.right(pair, note="within the rounding of the numbers it uses")
    return None


def _worked_exactly(pair: Pair) -> bool:
    """Return whether the exact result has no more digits than the claim, so that rounding cannot explain a difference."""
    value, claim = pair.value, pair.claim
    percents = any(isinstance(node, trees.Percent) for node in trees.walk(pair.left.tree))
    if not (isinstance(value, Real) and isinstance(claim, Figure)) or claim.rounded or percents or not value.exact:
        return False
    return (value.middle / claim.unit).denominator == 1


def _wrong(left: Side, right: Side, pair: Pair, memory: Memory) -> Outcome:
    if _is_labelled(left, right, pair):
        return LABEL
    if (doubt := _doubt(left, right, pair, memory)) and not (doubt == UNITS and _is_anagram(pair)):
        return unclear(doubt, pair)
    lines = _faulty_lines(pair, memory)
    true = true_value(pair, memory) if lines else None
    if pair.claim is None:
        return outcome.wrong(pair, lines, true)
    memory.effort += 15 * (left.weight + right.weight)
    found = slips(pair.left.tree, pair.value, pair.claim, memory.values(), pair.reading)
    gap = gap_behind(pair.left.tree, pair.claim, memory.values())
    findings = tuple(_confused_unit(pair) or [explained(slip.code, slip.sentence, slip.predicted) for slip in found])
    return outcome.wrong(pair, lines, true, findings, gap)


def _is_labelled(left: Side, right: Side, pair: Pair) -> bool:
    """Return whether it is a label or a unit: `Layer 1 = 30,720,000`, `1 epoch = 500 steps`, `3/5 of all = 12`."""
    if not (_is_part(pair.left.tree) and isinstance(right.written, Figure)):
        return False
    if left.run.border == "word" and left.run.safe_before:
        return True
    return left.run.border in ("start", "wall") and left.run.notes != right.run.notes


def _is_part(tree: Node) -> bool:
    """Return whether a tree is a number, a percentage or a plain fraction."""
    match trees.ungrouped(tree):
        case trees.Number() | trees.Percent() | trees.Negative(trees.Number()) | trees.Measured():
            return True
        case trees.Product(((_, trees.Number()), ("/", trees.Number()))):
            return True
        case _:
            return False


def _doubt(left: Side, right: Side, pair: Pair, memory: Memory) -> str:
    """Return why the equation may mean something else, so that it is not called wrong; empty if it cannot."""
    if not (left.run.safe_before and right.run.safe_after):
        return "words or signs around it may belong to it"
    one, two = left.written, right.written
    if isinstance(one, Figure) and isinstance(two, Figure) and not (left.run.alone and right.run.alone) and not two.rounded:
        return "two numbers without a calculation"
    if any(word in LINKING for word in left.run.notes):
        return "words before the sign may start another expression"
    doubts = [*pair.left.doubts, *pair.right.doubts]
    if doubts.count(SPACED) > 1:  # two numbers with spaces are intended
        doubts = [doubt for doubt in doubts if doubt != SPACED]
    if doubts:
        return doubts[0]
    if _units(pair.left.notes) != _units(pair.right.notes) and not _are_bytes(pair):
        return UNITS
    if left.run.border == "word" and _is_range(pair.left.tree, left):
        return "a range, or a difference"
    if any(word in OTHER_SUMS for note in pair.left.notes for word in note.lower().split()):
        return "words in it may mean another operation"
    return _foreign_symbol(pair, memory)


def _units(notes: tuple[str, ...]) -> set[str]:
    """Return the convertible units: minutes and hours, and anything that looks like MHz or kWh."""
    first = [note.split()[0] for note in notes if note.split()]
    return {word.lower() for word in first if word.lower() in CONVERTIBLE or _is_unit_symbol(word)}


def _is_anagram(pair: Pair) -> bool:
    """Return whether two digits of the result are swapped, so that it is the result whatever its unit."""
    value, claim = pair.value, pair.claim
    slips_of_the_pen = pen_slips(value, claim) if isinstance(value, Real) and isinstance(claim, Figure) else []
    return any(slip.code == "digits_exchanged" for slip in slips_of_the_pen)


def _are_bytes(pair: Pair) -> bool:
    """Return whether a number of bytes is converted: the other side has a unit of bytes, and about this value."""
    units = _units(pair.left.notes), _units(pair.right.notes)
    claimed = trees.ungrouped(pair.right.tree)
    if units[0] - {"bytes", "byte"} or not isinstance(claimed, trees.Measured) or "B" not in claimed.unit:
        return False
    value, claim = pair.value, pair.claim
    return isinstance(value, Real) and isinstance(claim, Figure) and 2 * abs(value.middle - claim.value) < claim.value


def _confused_unit(pair: Pair) -> list[Finding]:
    """Return the finding for a number that is right in the other kind of megabytes."""
    claimed = trees.ungrouped(pair.right.tree)
    if not isinstance(claimed, trees.Measured) or not claimed.unit.endswith("iB"):
        return []
    decimal = trees.Measured(claimed.inner, claimed.unit.replace("iB", "B"))
    other = written(decimal, pair.reading)
    if other is None or not agrees(pair.value, other, loosely=False):
        return []
    said = f"{decimal.unit} written as {claimed.unit}."
    return [explained("bytes_and_units", said, plain(decimal))]


def _is_unit_symbol(word: str) -> bool:
    capital = next((place for place, letter in enumerate(word) if letter.isupper()), len(word))
    return word.isalpha() and capital <= 2 and capital < len(word) <= capital + 5


def _is_range(tree: Node, side: Side) -> bool:
    """Return whether a difference may be a range: `pages 3-4`."""
    if not (isinstance(tree, trees.Sum) and len(tree.terms) == 2 and tree.terms[1][0] == "-"):
        return False
    return all(isinstance(term, trees.Number) for _, term in tree.terms) and not any(token.gap for token in side.run.tokens[1:3])


def _foreign_symbol(pair: Pair, memory: Memory) -> str:
    for name in [*trees.names_in(pair.left.tree), *trees.names_in(pair.right.tree)]:
        symbol = memory.symbols.get(name)
        if symbol is not None and symbol.scope != memory.scope:
            return f"{name} is defined in another section (line {symbol.line})"
        if symbol is not None and symbol.changed:
            return f"{name} has several values"
    for tree in (pair.left.tree, pair.right.tree):
        bare = sum(node == trees.Name("e") for node in trees.walk(tree))
        if (
            bare > sum(isinstance(node, trees.Power) and node.base == trees.Name("e") for node in trees.walk(tree))
            and "e" not in memory.symbols
        ):
            return "e may be a variable here"
    return ""
