"""Table rows such as `| W_1 | 512 × 2048 | 1,048,576 |`: the formula in one column should give the number in the next."""

from __future__ import annotations

from itertools import pairwise

from glassformer.answers.documents.blocks import line_around
from glassformer.answers.documents.totals import figure_of
from glassformer.expressions import NotUnderstoodError, Real, evaluate, fold, tokens

MOST_ROWS = 200
LONGEST_ROW = 2_000
FORMULA = frozenset("formula formulas calculation calculations computation expression derivation arithmetic working".split())
NUMBER = frozenset("# parameters params count counts total result results value values weights elements entries number".split())


def row_with_sign(text: str, start: int, end: int) -> str | None:
    """Return a row with `=` between formula and number, positions unchanged; None if the header has no such columns."""
    row = text[start:end]
    if "\n" in row or not row.lstrip().startswith("|") or len(row) > LONGEST_ROW:
        return None
    header, cells = _header(text, start), row.split("|")
    if header is None or len(header) != len(cells):
        return None
    ends = [place for place, sign in enumerate(row) if sign == "|"]
    for place, (name, after) in enumerate(pairwise(header)):
        formula, number = (cell.replace("*", " ") if cell.strip().startswith("**") else cell for cell in cells[place : place + 2])
        if _says(name, FORMULA) and _says(after, NUMBER) and _claims(formula, number):
            return f"{formula:>{ends[place]}}={number}".ljust(len(row))
    return None


def _says(header: str, words: frozenset[str]) -> bool:
    return any(word in words for word in header.lower().replace("(", " ").split())


def _claims(formula: str, number: str) -> bool:
    """Return whether a row is a claim: a calculation and a number that is not a multiple of its value (for all layers)."""
    found = fold(tokens(formula))
    figure = figure_of([token for token in fold(tokens(number)) if token.kind != "edge"])
    if figure is None or not any(token.kind == "operator" for token in found) or any(token.kind == "name" for token in found):
        return False
    try:
        value = evaluate(formula)
    except NotUnderstoodError:
        return False
    exact = isinstance(value, Real) and value.middle > 0 and not figure.rounded and figure.unit == 1
    return not (
        exact and isinstance(value, Real) and figure.value != value.middle and (figure.value / value.middle).denominator == 1
    )


def _header(text: str, start: int) -> list[str] | None:
    """Return the cells of the first row of the table, if a line of dashes follows it."""
    rows: list[str] = []
    place = start
    while place > 0 and len(rows) < MOST_ROWS:
        first, last = line_around(text, place - 1)
        if not text[first:last].lstrip().startswith("|"):
            break
        rows.append(text[first:last])
        place = first
    return rows[-1].split("|") if len(rows) > 1 and not rows[-2].strip(" \t|:-") else None
