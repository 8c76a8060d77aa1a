"""Parses a formula: splits it into statements, parses each into a tree, and collects the shapes that it declares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from glassformer.algebra.formulas.form import formed
from glassformer.algebra.formulas.names import Known, Names, key_of, resolved
from glassformer.errors import GlassformerError, shown
from glassformer.expressions.grammar import Parser
from glassformer.expressions.limits import FORMULA_CHARACTERS, FORMULA_STATEMENTS, FORMULA_TOKENS, NotUnderstoodError
from glassformer.expressions.readings import Reading
from glassformer.expressions.scanner import Token
from glassformer.expressions.settle import settle
from glassformer.expressions.tokens import tokens
from glassformer.expressions.tree import Node, Space, names_in
from glassformer.expressions.vocabulary import PARTNER

READING = Reading(juxtaposition="even")  # A / b C is (A / b) C
SEPARATORS = frozenset((";", "\n", "\\\\", "quad", "qquad", ",", ".", "and", "where"))
BREAKS = frozenset(("wall", "row", "stop", "cell"))
OPERAND = "a matrix, a number or an opening bracket"


@dataclass(frozen=True)
class Statement:
    """`name = body`, `name(parameters) = body`, or a body alone; `claim` is the shape stated after it."""

    body: Node
    name: str = ""
    parameters: tuple[str, ...] | None = None
    claim: Node | None = None


@dataclass(frozen=True)
class Line:
    """A statement before it is parsed, since parsing needs the names of all statements."""

    bodies: tuple[list[Token], ...]
    name: str = ""
    parameters: tuple[str, ...] | None = None
    claim: Node | None = None


class FormulaParser(Parser):
    """The expression parser with errors that give a position."""

    def whole(self) -> Node:
        node = self.expression()
        if self.token is not None:
            raise self.unexpected("an operator or the end of the statement")
        return node

    def unexpected(self, wanted: str = "") -> NotUnderstoodError:
        return expected(wanted or OPERAND, self.token, self.tokens[-1].end)


def expected(wanted: str, token: Token | None, end: int) -> NotUnderstoodError:
    place = end if token is None else token.start
    found = f"'{shown(token.text, limit=20)}'" if token is not None else "the end"
    return NotUnderstoodError(f"expected {wanted} at character {place + 1}, found {found}.")


def no_matrix(text: str) -> GlassformerError:
    said = shown(" ".join(text.split()))
    return GlassformerError(
        f"there is no matrix in '{said}': to compute its value, use glassformer ask \"{said.partition('=')[0].strip()}\"; "
        f'to check a result, use glassformer check "{said}".'
    )


def read_formula(text: str) -> tuple[list[Line], dict[str, Node]]:
    """Return the lines of a formula, and the shapes that it declares: `X ∈ R^{768 × 6}`."""
    if len(text) > FORMULA_CHARACTERS:
        raise GlassformerError(f"the formula has more than {FORMULA_CHARACTERS:,} characters: check it in parts.")
    found = settle(tokens(text, formula=True), READING)
    if len(found) > FORMULA_TOKENS:
        raise GlassformerError(f"the formula has more than {FORMULA_TOKENS:,} symbols: check it in parts.")
    kinds = {token.kind for token in found}
    if "number" in kinds and not kinds & {"name", "unknown"}:
        raise no_matrix(text)
    lines: list[Line] = []
    declared: dict[str, Node] = {}
    waiting: list[Token] = []  # W_Q, W_K, W_V ∈ R^{d × d}: names before a comma
    for part, separator in _cut(found, text):
        if len(part) == 1 and part[0].kind == "name" and separator == ",":
            waiting += part
            continue
        line = _line(part)
        alone = [token.kind for token in part[:2]] == ["name", "relation"] and line.claim is not None and not line.name
        if alone and line.claim is not None:
            declared |= {name.text: line.claim for name in (*waiting, part[0])}
        else:
            lines += [*(Line(([name],)) for name in waiting), line]
        waiting = []
    lines += [Line(([name],)) for name in waiting]
    if not lines:
        raise GlassformerError(
            "the formula is empty: write it as in 'Q = W_Q X; K = W_K X; V = W_V X; softmax(Q K^T / sqrt(d_k)) V'."
        )
    if len(lines) > FORMULA_STATEMENTS:
        raise GlassformerError(f"the formula has more than {FORMULA_STATEMENTS} statements: check it in parts.")
    return lines, declared


def statements(lines: Sequence[Line], given: Iterable[str]) -> tuple[Statement, ...]:
    """Return the statements of a formula; `a = b = c` is two statements."""
    targets = [key_of(line.name) for line in lines if line.name and line.parameters is None]
    own = frozenset(line.name for line in lines if line.parameters is not None)
    known = Known(Names([*given, *targets]), own)
    found: list[Statement] = []
    for line in lines:
        for place, body in enumerate(line.bodies):
            tree = formed(FormulaParser(resolved(body, known), READING).whole(), known)
            claim = line.claim if place == len(line.bodies) - 1 else None
            found.append(Statement(tree, claim=claim) if place else Statement(tree, line.name, line.parameters, claim))
    return tuple(found)


def in_order(found: Sequence[Statement], given: Iterable[str]) -> list[Statement]:
    """Return statements in the order of evaluation: names are defined before they are used."""
    waiting, ordered = list(found), list[Statement]()
    targets = {key_of(each.name) for each in found if each.name and each.parameters is None} - set(given)
    while waiting:
        later = targets - {key_of(each.name) for each in ordered}
        free = (each for each in waiting if not {*map(key_of, names_in(each.body))} & later - {key_of(each.name)})
        ordered.append(next(free, waiting[0]))
        waiting.remove(ordered[-1])
    return ordered


def _cut(found: list[Token], text: str) -> list[tuple[list[Token], str]]:
    """Split tokens at separators outside all brackets; return each part with the separator after it."""
    parts: list[tuple[list[Token], str]] = []
    part: list[Token] = []
    opened: list[Token] = []
    for token in found:
        if token.kind in ("open", "begin"):
            opened.append(token)
        elif token.kind in ("close", "end"):
            _closed(opened, token, text)
        if not opened and token.kind in ("wall", "row", "comma", "stop", "name") and token.text in SEPARATORS:
            parts.append((part, token.text))
            part = []
        elif token.kind == "unknown" or (token.kind in ("wall", "stop") and token.text not in SEPARATORS):
            raise NotUnderstoodError(f"this character cannot be used in a formula {_at(token, text)}.")
        elif token.kind not in BREAKS or token.text == ";" or any(bracket.kind == "begin" for bracket in opened):
            part.append(token)  # inside brackets a new line is a space
    if opened:
        raise NotUnderstoodError(f"the bracket '{opened[-1].text}' is never closed {_at(opened[-1], text)}.")
    return [(tokens_, separator) for tokens_, separator in [*parts, (part, "")] if tokens_]


def _closed(opened: list[Token], token: Token, text: str) -> None:
    if not opened:
        raise NotUnderstoodError(f"the bracket '{token.text}' was never opened {_at(token, text)}.")
    before = opened.pop()
    if before.text != PARTNER.get(token.text, token.text):
        where = f"'{before.text}' at character {before.start + 1}"
        raise NotUnderstoodError(f"the bracket {where} is closed by '{token.text}' {_at(token, text)}.")


def _at(token: Token, text: str) -> str:
    return f"(at character {token.start + 1}: '{shown(text[token.start : token.start + 20])}')"


def _line(part: list[Token]) -> Line:
    """Parse one statement: the name left of `=`, the bodies, and the shape after ∈."""
    claim = None
    place = next((place for place, token in enumerate(part) if (token.kind, token.text) == ("relation", "∈")), None)
    if place is not None:
        space = FormulaParser(part[place + 1 :], READING).whole() if part[place + 1 :] else None
        if place == 0 or not isinstance(space, Space):
            raise expected("a space of matrices such as R^{768 × 6}", (*part, None)[place + 1], part[-1].end)
        part, claim = part[:place], space
    sides = _sides(part)
    if len(sides) == 1:
        return Line((sides[0],), claim=claim)
    name, parameters = _left(sides[0])
    return Line(tuple(sides[1:]), name, parameters, claim)


def _sides(part: list[Token]) -> list[list[Token]]:
    """Split tokens at equals signs outside all brackets."""
    sides: list[list[Token]] = [[]]
    depth = 0
    for token in part:
        depth += (token.kind in ("open", "begin")) - (token.kind in ("close", "end"))
        equals = token.kind == "relation" and token.text == "="
        if equals and depth == 0:
            if not sides[-1]:
                raise expected("an expression on both sides of '='", token, token.end)
            sides.append([])
        else:
            sides[-1].append(token)
    if not sides[-1]:
        raise expected("an expression on both sides of '='", None, part[-1].end)
    return sides


def _left(side: list[Token]) -> tuple[str, tuple[str, ...] | None]:
    """Parse the left side of an equals sign: `Q`, `X'` or `Attention(Q, K, V)`."""
    kinds = [token.kind for token in side]
    if kinds[0] != "name":
        raise expected("a name left of '='", side[0], side[0].end)
    if kinds == ["name"]:
        return side[0].text, None
    if kinds[1] == "open" and kinds[-1] == "close" and set(kinds[2:-1:2]) == {"name"} and set(kinds[3:-1:2]) <= {"comma"}:
        return side[0].text, tuple(token.text for token in side[2:-1:2])
    raise expected("'=' right after a name", side[1], side[1].end)
