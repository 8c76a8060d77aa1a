"""One cell of a tensor: its address, and its arithmetic as text with links to the cells it was computed from."""

from __future__ import annotations

import re
from collections.abc import Callable

from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents.cells import How, Piece
from glassformer.numbers import Explanation
from glassformer.numbers.explain import MINUS, opened, written
from glassformer.numbers.values import Values
from glassformer.program import Cell
from glassformer.program.expression import Call, Expression, Ratio, Ref, Sum

CELL = re.compile(r"([\w.]{1,120})\[([\w=,-]{0,200})\]")
MARKED = re.compile("([\\w.∞−]+\x01\\d+\x02)")
DIGITS, IN_FORMULA = 4, 6  # decimals, and terms of a long sum, that a formula shows


def cell_id(name: str, cell: Cell) -> str:
    """`layers.0.attention.scores[head=0,t=1,s=2]`: the address of a cell."""
    return f"{name}[{','.join(f'{axis}={place}' for axis, place in cell.items() if axis != 'batch' or place)}]"


def read_cell(run: Values, text: str) -> tuple[str, Cell]:
    """Return the cell at an address."""
    found = CELL.fullmatch(text)
    pairs = [pair.partition("=") for pair in found[2].split(",") if pair] if found else []
    if found is None or not all(value.isdecimal() and len(value) < 10 for _, _, value in pairs):
        raise GlassformerError(f"'{shown(text)}' is not a cell: write one as layers.0.attention.scores[head=0,t=1,s=2].")
    name = run.named(found[1])
    return name, run.cell(name, {axis: int(value) for axis, _, value in pairs})


def doors(expression: Expression, run: Values, digits: int, most: int, label: Callable[[Explanation], str]) -> list[Piece]:
    """Return the arithmetic as alternating texts and links; a number read from a cell links to it, labelled by `label`."""
    refs: list[Ref] = []

    def marked(ref: Ref) -> str:
        refs.append(ref)
        return f"\x01{len(refs) - 1}\x02"

    parts: list[Piece] = []
    for piece in MARKED.split(written(expression, run, digits, most, marked)):
        text, mark, place = piece.partition("\x01")
        if not mark:
            parts.append(piece)
            continue
        found = opened(run, refs[int(place.rstrip("\x02"))])
        if text.startswith(MINUS) and found.value >= 0:  # the minus belongs to the rule
            parts.append(MINUS)
            text = text.removeprefix(MINUS)
        name = cell_id(found.tensor.name, found.cell)
        parts.append({"id": name, "text": text, "label": label(found), "value": found.value})
    return [part for part in parts if part != ""]


def how(found: Explanation) -> How:
    """How the terms are combined: their sum, the sum divided by a number, or one term divided by the sum."""
    expression, values = found.expression, found.run.values
    if expression is None:
        return {"kind": "given"}
    total = sum(term.value for term in found.terms)
    if isinstance(expression, Ratio) and isinstance(expression.top, Sum):
        text = written(expression.bottom, found.run, DIGITS, IN_FORMULA)
        return {"kind": "divided", "sum": total, "by": expression.bottom.evaluate(values), "text": text}
    if isinstance(expression, Ratio) and isinstance(expression.bottom, Sum) and isinstance(expression.top, Call):
        return {"kind": "share", "own": expression.top.evaluate(values), "sum": total}
    return {"kind": "sum" if isinstance(expression, Sum) else "single", "sum": total}
