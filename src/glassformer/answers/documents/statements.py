"""Finds expressions in running text: the left and right sides of each equals sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from glassformer.expressions.fold import fold, matching
from glassformer.expressions.scanner import OPERAND_ENDS, Token
from glassformer.expressions.tokens import OPERAND_STARTS, tokens
from glassformer.expressions.vocabulary import AFTER, FUNCTIONS, STARTING, TURNING

# What precedes an expression. After a word, a number or a dash, its start is uncertain.
Border = Literal["start", "wall", "word", "number", "dash", "bracket", "edge"]
WALLS = frozenset(("comma", "wall", "stop", "row"))
BRACKETS = frozenset(("open", "close", "begin", "end"))
KEPT_WORDS = 12


@dataclass
class Run:
    """Tokens that may be one expression, and their context."""

    tokens: list[Token]
    border: Border = "start"
    words: list[str] = field(default_factory=list)  # in the same clause, before it
    number_before: bool = False  # in the same clause
    following: list[Token] = field(default_factory=list)  # the next few tokens
    alone: bool = False  # whether its side of the sign, or its formula, contains nothing else

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
        """The words at its end, which name what the last number counts."""
        found: list[str] = []
        for token in reversed(self.tokens):
            if token.kind == "word":
                found.insert(0, token.text.lower())
            elif token.kind != "edge":
                break
        return found

    @property
    def safe_before(self) -> bool:
        """Whether its start is certain."""
        first = self.tokens[0]
        if self.border in ("dash", "number"):
            return False
        if first.kind == "operator" and (
            first.text != "-" or (len(self.tokens) > 1 and self.tokens[1].gap and self.border != "start")
        ):
            return False
        if self.border != "word" or (self.words and self.words[-1].lower() in STARTING):
            return True
        turning = [word.lower() for word in self.words if word.lower() in TURNING]
        if turning == ["and"] == [self.words[-1].lower()] and first.math and len(self.tokens) > 1:
            return True  # `$8/4 = 2$ and $6/4 = 1.5$`
        return not (self.number_before or turning)

    @property
    def safe_after(self) -> bool:
        """Whether its end is certain."""
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
    """An equals sign with its two sides; `chained` if the left side is the right side of the previous sign."""

    token: Token
    left: Run | None
    right: Run | None
    chained: bool = False
    beside: Run | None = None  # the run right after the right side, after a gap
    names: list[str] = field(default_factory=list)  # `d, n = 512`: the names before the last


def read_tokens(text: str, start: int) -> list[Token]:
    """Return the tokens of a piece of a document; `LayerNorm of [1, 2, 3]` becomes a function of a list."""
    found = fold(tokens(text, start))
    for place, (name, of, bracket) in reversed(list(enumerate(zip(found, found[1:], found[2:], strict=False)))):
        if name.kind == "word" and name.text.lower() in FUNCTIONS and of.text == "of" and bracket[:2] == ("open", "["):
            found[place : place + 2] = [name._replace(kind="function", text=FUNCTIONS[name.text.lower()])]
    return found


def relations(tokens: Sequence[Token]) -> list[Relation]:
    """Return every relation of a block with the runs next to it."""
    places = [place for place, token in enumerate(tokens) if token.kind == "relation"]
    ends = [*places, len(tokens)]
    starts = [0, *(place + 1 for place in places)]
    pieces = [_Piece(tokens[start:end]) for start, end in zip(starts, ends, strict=True)] if places else []
    found: list[Relation] = []
    for number, place in enumerate(places):
        before, after = pieces[number], pieces[number + 1]
        last = before.runs[-1] if before.runs else None
        left, chained = last if before.closes else None, bool(number) and before.whole
        if left is None and number and before.only_rows:
            left, chained = last, True
        if left is None and before.bracketed:
            left = last
        right, beside = (*after.runs, None, None)[:2] if after.opens else (None, None)
        found.append(Relation(tokens[place], left, right, chained, beside, _names(before.runs)))
    return found


class _Piece:
    """The tokens between two relations, split into runs."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.runs: list[Run] = []
        self.current = Run([])
        self.words: list[str] = []
        self.numbers = False
        self.walls: list[Token] = []
        self.opens = True  # whether it begins with a run, not with a wall
        self.closes = False  # whether it ends with a run
        partners, place = matching(tokens), 0
        while place < len(tokens):
            end = max(partners.get(place, place), place)
            self._unit(tokens[place : end + 1])
            place = end + 1
        self._close()
        _look_ahead(self.runs, tokens)
        said = [token for token in tokens if token.kind != "edge"]
        if len(self.runs) == 1:
            run = self.runs[0]
            others = [token for token in said if token.kind != "stop" and not run.start <= token.start < run.end]
            run.alone = not others and not any(token.kind in ("word", "note") or token.text in "\"`'" for token in tokens)
        self.closes = self.closes and bool(self.runs)
        self.last = said[-1] if said else None

    @property
    def whole(self) -> bool:
        return len(self.runs) == 1 and self.opens and self.closes

    @property
    def only_rows(self) -> bool:
        """Whether its only run is followed only by line breaks of a formula."""
        return len(self.runs) == 1 and self.opens and bool(self.walls) and all(wall.kind == "row" for wall in self.walls)

    @property
    def bracketed(self) -> bool:
        """Whether it ends with a run and an opening bracket: `512 (= 8 × 64)`."""
        return (
            self.last is not None and self.last.kind == "open" and bool(self.runs) and self.runs[-1].following[:1] == [self.last]
        )

    def _unit(self, unit: Sequence[Token]) -> None:
        """Add a token, or a pair of brackets with its content."""
        token = unit[0]
        if token.kind == "cell":
            return
        matched = len(unit) > 1
        border = _border(self.current.tokens, token, matched=matched)
        if border is not None:
            self._close()
        if token.kind in WALLS or (token.kind in BRACKETS and not matched):
            self.opens = self.opens and bool(self.runs)
            self.closes = False
            self.walls.append(token)
            self.words, self.numbers = [], False
            kind: Border = "dash" if token.text == "–" else "bracket" if token.kind in ("open", "close") else "wall"
            self.current = Run([], border=kind)
            return
        if not self.current.tokens:
            if token.kind == "edge":
                return
            begins: Border = border or (self.current.border if self.walls or self.runs else "start")
            self.current = Run([], begins, list(self.words), self.numbers)
        self.current.tokens.extend(unit)
        self.closes = True

    def _close(self) -> None:
        run, self.current = self.current, Run([])
        if not run.tokens:
            return
        self.words = [*self.words, *(inner.text for inner in run.tokens if inner.kind in ("word", "note"))][-KEPT_WORDS:]
        self.numbers = self.numbers or run.has_numbers
        while run.tokens and run.tokens[-1].kind == "edge":
            run.tokens.pop()
        if run.tokens:
            self.runs.append(run)


