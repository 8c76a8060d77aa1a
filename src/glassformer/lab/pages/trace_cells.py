"""One number of a run, opened: its rule, the rule with numbers put in, its terms; each number in them is a door to the next."""

from __future__ import annotations

import re
from typing import Any

from glassformer.lab.pages.trace_edits import cell_id
from glassformer.numbers import Difference, Explanation, Run
from glassformer.numbers.explain import MINUS, number, opened, written
from glassformer.program.expression import Call, Expression, Ratio, Ref, Sum
from glassformer.program.pen import LatexPen
from glassformer.show.arithmetic import latex_arithmetic
from glassformer.show.matrix import latex_number
from glassformer.show.palette import part_of

DIGITS = 4
MOST_TERMS = 40
IN_FORMULA = 6  # terms of a long sum that the formula shows
IN_LATEX = 64  # terms that are copied as LaTeX
MARKED = re.compile("([\\w.∞−]+\x01\\d+\x02)")


def opened_cell(difference: Difference, name: str, cell: dict[str, int]) -> dict[str, Any]:
    """All that the panel says about one number, and what it was before the changes."""
    run = difference.after
    found = run.explain(name, **cell)
    before = difference.before.values[found.tensor.name][found.tensor.at(found.cell)]
    terms = found.terms
    return {
        "id": cell_id(found.tensor.name, found.cell),
        "name": found.tensor.name,
        "part": part_of(found.tensor.name),
        "label": found.label,
        "value": found.value,
        "before": float(before) if before != found.value else None,
        "changed": found.tensor.name in difference.changed,
        "source": found.source,
        "rule": found.rule,
        "latex": _rule_latex(found),
        "numbers": _parts(found.expression, run, IN_FORMULA) if found.expression is not None else [],
        "copy": _copied(found),
        "how": _how(found),
        "terms": [{"value": term.value, "parts": _parts(term.expression, run, IN_FORMULA)} for term in terms[:MOST_TERMS]],
        "rest": {"terms": max(0, len(terms) - MOST_TERMS), "sum": sum(term.value for term in terms[MOST_TERMS:])},
        "heads": _heads(found),
    }


def _how(found: Explanation) -> dict[str, Any]:
    """What is done with the terms: nothing but the sum, the sum over something, or one term's share of the sum."""
    expression, values = found.expression, found.run.values
    if expression is None:
        return {"kind": "given"}
    total = sum(term.value for term in found.terms)
    if isinstance(expression, Ratio) and isinstance(expression.top, Sum):
        divisor = expression.bottom.evaluate(values)
        text = written(expression.bottom, found.run, DIGITS, IN_FORMULA)
        return {"kind": "divided", "sum": total, "by": divisor, "text": text}
    if isinstance(expression, Ratio) and isinstance(expression.bottom, Sum) and isinstance(expression.top, Call):
        return {"kind": "share", "own": expression.top.evaluate(values), "sum": total}
    return {"kind": "sum" if isinstance(expression, Sum) else "single", "sum": total}


def _rule_latex(found: Explanation) -> str:
    step = found.run.program.step_of.get(found.tensor.name)
    pen = LatexPen()
    if step is None:
        return pen.symbol(found.tensor.symbol)
    names = [pen.symbol(tensor.symbol) for tensor in step.inputs]
    return f"{pen.symbol(found.tensor.symbol)} = {step.operation.write(step.inputs, step.output, names, pen)}"


def _copied(found: Explanation) -> str:
    """The rule and its numbers as one line of LaTeX; a long sum as its rule and its result."""
    pen = LatexPen()
    result = latex_number(number(found.value, DIGITS))
    index = ", ".join(str(place) for axis, place in found.cell.items() if axis != "batch" or place)
    cell = f"{pen.symbol(found.tensor.symbol)}" + (f"\\left[{index}\\right]" if index else "")
    if found.expression is None or len(found.refs) > 2 * IN_LATEX:
        return f"{cell} = {result}"
    return f"{cell} = {latex_arithmetic(found.expression, found.run, DIGITS)} = {result}"


def _heads(found: Explanation) -> list[float]:
    """The same cell in every head."""
    names = [axis.name for axis in found.tensor.axes]
    if "head" not in names:
        return []
    index: list[Any] = list(found.tensor.at(found.cell))
    index[names.index("head")] = slice(None)
    return [float(value) for value in found.run.values[found.tensor.name][tuple(index)]]


def _parts(expression: Expression, run: Run, most: int) -> list[Any]:
    """The arithmetic as texts and doors in turn: a number that comes from a cell says which."""
    refs: list[Ref] = []

    def marked(ref: Ref) -> str:
        refs.append(ref)
        return f"\x01{len(refs) - 1}\x02"

    parts: list[Any] = []
    for piece in re.split(MARKED, written(expression, run, DIGITS, most, marked)):
        text, mark, place = piece.partition("\x01")
        if not mark:
            parts.append(piece)
            continue
        ref = opened(run, refs[int(place.rstrip("\x02"))])
        if text.startswith(MINUS) and ref.value >= 0:  # the minus belongs to the rule
            parts.append(MINUS)
            text = text.removeprefix(MINUS)
        parts.append({"id": cell_id(ref.tensor.name, ref.cell), "text": text, "label": ref.label, "value": ref.value})
    return [part for part in parts if part != ""]
