"""A table whose rows begin with the name of a tensor or a part: in HTML each has the colour of its part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from glassformer.show.palette import ink, part_of
from glassformer.show.table import Table


@dataclass(frozen=True)
class PartsTable(Table):
    """A table of parts; `names` says what its rows are about where their first cells are shorter."""

    names: Sequence[str] = field(default=(), kw_only=True)

    def edge(self, place: int) -> str:
        name = self.names[place] if self.names else self.rows[place][0]
        return "" if not name or name in ("total", "layers") or " " in name.replace(": ", "") else ink(part_of(name))
