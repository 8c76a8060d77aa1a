"""One equality compared: right, wrong, carried forward or not understood, and why."""

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
from glassformer.expressions import Array, Evaluator, Figure, NotUnderstoodError, Reading, Real, Value, readings
from glassformer.expressions import tree as trees
from glassformer.expressions.limits import MOST_SIZES
from glassformer.expressions.operands import SPACED
from glassformer.expressions.precision import Agreement
from glassformer.expressions.tree import Node
from glassformer.expressions.vocabulary import CONVERTIBLE, LINKING

LABEL = unclear("a number with a label")  # no claim: nothing is said about it
OTHER_SUMS = frozenset("squared cubed dozen twice half double each remaining modulo mod".split())


def compare(left: Side, right: Side, sign: str, memory: Memory) -> Outcome:
    """Tries every reading; wrong only when none of them is right and nothing about the place is doubtful."""
    if memory.exhausted:
        return unclear("the document asks for more work than is given to one", kind="limit")
    loosely = sign == "≈"
    names = memory.values()
    weight = left.weight + right.weight
    first: Pair | None = None
    problem = "the two sides cannot be read together"
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
            return outcome.right(first, note="the number of elements of that shape", kind="shape")
        return as_sizes or unclear("a list stands on one side and a number on the other", first)
    return _not_as_written(left, right, first, memory, loosely=loosely) or as_sizes or _wrong(left, right, first, memory)


def _counts(pair: Pair) -> bool:
    """`[8, 768] = 6,144`: a shape and how many elements it has."""
    if not (isinstance(pair.value, Array) and isinstance(pair.claim, Figure) and len(pair.value.cells) <= MOST_SIZES):
        return False
    return prod((cell.middle for cell in pair.value.cells), start=Fraction(1)) == pair.claim.value


def _right(pair: Pair, how: Agreement, memory: Memory) -> Outcome:
    """Right as written; carried forward where it builds on a number that is wrong."""
    lines = _faulty_lines(pair, memory)
    return carried(pair, lines, true_value(pair, memory)) if lines else outcome.right(pair, how, pair.reading.said())


def _faulty_lines(pair: Pair, memory: Memory) -> tuple[int, ...]:
    """The lines of the wrong results that the left side uses."""
    results = [memory.source(numeral) for numeral in trees.numerals_in(pair.left.tree)]
    symbols = [memory.symbols[name] for name in trees.names_in(pair.left.tree) if name in memory.symbols]
    lines = [found.line for found in results if found is not None] + [symbol.line for symbol in symbols if symbol.wrong]
    return tuple(dict.fromkeys(lines))


def true_value(pair: Pair, memory: Memory) -> Value | None:
    """The left side with earlier errors put right."""
    try:
        return Evaluator(pair.reading, memory.values(true=True), memory.true_value).value(pair.left.tree)
    except NotUnderstoodError:
        return None


def _not_as_written(left: Side, right: Side, pair: Pair, memory: Memory, *, loosely: bool) -> Outcome | None:
    """Right after all: with the unrounded numbers from before, with the right ones, or within the rounding of the inputs."""
    kept = from_memory(left, right, pair.reading, memory, loosely=loosely, true=False)
    if kept is not None:
        return _right(kept, "rounded", memory)
    put_right = from_memory(left, right, pair.reading, memory, loosely=loosely, true=True)
    if put_right is not None:
        return outcome.right(put_right, note="right with the earlier numbers put right")
    if not _worked_exactly(pair) and within_rounding(left, right, pair.reading, memory.values(), loosely=loosely):
        lines = _faulty_lines(pair, memory)
        return carried(pair, lines, None) if lines else outcome.right(pair, note="within the rounding of the numbers it uses")
    return None


def _worked_exactly(pair: Pair) -> bool:
    """Whether the numbers as written give a result with no more digits than were written: then no rounding explains another."""
    value, claim = pair.value, pair.claim
    percents = any(isinstance(node, trees.Percent) for node in trees.walk(pair.left.tree))
    if not (isinstance(value, Real) and isinstance(claim, Figure)) or claim.rounded or percents or not value.exact:
        return False
    return (value.middle / claim.unit).denominator == 1


