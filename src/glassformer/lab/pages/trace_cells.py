"""One number of a run, opened: its rule, the rule with numbers put in, its terms; each number in them is a door to the next."""

from __future__ import annotations

from typing import Any

from glassformer.lab.cells import DIGITS, IN_FORMULA, cell_id, doors, how
from glassformer.lab.documents.trace import CellDocument
from glassformer.numbers import Difference, Explanation
from glassformer.numbers.explain import explain, number
from glassformer.numbers.values import Values
from glassformer.program.expression import Expression
from glassformer.program.formatter import LatexFormatter
from glassformer.show.arithmetic import latex_arithmetic
from glassformer.show.matrix import latex_number
from glassformer.show.palette import tensor_part

MOST_TERMS = 40
IN_LATEX = 64  # terms that are copied as LaTeX


def opened_cell(difference: Difference[Values], name: str, cell: dict[str, int]) -> CellDocument:
    """All that the panel says about one number, and what it was before the changes."""
    run = difference.after
    found = explain(run, name, run.cell(name, cell))
    before = difference.before.values[found.tensor.name][found.tensor.at(found.cell)]
    terms = found.terms
    return {
        "id": cell_id(found.tensor.name, found.cell),
        "name": found.tensor.name,
        "part": tensor_part(found.tensor),
        "label": found.label,
        "value": found.value,
        "before": float(before) if before != found.value else None,
        "source": found.source,
        "was": found.was,
        "rule": found.rule,
        "latex": _rule_latex(found),
        "numbers": _doors(found.expression, run) if found.expression is not None else [],
        "copy": _copied(found),
        "how": how(found),
        "terms": [{"value": term.value, "parts": _doors(term.expression, run)} for term in terms[:MOST_TERMS]],
        "rest": {"terms": max(0, len(terms) - MOST_TERMS), "sum": sum(term.value for term in terms[MOST_TERMS:])},
        "heads": _heads(found),
    }


def _doors(expression: Expression, run: Values) -> list[Any]:
    return doors(expression, run, DIGITS, IN_FORMULA, lambda found: found.label)


def _rule_latex(found: Explanation) -> str:
    step = found.run.program.step_of.get(found.tensor.name)
    formatter = LatexFormatter()
    if step is None:
        return formatter.symbol(found.tensor.symbol)
    names = [formatter.symbol(tensor.symbol) for tensor in step.inputs]
    return f"{formatter.symbol(found.tensor.symbol)} = {step.write(names, formatter)}"


def _copied(found: Explanation) -> str:
    """The rule and its numbers as one line of LaTeX; a long sum as its rule and its result."""
    formatter = LatexFormatter()
    result = latex_number(number(found.value, DIGITS))
    index = ", ".join(str(place) for axis, place in found.cell.items() if axis != "batch" or place)
    cell = f"{formatter.symbol(found.tensor.symbol)}" + (f"\\left[{index}\\right]" if index else "")
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
