"""Viewed: the base class of results, runs and specs, which render as text and HTML through `show`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, Protocol


class Presentation(Protocol):
    """A rendered object, as text or HTML; made by `show`."""

    def text(self) -> str: ...
    def html(self) -> str: ...


class Viewed:
    """An object that can be displayed. `show` sets `present` for all of them; no other package knows the formats."""

    present: ClassVar[Callable[[Any], Presentation] | None] = None

    def presented(self) -> Presentation:
        """Return the presentation. `show` is imported on first use, so that this module does not depend on it."""
        if Viewed.present is None:
            import_module("glassformer.show.present")
        assert Viewed.present is not None
        return Viewed.present(self)

    def to_html(self) -> str:
        """Return a self-contained HTML fragment, with its own styles and no ids, so that a page can hold several."""
        return self.presented().html()

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002, FBT001 - as IPython calls it
        printer.text(str(self))