def _wrong(left: Side, right: Side, pair: Pair, memory: Memory) -> Outcome:
    if _is_labelled(left, right, pair):
        return LABEL
    if doubt := _doubt(left, right, pair, memory):
        return unclear(doubt, pair)
    lines = _faulty_lines(pair, memory)
    true = true_value(pair, memory) if lines else None
    if pair.claim is None:
        return outcome.wrong(pair, lines, true)
    memory.effort += 15 * (left.weight + right.weight)
    found = slips(pair.left.tree, pair.value, pair.claim, memory.values(), pair.reading)
    gap = gap_behind(pair.left.tree, pair.claim, memory.values())
    findings = tuple(explained(slip.code, slip.sentence, slip.predicted) for slip in found)
    return outcome.wrong(pair, lines, true, findings, gap)


def _is_labelled(left: Side, right: Side, pair: Pair) -> bool:
    """`Layer 1 = 30,720,000`, `1 epoch = 500 steps`, `3/5 of all = 12`: a label or a unit, not a calculation."""
    if not (_is_part(pair.left.tree) and isinstance(right.written, Figure)):
        return False
    if left.run.border == "word" and left.run.safe_before:
        return True
    return left.run.border in ("start", "wall") and left.run.notes != right.run.notes


def _is_part(tree: Node) -> bool:
    """A number, a percentage or a plain fraction."""
    match trees.ungrouped(tree):
        case trees.Number() | trees.Percent() | trees.Negative(trees.Number()) | trees.Measured():
            return True
        case trees.Product(((_, trees.Number()), ("/", trees.Number()))):
            return True
        case _:
            return False


def _doubt(left: Side, right: Side, pair: Pair, memory: Memory) -> str:
    """Why something else may be meant, so that nobody is told that it is wrong; empty where nothing else can be."""
    if not (left.run.safe_before and right.run.safe_after):
        return "words or signs around it may belong to it"
    one, two = left.written, right.written
    if isinstance(one, Figure) and isinstance(two, Figure) and not (left.run.alone and right.run.alone) and not two.rounded:
        return "two numbers side by side, with nothing worked out"
    if any(word in LINKING for word in left.run.notes):
        return "words before the sign may begin something else"
    doubts = [*pair.left.doubts, *pair.right.doubts]
    if doubts.count(SPACED) > 1:  # who writes two numbers with spaces means it
        doubts = [doubt for doubt in doubts if doubt != SPACED]
    if doubts:
        return doubts[0]
    if _units(pair.left.notes) != _units(pair.right.notes):
        return "the two sides count in different units"
    if left.run.border == "word" and _is_range(pair.left.tree, left):
        return "a range, or a difference"
    if any(word in OTHER_SUMS for note in pair.left.notes for word in note.lower().split()):
        return "words in it may say that something else is done"
    return _foreign_symbol(pair, memory)


def _units(notes: tuple[str, ...]) -> set[str]:
    """The words that may turn into one another: minutes and hours, and whatever looks like MHz or kWh."""
    first = [note.split()[0] for note in notes if note.split()]
    return {word.lower() for word in first if word.lower() in CONVERTIBLE or _is_unit_symbol(word)}


def _is_unit_symbol(word: str) -> bool:
    capital = next((place for place, letter in enumerate(word) if letter.isupper()), len(word))
    return word.isalpha() and capital <= 2 and capital < len(word) <= capital + 5


def _is_range(tree: Node, side: Side) -> bool:
    """`pages 3-4`."""
    if not (isinstance(tree, trees.Sum) and len(tree.terms) == 2 and tree.terms[1][0] == "-"):
        return False
    return all(isinstance(term, trees.Number) for _, term in tree.terms) and not any(token.gap for token in side.run.tokens[1:3])


def _foreign_symbol(pair: Pair, memory: Memory) -> str:
    for name in [*trees.names_in(pair.left.tree), *trees.names_in(pair.right.tree)]:
        symbol = memory.symbols.get(name)
        if symbol is not None and symbol.scope != memory.scope:
            return f"{name} was given its value in another part (line {symbol.line})"
        if symbol is not None and symbol.changed:
            return f"{name} has had several values"
    for tree in (pair.left.tree, pair.right.tree):
        bare = sum(node == trees.Name("e") for node in trees.walk(tree))
        if (
            bare > sum(isinstance(node, trees.Power) and node.base == trees.Name("e") for node in trees.walk(tree))
            and "e" not in memory.symbols
        ):
            return "e may be a name here"
    return ""
