"""The shape of every tensor of the forward pass, with tokens as rows or as columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from glassformer.algebra.result import Result
from glassformer.arguments import is_whole, one_of
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.program import Axis, Program, Tensor
from glassformer.program.axes import HEADS
from glassformer.program.formatter import Convention
from glassformer.program.matrices import as_matrix

Role = Literal["input", "parameter", "step"]


@dataclass(frozen=True)
class Shape:
    """One tensor: its axes, and its matrix as written on paper, for all heads together and for one of them."""

    tensor: Tensor
    role: Role
    convention: Convention
    head: int | None

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes shown: all of them, or those of one head."""
        return tuple(axis for axis in self.tensor.axes if not (axis.name in HEADS and self.head is not None))

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the tensor with tokens as rows, those of its matrix with tokens as columns."""
        if self.convention == "columns":
            return self.matrix
        return tuple(axis.size for axis in self.axes)

    @property
    def formula(self) -> str:
        if self.convention == "columns":
            return as_matrix(self.tensor, "columns", one_head=self.head is not None).formula
        return " · ".join(axis.name for axis in self.axes)

    @property
    def matrix(self) -> tuple[int, ...]:
        return as_matrix(self.tensor, self.convention, one_head=self.head is not None).shape

    @property
    def one_head(self) -> tuple[int, ...] | None:
        """The matrix of a single head; None if the tensor has no heads."""
        if not any(axis.name in HEADS for axis in self.tensor.axes):
            return None
        return as_matrix(self.tensor, self.convention, one_head=True).shape

    @property
    def elements(self) -> int:
        return math.prod(axis.size for axis in self.axes)

    def to_dict(self) -> dict[str, Any]:
        found = {
            "name": self.name,
            "symbol": self.tensor.symbol,
            "role": self.role,
            "axes": [{"name": axis.name, "size": axis.size} for axis in self.axes],
            "shape": list(self.shape),
            "formula": self.formula,
            "elements": self.elements,
            "matrix": list(self.matrix),
            "one_head": None,
        }
        if self.one_head is not None:
            found["one_head"] = {"shape": list(self.one_head), "elements": math.prod(self.one_head)}
        return found


@dataclass(frozen=True, repr=False)
class Shapes(Result):
    """The shape of every tensor."""

    label: str
    program: Program
    convention: Convention
    head: int | None
    rows: tuple[Shape, ...]

    def __getitem__(self, name: str) -> Shape:
        found = {row.name: row for row in self.rows}
        if not isinstance(name, str) or name not in found:
            raise GlassformerError(f"there is no tensor '{shown(name)}' in this model.{self._meant(shown(name))}")
        return found[name]

    def _meant(self, name: str) -> str:
        """A symbol without its block means the first tensor with that symbol: `weights` is layers.0.attention.weights."""
        inside = next((row.name for row in self.rows if row.tensor.is_called(name)), None)
        return f" Did you mean '{inside}'?" if inside else nearest(name, list(self))

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Shapes of {self.label}: {len(self)} tensors, tokens as {self.convention}, {self.program.sizes}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    @property
    def total(self) -> int:
        """Number of elements of all inputs and results, without parameters."""
        return sum(row.elements for row in self.rows if row.role != "parameter")

    def to_dict(self) -> dict[str, Any]:
        return {
            "spec": self.program.spec.to_dict(),
            "label": self.label,
            **self.program.sizes.to_dict(),
            "convention": self.convention,
            "head": self.head,
            "total": self.total,
            "left_out": [] if self.head is None else ["the other heads"],
            "rows": [row.to_dict() for row in self.rows],
        }


def shapes(program: Program, *, convention: Convention = "rows", head: int | None = None, label: str = "spec") -> Shapes:
    """Return the shape of every tensor; `head` shows a single head."""
    one_of("convention", convention, get_args(Convention))
    heads = max(program.spec_of(step.block).heads for step in program.steps) if program.steps else program.spec.heads
    if head is not None and (not is_whole(head) or not 0 <= head < heads):
        raise GlassformerError(f"head={shown(head)} does not exist: the heads are 0 to {heads - 1}.")
    rows = [Shape(tensor, "input", convention, head) for tensor in program.inputs]
    seen = set[str]()
    parameters = {parameter.name: parameter.tensor for parameter in program.parameters}
    for step in program.steps:  # a parameter is listed where it is first used
        for tensor in step.inputs:
            if tensor.name in parameters and tensor.name not in seen:
                seen.add(tensor.name)
                rows.append(Shape(parameters[tensor.name], "parameter", convention, head))
        rows.append(Shape(step.output, "step", convention, head))
    rows += [Shape(tensor, "parameter", convention, head) for name, tensor in parameters.items() if name not in seen]
    return Shapes(label, program, convention, head, tuple(rows))
