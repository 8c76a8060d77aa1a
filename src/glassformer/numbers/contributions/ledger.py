"""The ledger of one number: its coefficient is propagated backward through the steps, and each place where it ends is a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.contributions.rules import Rules
from glassformer.numbers.contributions.shares import At, constant, leftover, product, shares
from glassformer.numbers.values import Values
from glassformer.program import Step, Tensor
from glassformer.program.axes import HEADS, Array
from glassformer.program.operations import Cap, Pointwise, Softmax
from glassformer.program.operations.base import Copy
from glassformer.spec.viewed import Viewed

Part = Literal[
    "token", "position", "segment", "input", "attention", "cross", "ffn", "bias", "norm", "table",
    "uniform attention", "set", "remainder",
]  # fmt: skip
ALONG = ("t", "u", "s", "patch", "frame")  # axes that count positions
WRITERS = ("mix", "ffn output")  # the roles of the steps at which depth=direct stops
WRITTEN: dict[str, Part] = {"attention": "attention", "cross": "cross", "ffn": "ffn"}  # kind of block -> the role of its output
EMBEDDED = ("token", "position", "segment")
Seed = Mapping[str, Array]  # tensor -> coefficient of each of its cells


class Line(NamedTuple):
    """One contribution. `position` is that of its source: the token that a head reads, or the position of an FFN."""

    part: Part
    name: str
    value: float
    layer: int | None = None
    head: int | None = None
    position: int | None = None
    batch: int = 0
    stack: str = ""  # encoder or decoder, in an encoder-decoder
    target: bool = False  # whether the position is one of the target


class Source(NamedTuple):
    """The terms of a line: cells of a tensor at some positions, each with its coefficient."""

    tensor: Tensor
    coefficients: Array
    places: Mapping[str, int]


class Term(NamedTuple):
    """One cell of a line: coefficient · cell."""

    tensor: Tensor
    cell: dict[str, int]
    coefficient: float
    value: float


@dataclass(frozen=True, repr=False)
class Contributions(Viewed):
    """A number as a sum: `total` of the contributions plus the `remainder` of a rule equals `value` up to rounding."""

    run: Values
    label: str
    value: float
    rules: Rules
    lines: tuple[Line, ...]
    sources: tuple[Source | None, ...]  # of each line; None for constants and remainders

    @cached_property
    def remainder(self) -> float:
        """The part that the rules leave undistributed; 0 unless activations are attributed by slope."""
        return math.fsum(line.value for line in self.lines if line.part == "remainder")

    @cached_property
    def total(self) -> float:
        """The sum of all contributions, without the remainder."""
        return math.fsum(line.value for line in self.lines if line.part != "remainder")

    @property
    def gap(self) -> float:
        """`total + remainder − value`: the rounding error."""
        return math.fsum([self.total, self.remainder, -self.value])

    def by(self, *fields: str) -> dict[tuple[Any, ...], float]:
        """Sums of lines with equal values of these fields: `by("part", "layer")`, `by("position")`."""
        for field in fields:
            if field not in Line._fields or field == "value":
                known = ", ".join(name for name in Line._fields if name != "value")
                raise GlassformerError(f"lines have no field {shown(field)}: they have {known}.")
        groups: dict[tuple[Any, ...], list[float]] = {}
        for line in self.lines:
            groups.setdefault(tuple(getattr(line, field) for field in fields), []).append(line.value)
        return {key: math.fsum(values) for key, values in groups.items()}

    def terms(self, number: int) -> list[Term]:
        """The cells summed by line `number`, largest first; empty for constants and remainders."""
        source = self.sources[number]
        if source is None:
            return []
        tensor, coefficients, places = source
        at = tuple(
            slice(places[axis.name], places[axis.name] + 1) if axis.name in places else slice(None) for axis in tensor.axes
        )
        c = coefficients[at]
        parts = product(c, self.run.values[tensor.name][at])
        found = []
        for flat in np.argsort(-np.abs(parts), axis=None, kind="stable")[: np.count_nonzero(parts)]:
            index = np.unravel_index(flat, parts.shape)
            cell = {axis.name: int(i) + places.get(axis.name, 0) for axis, i in zip(tensor.axes, index, strict=True)}
            found.append(Term(tensor, cell, float(c[index]), float(parts[index])))
        return found

    def word(self, position: int | None, batch: int = 0, *, target: bool = False) -> str:
        """The token at a position of the source or of the target, or an empty string if the input was no text."""
        tokens = self.run.target if target else self.run.tokens
        return tokens[batch][position] if tokens and position is not None and position < len(tokens[batch]) else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the ledger as a JSON document."""
        lines = [line._asdict() | {"word": self.word(line.position, line.batch, target=line.target)} for line in self.lines]
        sums = {"value": self.value, "total": self.total, "remainder": self.remainder, "gap": self.gap}
        return {"of": self.label, **sums, "rules": self.rules.text, "lines": lines}

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        return f"<Contributions to {self.label} = {self.value:.6g}: {len(self.lines)} lines>"


def contributions(run: Values, name: str, cell: Mapping[str, int], rules: Rules) -> Contributions:
    """The ledger of one cell."""
    tensor, found = run.tensor(name), run.cell(name, cell)
    value = run.values[tensor.name]
    number = float(value[tensor.at(found)])
    if not math.isfinite(number):
        raise GlassformerError(f"{tensor.name} is {number} in this cell, which is not a sum: choose a finite number.")
    seed = np.zeros(value.shape)
    seed[tensor.at(found)] = 1.0
    places = ", ".join(f"{axis.name}={found[axis.name]}" for axis in tensor.axes if axis.size > 1)
    return ledger(run, {tensor.name: seed}, number, f"{tensor.name}[{places}]" if places else tensor.name, rules)


