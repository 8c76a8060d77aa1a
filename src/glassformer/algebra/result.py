"""What every answer shares: it prints as a table, shows as HTML in a notebook, and is one JSON document."""

from __future__ import annotations

from typing import Any

from glassformer.spec.viewed import Viewed


class Result(Viewed):
    """An answer. The room `show` says how it looks: this room knows no formats."""

    def to_dict(self) -> dict[str, Any]:
        """The answer as one JSON document."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        """What it is, in one line: its first, unless it knows a better one."""
        return f"<{type(self).__name__}: {str(self).partition(chr(10))[0].strip()}>"
