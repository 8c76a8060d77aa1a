"""Taps: the hooks of a pass by step name, and the mixin of tapped modules that calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from torch import Tensor

from glassformer.errors import GlassformerError

Hook: TypeAlias = Callable[[Tensor], Tensor | None]


class Taps:
    """Hooks by step name, and the current layer, since layers may share their modules."""

    def __init__(self, hooks: Mapping[str, Hook]) -> None:
        self.hooks = dict(hooks)
        self.held: dict[str, Tensor] = {}  # values of steps that are already known and not recomputed
        self.layer: int | None = None

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """The value with which the pass continues: the result of the hook, or the value itself if that is None."""
        hook = self.hooks.get(name)
        if hook is None:
            return value
        new = hook(value)
        if new is None:
            return value
        if not isinstance(new, Tensor) or new.shape != value.shape:
            found = list(new.shape) if isinstance(new, Tensor) else type(new).__name__
            raise GlassformerError(f"the hook of {name} returned {found}, expected a tensor {list(value.shape)}, or None.")
        return new


class Tapped:
    """Mixin of tapped modules that names their steps. `place` is the block, with `*` for the layer number."""

    taps: Taps
    place: str

    def named(self, symbol: str) -> str:
        """The name of a step of this module: `layers.3.attention.mix`; an empty symbol is the block itself."""
        block = self.place.replace("*", str(self.taps.layer), 1)
        return f"{block}.{symbol}" if block and symbol else block or symbol

    def tap(self, symbol: str, value: Tensor) -> Tensor:
        """Call the hook of a step."""
        return self.taps(self.named(symbol), value)

    def watched(self, *symbols: str) -> bool:
        """Whether any of these steps has a hook; others need not be computed separately."""
        return any(self.named(symbol) in self.taps.hooks for symbol in symbols)
