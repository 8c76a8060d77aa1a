"""The bridge from one count to another: every line that differs, summing exactly to the difference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from glassformer.algebra.ledger import Count
from glassformer.algebra.result import Result
from glassformer.algebra.rows import Line


@dataclass(frozen=True)
class Span:
    """One line of the ledger in both counts."""

    name: str
    left: Line | None
    right: Line | None

    @property
    def line(self) -> Line:
        """The line, from a count that contains it."""
        line = self.left or self.right
        assert line is not None
        return line

    @property
    def counts(self) -> tuple[int, int]:
        return (self.left.count if self.left else 0), (self.right.count if self.right else 0)

    @property
    def difference(self) -> int:
        return self.counts[1] - self.counts[0]

    def to_dict(self) -> dict[str, Any]:
        formulas = [line.formula if line else None for line in (self.left, self.right)]
        numbers = [line.numbers if line else None for line in (self.left, self.right)]
        return {
            "name": self.name,
            "left": {"count": self.counts[0], "formula": formulas[0], "numbers": numbers[0]},
            "right": {"count": self.counts[1], "formula": formulas[1], "numbers": numbers[1]},
            "difference": self.difference,
        }


@dataclass(frozen=True, repr=False)
class Bridge(Result):
    """Why two counts differ, line by line."""

    left: Count
    right: Count

    def __repr__(self) -> str:
        return f"<Bridge from {self.left.label} to {self.right.label}: {self.total:+,} parameters>"

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """All lines of both counts, in the order of the first, then of the second."""
        left, right = _by_name(self.left), _by_name(self.right)
        return tuple(Span(name, left.get(name), right.get(name)) for name in {**left, **right})

    @property
    def rows(self) -> tuple[Span, ...]:
        """The lines that differ."""
        return tuple(span for span in self.spans if span.difference)

    @property
    def unchanged(self) -> int:
        """The lines that both counts share."""
        return sum(span.counts[0] for span in self.spans if not span.difference)

    @property
    def total(self) -> int:
        return self.right.total - self.left.total

    def to_dict(self) -> dict[str, Any]:
        ends = [
            {"label": end.label, "spec": end.spec.to_dict(), "total": end.total, "convention": end.convention}
            for end in (self.left, self.right)
        ]
        return {
            "left": ends[0],
            "right": ends[1],
            "total": self.total,
            "unchanged": self.unchanged,
            "rows": [span.to_dict() for span in self.rows],
            "left_out": {
                side: [item.to_dict() for item in end.left_out] for side, end in (("left", self.left), ("right", self.right))
            },
        }


def bridge(left: Count, right: Count) -> Bridge:
    """Return the difference between two counts: of two specs, or of one spec under two conventions."""
    return Bridge(left, right)


def _by_name(count: Count) -> dict[str, Line]:
    """Return lines by name; if layers of one spec differ in the axes of a tensor, the key contains the axes."""
    lines: dict[str, Line] = {}
    for line in count.lines:
        lines[line.name if line.name not in lines else f"{line.name} [{line.rows[0].formula}]"] = line
    return lines
