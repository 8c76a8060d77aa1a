"""The base class of results: printed as a table, displayed as HTML in a notebook, exported as one JSON document."""

from __future__ import annotations

from typing import Any

from glassformer.spec.viewed import Viewed


class Result(Viewed):
    """A result. The room `show` renders it; this room contains no formatting."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as one JSON document."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        """The first line of the text, unless a class overrides it."""
        return f"<{type(self).__name__}: {str(self).partition(chr(10))[0].strip()}>"
