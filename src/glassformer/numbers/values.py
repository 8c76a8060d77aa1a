"""The values of a run by name, with checked access to their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.numbers.keep import not_kept
from glassformer.program import Cell, Program, Tensor
from glassformer.program.axes import Array
from glassformer.spec.viewed import Viewed


class Replaced(NamedTuple):
    """The cells of a value that were set by hand, and the whole value before."""

    cells: Array  # booleans
    was: Array


class Values(Viewed):
    """Every number of one forward pass, by name, and the words of the input."""

    def __init__(
        self,
        program: Program,
        values: dict[str, Array],
        *,
        tokens: list[list[str]] | None = None,
        target: list[list[str]] | None = None,
        replaced: Mapping[str, Replaced] | None = None,
    ) -> None:
        self.program = program
        self.values = values
        self.tokens = tokens  # the words, if the input was text: one list per text
        self.target = target  # the same for the decoder input of an encoder-decoder
        self.replaced = dict(replaced or {})  # values set by `what_if`, without arithmetic

    def __getitem__(self, name: str) -> Array:
        return self.values[self.named(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.program.shared.get(name, name) in self.values

    def __repr__(self) -> str:
        return f"<Run of {len(self.program.steps)} steps, {self.program.sizes}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.values)

    @property
    def output(self) -> Array:
        """The result of the last step."""
        return self.values[self.program.output.name]

    @property
    def hidden(self) -> list[Array]:
        """The input of the first layer, then the output of each layer."""
        return [self.values[tensor.name] for tensor in self.program.hidden]

    def named(self, name: str) -> str:
        """Return `name` if it exists (or the name it shares weights with); otherwise raise an error with similar names."""
        if not isinstance(name, str):
            raise GlassformerError(
                f"a value of a run is selected by its name, such as '{next(iter(self))}', found {shown(name)}."
            )
        name = self.program.shared.get(name, name)
        if name not in self.values:
            if name in self.program.tensors:
                raise not_kept(name)
            inside = next((known for known in self.values if self.program.tensors[known].is_called(name)), None)
            hint = f" Did you mean '{inside}'?" if inside else nearest(name, self.values)
            hint = hint or f" It has {listed(self.values)}."
            raise GlassformerError(f"there is no '{shown(name)}' in this run.{hint}")
        return name

    def words(self, tensor: Tensor, axis: str, batch: int = 0) -> list[str]:
        """Return the words along an axis of a tensor; none if it does not count tokens, or if the input was not text."""
        if axis not in ("t", "u", "s"):
            return []
        keys = "u" if tensor.block.stack == "decoder" and not tensor.block.reads_source else "t"
        texts = self.target if (keys if axis == "s" else axis) == "u" else self.tokens
        return texts[batch] if texts is not None and batch < len(texts) else []

    def tensor(self, name: str) -> Tensor:
        """Return the tensor of a value, with its axes."""
        return self.program.tensors[self.named(name)]

    def cell(self, name: str, cell: Mapping[str, int]) -> Cell:
        """Check a cell: all axes must be given, with indices in range (negative ones count from the end)."""
        tensor = self.tensor(name)
        if not isinstance(cell, Mapping):
            raise GlassformerError(f"a cell is a mapping of axes to indices, such as {{'t': 0}}, found {shown(cell)}.")
        names = [axis.name for axis in tensor.axes]
        unknown = [axis for axis in cell if axis not in names]
        missing = [axis.name for axis in tensor.axes if axis.name not in cell and axis.size > 1]
        if unknown or missing:
            wrong = f"it has no axis {shown(unknown[0])}" if unknown else f"{missing[0]} is not given"
            raise GlassformerError(f"a cell of {tensor.name} is selected by {', '.join(names) or 'no axes'}: {wrong}.")
        found: Cell = {}
        for axis in tensor.axes:
            index = cell.get(axis.name, 0)
            if isinstance(index, bool) or not isinstance(index, int | np.integer) or not -axis.size <= index < axis.size:
                raise GlassformerError(
                    f"{axis.name}={shown(index)} is out of range in {tensor.name}: {axis.name} runs from 0 to {axis.size - 1}."
                )
            found[axis.name] = int(index) % axis.size
        return found
