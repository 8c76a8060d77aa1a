"""Labelled lists: queries, keys and values taken from coordinates of vectors, and shapes of variables that agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from glassformer.answers.documents.formulas import remark
from glassformer.answers.documents.lines import Line
from glassformer.answers.documents.result import Found
from glassformer.answers.documents.stated import Stated
from glassformer.answers.documents.totals import words_of
from glassformer.expressions import Figures, NotUnderstoodError, parse, written

ROLES = {"q": "queries", "k": "keys", "v": "values"}
PLACES = ("first", "next", "last")
CUT = frozenset(
    "part parts coordinate coordinates dimensions extract extracted split slice slices component components entries".split()
)
PROJECTED = frozenset("project projected projection projecting w_q w_k w_v".split())
IN_ORDER = frozenset(("first", "last"))
LONGEST_LINE = 300

Vector = tuple[str, ...]


@dataclass
class Cut:
    """Vectors by word, and their parts that are labelled as query, key and value."""

    wholes: dict[str, Vector] = field(default_factory=dict)
    parts: dict[tuple[str, str], tuple[Vector, Line]] = field(default_factory=dict)
    first: int = 0


def vector_remarks(lines: Sequence[Line], stated: Sequence[Stated]) -> Iterator[Found]:
    """Yield remarks on wrong coordinates, and on variables whose heads add up to the width of the tokens."""
    yield from _consistent_variables(stated)
    cut = Cut()
    for place, line in enumerate(lines):
        label, values = _labelled(line)
        if len(label) == 2 and label[0][0] in ROLES and label[1] in cut.wholes:
            cut.parts[label[0][0], label[1]] = values, line
        elif len(label) == 1 and values:
            if cut.parts:
                yield from _other_coordinates(cut, lines[max(0, cut.first - 6) : place])
                cut = Cut()
            cut.first = cut.first if cut.wholes else place
            cut.wholes[label[0]] = values
    yield from _other_coordinates(cut, lines[max(0, cut.first - 6) :])


def _labelled(line: Line) -> tuple[tuple[str, ...], Vector]:
    """Read `Q (Time): [0, 1]`: the words before the colon or equals sign, and the list after it."""
    if "[" not in line.text or len(line.text) > LONGEST_LINE:
        return (), ()
    said = [token for token in line.tokens if token.kind not in ("edge", "stop")]
    place = next((at for at, token in enumerate(said) if token.text in (":", "=")), len(said))
    try:
        found = written(parse(said[place + 1 :]).tree) if place < len(said) - 1 else None
    except NotUnderstoodError:
        found = None
    values = found.cells if isinstance(found, Figures) and found.columns is None and len(found.cells) > 1 else ()
    words = tuple(part for word in words_of(said[:place]) for part in word.split("_") if part not in ("the", "of", "for"))
    return words, tuple(f"{float(cell.value):g}" for cell in values)


def _other_coordinates(cut: Cut, lines: Sequence[Line]) -> Iterator[Found]:
    """Yield a remark if two of queries, keys and values use consistent coordinates for every word, and the third does not."""
    words = {word for _, word in cut.parts}
    widths = {len(values) for values, _ in cut.parts.values()}
    whole = {len(cut.wholes[word]) for word in words}
    if len(words) < 2 or len(widths) != 1 or len(cut.parts) != 3 * len(words) or whole != {3 * max(widths)}:
        return
    said = {word for line in lines for word in line.words}
    if CUT.isdisjoint(said) or not PROJECTED.isdisjoint(said):
        return
    width = widths.pop()
    off = [role for role in ROLES if any(cut.parts[role, word][0] != _due(cut, role, word, width) for word in words)]
    if len(off) != 1:
        return
    (role,) = off
    mine = [(word, *found) for (own, word), found in cut.parts.items() if own == role]
    used = " and ".join(_shown(values) for _, values, _ in mine)
    due = " and ".join(_shown(_due(cut, role, word, width)) for word, _, _ in mine)
    starts = [at for at in range(2 * width + 1) if all(cut.wholes[word][at : at + width] == values for word, values, _ in mine)]
    which = f"; they are coordinates {starts[0] + 1} to {starts[0] + width}" if len(starts) == 1 else ""
    place = PLACES[list(ROLES).index(role)]
    sentence = f"The {ROLES[role]} used, {used}, are not the {place} {width} coordinates of the given vectors, {due}{which}."
    explicit = any(set(line.words) >= IN_ORDER and {"q", "k", "v"} <= {word[0] for word in line.words} for line in lines)
    line = next(line for word, values, line in mine if values != _due(cut, role, word, width))
    yield remark("other_coordinates", line, sentence, verdict="wrong" if explicit else "unclear", due=due)


def _due(cut: Cut, role: str, word: str, width: int) -> Vector:
    start = list(ROLES).index(role) * width
    return cut.wholes[word][start : start + width]


def _shown(values: Vector) -> str:
    return f"[{', '.join(values)}]"


def _consistent_variables(shapes: Sequence[Stated]) -> Iterator[Found]:
    """Yield remarks on shapes that agree, such as `[1, 5, 12, 64]` and `[1, 5, 768]`, and on their attention matrices."""
    stated = [(name, tuple(map(int, sizes)), line) for name, sizes, line in shapes if all(map(str.isdecimal, sizes))]
    for part in dict.fromkeys(line.part for _, _, line in stated):
        here = [one for one in stated if one[2].part == part]
        wholes = {sizes for _, sizes, _ in here if len(sizes) == 3}
        batch, tokens, width = wholes.pop() if len(wholes) == 1 else (0, 0, 0)
        split = {heads for _, sizes, _ in here if (heads := _heads(sizes, batch, tokens, width))}
        for name, sizes, line in here:
            heads = _heads(sizes, batch, tokens, width)
            if heads:
                said = f"{heads} heads of {sizes[3]} make {heads} × {sizes[3]} = {width}, the width of the tokens."
                yield remark("heads_confirmed", line, f"{name}: {said}", verdict="right")
            elif len(split) == 1 and sizes == (batch, *split, tokens, tokens):
                said = f"each of the {sizes[1]} heads has an attention matrix of {tokens} × {tokens}, tokens × tokens."
                yield remark("heads_confirmed", line, f"{name}: {said}", verdict="right")


def _heads(sizes: Sequence[int], batch: int, tokens: int, width: int) -> int:
    """Return the number of heads that a variable is split into; 0 if they do not add up to the width."""
    if len(sizes) != 4 or sizes[0] != batch:
        return 0
    pairs = ((sizes[2], sizes[1]), (sizes[1], sizes[2]))
    return next((heads for heads, length in pairs if length == tokens and heads * sizes[3] == width), 0)
