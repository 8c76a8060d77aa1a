"""What a student wrote, read in every way that it can be meant: 27648, 27,648, 2.7648e4, 64x32, [64, 32], 1/√2."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from glassformer.answers.claimed import Number, parse_number
from glassformer.answers.quiz import expressions
from glassformer.numbers.by_hand.surd import parse_surd
from glassformer.spec import GlassformerError

MOST_CHARACTERS = 2_000
MOST_CELLS = 256
MOST_ROWS = 64

_SIGNS = {
    "−": "-",
    "–": "-",
    "\u00a0": " ",
    "\u202f": " ",
    "\u2009": " ",
    "{,}": "",
    "\\,": "",
    "\\times": "×",
    "\\cdot": "·",
    "\\left": "",
    "\\right": "",
    "$": "",
    "`": "",
}
_EUROPEAN = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+|[+-]?\d+,\d+|[+-]?\d{1,3}(?:\.\d{3})+,\d+")
_SIZES = re.compile(r"\d[\d_]*(?:\s*(?:,|x|X|×|\*|·|\bby\b)\s*\d[\d_]*)*")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")


@dataclass(frozen=True)
class Cells:
    """A number, a vector or a matrix as written: its sizes and its numbers in reading order."""

    shape: tuple[int, ...]
    numbers: tuple[Number, ...]

    @property
    def values(self) -> list[float]:
        return [_float(number.value) for number in self.numbers]


def _float(value: Fraction) -> float:
    """Infinity where a number is larger than any float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def cleaned(text: str) -> str:
    """One line without the signs that say nothing."""
    text = text.strip()
    for sign, plain in _SIGNS.items():
        text = text.replace(sign, plain)
    text = re.sub(r"^\*\*(.*)\*\*$", r"\1", text.strip())
    text = re.sub(r"(?<=\d)['’](?=\d{3}(?!\d))", "", text)
    return " ".join(text.split()).rstrip(".;").strip()


def numbers(text: str) -> list[Number]:
    """The numbers that the text can mean, the likeliest first; none where it means no number."""
    if len(text) > MOST_CHARACTERS:
        return []
    whole = cleaned(text)
    last = whole.rpartition("=")[2].strip()  # `3 · 64 · 64 = 12,288`: the result is what is claimed
    found = [number for number in (_number(last), _european(last), _worked_out(last)) if number is not None]
    unique: dict[tuple[Fraction, Fraction], Number] = {}
    for number in found:
        unique.setdefault((number.value, number.room), number)
    return list(unique.values())


def shapes(text: str) -> list[tuple[int, ...]]:
    """The shapes that the text can mean: `64 x 32`, `[1, 5, 768]`, `torch.Size([1, 5])`, `R^{64×32}`, `(512,)`."""
    if len(text) > 400:
        return []
    plain = cleaned(text).rpartition("=")[2]
    if re.search(r"[x×*]", plain):
        plain = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), plain)
    plain = re.sub(r"(?<=\d)\s+(?=\d)", ", ", plain)
    found = [match for match in _SIZES.finditer(plain) if match[0]]
    around = _SIZES.sub("", plain)
    if len(found) != 1 or len(around) > 60 or re.search(r"[<>;&]|[-.+/%]\s*$", around) or re.search(r"\d\.\d", plain):
        return []
    sizes = [int(word.replace("_", "")[:18]) for word in re.findall(r"\d[\d_]*", found[0][0])]
    return [tuple(sizes)] if 0 < len(sizes) <= 8 else []


def grids(text: str) -> list[Cells]:
    """The numbers, vectors or matrices that the text can mean."""
    if len(text) > 4 * MOST_CHARACTERS:
        return []
    found = []
    matrix = re.sub(r"\\begin\{\w+\}|\\end\{\w+\}", "", text)
    for sign, plain in _SIGNS.items():
        matrix = matrix.replace(sign, plain)
    after = matrix.rpartition("=")[2] or matrix
    rows = [row.strip() for row in re.split(r"\\\\|\n", after.strip()) if row.strip()]
    if len(rows) > MOST_ROWS:
        return []
    for european in (False, True):
        cells = _grid(rows if len(rows) > 1 else rows[0] if rows else "", european=european)
        if cells is not None and cells not in found:
            found.append(cells)
    return found


