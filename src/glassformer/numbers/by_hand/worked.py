"""Worked steps: the rule in symbols, then the arithmetic of each cell with its value and its exact form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.numbers.by_hand.operations import Divide
from glassformer.numbers.by_hand.rounding import carried
from glassformer.numbers.by_hand.surd import Surd
from glassformer.numbers.explain import number, written
from glassformer.numbers.run import Run
from glassformer.program import Cell, Program, Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.expression import Call, Constant, Expression, Product, Ratio, Ref, Sum
from glassformer.program.formatter import Convention, Formatter, TextFormatter
from glassformer.program.matrices import as_matrix

MOST_CELLS = 24  # arithmetic shown for a step; a larger one shows its first cells
FIRST_CELLS = 6
MOST_TERMS = 16


@dataclass(frozen=True)
class WorkedCell:
    """One number: its position, its arithmetic, its value and its exact form."""

    label: str
    expression: Expression
    value: float
    exact: Surd | None
    work: Callable[[Expression], float]  # how a part of the arithmetic is evaluated: in full precision or rounded

    @property
    def moves(self) -> bool:
        """Whether the number was only copied or set, so that there is no arithmetic to show."""
        return isinstance(self.expression, Ref | Constant)

    def stages(self, digits: int) -> list[Expression]:
        """The full arithmetic, then with its inner parts evaluated, if that helps."""
        shorter = _shorter(self.expression, self.work, digits)
        return [self.expression] if shorter is None else [self.expression, shorter]

    def sign(self, digits: int) -> str:
        """`=` if the decimals shown are exact, `≈` if they are rounded."""
        value, text = self.work(self.expression), number(self.value, digits)
        try:
            shown = float(text.replace("−", "-").replace("∞", "inf"))
        except ValueError:
            return "≈"
        return "=" if value == shown or math.isclose(value, shown, rel_tol=1e-13, abs_tol=1e-15) else "≈"


@dataclass(frozen=True)
class WorkedStep:
    """A step: its rule, the cells whose arithmetic is shown, the number of other cells, and the result."""

    step: Step
    bench: Bench
    cells: tuple[WorkedCell, ...]
    left_out: int

    @property
    def name(self) -> str:
        return self.step.name

    @property
    def run(self) -> Run:
        return self.bench.run

    @property
    def value(self) -> Array:
        return self.run.values[self.name]

    @property
    def exact(self) -> Array:
        return self.bench.exact[self.name]

    def rule(self, formatter: Formatter) -> str:
        """`scores = dot / √d_k`."""
        names = [symbol(tensor, formatter) for tensor in self.step.inputs]
        return f"{symbol(self.step.output, formatter)} = {self.step.write(names, formatter)}"

    @property
    def sizes(self) -> str:
        """The sizes that the rule names: `d_k = 2`."""
        operation = self.step.operation
        return f"{operation.of} = {round(operation.by**2)}" if isinstance(operation, Divide) and operation.of else ""

    def to_dict(self, digits: int = 4) -> dict[str, Any]:
        convention, output = self.bench.convention, self.step.output
        return {
            "name": self.name,
            "rule": self.rule(TextFormatter(convention)),
            "numbers": [line(cell, self.run, digits) for cell in self.cells if not cell.moves],
            "shape": list(as_matrix(output, convention, one_head=True).shape),
            "value": turned(output, self.value, convention).tolist(),
            "exact": _texts(turned(output, self.exact, convention).tolist()),
        }


@dataclass(frozen=True)
class Bench:
    """The context of a step: the run, its exact forms, the names of positions, and the number of decimals carried."""

    run: Run
    exact: Mapping[str, Array]
    labels: Mapping[str, tuple[str, ...]]
    convention: Convention
    decimals: int | None = None  # decimals of intermediate results; None: full precision

    def work(self, expression: Expression) -> float:
        if self.decimals is None:
            return expression.evaluate(self.run.values)
        return carried(expression, self.run.values, self.decimals)

    def cell(self, step: Step, cell: Cell) -> WorkedCell:
        expression = step.opened(cell, self.run.values)
        where = step.output.at(cell)
        label = _label(step.output, cell, self.labels, self.convention)
        return WorkedCell(label, expression, float(self.run.values[step.name][where]), self.exact[step.name][where], self.work)


def worked_steps(program: Program, needed: frozenset[str], bench: Bench) -> list[WorkedStep]:
    """The needed steps of a run, in order."""
    found = []
    for step in program.steps:
        if step.name not in needed:
            continue
        places = list(_places(step.output, bench.convention))
        shown = places if len(places) <= MOST_CELLS else places[:FIRST_CELLS]
        cells = tuple(bench.cell(step, cell) for cell in shown)
        found.append(WorkedStep(step, bench, cells, len(places) - len(shown)))
    return found


def line(cell: WorkedCell, run: Run, digits: int) -> str:
    """`dot[flying, arrows] = 0 · 0 + 1 · (−1) = −1`, and the exact form if the decimals do not show it."""
    stages = [written(stage, run, digits, MOST_TERMS) for stage in cell.stages(digits)]
    parts = [cell.label, *dict.fromkeys(stages)]
    value = number(cell.value, digits)
    text = " = ".join(parts)
    if value != parts[-1]:
        text += f" {cell.sign(digits)} {value}"
    return text + exactly(cell, digits)


def exactly(cell: WorkedCell, digits: int) -> str:
    """Return `, exactly 1/√2` if the decimals do not show it; a terminating quotient is also given as a fraction."""
    exact = cell.exact
    if exact is None or not exact.telling:
        return ""
    quotient = isinstance(cell.expression, Ratio) and exact.fraction is not None and 1 < exact.fraction.denominator < 100
    return "" if _ends(exact, digits) and not quotient else f", exactly {exact.text()}"


def _ends(exact: Surd, digits: int) -> bool:
    value = exact.fraction
    return value is not None and bool(10**digits % value.denominator == 0)


def shows_exactly(exact: Array, digits: int) -> bool:
    """Whether a result has an exact form that its decimals do not show."""
    cells = list(exact.ravel())
    return all(isinstance(c, Surd) and c.telling for c in cells) and any(not _ends(c, digits) for c in cells)


def symbol(tensor: Tensor, formatter: Formatter) -> str:
    """The name of a tensor as the formatter writes it."""
    if isinstance(formatter, TextFormatter) and tensor.role == "variance":
        return tensor.symbol  # σ² is used in LaTeX; in text the word is clearer
    head, _, tail = tensor.symbol.partition("_")
    return formatter.symbol(tensor.symbol if not tail else f"{head}_{tail.replace('_', ' ')}")


def turned(tensor: Tensor, value: Array, convention: Convention) -> Array:
    """A value in the given convention: transposed if tokens are columns."""
    plain = [axis for axis in tensor.axes if axis.name != "head"]
    return np.swapaxes(value, -1, -2) if convention == "columns" and len(plain) > 1 else value


def _places(output: Tensor, convention: Convention) -> Iterator[Cell]:
    """The cells of a tensor in the order in which they are read."""
    matrix = as_matrix(output, convention)
    axes = [*matrix.sheets, *matrix.rows, *matrix.columns]
    for index in np.ndindex(*(axis.size for axis in axes)):
        yield {axis.name: i for axis, i in zip(axes, index, strict=True)}


def _label(output: Tensor, cell: Cell, labels: Mapping[str, tuple[str, ...]], convention: Convention) -> str:
    """`dot[flying, arrows]`; positions without a name are counted from 1."""
    matrix = as_matrix(output, convention)
    parts = [f"head {cell['head'] + 1}"] if "head" in cell else []
    for axis in (*matrix.sheets, *matrix.rows, *matrix.columns):
        if axis.name != "head":
            names = labels.get(axis.name)
            parts.append(names[cell[axis.name]] if names else str(cell[axis.name] + 1))
    return f"{output.symbol}[{', '.join(parts)}]" if parts else output.symbol


def _shorter(expression: Expression, work: Callable[[Expression], float], digits: int) -> Expression | None:
    """The same with the inner parts evaluated: 2.0281 / 2.5212 for a softmax, tanh(0.5) for tanh(0.2 + 0.3)."""

    def worked(part: Expression) -> Expression:
        value = work(part)
        return part if isinstance(part, Ref) else Constant(value, number(value, digits))

    if isinstance(expression, Ratio):
        if _plain(expression.top) and _plain(expression.bottom):
            return None
        return Ratio(*(part if _plain(part) else worked(part) for part in expression))
    if isinstance(expression, Call):
        return None if isinstance(expression.argument, Ref) else Call(expression.function, worked(expression.argument))
    found = _calls_worked(expression, worked)
    return None if found == expression else found


def _calls_worked(expression: Expression, worked: Callable[[Expression], Expression]) -> Expression:
    """Functions inside sums and products replaced by their values."""
    if isinstance(expression, Call):
        return worked(expression)
    if isinstance(expression, Sum):
        return Sum(tuple(_calls_worked(term, worked) for term in expression.terms))
    if isinstance(expression, Product):
        return Product(tuple(_calls_worked(factor, worked) for factor in expression.factors))
    return expression


def _plain(expression: Expression) -> bool:
    return isinstance(expression, Ref | Constant)


def _texts(exact: Any) -> Any:
    if isinstance(exact, list):
        return [_texts(item) for item in exact]
    return exact.text() if isinstance(exact, Surd) and exact.short else None
