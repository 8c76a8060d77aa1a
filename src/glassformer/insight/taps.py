"""Taps: the hooks of a pass by the names of steps, and the part of a tapped module that calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from torch import Tensor

from glassformer.errors import GlassformerError

Hook: TypeAlias = Callable[[Tensor], Tensor | None]


class Taps:
    """Hooks by the names of steps, and the layer that runs at the moment: layers may share their modules."""

    def __init__(self, hooks: Mapping[str, Hook]) -> None:
        self.hooks = dict(hooks)
        self.held: dict[str, Tensor] = {}  # values of steps that are known already, and not computed again
        self.layer: int | None = None

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """The value that the pass goes on with: what the hook returns, or the value itself where it returns None."""
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
    """The part of a tapped module that names its steps. `place` is its block, the number of the layer left open (`*`)."""

    taps: Taps
    place: str

    def named(self, symbol: str) -> str:
        """The name of a step of this module: `layers.3.attention.mix`; an empty symbol is the block itself."""
        block = self.place.replace("*", str(self.taps.layer), 1)
        return f"{block}.{symbol}" if block and symbol else block or symbol

    def tap(self, symbol: str, value: Tensor) -> Tensor:
        """Hand a step to its hook."""
        return self.taps(self.named(symbol), value)

    def watched(self, *symbols: str) -> bool:
        """Whether any of these steps has a hook: others need not be computed by themselves."""
        return any(self.named(symbol) in self.taps.hooks for symbol in symbols)
