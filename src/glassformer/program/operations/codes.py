"""Operations on codes: the row of a table with the highest score, and states that codes replace at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.program.axes import Array, Axis, Cell, Tensor
from glassformer.program.expression import Expression, Ref, Values
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Copy, position_of


@dataclass(frozen=True)
class Largest(Copy):
    """The row of a table, along `over`, that has the highest score. Inputs: scores, table, in which `over` is last but one."""

    over: str

    def axes(self, inputs: Sequence[Tensor]) -> tuple[Axis, ...]:
        return (*(axis for axis in inputs[0].axes if axis.name != self.over), inputs[1].axes[-1])

    def rows(self, inputs: Sequence[Tensor], scores: Array) -> Array:
        """The row for each entry; the first of several that are equal."""
        return np.asarray(scores.argmax(position_of(inputs[0], self.over)))

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        rows = self.rows(inputs, values[0])
        groups = np.arange(rows.shape[-1])
        return np.asarray(values[1][groups, rows])

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        at = tuple(cell[axis.name] for axis in output.axes[:-1])
        return Ref(inputs[1], cell | {self.over: int(self.rows(inputs, values[inputs[0].name])[at])})

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.indexed(names[1], formatter.call("argmax", names[0]))


@dataclass(frozen=True)
class ReplaceSome(Copy):
    """Some vectors of the first input replaced by those of the second, at random: described, counted, and not computed."""

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        raise GlassformerError(
            "head=letters_of_codes replaces states by random codes, which is not implemented: only counts, shapes, cost and "
            "equations are available. --as UniSpeechModel, or head=none, reads the encoder."
        )

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        raise NotImplementedError  # there is no run whose cells could be explained

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return names[0] + formatter.words(f" (some replaced by {names[1]}, at random)")