def _look_ahead(runs: list[Run], tokens: Sequence[Token]) -> None:
    """Set the following tokens of each run; both are in the order of the text."""
    place = 0
    for run in runs:
        while place < len(tokens) and tokens[place].start < run.end:
            place += 1
        run.following = list(tokens[place : place + 3])


def _border(current: list[Token], token: Token, *, matched: bool) -> Border | None:
    """Return the border between two tokens that cannot belong to one expression; None if they can."""
    if not current:
        return None
    if token.kind in WALLS or (token.kind in BRACKETS and not matched):
        return "wall"
    before = next((item for item in reversed(current) if item.kind != "edge"), None)
    if before is None or before.kind not in OPERAND_ENDS or token.kind not in OPERAND_STARTS:
        return None
    if before.kind == "sub" and len(current) > 1 and current[-2].kind == "function":
        return None  # log_2 8
    if token.kind == "word":
        return None
    if before.kind in ("word", "note"):
        return "word"
    if token.kind in ("number", "about"):
        return "number"
    if current[-1].kind == "edge" or (token.gap and not token.math and token.kind in ("name", "function", "text")):
        return "number" if before.kind in ("number", "scale", "unit", "percent", "close") else "word"
    return None


def _names(runs: list[Run]) -> list[str]:
    """Return the names in a list such as `d, n`, without the last."""
    alone = [run.tokens[0].text if len(run.tokens) == 1 and run.tokens[0].kind == "name" else "" for run in runs]
    found: list[str] = []
    for name in reversed(alone[:-1]):
        if not name or not alone[-1]:
            break
        found.append(name)
    return found
