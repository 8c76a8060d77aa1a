"""Judges each equation of a block: definitions, formulas, chains and shapes; records the results of each line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from glassformer.answers.documents.compare import LABEL, compare
from glassformer.answers.documents.counted import Counted, Miscount, Use
from glassformer.answers.documents.formulas import Statement, statement_of
from glassformer.answers.documents.memory import Memory, Symbol
from glassformer.answers.documents.outcome import Outcome, carried, unclear
from glassformer.answers.documents.result import Found
from glassformer.answers.documents.sides import Side
from glassformer.answers.documents.sizes import compare_sizes
from glassformer.answers.documents.statements import Relation, Run, relations
from glassformer.answers.documents.totals import Labelled, total_of, words_of
from glassformer.errors import shown
from glassformer.expressions import (
    Array,
    Evaluator,
    Figure,
    NotUnderstoodError,
    Reading,
    Token,
    Value,
    exactly,
    free_names,
)
from glassformer.expressions.precision import Figures, as_value
from glassformer.expressions.tree import Call, Power, Product, Root, Space, Sum, names_in, numerals_in, ungrouped, walk

LONGEST_TEXT = 300
KEPT_WORDS = 3
MOST_STATEMENTS = 500


@dataclass
class Chain:
    """The state of a chain `a = b ≈ c`."""

    base: Side | None = None  # the first side with a value, which the others must equal
    latest: Side | None = None  # the last side with a value
    faulty: bool = False  # whether the latest was wrong
    named: bool = False  # whether it began with a name
    blurred: bool = False  # whether it is ambiguous: `t = 32 h = 2` is a product or two definitions
    names: list[str] = field(default_factory=list)  # the names that it defines

    def hold(self, side: Side) -> None:
        self.base = self.base or side
        self.latest = self.latest or side


@dataclass
class Judge:
    """Judges the relations of a document, block by block."""

    text: str
    counted: Counted
    memory: Memory = field(default_factory=Memory)
    found: list[Found] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    miscounts: dict[int, Miscount] = field(default_factory=dict)  # by the place of the relation
    withdrawn: frozenset[int] = frozenset()  # positions of miscounts that may be right
    pending: list[tuple[Relation, Side, Side]] = field(default_factory=list)  # formulas with symbols without values so far
    accused: list[tuple[int, list[str]]] = field(default_factory=list)  # indices of wrong findings, and the symbols they use
    statements: list[Statement] = field(default_factory=list)  # every `left = body`
    line: int = 1
    start: int = 0
    sides: dict[int, Side] = field(default_factory=dict)  # of the current block

    def block(self, tokens: Sequence[Token], line: int, start: int) -> int:
        """Judge one block that begins at `start` in line `line`; return its number of relations."""
        self.line, self.start, self.sides = line, start, {}
        found = relations(tokens)
        chain = Chain()
        goes_on = False
        for relation in found:
            if not (goes_on and relation.chained):
                self._leave(chain)
                chain = Chain()
            self.memory.effort += 15
            if len(self.statements) < MOST_STATEMENTS and (statement := statement_of(relation, tokens)) is not None:
                self.statements.append(statement)
            goes_on = self._relation(relation, chain)
        self._leave(chain)
        self.memory.met |= {n.value for side in self.sides.values() if side.tree is not None for n in numerals_in(side.tree)}
        return len(found)

    def total(self, item: Labelled, *, start: int, loosely: bool = False) -> None:
        """Judge a labelled number that is called a total."""
        self.memory.effort += 80
        line = self.line_of(item.start)
        found = total_of(self.memory, item, loosely=loosely)
        value = exactly(item.figure.value)
        if found is not None:
            outcome, value = found
            self.found.append(self._placed(start, item.end, line, outcome))
            self.uses.append(Use(line, outcome.sources, frozenset()))
        faulty = found is not None and found[0].verdict != "right"
        self.memory.arrive(item.figure, value, line, faulty=faulty, total=found is not None, judged=found is not None)
        self.memory.met.add(item.figure.value)

    def settle(self) -> None:
        """After the whole document: confirm formulas with later values, and withdraw errors that later values make uncertain."""
        symbols = self.memory.symbols
        for place, names in self.accused:
            changed = [name for name in names if name in symbols and symbols[name].changed]
            if changed:
                said = f"{shown(changed[0], limit=30)} has several values in this document"
                judged = replace(
                    self.found[place].judged, verdict="unclear", truth=None, findings=(), notes=(f"Not judged: {said}.",)
                )
                self.found[place] = replace(self.found[place], judged=judged, sources=(), put_right="")
        for relation, left, right in self.pending:
            if self._is_known(left) and self._is_known(right):
                outcome = compare(left, right, relation.token.text, self.memory)
                if outcome.verdict == "right":
                    notes = ("With values given later.",)
                    self._add(relation, replace(outcome, judged=replace(outcome.judged, notes=notes)))

    def line_of(self, place: int) -> int:
        return self.line + (
            self.text.count("\n", self.start, place) if place >= self.start else -self.text.count("\n", place, self.start)
        )

    def _side(self, run: Run | None) -> Side | None:
        """Return the side of a run, shared by the two relations next to it."""
        return self.sides.setdefault(id(run), Side(run)) if run is not None else None

    def _relation(self, relation: Relation, chain: Chain) -> bool:
        """Judge a relation; return whether a chain may continue after it (not after an arrow that is not a claim)."""
        left, right = self._side(relation.left), self._side(relation.right)
        match relation.token.text:
            case "=" | "≈":
                self._equality(relation, left, right, chain)
                return True
            case "→" | "says" | "~":
                return self._arrow(relation, left, right, chain)
            case "∈":
                return self._membership(relation, left, right)
            case _:
                return False

    def _equality(self, relation: Relation, left: Side | None, right: Side | None, chain: Chain) -> None:
        if left is None or right is None:
            return
        chain.blurred = chain.blurred or _is_blurred(right.run)
        if chain.latest is None and (left.name is not None or not self._is_known(left)):
            self._unknown_left(relation, left, right, chain)
            return
        chain.hold(left)
        if not self._is_known(right):
            self._unreadable(relation, right)
            return
        self._claim(relation, self._against_chain(chain, right, relation.token.text), right, chain)

    def _claim(self, relation: Relation, outcome: Outcome, right: Side, chain: Chain) -> None:
        """Record a verdict, the result of the line, and the state of the chain."""
        if outcome is not LABEL:
            miscount = self._miscount(relation, outcome)
            if outcome.verdict == "wrong" and outcome.pair is not None and miscount is None:
                self.accused.append((len(self.found), names_in(outcome.pair.left.tree) + names_in(outcome.pair.right.tree)))
            self._add(relation, outcome, miscount)
            self._remember(relation, outcome, miscount)
        chain.latest, chain.faulty = right, outcome.verdict in ("wrong", "carried")

    def _miscount(self, relation: Relation, outcome: Outcome) -> Miscount | None:
        """Return the miscount in a product that follows a known mistake, whether or not its arithmetic is right."""
        pair, place = outcome.pair, relation.token.start
        if pair is None or outcome.kind != "arithmetic" or not isinstance(pair.claim, Figure) or place in self.withdrawn:
            return None
        found = self.counted.miscount(self.line_of(place), pair.left.tree)
        if found is not None:
            self.miscounts[place] = found
        return found

    def _against_chain(self, chain: Chain, right: Side, sign: str) -> Outcome:
        """Compare a side with the first side of the chain that has a value, then with the latest."""
        base, latest = chain.base, chain.latest
        assert base is not None and latest is not None
        outcome = compare(base, right, sign, self.memory)
        if outcome.verdict == "wrong" and chain.named and base is latest and base.written and right.written:
            return unclear("two numbers for one name", outcome.pair)
        if outcome.verdict in ("right", "carried") or base is latest:
            return outcome
        again = compare(latest, right, sign, self.memory)
        if again.verdict not in ("right", "carried"):
            return again if again.pair is not None and again.pair.comparable and not latest.written else outcome
        if not chain.faulty:
            return again
        assert again.pair is not None
        true = outcome.pair.value if outcome.pair is not None else None
        return carried(again.pair, again.sources or (self.line_of(right.run.start),), true)

    def _unknown_left(self, relation: Relation, left: Side, right: Side, chain: Chain) -> None:
        """Handle a definition, a formula with free symbols, or something that cannot be read."""
        known = self._is_known(right)
        if known and right.name is None:
            chain.hold(right)
        if left.name is not None:
            self._definition(relation, left, right, chain, left.name)
            return
        shape = compare_sizes(left, right, relation.token.text, self.memory)
        if shape is not None and shape.verdict != "unclear":
            self._add(relation, shape)
            return
        if known and left.tree is not None:
            self.pending.append((relation, left, right))
        self._unreadable(relation, left)

    def _definition(self, relation: Relation, left: Side, right: Side, chain: Chain, name: str) -> None:
        chain.named = True
        if isinstance(right.written, Figure):
            item = Labelled(words_of(left.run.tokens), right.written, right.run.start, right.run.end)
            if item.total:
                self.total(item, start=left.run.start, loosely=relation.token.text == "≈")
                return
        if left.run.border not in ("number", "dash") and right.run.safe_after:
            chain.names += [name, *relation.names]

    def _unreadable(self, relation: Relation, side: Side) -> None:
        """Report a side that cannot be read, unless it is a formula or words, which are not claims."""
        symbolic = any(token.kind in ("name", "text", "command", "dots") for token in side.run.tokens)
        if side.tree is None and not symbolic and side.run.has_numbers:
            self._add(relation, unclear(side.problem))

    def _arrow(self, relation: Relation, left: Side | None, right: Side | None, chain: Chain) -> bool:
        """Judge `[768, 768] × [768, 6] → [768, 6]` or `3 × 4 gives 12`, if it is certainly a claim."""
        if left is None or right is None or not _is_worked(left):
            return False
        sign = relation.token.text
        shape = compare_sizes(left, right, "→", self.memory) if sign == "→" else None
        if shape is not None:
            self._add(relation, shape)
            return True
        if not (self._is_known(left) and self._is_known(right) and right.written):
            return False
        outcome = compare(left, right, "≈" if sign == "~" else "=", self.memory)
        if outcome.verdict == "unclear" or (outcome.verdict == "wrong" and sign != "says"):
            return False
        chain.hold(left)
        self._claim(relation, outcome, right, chain)
        return True

    def _membership(self, relation: Relation, left: Side | None, right: Side | None) -> bool:
        """Judge `∈ ℝ^{64 × (2 × 16)}` next to another ℝ or to sizes: the same shape stated twice."""
        for one, two in ((left, right), (right, self._side(relation.beside))):
            if one is None or two is None or one.tree is None or not isinstance(ungrouped(one.tree), Space):
                continue
            shape = compare_sizes(one, two, "∈", self.memory)
            if shape is not None and shape.verdict == "right":
                line = self.line_of(relation.token.start)
                self.found.append(self._placed(one.run.start, _last(two.run), line, shape))
                return True
        return False

    def _is_known(self, side: Side) -> bool:
        """Return whether a side can be read and all of its symbols have values."""
        if side.tree is None or free_names(side.tree, self.memory.values()):
            return False
        return not any(isinstance(node, Space) for node in walk(side.tree))

    def _add(self, relation: Relation, outcome: Outcome, miscount: Miscount | None = None) -> None:
        left, right = relation.left, relation.right
        start = min(left.start, relation.token.start) if left is not None else relation.token.start
        end = max(_last(right) if right is not None else 0, relation.token.end)
        self.found.append(self._placed(start, end, self.line_of(relation.token.start), outcome, miscount))

    def _placed(self, start: int, end: int, line: int, outcome: Outcome, miscount: Miscount | None = None) -> Found:
        text = shown(" ".join(self.text[start : min(end, start + 2 * LONGEST_TEXT)].split()), limit=LONGEST_TEXT)
        kind, judged, put_right = outcome.kind, outcome.judged, outcome.put_right
        if miscount is not None:
            kind, judged, put_right = "remark", miscount.judged(judged), miscount.correction.value
        return Found(
            line=line, start=start, end=end, text=text, kind=kind, judged=judged, sources=outcome.sources, put_right=put_right
        )

    def _remember(self, relation: Relation, outcome: Outcome, miscount: Miscount | None) -> None:
        """Record the result of a line."""
        pair = outcome.pair
        if pair is None or pair.claim is None or outcome.verdict == "unclear":
            return
        line = self.line_of(relation.token.start)
        numbers = frozenset(numeral.value for numeral in numerals_in(pair.left.tree))
        self.uses.append(Use(line, outcome.sources, numbers))
        true = miscount.value if miscount is not None else outcome.true if outcome.true is not None else pair.value
        cells = true.cells if isinstance(true, Array) else (true,)
        figures = pair.claim.cells if isinstance(pair.claim, Figures) else (pair.claim,)
        faulty = miscount is not None or outcome.verdict in ("wrong", "carried")
        if len(cells) == len(figures):
            for figure, cell in zip(figures, cells, strict=True):
                self.memory.arrive(figure, cell, line, faulty=faulty)

    def _leave(self, chain: Chain) -> None:
        """Define the names of a finished chain."""
        if not chain.names or chain.blurred or chain.latest is None or chain.base is None:
            return
        value, truth = self._value(chain.latest), self._value(chain.base)
        if value is None:
            return
        line = self.line_of(chain.latest.run.start)
        symbol = Symbol(value, truth if truth is not None and chain.faulty else value, line, self.memory.scope, chain.faulty)
        for name in chain.names:
            self.memory.define(name, symbol)
        figure = chain.base.written
        if chain.base is chain.latest and isinstance(figure, Figure):
            self.memory.arrive(figure, exactly(figure.value), line, judged=False)

    def _value(self, side: Side) -> Value | None:
        if side.written is not None:
            return as_value(side.written)
        try:
            return Evaluator(Reading(), self.memory.values()).value(side.tree) if side.tree is not None else None
        except NotUnderstoodError:
            return None


def _is_blurred(run: Run) -> bool:
    tokens = [token for token in run.tokens if token.kind != "edge"]
    return len(tokens) == 2 and tokens[0].kind == "number" and tokens[1].kind == "name" and tokens[1].gap


def _is_worked(side: Side) -> bool:
    if side.tree is None or side.written is not None:
        return False
    return any(isinstance(node, Sum | Product | Power | Root | Call) for node in walk(side.tree))


def _last(run: Run) -> int:
    """Return the end of a run, with at most a few words after its last number, and none after a formula."""
    tokens = list(run.tokens)
    while tokens and tokens[-1].kind == "word":
        tokens.pop()
    rest = run.tokens[len(tokens) : len(tokens) + KEPT_WORDS]
    if not tokens or any(token.kind == "edge" for token in run.tokens[max(0, len(tokens) - 1) :]):
        kept = [token for token in tokens if token.kind != "edge"]
        return kept[-1].end if kept else run.end
    return rest[-1].end if rest else tokens[-1].end
