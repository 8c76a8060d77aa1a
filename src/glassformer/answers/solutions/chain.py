"""The calculations of a document as a chain: what each total becomes when a step before it is put right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from glassformer.answers.documents import CheckedDocument, Finding
from glassformer.answers.documents.markup import laid_aside
from glassformer.answers.documents.sides import Side
from glassformer.answers.documents.statements import relations
from glassformer.answers.expressions import (
    Array,
    Evaluator,
    NotUnderstoodError,
    Reading,
    Real,
    exactly,
    fold,
    shown_number,
    tokens,
)
from glassformer.answers.expressions.numerals import Numeral
from glassformer.answers.expressions.tree import Node, walk
from glassformer.answers.expressions.tree import Number as NumberNode
from glassformer.answers.solutions.remarks import Total

MOST_STEPS = 400
PLAIN = 1000  # a number at least this large is taken for the result that it repeats
MOST_ITEMS = 12


@dataclass(frozen=True)
class Step:
    """A calculation of the document, or (without a tree) a labelled total of the results above it."""

    finding: Finding
    tree: Node | None
    claimed: Fraction | None

    @property
    def line(self) -> int:
        return self.finding.line


def steps_of(document: CheckedDocument) -> list[Step]:
    """Every judged calculation that arrives at one number, in order."""
    found: list[Step] = []
    for finding in document.findings:
        if finding.verdict not in ("right", "wrong", "carried") or len(found) >= MOST_STEPS:
            continue
        if finding.kind == "total":
            found.append(Step(finding, None, whole(finding.claimed)))
        elif finding.kind == "arithmetic" and (step := _step(document, finding)) is not None:
            found.append(step)
    return found


def _step(document: CheckedDocument, finding: Finding) -> Step | None:
    piece = laid_aside(document.text[finding.start : finding.end], latex=document.kind == "tex")
    signs = relations(fold(tokens(piece, finding.start)))
    sides = [(Side(sign.left), Side(sign.right)) for sign in signs if sign.left is not None and sign.right is not None]
    if len(sides) != 1 or sides[0][0].usual is None or sides[0][1].figure is None:
        return None
    return Step(finding, sides[0][0].usual.tree, sides[0][1].figure.value)


@dataclass
class _Result:
    claimed: Fraction
    value: Fraction
    touched: bool  # whether it rests on a step that was put right
    used: bool = False


@dataclass
class Replay:
    """The chain worked through again with some of its expressions replaced."""

    replaced: Mapping[int, Node]  # by the place of the finding
    results: list[_Result] = field(default_factory=list)

    def run(self, steps: Sequence[Step]) -> list[tuple[Step, Fraction]]:
        """The steps below the replaced ones that rest on them, each with its new value."""
        changed: list[tuple[Step, Fraction]] = []
        for step in steps:
            if step.claimed is None:
                continue
            result = self._total(step) if step.tree is None else self._worked(step)
            if result is None:
                continue
            self.results.append(result)
            if result.touched and step.finding.start not in self.replaced:
                changed.append((step, result.value))
        return changed

    def _worked(self, step: Step) -> _Result | None:
        tree = self.replaced.get(step.finding.start, step.tree)
        assert tree is not None and step.claimed is not None
        sources = {numeral.value: self._source(numeral.value) for numeral in _numerals(tree)}
        if any(found == [] for found in sources.values()):
            return None  # it may come from either of two lines
        used = {value: found[0] for value, found in sources.items() if found}

        def number(numeral: Numeral) -> Real:
            return exactly(used[numeral.value].value if numeral.value in used else numeral.value)

        try:
            value = Evaluator(Reading(), {}, number).value(tree)
        except NotUnderstoodError:
            return None
        if isinstance(value, Array) or value.low != value.high:
            return None
        for result in used.values():
            result.used = True
        touched = step.finding.start in self.replaced or any(result.touched for result in used.values())
        return _Result(step.claimed, value.low, touched)

    def _source(self, value: Fraction) -> list[_Result] | None:
        """The earlier result that a number repeats; None where it repeats none, empty where it may be one of several."""
        if value < PLAIN:
            return None
        same = [result for result in self.results if result.claimed == value]
        open_ones = [result for result in same if not result.used] or same
        if not open_ones:
            return None
        return [open_ones[-1]] if len({(result.value, result.touched) for result in open_ones}) == 1 else []

    def _total(self, step: Step) -> _Result | None:
        """The sum of the last results, as many as make up what the checked document says that they add up to."""
        due = whole(step.finding.due)
        if due is None or step.claimed is None:
            return None
        for count in range(1, min(MOST_ITEMS, len(self.results)) + 1):
            items = self.results[-count:]
            if sum(item.claimed for item in items) == due:
                for item in items:
                    item.used = True
                value = sum((item.value for item in items), Fraction(0))
                return _Result(step.claimed, value, any(item.touched for item in items))
        return None


def totals_after(steps: Sequence[Step], replaced: Mapping[int, Node]) -> tuple[Total, ...]:
    """What the numbers below become, each value once."""
    found: dict[Fraction, Total] = {}
    for step, value in Replay(replaced).run(steps):
        found.setdefault(value, Total(step.line, step.finding.claimed, shown_number(exactly(value))))
    return tuple(found.values())


def uses(steps: Sequence[Step], replaced: Mapping[int, Node]) -> Iterator[Step]:
    """The steps that rest on the replaced ones."""
    for step, _ in Replay(replaced).run(steps):
        yield step


def whole(text: str) -> Fraction | None:
    digits = text.replace(",", "").strip()
    return Fraction(int(digits)) if digits.isdecimal() and len(digits) < 40 else None


def _numerals(tree: Node) -> list[Numeral]:
    return [node.numeral for node in walk(tree) if isinstance(node, NumberNode)]
