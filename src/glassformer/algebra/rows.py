"""Rows of the ledger: one tensor each, with its formula and its subtotals; identical layers combined into one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from glassformer.program import Axis, Tensor
from glassformer.program.roles import Block


class Within(NamedTuple):
    """A subtotal: its name, and the block that it is or belongs to."""

    name: str
    block: Block


@dataclass(frozen=True)
class Row:
    """One tensor of the ledger."""

    tensor: Tensor
    kind: str
    frozen: bool = False
    also: tuple[str, ...] = ()  # other names of the same tensor (tied, shared)
    within: tuple[Within, ...] = ()  # the subtotals that it belongs to, outermost first: layers, attention, qkv
    bias_of: Tensor | None = None  # the matrix whose product this bias is added to

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.tensor.axes

    @property
    def formula(self) -> str:
        return self.tensor.formula

    @property
    def count(self) -> int:
        return self.tensor.size

    @property
    def part(self) -> str:
        return self.tensor.block.part

    @property
    def layer(self) -> int | None:
        return self.tensor.block.layer

    @property
    def numbers(self) -> str:
        """The formula with sizes inserted: `768 · 12 · 64`."""
        return " · ".join(f"{axis.size}" for axis in self.axes) or "1"

    def to_dict(self) -> dict[str, Any]:
        axes = [{"name": axis.name, "size": axis.size} for axis in self.axes]
        shape = [axis.size for axis in self.axes]
        found = {"name": self.name, "part": self.part, "layer": self.layer, "kind": self.kind, "axes": axes, "shape": shape}
        return found | {"formula": self.formula, "count": self.count, "frozen": self.frozen, "also": list(self.also)}


@dataclass(frozen=True)
class Line:
    """Rows that differ only in their layer, as one line: `layers.* W_Q, 12 times`."""

    name: str
    rows: tuple[Row, ...]

    @property
    def times(self) -> int:
        return len(self.rows)

    @property
    def count(self) -> int:
        return sum(row.count for row in self.rows)

    @property
    def formula(self) -> str:
        return f"{self.times} × {self.rows[0].formula}" if self.times > 1 else self.rows[0].formula

    @property
    def numbers(self) -> str:
        return f"{self.times} × {self.rows[0].numbers}" if self.times > 1 else self.rows[0].numbers

    @property
    def symbol(self) -> str:
        """The symbol of the tensor, without its block: `W_Q`."""
        return self.rows[0].tensor.symbol


def folded(rows: Iterable[Row]) -> tuple[Line, ...]:
    """Combine rows into lines: rows of identical layers share one."""
    alike: dict[tuple[str, tuple[Axis, ...]], list[Row]] = {}
    for row in rows:
        alike.setdefault((row.tensor.any_layer, row.axes), []).append(row)
    return tuple(Line(name, tuple(found)) for (name, _), found in alike.items())
