"""A run: the program evaluated in float64, every intermediate kept by name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer.numbers.inputs import checked_inputs
from glassformer.numbers.keep import evaluate_keeping, not_kept
from glassformer.program import Cell, Parameter, Program, Tensor
from glassformer.program.axes import Array
from glassformer.spec import GlassformerError, listed, nearest, shown
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.numbers.attention import Attention
    from glassformer.numbers.explain import Explanation
    from glassformer.numbers.what_if import Change, Difference


class Replaced(NamedTuple):
    """The cells of a value that were set by hand, and what the whole value was before."""

    cells: Array  # truth values
    was: Array


class Run(Viewed):
    """Every number of one forward pass, by name: `run["layers.0.attention.weights"]`."""

    def __init__(
        self,
        program: Program,
        values: dict[str, Array],
        *,
        tokens: list[list[str]] | None = None,
        replaced: Mapping[str, Replaced] | None = None,
    ) -> None:
        self.program = program
        self.values = values
        self.tokens = tokens  # the words, where the input was text: one list for each text
        self.replaced = dict(replaced or {})  # what a what-if set by hand: no arithmetic gives these numbers

    def __getitem__(self, name: str) -> Array:
        return self.values[self.named(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.program.shared.get(name, name) in self.values

    def __repr__(self) -> str:
        return f"<Run of {len(self.program.steps)} steps, batch={self.program.sizes.batch} t={self.program.sizes.t}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.values)

    @property
    def output(self) -> Array:
        """What the last step gave."""
        return self.values[self.program.output.name]

    @property
    def hidden(self) -> list[Array]:
        """What enters the first layer, then what each layer gives."""
        return [self.values["x"], *(self.values[f"layers.{number}.out"] for number in range(self.program.spec.layers))]

    def named(self, name: str) -> str:
        """`name` itself where it exists (under its first name, where layers share weights), or an error with the nearest."""
        if not isinstance(name, str):
            raise GlassformerError(f"a value of a run is asked for by name, such as '{next(iter(self))}', found {shown(name)}.")
        name = self.program.shared.get(name, name)
        if name not in self.values:
            if name in self.program.tensors:
                raise not_kept(name)
            inside = next((known for known in self.values if known.endswith(f".{name}")), None)
            hint = f" Did you mean '{inside}'?" if inside else nearest(name, self.values)
            hint = hint or f" It has {listed(self.values)}."
            raise GlassformerError(f"there is no '{shown(name)}' in this run.{hint}")
        return name

    def tensor(self, name: str) -> Tensor:
        """Name and axes of a value."""
        return self.program.tensors[self.named(name)]

    def cell(self, name: str, cell: Mapping[str, int]) -> Cell:
        """A checked cell: every axis of the tensor given, each index in range (negative ones count from the end)."""
        tensor = self.tensor(name)
        if not isinstance(cell, Mapping):
            raise GlassformerError(f"a cell is chosen by axis, as in {{'t': 0}}, found {shown(cell)}.")
        names = [axis.name for axis in tensor.axes]
        unknown = [axis for axis in cell if axis not in names]
        missing = [axis.name for axis in tensor.axes if axis.name not in cell and axis.size > 1]
        if unknown or missing:
            wrong = f"it has no axis {shown(unknown[0])}" if unknown else f"{missing[0]} is not given"
            raise GlassformerError(f"a cell of {tensor.name} is chosen by {', '.join(names) or 'nothing'}: {wrong}.")
        found: Cell = {}
        for axis in tensor.axes:
            index = cell.get(axis.name, 0)
            if isinstance(index, bool) or not isinstance(index, int | np.integer) or not -axis.size <= index < axis.size:
                raise GlassformerError(
                    f"{axis.name}={shown(index)} is outside {tensor.name}: {axis.name} runs from 0 to {axis.size - 1}."
                )
            found[axis.name] = int(index) % axis.size
        return found

    def explain(self, name: str, **cell: int) -> Explanation:
        """One number down to its arithmetic: `run.explain("layers.0.attention.mix", t=1, head=0, d_v=3)`."""
        from glassformer.numbers.explain import explain

        return explain(self, name, self.cell(name, cell))

    def attention(self, *, layer: int | None = None, head: int | None = None, batch: int = 0) -> Attention:
        """Who attends to whom, in one head, the heads of one layer, or all: `run.attention(layer=3, head=0)`."""
        from glassformer.numbers.attention import attention

        return attention(self, layer=layer, head=head, batch=batch)

    def what_if(self, changes: Mapping[str, Change]) -> Difference:
        """Change some numbers and re-run what depends on them."""
        from glassformer.numbers.what_if import what_if

        return what_if(self, changes)


def run(
    program: Program,
    weights: Mapping[str, Array],
    inputs: Mapping[str, Any],
    *,
    tokens: list[list[str]] | None = None,
    layers: Collection[int] | None = None,
) -> Run:
    """Evaluate a program in float64 on weights (by parameter name) and inputs (by input name).

    Every intermediate is kept, or, where `layers` are given, those of these layers and what each other layer gives.
    """
    values: dict[str, Array] = dict(checked_inputs(program, inputs))

    def weight(parameter: Parameter) -> Array:
        return _checked_weight(parameter, weights)

    if layers is not None:
        return Run(program, evaluate_keeping(program, weight, values, layers), tokens=tokens)
    values |= {parameter.name: weight(parameter) for parameter in program.parameters}
    evaluate(program, values)
    return Run(program, values, tokens=tokens)


def _checked_weight(parameter: Parameter, weights: Mapping[str, Array]) -> Array:
    if parameter.name not in weights:
        raise GlassformerError(f"the weight {parameter.name} is missing: it is wanted with shape {list(parameter.tensor.shape)}.")
    value = np.asarray(weights[parameter.name], dtype=np.float64)
    if value.shape != parameter.tensor.shape:
        raise GlassformerError(
            f"the weight {parameter.name} has shape {list(value.shape)}, wanted {list(parameter.tensor.shape)} "
            f"({parameter.tensor.formula})."
        )
    return value


def evaluate(program: Program, values: dict[str, Array]) -> None:
    """Every step in order; each result is kept."""
    for step in program.steps:
        values[step.name] = step.evaluate(values)
