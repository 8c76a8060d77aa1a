"""The verdict on each equality of a block: definitions, formulas, chains, shapes, and what each line leaves behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from glassformer.answers.documents.chain import Chain, Pending
from glassformer.answers.documents.compare import compare
from glassformer.answers.documents.findings import Finding
from glassformer.answers.documents.memory import Memory, Symbol
from glassformer.answers.documents.outcome import Outcome
from glassformer.answers.documents.report import Report
from glassformer.answers.documents.shape_claims import compare_shapes
from glassformer.answers.documents.sides import Side
from glassformer.answers.documents.statements import Relation, Run
from glassformer.answers.documents.totals import Labelled, total_of, words_of
from glassformer.answers.expressions import Array, Evaluator, NotUnderstoodError, Reading, Value, free_names, written
from glassformer.answers.expressions.precision import Figures, as_value
from glassformer.answers.expressions.tree import (
    Call,
    Name,
    Node,
    Power,
    Product,
    Root,
    Space,
    Sum,
    names_in,
    numerals_in,
    ungrouped,
    walk,
)
from glassformer.spec.errors import shown

DEFINITION = Outcome("nothing", "definition")
FORMULA = Outcome("nothing", "formula")


@dataclass
class Judge:
    """Judges the relations of a block in order."""

    memory: Memory
    text: str
    pending: list[Pending] = field(default_factory=list)
    accused: list[tuple[Finding, list[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.report = Report(self.text)
        self.sides: dict[int, Side] = {}  # of the block at hand

    def block(self, relations: Sequence[Relation], line: int, start: int) -> list[Finding]:
        """The findings of one block that begins at `start` in line `line`."""
        self.report.line, self.report.start = line, start
        self.sides = {}
        found: list[Finding] = []
        chain = Chain()
        broken = True
        for relation in relations:
            if broken or not relation.chained:
                self._leave(chain)
                chain = Chain()
            self.memory.effort += 15
            finding = self._relation(relation, chain)
            broken = finding is None  # an arrow that claims nothing parts what stands before it from what follows
            if finding is not None:
                found.append(finding)
        self._leave(chain)
        self.memory.meet(
            {numeral.value for side in self.sides.values() if side.usual for numeral in numerals_in(side.usual.tree)}
        )
        return found

    def _side(self, run: Run | None) -> Side | None:
        """The side of a run, which the two relations next to it share."""
        if run is None:
            return None
        return self.sides.setdefault(id(run), Side(run))

    def assign(self, relations: Sequence[Relation], line: int, start: int) -> None:
        """What a line of code gives a value to; nothing is judged."""
        if len(relations) == 1:
            self.block(relations, line, start)

    def total(self, item: Labelled, line: int, *, start: int | None = None, loosely: bool = False) -> Finding:
        """A labelled number that says it is a total."""
        self.report.line, self.report.start = line, item.start
        self.memory.effort += 80
        found = total_of(self.memory, item.figure, item.label, loosely=loosely)
        finding = self.report.total(item.start if start is None else start, item.end, item, found)
        truth = found.truth if found is not None else None
        value = as_value(item.figure)
        assert not isinstance(value, Array)
        self.memory.arrive(item.figure, truth or value, line, finding.verdict, total=found is not None)
        self.memory.meet({item.figure.value})
        return finding

    def confirmed(self) -> list[Finding]:
        """Formulas that turn out right with what the document said later."""
        found = list(self._withdrawn())
        for held in self.pending:
            if not (self._is_known(held.left) and self._is_known(held.right)):
                continue
            outcome = compare(held.left, held.right, held.relation.token.text, self.memory)
            if outcome.verdict == "right":
                self.report.line, self.report.start = held.line, held.start
                found.append(self.report.finding(held.relation, replace(outcome, note="with the values given further on")))
        return found

    def _withdrawn(self) -> Iterator[Finding]:
        """Lines called wrong with the value of a symbol that turns out to have several: equations to be solved, perhaps."""
        for finding, names in self.accused:
            changed = [name for name in names if name in self.memory.symbols and self.memory.symbols[name].changed]
            if changed:
                said = f"Not judged: {shown(changed[0], limit=30)} has several values in this document."
                yield replace(finding, verdict="unclear", sentence=said, due="", true="", slips=(), sources=(), implied="")

    def _relation(self, relation: Relation, chain: Chain) -> Finding | None:
        left, right = self._side(relation.left), self._side(relation.right)
        match relation.token.text:
            case "=" | "≈":
                return self._equality(relation, left, right, chain)
            case "→" | "says" | "~":
                return self._arrow(relation, left, right, chain)
            case "∈":
                return self._membership(relation, left, right)
            case _:
                return None

    def _equality(self, relation: Relation, left: Side | None, right: Side | None, chain: Chain) -> Finding:
        if left is None or right is None:
            hidden = Outcome("unclear", note="a vertical bar stands before the sign of equality")
            return self.report.finding(
                relation, hidden if relation.cut_off else FORMULA, "" if relation.cut_off else "One side is missing."
            )
        chain.blurred = chain.blurred or _is_blurred(right.run)
        named = _name(left)
        if chain.latest is None and (named is not None or not self._is_known(left)):
            return self._unknown_left(relation, left, right, chain)
        if not self._is_known(right):
            chain.hold(left)
            return self._unknown(relation, right)
        chain.hold(left)
        outcome = self._against_chain(chain, right, relation.token.text)
        finding = self.report.finding(relation, outcome)
        self._remember(finding, outcome)
        if outcome.verdict == "wrong" and outcome.pair is not None:
            self.accused.append((finding, names_in(outcome.pair.left.tree) + names_in(outcome.pair.right.tree)))
        chain.go_on(right, outcome)
        return finding

    def _against_chain(self, chain: Chain, right: Side, sign: str) -> Outcome:
        """Compared with the first side of the chain that has a value, then with the latest."""
        base, latest = chain.base, chain.latest
        assert base is not None and latest is not None
        outcome = compare(base, right, sign, self.memory)
        if outcome.verdict == "wrong" and chain.named and base is latest and base.bare and right.bare:
            return Outcome("unclear", pair=outcome.pair, note="two numbers for one name")
        if outcome.verdict in ("right", "carried") or base is latest:
            return outcome
        again = compare(latest, right, sign, self.memory)
        if again.verdict not in ("right", "carried"):
            return again if again.pair is not None and again.pair.comparable and not latest.bare else outcome
        if not chain.faulty:
            return again
        true = outcome.pair.value if outcome.pair is not None else None
        return replace(again, verdict="carried", sources=again.sources or (self.report.line_of(right.run.start),), true=true)

    def _unknown_left(self, relation: Relation, left: Side, right: Side, chain: Chain) -> Finding:
        """A definition, a formula with free symbols, or something that cannot be read."""
        known = self._is_known(right)
        if known and _name(right) is None:
            chain.hold(right)
        name = _name(left)
        if name is not None:
            return self._definition(relation, left, right, chain, name)
        shape = compare_shapes(left, right, relation.token.text, self.memory)
        if shape is not None and shape.verdict != "unclear":
            return self.report.finding(relation, shape)
        if known and left.usual is not None:
            self.pending.append(Pending(relation, left, right, self.report.line, self.report.start))
        return self._unknown(relation, left)

    def _definition(self, relation: Relation, left: Side, right: Side, chain: Chain, name: str) -> Finding:
        chain.named = True
        figure = right.figure
        label = words_of(left.run.tokens)
        if figure is not None:
            item = Labelled(label, figure, right.run.start, right.run.end)
            if item.total:
                line = self.report.line_of(relation.token.start)
                block = self.report.line, self.report.start
                finding = self.total(item, line, start=left.run.start, loosely=relation.token.text == "≈")
                self.report.line, self.report.start = block
                return finding
        if left.run.border not in ("number", "dash") and right.run.safe_after:
            chain.names += [name, *relation.names]
        return self.report.finding(relation, DEFINITION, f"A definition of {shown(name, limit=30)}.")

    def _unknown(self, relation: Relation, side: Side) -> Finding:
        """A side without a value: a formula, words, or something that cannot be read."""
        tree = side.usual.tree if side.usual is not None else None
        if tree is not None or _symbolic(side.run):
            return self.report.finding(relation, FORMULA, self._symbols(tree))
        if not side.run.has_numbers:
            return self.report.finding(relation, FORMULA, "Words, not numbers.")
        return self.report.finding(relation, Outcome("unclear", note=side.problem))

    def _symbols(self, tree: Node | None) -> str:
        free = free_names(tree, self.memory.values()) if tree is not None else []
        names = ", ".join(shown(name, limit=20) for name in free[:4])
        return f"A formula: the value of {names} is not given." if names else "A formula with symbols."

    def _arrow(self, relation: Relation, left: Side | None, right: Side | None, chain: Chain) -> Finding | None:
        """`[768, 768] × [768, 6] → [768, 6]`, `3 × 4 gives 12`: a claim where it is one beyond doubt, else just an arrow."""
        if left is None or right is None or not _is_worked(left):
            return None
        if relation.token.text == "→":
            shape = compare_shapes(left, right, "→", self.memory)
            if shape is not None:
                return self.report.finding(relation, shape)
        if not (self._is_known(left) and self._is_known(right) and right.bare):
            return None
        outcome = compare(left, right, "≈" if relation.token.text == "~" else "=", self.memory)
        if outcome.verdict == "unclear" or (outcome.verdict == "wrong" and relation.token.text != "says"):
            return None
        chain.hold(left)
        finding = self.report.finding(relation, outcome)
        self._remember(finding, outcome)
        chain.go_on(right, outcome)
        return finding

    def _membership(self, relation: Relation, left: Side | None, right: Side | None) -> Finding | None:
        """`∈ ℝ^{64 × (2 × 16)}` next to another ℝ or to sizes: the same shape said twice."""
        for one, two in ((left, right), (right, self._side(relation.beside))):
            if one is None or two is None or not _is_space(one):
                continue
            shape = compare_shapes(one, two, "∈", self.memory)
            if shape is not None and shape.verdict == "right":
                return self.report.finding(relation, shape, over=(one.run, two.run))
        return None

    def _is_known(self, side: Side) -> bool:
        """Whether it can be read and all of its symbols have values."""
        found = side.usual
        if found is None or free_names(found.tree, self.memory.values()):
            return False
        return not any(isinstance(node, Space) for node in walk(found.tree))

    def _remember(self, finding: Finding, outcome: Outcome) -> None:
        """What the line arrived at."""
        pair = outcome.pair
        if pair is None or pair.claim is None or outcome.verdict in ("unclear", "nothing"):
            return
        true = outcome.true if outcome.true is not None else pair.value
        cells = true.cells if isinstance(true, Array) else (true,)
        figures = pair.claim.cells if isinstance(pair.claim, Figures) else (pair.claim,)
        if len(cells) == len(figures):
            for figure, cell in zip(figures, cells, strict=True):
                self.memory.arrive(figure, cell, finding.line, finding.verdict)

    def _leave(self, chain: Chain) -> None:
        """A chain that began with a name gives it a value."""
        if not chain.names or chain.blurred or chain.latest is None or chain.base is None:
            return
        value, truth = self._value(chain.latest), self._value(chain.base)
        if value is None:
            return
        line = self.report.line_of(chain.latest.run.start)
        symbol = Symbol(value, truth if truth is not None and chain.faulty else value, line, self.memory.scope, chain.faulty)
        for name in chain.names:
            self.memory.define(name, symbol)
        if chain.base is chain.latest and (figure := chain.base.figure) is not None:
            exact = as_value(figure)
            assert not isinstance(exact, Array)
            self.memory.arrive(figure, exact, line, "nothing")

    def _value(self, side: Side) -> Value | None:
        found = side.usual
        if found is None:
            return None
        claim = written(found.tree)
        if claim is not None:
            return as_value(claim)
        try:
            return Evaluator(Reading(), self.memory.values()).value(found.tree)
        except NotUnderstoodError:
            return None


def _name(side: Side) -> str | None:
    tree = side.usual.tree if side.usual is not None else None
    inner = ungrouped(tree) if tree is not None else None
    return inner.text if isinstance(inner, Name) else None


def _is_blurred(run: Run) -> bool:
    tokens = [token for token in run.tokens if token.kind != "edge"]
    return len(tokens) == 2 and tokens[0].kind == "number" and tokens[1].kind == "name" and tokens[1].gap


def _is_worked(side: Side) -> bool:
    found = side.usual
    if found is None or written(found.tree) is not None:
        return False
    return any(isinstance(node, Sum | Product | Power | Root | Call) for node in walk(found.tree))


def _is_space(side: Side) -> bool:
    return side.usual is not None and isinstance(ungrouped(side.usual.tree), Space)


def _symbolic(run: Run) -> bool:
    """Whether there are names in it, so that it is a formula and no calculation."""
    return any(token.kind in ("name", "text", "command", "dots") for token in run.tokens)
