"""A formula cut into statements, before any of them is parsed: targets, bodies and declared shapes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from glassformer.answers.shapes.grammar import Line, unexpected
from glassformer.answers.shapes.nodes import Name, name
from glassformer.answers.shapes.scripts import Token
from glassformer.answers.shapes.tokens import tokens
from glassformer.spec import GlassformerError

SEPARATORS = frozenset({"break", ";", ","})
MOST_STATEMENTS = 200


@dataclass
class Lines:
    """The statements of a formula, and the shapes that it declares itself: `X ∈ R^{768 × 6}`."""

    statements: list[Line] = field(default_factory=list)
    declared: list[tuple[Name, str]] = field(default_factory=list)

    @property
    def targets(self) -> frozenset[str]:
        """Keys of the names that the formula defines."""
        return frozenset(line.target.key for line in self.statements if line.target and line.parameters is None)

    @property
    def own_functions(self) -> frozenset[str]:
        return frozenset(line.target.base for line in self.statements if line.target and line.parameters is not None)


def lines(text: str) -> Lines:
    """Cut a formula at `;`, new lines and the commas outside brackets."""
    found = Lines()
    waiting: list[Name] = []  # W_Q, W_K, W_V ∈ R^{d × d}: names before a comma
    for part, separator in _cut(tokens(text)):
        only = _only_name(part)
        if only and separator == ",":
            waiting.append(only)
            continue
        line, shape = _line(part)
        if line is None and shape is not None and only is None:
            found.declared += [(declared, shape) for declared in (*waiting, _target(part))]
        else:
            found.statements += [_bare(part_name) for part_name in waiting]
            found.statements += [line] if line else []
        waiting = []
    found.statements += [_bare(part_name) for part_name in waiting]
    if not found.statements:
        raise GlassformerError(
            "the formula is empty: write it as in 'Q = W_Q X; K = W_K X; V = W_V X; softmax(Q K^T / sqrt(d_k)) V'."
        )
    if len(found.statements) > MOST_STATEMENTS:
        raise GlassformerError(f"the formula has more than {MOST_STATEMENTS} statements: check it in parts.")
    return found


def _cut(line: list[Token]) -> list[tuple[list[Token], str]]:
    """The parts between separators that stand outside all brackets, each with the separator after it."""
    parts: list[tuple[list[Token], str]] = []
    part: list[Token] = []
    depth = 0
    for token in line:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.kind, 0)
        if token.kind == "end" or (token.kind in SEPARATORS and depth == 0):
            if part:
                parts.append(([*part, replace(token, kind="end")], token.kind))
            part = []
        else:
            part.append(token)
    return parts


def _only_name(part: list[Token]) -> Name | None:
    return name(part[0].text, *part[0].indexes) if [token.kind for token in part] == ["name", "end"] else None


def _bare(only: Name) -> Line:
    return Line(None, None, ([Token("name", only.base, 0, only.indexes), Token("end", "", 0)],), None)


def _line(part: list[Token]) -> tuple[Line | None, str | None]:
    """A statement; or, for `X ∈ R^{…}`, no statement but the declared shape."""
    claim = None
    place_of_in = next((i for i, token in enumerate(part) if token.kind == "in"), None)
    if place_of_in is not None:
        shape = part[place_of_in + 1]
        if shape.kind != "shape" or part[place_of_in + 2].kind != "end" or place_of_in == 0:
            raise unexpected(shape, "a space of matrices such as R^{768 × 6}")
        claim = shape.text
        part = [*part[:place_of_in], part[-1]]
        if _only_name(part):
            return None, claim
    sides = _sides(part)
    if len(sides) == 1:
        return Line(None, None, (sides[0],), claim), None
    target, parameters = _left(sides[0])
    return Line(target, parameters, tuple(sides[1:]), claim), None


def _sides(part: list[Token]) -> list[list[Token]]:
    """What stands between the equals signs outside all brackets, each side with an end of its own."""
    sides: list[list[Token]] = [[]]
    depth = 0
    for token in part:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.kind, 0)
        if token.kind == "=" and depth == 0:
            sides[-1].append(replace(token, kind="end"))
            sides.append([])
        else:
            sides[-1].append(token)
    for side in sides:
        if side[0].kind == "end":
            raise unexpected(side[0], "an expression on both sides of '='")
    return sides


def _left(side: list[Token]) -> tuple[Name, tuple[Name, ...] | None]:
    """`Q`, `X'` or `Attention(Q, K, V)`, left of an equals sign."""
    kinds = [token.kind for token in side]
    if kinds[0] != "name":
        raise unexpected(side[0], "a name left of '='")
    if kinds == ["name", "end"]:
        return name(side[0].text, *side[0].indexes), None
    if kinds == ["name", "prime", "end"]:
        return name(side[0].text + "'", *side[0].indexes), None
    inside = side[2:-2]
    if kinds[1] == "(" and kinds[-2] == ")" and set(kinds[2:-2:2]) == {"name"} and set(kinds[3:-2:2]) <= {","}:
        return name(side[0].text, *side[0].indexes), tuple(name(token.text, *token.indexes) for token in inside[::2])
    raise unexpected(side[1], "'=' right after a name")


def _target(part: list[Token]) -> Name:
    return name(part[0].text, *part[0].indexes)
