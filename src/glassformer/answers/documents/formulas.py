"""Checks the formulas of a document with the shapes that it gives: traps, mismatches, confirmed results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from glassformer.algebra.formulas import FormulaShapes, check_formula
from glassformer.answers.documents.lines import Line
from glassformer.answers.documents.outcome import explained
from glassformer.answers.documents.result import Found, Kind
from glassformer.answers.documents.stated import Stated
from glassformer.answers.documents.statements import Relation
from glassformer.answers.verdicts import Judged, Verdict
from glassformer.errors import GlassformerError, shown
from glassformer.expressions import Token

MOST_FORMULAS = 40  # per section
MOST_CHECKS = 150  # per document
LONGEST = 400
LONGEST_JOINED = 4  # letters of a name such as QK that may each be a matrix
ENDS = frozenset(("comma", "wall", "stop", "row", "relation", "word"))


class Statement(NamedTuple):
    """`left = body` in a block, as tokens, with its position in the text."""

    left: Sequence[Token]
    body: Sequence[Token]
    start: int
    end: int


def statement_of(relation: Relation, tokens: Sequence[Token]) -> Statement | None:
    """Return `left = body` if the left side is a name or a call; the body ends at the next separator outside of brackets."""
    left = [token for token in relation.left.tokens if token.kind != "edge"] if relation.left is not None else []
    if relation.token.text != "=" or not left or left[0].kind not in ("name", "text", "note", "function"):
        return None
    body: list[Token] = []
    depth = 0
    for token in tokens[tokens.index(relation.token) + 1 :]:
        depth += (token.kind in ("open", "begin")) - (token.kind in ("close", "end"))
        if depth < 0 or (depth == 0 and token.kind in ENDS) or (token.kind == "edge" and (body or not token.math)):
            break
        body += [token] if token.kind != "edge" else []
    return Statement(left, body, left[0].start, body[-1].end) if body else None


@dataclass
class Part:
    """A section of a document: its formulas by the name they define, its shapes and the values of its symbols."""

    formulas: dict[str, list[Formula]] = field(default_factory=dict)
    shapes: dict[str, list[Stated]] = field(default_factory=dict)
    values: dict[str, set[str]] = field(default_factory=dict)

    def certain(self) -> dict[str, Stated]:
        """Return the shapes of names that have exactly one shape."""
        return {name: found[0] for name, found in self.shapes.items() if len({one.sizes for one in found}) == 1}


class Formula(NamedTuple):
    """A statement with its text, its line and the names that it uses."""

    statement: Statement
    text: str
    body: str
    line: Line
    names: frozenset[str]


def formula_remarks(
    lines: Sequence[Line], stated: Sequence[Stated], statements: Sequence[Statement], text: str
) -> Iterator[Found]:
    """Yield remarks on the formulas of every section that gives shapes."""
    parts: dict[int, Part] = {}
    for said in stated:
        parts.setdefault(said.line.part, Part()).shapes.setdefault(said.name, []).append(said)
    _fill(parts, lines, statements, text)
    checks = 0
    for part in parts.values():
        seen: set[str] = set()
        confirmed: dict[tuple[Line, str], list[str]] = {}
        for definitions in list(part.formulas.values())[:MOST_FORMULAS]:
            checks += 1
            answer = _followed(part, definitions) if checks <= MOST_CHECKS else None
            for found in _remarks(part, definitions[0], answer) if answer is not None else ():
                if found.sentence not in seen:
                    seen.add(found.sentence)
                    yield found
            if answer is not None and answer.failure is None:
                for name, line, due in _confirmed(part, definitions[0], answer):
                    confirmed.setdefault((line, due), []).append(name)
        for (line, due), names in confirmed.items():
            are = f"{', '.join(names[:-1])} and {names[-1]} are" if len(names) > 1 else f"{names[0]} is"
            yield remark("shape_confirmed", line, f"{are} {due}, as stated.", verdict="right", due=due)


def _fill(parts: dict[int, Part], lines: Sequence[Line], statements: Sequence[Statement], text: str) -> None:
    at = {line.number: line for line in lines}
    number, place = 1, 0
    for one in sorted(statements, key=lambda one: one.start) if parts else ():
        number, place = number + text.count("\n", place, one.start), one.start
        line = at.get(number) or at.get(number + 1)
        if line is None or line.part not in parts or one.end - one.start > LONGEST:
            continue
        part, body = parts[line.part], " ".join(text[one.body[0].start : one.end].replace("&", " ").split())
        target = _target(one.left)
        if len(one.body) == 1 and one.body[0].kind == "number":
            part.values.setdefault(target, set()).add(body)
        elif any(token.kind == "name" for token in one.body):
            left = " ".join(text[one.start : one.left[-1].end].replace("&", " ").split())
            formula = Formula(one, f"{left} = {body}", body, line, frozenset(_names_in(one.body)))
            part.formulas.setdefault(target, []).append(formula)


def _target(left: Sequence[Token]) -> str:
    """Return the name that a statement defines, as in `stated_shapes`."""
    called = len(left) > 1 and left[1].kind == "open"
    return f"{left[0].text}()" if called else "_".join(token.text for token in left if token.text != "^")


def _names_in(body: Sequence[Token]) -> Iterator[str]:
    """Yield the names in a body, W^Q as W_Q, and the letters of names such as QK."""
    for place, token in enumerate(body):
        if token.kind != "name":
            continue
        hat = body[place + 1 : place + 3]
        script = hat[1].text if len(hat) == 2 and hat[0].text == "^" and hat[1].kind in ("name", "number") else ""
        yield from (token.text, f"{token.text}_{script}")
        base, _, foot = token.text.partition("_")
        if len(base) <= LONGEST_JOINED:
            yield from base
            yield f"{base[-1]}_{foot or script}"


def _followed(part: Part, definitions: Sequence[Formula]) -> FormulaShapes | None:
    """Check a formula with the definitions that it needs; None if something is unknown or cannot be read."""
    needed, waiting = [definitions[0]], [definitions]
    while waiting:
        group = waiting.pop()
        if len({"".join(one.body.split()) for one in group}) > 1:
            return None  # two different definitions
        for name in sorted(group[0].names):
            others = part.formulas.get(name, [])
            if others and others[0] not in needed:
                needed.append(others[0])
                waiting.append(others)
    certain = part.certain()
    used = {name for one in needed for name in one.names}
    targets = {_target(one.statement.left) for one in needed}
    if any(name in part.shapes and name not in certain for name in (*used, *targets)):
        return None
    shapes = {name: "×".join(one.sizes) for name, one in certain.items() if name not in targets and _is_used(name, used)}
    symbols = {name: values.copy().pop() for name, values in part.values.items() if len(values) == 1 and name not in shapes}
    if not shapes:
        return None
    before = sorted(needed[1:], key=lambda one: one.statement.start)
    try:
        return check_formula("; ".join(one.text for one in (*before, needed[0])), {**symbols, **shapes})
    except GlassformerError:
        return None


def _is_used(name: str, used: set[str]) -> bool:
    """Return whether a name is used, or for a running index one of its instances."""
    base, _, index = name.rpartition("_")
    return name in used or (index == "i" and any(one.rpartition("_")[0] == base for one in used))


def _remarks(part: Part, formula: Formula, answer: FormulaShapes) -> Iterator[Found]:
    line, meant = formula.line, shown(answer.meant_text or "", limit=200)
    place = formula.statement.start, formula.statement.end
    if not line.warns:
        if answer.failure is not None:
            said = f"{answer.failure.sentence} {answer.failure.explanation}".strip()
            yield remark("does_not_fit", line, shown(said, limit=400), claim=formula.text, due=meant, place=place)
        for trap in answer.traps if answer.failure is None else ():
            yield remark(trap.code, line, shown(trap.sentence, limit=400), claim=formula.text, due=meant, place=place)
    target, computed = _target(formula.statement.left), _computed(answer)
    stated = part.certain().get(target)
    if stated is None or answer.verdict != "fits" or stated.sizes == computed or stated.line.warns:
        return
    if all(size.isdecimal() for size in (*stated.sizes, *computed)):
        said = f"{target.removesuffix('()')} is {' × '.join(computed)}, not {' × '.join(stated.sizes)}."
        yield remark("claimed_shape", stated.line, said, due=" × ".join(computed))


def _confirmed(part: Part, formula: Formula, answer: FormulaShapes) -> Iterator[tuple[str, Line, str]]:
    """Yield a name whose stated shape is the one that its formula gives."""
    target, computed = _target(formula.statement.left), _computed(answer)
    stated = part.certain().get(target)
    if stated is not None and stated.sizes == computed:
        yield target.replace("()", "(…)"), stated.line, " × ".join(computed)


def _computed(answer: FormulaShapes) -> tuple[str, ...]:
    return tuple(str(size) for size in answer.shape(answer.rows[-1])) if answer.failure is None else ()


def remark(
    code: str,
    line: Line,
    said: str,
    *,
    verdict: Verdict = "wrong",
    claim: str = "",
    due: str = "",
    place: tuple[int, int] | None = None,
) -> Found:
    """Return a finding about more than one equation."""
    start, end = place or (line.start, line.start + len(line.text))
    notes = (said, f"Correct: {due}.") if due and verdict == "wrong" and code != "claimed_shape" else (said,)
    judged = Judged(code, claim, verdict, due or None, findings=(explained(code, said, due),), notes=notes)
    kind: Kind = "note" if verdict == "unclear" else "remark"
    return Found(line=line.number, start=start, end=end, text=shown(line.text.strip(), limit=200), kind=kind, judged=judged)
