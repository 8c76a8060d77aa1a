"""What can be looked at: every result, run and spec shows itself as HTML; the room `show` says how."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, Protocol


class Presentation(Protocol):
    """How something looks; the room `show` makes these."""

    def text(self) -> str: ...
    def html(self) -> str: ...


class Viewed:
    """Something to look at. `show` sets `present` for all of them at once: no other room knows a format."""

    present: ClassVar[Callable[[Any], Presentation] | None] = None

    def presented(self) -> Presentation:
        """How this looks. `show` is fetched when somebody looks for the first time; nothing here leans on it."""
        if Viewed.present is None:
            import_module("glassformer.show.present")
        assert Viewed.present is not None
        return Viewed.present(self)

    def to_html(self) -> str:
        """A fragment that needs nothing else: styles of its own and no ids, so that any number stand on one page."""
        return self.presented().html()

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002, FBT001 - as IPython calls it
        printer.text(str(self))
