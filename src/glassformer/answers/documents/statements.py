"""Expressions in running text: what stands to the left and to the right of each sign of equality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from glassformer.answers.expressions.fold import matching
from glassformer.answers.expressions.tokens import OPERAND_ENDS, OPERAND_STARTS, Token
from glassformer.answers.expressions.vocabulary import AFTER, STARTING, TURNING

# What an expression begins after. A word, a number or a dash may belong to it, so nothing is called wrong on their account.
Border = Literal["start", "wall", "word", "number", "dash", "bracket", "edge"]
WALLS = frozenset(("comma", "wall", "stop", "row"))
KEPT_WORDS = 12


@dataclass
class Run:
    """Tokens that may be one expression, and what stands around them."""

    tokens: list[Token]
    border: Border = "start"
    words: list[str] = field(default_factory=list)  # of the same clause, before it
    number_before: bool = False  # in the same clause
    following: list[Token] = field(default_factory=list)  # the next few tokens
    alone: bool = False  # nothing else stands on its side of the sign, or in its formula

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end

    @property
    def has_numbers(self) -> bool:
        return any(token.kind == "number" for token in self.tokens)

    @property
    def notes(self) -> list[str]:
        """The words at its end, which say what the last number counts."""
        found: list[str] = []
        for token in reversed(self.tokens):
            if token.kind == "word":
                found.insert(0, token.text.lower())
            elif token.kind != "edge":
                break
        return found

    @property
    def safe_before(self) -> bool:
        """Whether it surely begins where it was cut."""
        first = self.tokens[0]
        if self.border in ("dash", "number"):
            return False
        if first.kind == "operator" and (
            first.text != "-" or (len(self.tokens) > 1 and self.tokens[1].gap and self.border != "start")
        ):
            return False
        if self.border != "word":
            return True
        last = self.words[-1].lower() if self.words else ""
        if last in STARTING:
            return True
        return not (self.number_before or any(word.lower() in TURNING for word in self.words))

    @property
    def safe_after(self) -> bool:
        """Whether it surely ends where it was cut."""
        ahead = [token for token in self.following if token.kind != "edge"]
        if self.notes:
            return self.notes[0] not in AFTER
        if not ahead:
            return True
        if ahead[0].kind in ("number", "unknown", "operator", "open", "function", "command", "begin", "dots"):
            return False
        return not (ahead[0].kind == "word" and ahead[0].text.lower() in AFTER)


@dataclass
class Relation:
    """A sign of equality with its two sides; `chained` where the left side is the right side of the sign before."""

    token: Token
    left: Run | None
    right: Run | None
    chained: bool = False
    beside: Run | None = None  # right after the right side, with nothing but a gap between
    names: list[str] = field(default_factory=list)  # `d, n = 512`: the names before the last
    cut_off: bool = False  # where the left side is missing: numbers stand before a sign that hides it


def relations(tokens: Sequence[Token]) -> list[Relation]:
    """Every relation of a block with the runs next to it."""
    places = [place for place, token in enumerate(tokens) if token.kind == "relation"]
    if not places:
        return []
    ends = [*places, len(tokens)]
    starts = [0, *(place + 1 for place in places)]
    pieces = [_runs(tokens[start:end]) for start, end in zip(starts, ends, strict=True)]
    found: list[Relation] = []
    for number, place in enumerate(places):
        before, after = pieces[number], pieces[number + 1]
        whole = bool(number) and before.whole
        left, chained = before.last, whole
        if left is None and number and before.first is not None and before.only_rows:
            left, chained = before.first, True
        if left is None and before.bracketed:
            left = before.runs[-1]
        relation = Relation(tokens[place], left, after.first, chained=chained, beside=after.second)
        relation.names = before.names
        relation.cut_off = left is None and bool(before.runs) and before.runs[-1].has_numbers and before.barred
        found.append(relation)
    return found


@dataclass
class _Piece:
    """What lies between two relations."""

    runs: list[Run]
    opens: bool  # begins with a run, not with a wall
    closes: bool  # ends with a run
    only_rows: bool  # after its first run there is nothing but line breaks of a formula
    barred: bool  # ends with a vertical bar
    bracketed: bool  # ends with a run and an opening bracket: `512 (= 8 × 64)`
    names: list[str]

    @property
    def first(self) -> Run | None:
        return self.runs[0] if self.runs and self.opens else None

    @property
    def second(self) -> Run | None:
        return self.runs[1] if len(self.runs) > 1 and self.opens else None

    @property
    def last(self) -> Run | None:
        return self.runs[-1] if self.runs and self.closes else None

    @property
    def whole(self) -> bool:
        return len(self.runs) == 1 and self.opens and self.closes


def _runs(tokens: Sequence[Token]) -> _Piece:
    partners = matching(tokens)
    runs: list[Run] = []
    current = Run([])
    words: list[str] = []
    numbers = False
    walls: list[Token] = []
    place = 0
    first_wall = last_wall = False
    while place < len(tokens):
        token = tokens[place]
        end = partners.get(place, place)
        unit = tokens[place : max(end, place) + 1]
        place += len(unit)
        if token.kind == "cell":
            continue
        border = _border(current.tokens, token, matched=end != place - len(unit) or len(unit) > 1)
        if border is not None and current.tokens:
            _close(runs, current)
            words = [*words, *(inner.text for inner in current.tokens if inner.kind in ("word", "note"))][-KEPT_WORDS:]
            numbers = numbers or current.has_numbers
            current = Run([])
        if token.kind in WALLS or (token.kind in ("open", "close", "begin", "end") and len(unit) == 1):
            first_wall = first_wall or not runs
            last_wall = True
            walls.append(token)
            words, numbers = [], False
            current = Run([], border="dash" if token.text == "–" else "bracket" if token.kind in ("open", "close") else "wall")
            continue
        if not current.tokens:
            if token.kind == "edge":
                continue
            kept: Border = border or (current.border if walls or runs else "start")
            current = Run([], kept, list(words), numbers)
        current.tokens.extend(unit)
        last_wall = False
    if current.tokens:
        _close(runs, current)
    _look_ahead(runs, tokens)
    if len(runs) == 1:
        others = [
            token for token in tokens if token.kind not in ("edge", "stop") and not runs[0].start <= token.start < runs[0].end
        ]
        runs[0].alone = not others and not any(token.kind in ("word", "note") or token.text in "\"`'" for token in tokens)
    only_rows = bool(walls) and all(wall.kind == "row" for wall in walls) and len(runs) == 1
    last = [token for token in tokens if token.kind != "edge"][-1:]
    barred = bool(last) and last[0].text == "|"
    bracketed = bool(runs and last and last[0].kind == "open" and runs[-1].following[:1] == last)
    return _Piece(runs, not first_wall, bool(runs) and not last_wall, only_rows, barred, bracketed, _names(runs))


def _close(runs: list[Run], run: Run) -> None:
    while run.tokens and run.tokens[-1].kind == "edge":
        run.tokens.pop()
    if run.tokens:
        runs.append(run)


def _look_ahead(runs: list[Run], tokens: Sequence[Token]) -> None:
    """Notes for each run what follows it; both are in the order of the text."""
    place = 0
    for run in runs:
        while place < len(tokens) and tokens[place].start < run.end:
            place += 1
        run.following = list(tokens[place : place + 3])


def _border(current: list[Token], token: Token, *, matched: bool) -> Border | None:
    """What lies between two tokens where they cannot belong to one expression; None where they can."""
    if not current:
        return None
    if token.kind in WALLS or (token.kind in ("open", "close", "begin", "end") and not matched):
        return "wall"
    before = next((item for item in reversed(current) if item.kind != "edge"), None)
    if before is None or before.kind not in OPERAND_ENDS or token.kind not in OPERAND_STARTS:
        return None
    if before.kind == "sub" and len(current) > 1 and current[-2].kind == "function":
        return None  # log_2 8
    edge = current[-1].kind == "edge"
    if before.kind in ("word",) or (before.kind == "note" and token.kind != "word"):
        return None if token.kind == "word" else "word"
    if token.kind == "word":
        return None
    if token.kind in ("number", "about"):
        return "number"
    if edge or (token.gap and not token.math and token.kind in ("name", "function", "text")):
        return "number" if before.kind in ("number", "scale", "unit", "percent", "close") else "word"
    return None


def _names(runs: list[Run]) -> list[str]:
    """`d, n`: names alone between commas, without the last."""
    alone = [run.tokens[0].text if len(run.tokens) == 1 and run.tokens[0].kind == "name" else "" for run in runs]
    found: list[str] = []
    for name in reversed(alone[:-1]):
        if not name or not alone[-1]:
            break
        found.append(name)
    return found