def _number(text: str) -> Number | None:
    try:
        return parse_number(text)
    except GlassformerError:
        pass
    if len(text) > 60 or not re.search(r"[/√]|sqrt", text):
        return None
    surd = parse_surd(text)
    return Number(Fraction(float(surd)), Fraction(0), text) if surd is not None and math.isfinite(float(surd)) else None


def _european(text: str) -> Number | None:
    """`27.648` for 27648 and `0,62` for 0.62, where that can be meant."""
    if not _EUROPEAN.fullmatch(text):
        return None
    return _number(text.replace(".", "").replace(",", "."))


def _worked_out(text: str) -> Number | None:
    """`3·64·16 + 64²`: a product or a sum left as it stands."""
    if not re.search(r"\d\s*[-+*/×·x^²)]", text) or len(text) > 200:
        return None
    plain = re.sub(r"(\d+)\s*(?:\^\s*2|\^\{2\}|²)(?!\d)", r"(\1*\1)", _THOUSANDS.sub(lambda m: m[0].replace(",", ""), text))
    plain = re.sub(r"[×·]|(?<=[\d)\s])x(?=[\d(\s])", "*", plain).replace("[", "(").replace("]", ")")
    try:
        value = expressions.value_of(plain, {})
    except GlassformerError:
        return None
    return Number(value, Fraction(0), text)


def _grid(rows: str | Sequence[str], *, european: bool) -> Cells | None:
    """Nested brackets, rows on lines of their own, or numbers in a row."""
    if isinstance(rows, str):
        return _bracketed(rows, european=european)
    parts = [_bracketed(row.strip().rstrip(","), european=european) for row in rows]
    lines = [part for part in parts if part is not None]
    if len(lines) != len(parts) or len({line.shape for line in lines}) != 1 or len(lines[0].shape) > 1:
        whole = _bracketed(" ".join(rows), european=european)
        return whole if whole is not None and len(whole.shape) > 1 else None
    cells = tuple(number for line in lines for number in line.numbers)
    return Cells((len(lines), len(lines[0].numbers)), cells)


def _bracketed(text: str, depth: int = 0, *, european: bool) -> Cells | None:
    text = text.strip()
    if depth > 4 or len(text) > 4 * MOST_CHARACTERS:
        return None
    single = _cell(text, european=european)
    if single is not None:
        return Cells((), (single,))
    inner = text[1:-1] if text[:1] in "[({" and text[-1:] in "])}" and _closes_last(text) else text
    parts = list(_parts(inner, european=european))
    if not 0 < len(parts) <= MOST_CELLS or parts == [text]:
        return None
    found = [_bracketed(part, depth + 1, european=european) for part in parts]
    whole = [cells for cells in found if cells is not None]
    if len(whole) != len(found) or len({cells.shape for cells in whole}) != 1:
        return None
    total = tuple(number for cells in whole for number in cells.numbers)
    return Cells((len(whole), *whole[0].shape), total) if len(total) <= MOST_CELLS else None


def _cell(text: str, *, european: bool) -> Number | None:
    if len(text) > 60 or not text or text[0] in "[({":
        return None
    text = re.sub(r"(?<=\d)\.$", "", text)
    if european:
        return _european(text) or _number(text)
    if re.fullmatch(r"[+-]?\d+(?:,\s*\d+)+", text) and not _THOUSANDS.fullmatch(text.lstrip("+-")):
        return None  # a list of whole numbers, not one number
    if re.search(r"\d\s+[-+]?\.?\d", text):
        return None  # numbers with blanks between them
    return _number(text)


def _closes_last(text: str) -> bool:
    """Whether the first bracket is closed by the last one."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "[({") - (sign in "])}")
        if depth == 0:
            return place == len(text) - 1
    return False


def _parts(text: str, *, european: bool) -> Iterator[str]:
    """What stands between separators at the outermost level: commas, semicolons, ampersands, or blanks alone."""
    marks = ";&" if european or (";" in text and "[" not in text and "(" not in text) or "&" in text else ",;&"
    depth, start, found = 0, 0, []
    for place, sign in enumerate(text):
        depth += (sign in "[({") - (sign in "])}")
        if depth == 0 and sign in marks:
            found.append(text[start:place])
            start = place + 1
    found.append(text[start:])
    if len(found) == 1:
        found = re.findall(r"[\[({][^\[\](){}]*[\])}]", text) if re.search(r"[\[({]", text) else text.split()
    yield from (part.strip() for part in found if part.strip())