def ledger(run: Values, seed: Seed, value: float, label: str, rules: Rules) -> Contributions:
    """The ledger of `value` = Σ coefficient · tensor over the tensors of `seed`."""
    back = _Backward(run, rules, {name: np.array(c, dtype=float) for name, c in seed.items()})
    for step in reversed(run.program.steps):
        back.visit(step)
    parameters = (parameter.tensor for parameter in run.program.parameters)
    for tensor in (*run.program.inputs, *run.program.constants, *parameters):
        if tensor.name in back.coefficients:
            back.arrive(tensor, None)
    order = {tensor: number for number, tensor in enumerate(run.program.tensors)}
    found = sorted(back.found, key=lambda pair: order[pair[0].name])
    return Contributions(run, label, value, rules, tuple(line for line, _ in found), tuple(source for _, source in found))


class _Backward:
    """The backward pass of coefficients, and the lines recorded so far."""

    def __init__(self, run: Values, rules: Rules, coefficients: dict[str, Array]) -> None:
        self.run, self.rules, self.coefficients = run, rules, coefficients
        self.found: list[tuple[Line, Source | None]] = []
        self.parameters = {parameter.name: parameter for parameter in run.program.parameters}
        self.stored = {tensor.name for tensor in run.program.constants}
        self.given = {*self.parameters, *self.stored, *(tensor.name for tensor in run.program.inputs)}

    def visit(self, step: Step) -> None:
        """Distribute the coefficient of a step's output over its inputs, or record it if the ledger ends there."""
        if step.name not in self.coefficients:
            return
        if step.name in self.run.replaced:
            self._set_by_hand(step)
        if isinstance(step.operation, Copy) and all(tensor.name in self.given for tensor in step.inputs):
            self.arrive(step.output, step)
            return
        c = self.coefficients.pop(step.name)
        values = [self.run.values[tensor.name] for tensor in step.inputs]
        fixed = [tensor.name in self.parameters for tensor in step.inputs]
        at = At(step, values, c, fixed, self.rules)
        found = shares(step.operation, at)
        self._leftover(at, found)
        stops = self.rules.depth == "direct" and step.role in WRITERS
        for tensor, share in zip(step.inputs, found, strict=True):
            if share is None:
                continue
            computed = tensor.name not in self.given
            if computed and not stops:
                self.coefficients[tensor.name] = self.coefficients.get(tensor.name, 0.0) + share
            else:
                self._write(tensor, share, _written(step) if computed else self._part(tensor), step)

    def arrive(self, tensor: Tensor, step: Step | None) -> None:
        """Record the contribution of a tensor that is not followed further."""
        self._write(tensor, self.coefficients.pop(tensor.name), self._part(tensor), step)

    def _part(self, tensor: Tensor) -> str:
        parameter = self.parameters.get(tensor.name)
        if tensor.name in self.stored:
            return "bias"
        if tensor.role in EMBEDDED:
            return tensor.role
        kinds = {"bias": "bias", "norm": "norm", "table": "table"}
        return kinds.get(parameter.kind, "input") if parameter is not None else "table" if "relative" in tensor.role else "input"

    def _set_by_hand(self, step: Step) -> None:
        cells = self.run.replaced[step.name].cells
        c = self.coefficients[step.name]
        self._write(step.output, np.where(cells, c, 0.0), "set", step)
        self.coefficients[step.name] = np.where(cells, 0.0, c)

    def _leftover(self, at: At, found: list[Array | None]) -> None:
        """Record what is not attributed to an input: the constant part of a step, and the remainder of a rule."""
        operation, name, layer, stack = at.step.operation, at.step.name, at.step.block.layer, at.step.block.stack
        always = constant(operation, at)
        if always is not None:
            part: Part = "uniform attention" if isinstance(operation, Softmax) else "bias"
            self.found.append((Line(part, name, always, layer, stack=stack), None))
        if isinstance(operation, Pointwise | Cap) and self.rules.activations == "slope":
            left = leftover(at, self.run.values[name], found) - (always or 0.0)
            self.found.append((Line("remainder", name, left, layer, stack=stack), None))

    def _write(self, tensor: Tensor, c: Array, part: Any, step: Step | None) -> None:
        """Record one line for each text, head and position of the tensor."""
        parts = product(c, self.run.values[tensor.name])
        block = step.block if step is not None else tensor.block
        name = step.name if step is not None and part in WRITTEN.values() else tensor.name
        names = [axis.name for axis in tensor.axes]
        kept = [axis for axis in _line_axes(names, part) if axis in names]
        sums = parts.sum(tuple(i for i, axis in enumerate(names) if axis not in kept))
        for place in zip(*np.nonzero(sums), strict=True) if kept else [()]:
            where = {axis: int(i) for axis, i in zip([axis for axis in names if axis in kept], place, strict=True)}
            head = next((where[axis] for axis in HEADS if axis in where), None)
            along = next((axis for axis in ALONG if axis in where), None)
            target = along == "u" or (along == "s" and block.stack == "decoder" and not block.reads_source)
            position, value = where[along] if along else None, float(sums[place])
            line = Line(part, name, value, block.layer, head, position, where.get("batch", 0), block.stack, target)
            self.found.append((line, Source(tensor, c, where)))


def _written(step: Step) -> Part:
    """The kind of output at which depth=direct stops: that of heads, or of a feed-forward block."""
    return next(WRITTEN[block.kind] for block in step.block.around if block.kind in WRITTEN)


def _line_axes(names: list[str], part: str) -> Iterator[str]:
    yield "batch"
    if part in ("bias", "norm", "table"):
        return
    yield from next(([axis] for axis in ALONG if axis in names), [])
    if part in ("attention", "cross", "set"):
        yield from HEADS
