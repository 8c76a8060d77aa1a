"""A worked problem for the page: its steps as texts and doors, one number opened, and the product that does not fit."""

from __future__ import annotations

import re
from functools import partial
from typing import cast

import numpy as np

from glassformer.lab.cells import cell_id, doors, how, read_cell
from glassformer.lab.documents import by_hand as documents
from glassformer.lab.documents.cells import Piece
from glassformer.numbers.by_hand import Solution, WorkedCell, WorkedStep
from glassformer.numbers.by_hand.surd import Surd
from glassformer.numbers.by_hand.worked import MOST_TERMS, Bench, exactly, symbol
from glassformer.numbers.explain import Explanation, number, written
from glassformer.program import Tensor
from glassformer.program.expression import Expression
from glassformer.program.formatter import LatexFormatter, TextFormatter
from glassformer.show.matrix import Grid
from glassformer.show.work import Worksheet

MISFIT = re.compile(
    r"(?P<product>.+?) does not fit: (?:the )?(?P<left>[\w.]+) (?:is|are|has) (?P<left_size>[^,;:]+?), "
    r"(?P<right>[\w.]+) (?:is|has) (?P<right_size>[^,;:.]+)"
)


def page_of(sheet: Worksheet) -> documents.PageDocument:
    """All that stands on the paper, every number with the name of its cell."""
    solution = sheet.solution
    return {
        "title": solution.title,
        "kind": solution.problem.kind,
        "convention": solution.problem.convention,
        "carried": sheet.carried,
        "given": [_given(sheet, tensor) for tensor in sheet.given],
        "steps": [_step(sheet, step) for step in solution.steps],
        "notes": list(solution.notes),
        "tables": [
            {"title": table.title, "columns": [column.title for column in table.columns], "rows": table.rows}
            for table in sheet.tables
        ],
        "names": [name for name in dict.fromkeys(solution.names.values()) if name in solution.program.step_of],
    }


def misfit(line: str) -> documents.Misfit | None:
    """The two sides of a product that does not fit, with their sizes, where the line names them."""
    found = MISFIT.search(line)
    return cast(documents.Misfit, found.groupdict()) if found else None


def _given(sheet: Worksheet, tensor: Tensor) -> documents.GivenDocument:
    solution = sheet.solution
    words = solution.descriptions.get(tensor.name)
    return {
        "name": tensor.name,
        "latex": symbol(tensor, LatexFormatter(solution.problem.convention)),
        "words": words,
        "grids": [] if words is not None else _grids(sheet, tensor, sheet.given_grids(tensor)),
    }


def _step(sheet: Worksheet, step: WorkedStep) -> documents.StepDocument:
    convention = sheet.solution.problem.convention
    output = step.step.output
    pages = _grids(sheet, output, sheet.grids(output, step.value))
    ids = [cell[1] for page in pages for row in page["cells"] for cell in row]  # in the order in which cells are worked out
    return {
        "name": step.name,
        "symbol": symbol(output, LatexFormatter(convention)),
        "rule": step.rule(TextFormatter(convention)),
        "latex": step.rule(LatexFormatter(convention)),
        "sizes": step.sizes,
        "lines": [_line(sheet, step, cell, name) for name, cell in zip(ids, step.cells, strict=False) if not cell.moves],
        "left_out": step.left_out,
        "grids": pages,
    }


def _grids(sheet: Worksheet, tensor: Tensor, pages: list[Grid]) -> list[documents.GridDocument]:
    """The matrices of a value; a cell is its text and its name, from which everything else can be asked."""
    ids = [
        cell_id(tensor.name, {axis.name: index for axis, index in zip(tensor.axes, where, strict=True)})
        for where in np.ndindex(*tensor.shape)
    ]
    places = np.arange(len(ids)).reshape(tensor.shape)
    return [
        {
            "sheet": page.sheet,
            "rows": page.row_names,
            "columns": page.column_names,
            "cells": [list(zip(*pair, strict=True)) for pair in zip(page.rows, named.rows, strict=True)],
        }
        for page, named in zip(pages, sheet.grids(tensor, places, lambda place: ids[int(place)]), strict=True)
    ]


def _line(sheet: Worksheet, step: WorkedStep, cell: WorkedCell, name: str) -> documents.LineDocument:
    """One number worked out: its name, the arithmetic with doors in it, the same shorter, and the result."""
    first, *rest = cell.stages(sheet.digits)
    shorter = [written(stage, step.run, sheet.digits, MOST_TERMS) for stage in rest]
    parts = pieces(first, sheet)
    text = "".join(part if isinstance(part, str) else part["text"] for part in parts)
    result = number(cell.value, sheet.digits)
    return {
        "id": name,
        "label": cell.label,
        "parts": parts,
        "then": [stage for stage in dict.fromkeys(shorter) if stage not in (text, result)],
        "sign": cell.sign(sheet.digits),
        "result": None if result == (shorter or [text])[-1] else result,
        "value": cell.value,
        "exactly": exactly(cell, sheet.digits),
    }


def pieces(expression: Expression, sheet: Worksheet) -> list[Piece]:
    """The arithmetic as texts and doors in turn, in the decimals of the sheet."""
    return doors(expression, sheet.solution.run, sheet.digits, MOST_TERMS, partial(label_of, sheet.solution))


def label_of(solution: Solution, found: Explanation) -> str:
    """`weights[flying]`, as the worked lines call it; a given number is called after its matrix."""
    matrix = found.tensor
    names = []
    for axis in matrix.axes:
        own, place = solution.labels.get(axis.name), found.cell[axis.name]
        counted = f"head {place + 1}" if axis.name == "head" else str(place + 1)
        names.append(own[place] if own else counted)
    return f"{matrix.name}[{', '.join(names)}]" if names else matrix.name


def opened_cell(sheet: Worksheet, text: str) -> documents.OpenedCell:
    """One number opened: what it is, its rule, the rule with numbers put in, its terms; each number in them opens in turn."""
    solution, run = sheet.solution, sheet.solution.run
    name, cell = read_cell(run, text)
    found = run.explain(name, **cell)
    step = next((step for step in solution.steps if step.name == name), None)
    exact = solution.exact[name][found.tensor.at(found.cell)]
    formatter = LatexFormatter(solution.problem.convention)
    terms = found.terms
    return {
        "id": text,
        "label": label_of(solution, found),
        "value": found.value,
        "exact": exact.text() if isinstance(exact, Surd) and exact.telling and not exact.decimal else "",
        "source": found.source,
        "latex": step.rule(formatter) if step is not None else symbol(found.tensor, formatter),
        "sizes": step.sizes if step is not None else "",
        "numbers": pieces(found.expression, sheet) if found.expression is not None else [],
        "line": _whole_line(sheet, name, cell) if found.expression is not None else "",
        "how": how(found),
        "terms": [{"value": term.value, "parts": pieces(term.expression, sheet)} for term in terms[:MOST_TERMS]],
        "rest": {"terms": max(0, len(terms) - MOST_TERMS), "sum": sum(term.value for term in terms[MOST_TERMS:])},
    }


def _whole_line(sheet: Worksheet, name: str, cell: dict[str, int]) -> str:
    """`weights[flying] = exp(…) / (…) = 2.0281 / 2.5212 ≈ 0.8044`."""
    from glassformer.numbers.by_hand.worked import line

    solution = sheet.solution
    bench = Bench(solution.run, solution.exact, solution.labels, solution.problem.convention, solution.decimals)
    return line(bench.cell(solution.program.step_of[name], cell), solution.run, sheet.digits)
