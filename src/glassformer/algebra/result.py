"""What every answer shares: it prints as a table, shows as HTML in a notebook, and is one JSON document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol


class Presentation(Protocol):
    """How a result looks; the room `show` makes these."""

    def text(self) -> str: ...
    def html(self) -> str: ...


class Result:
    """An answer. `show` says how it looks, by setting `present`: this room knows no formats."""

    present: ClassVar[Callable[[Any], Presentation] | None] = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as one JSON document."""
        raise NotImplementedError

    def __str__(self) -> str:
        return Result.present(self).text() if Result.present else repr(self)

    def _repr_html_(self) -> str | None:
        return Result.present(self).html() if Result.present else None
