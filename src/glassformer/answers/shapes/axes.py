"""Which axis is which: axes that meet in a product or a sum are one axis, and each is tokens, features or not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from glassformer.answers.shapes.sizes import Size

Kind: TypeAlias = Literal["tokens", "features"]
Role: TypeAlias = Literal["queries", "keys", "values"]

OTHER: dict[Kind, Kind] = {"tokens": "features", "features": "tokens"}


@dataclass(frozen=True)
class Axis:
    """A size, and the label by which the book of axes knows what it counts."""

    size: Size
    label: int


class AxisBook:
    """Labels that were found to be the same axis (a union-find), and what is known of each."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._kinds: list[Kind | None] = []

    def new(self, size: Size, kind: Kind | None = None) -> Axis:
        self._parents.append(len(self._parents))
        self._kinds.append(kind)
        return Axis(size, len(self._parents) - 1)

    def root(self, axis: Axis) -> int:
        label = axis.label
        while self._parents[label] != label:
            self._parents[label] = self._parents[self._parents[label]]
            label = self._parents[label]
        return label

    def kind(self, axis: Axis) -> Kind | None:
        return self._kinds[self.root(axis)]

    def kinds(self, axes: tuple[Axis, ...]) -> tuple[Kind | None, ...]:
        return tuple(self.kind(axis) for axis in axes)

    def mark(self, axis: Axis, kind: Kind) -> bool:
        """Say what an axis is; False, and nothing changes, where it is known to be the other thing."""
        known = self.kind(axis)
        if known is None:
            self._kinds[self.root(axis)] = kind
        return known in (None, kind)

    def merge(self, left: Axis, right: Axis) -> bool:
        """Say that two axes are one; False, and nothing changes, where one is tokens and the other features."""
        a, b = self.root(left), self.root(right)
        known = {self._kinds[a], self._kinds[b]} - {None}
        if len(known) == 2:
            return False
        self._parents[b] = a
        self._kinds[a] = next(iter(known), None)
        return True
