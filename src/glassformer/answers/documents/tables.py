"""Rows of a table, `| W_1 | 512 × 2048 | 1,048,576 |`: the formula in one column is claimed to give the number in the next."""

from __future__ import annotations

import re
from itertools import pairwise

from glassformer.answers.documents.blocks import line_around
from glassformer.answers.expressions import NotUnderstoodError, Real, evaluate

MOST_ROWS = 200
_FORMULA_COLUMN = re.compile(
    r"\b(?:formulas?|calculations?|computations?|calc\.?|expressions?|derivations?|arithmetic|working)\b", re.I
)
_NUMBER_COLUMN = re.compile(r"\b(?:param\w*|counts?|total|results?|values?|weights|elements|entries|number|#)\b|#", re.I)
_NUMBER = re.compile(r"[\s*_~≈$]*\d[\d,._]*\s?[kKMB]?[\s*_$]*")
_COUNTED = re.compile(r"(?<=\d) (?:words|tokens|positions|rows|entries|dims|dimensions|features|layers|heads|classes)\b")
_PURE = re.compile(r"[\d\s,.()x×*·+²^/-]*\d\)?\s*(?:[x×*·+]|²)[\d\s,.()x×*·+²^/-]*")


def row_with_sign(text: str, start: int, end: int) -> str | None:
    """A row with `=` between the two columns, every character in its place; none where the header does not call them so."""
    row = text[start:end]
    if "\n" in row or not row.lstrip().startswith("|"):
        return None
    header = _header(text, start)
    cells, places = row.split("|"), [bar.start() for bar in re.finditer(r"\|", row)]
    if header is None or len(header) != len(cells):
        return None
    for place, (name, after) in enumerate(pairwise(header)):
        formula, number = _COUNTED.sub(lambda found: " " * len(found[0]), cells[place]), cells[place + 1]
        if not (_FORMULA_COLUMN.search(name) and _NUMBER_COLUMN.search(after)):
            continue
        if _PURE.fullmatch(formula) and _NUMBER.fullmatch(number) and not _several(formula, number):
            before = places[place - 1] + 1
            bare = re.sub(r"[*_$]", " ", number)
            return f"{' ' * before}{formula}={bare}{' ' * (len(row) - places[place] - 1 - len(number))}"
    return None


def _several(formula: str, number: str) -> bool:
    """Whether the number is that of several alike, as of all layers where the formula is that of one."""
    try:
        value = evaluate(re.sub(r"[xX]", "×", formula))
    except NotUnderstoodError:
        return True
    digits = re.sub(r"[^\d]", "", number)
    whole = isinstance(value, Real) and value.middle > 0 and not re.search(r"[kKMB.]", number)
    return whole and isinstance(value, Real) and int(digits) != value.middle and int(digits) % value.middle == 0


def _header(text: str, start: int) -> list[str] | None:
    """The cells of the first row of the table, where a line of dashes follows it."""
    rows: list[str] = []
    place = start
    while place > 0 and len(rows) < MOST_ROWS:
        first, last = line_around(text, place - 1)
        if not text[first:last].lstrip().startswith("|"):
            break
        rows.append(text[first:last])
        place = first
    dashes = len(rows) > 1 and re.fullmatch(r"[\s|:-]+", rows[-2]) is not None
    return rows[-1].split("|") if dashes else None
