"""Presentation of the certificate of a load: verdict, differences between implementations, and the tensor of each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from glassformer.show.fragment import fragment
from glassformer.show.markup import Html, tags
from glassformer.show.table import Column, Table, sizes_text

# This room may not import the room `model`: a certificate is recognised by its attributes.


@dataclass(frozen=True)
class CertificateView:
    """The verdict, then the tables, the differences first."""

    found: Any

    @property
    def views(self) -> Sequence[Table]:
        return tables(self.found, whole=False)[::-1]

    def text(self) -> str:
        return "\n\n".join([verdict_line(self.found), *(view.text() for view in self.views)])

    def html(self) -> Html:
        return fragment(tags.p(tags.strong(verdict_line(self.found))), [view.markup() for view in self.views])


def of_torch_room(found: Any) -> CertificateView:
    """A certificate."""
    return CertificateView(found)


def verdict_line(found: Any) -> str:
    """Return the first line: the verdict."""
    if found.verdict == "refused":
        return f"refused: {found.reason}"
    head = f"{found.verdict}: {found.model_class}, {found.parameters:,} parameters, stored as {found.stored}"
    wrong = [one.what for one in found.comparisons if not one.holds]
    return head + ("." if not wrong else f". But the differences are too large: {'; '.join(wrong)}.")


def tables(found: Any, *, whole: bool) -> list[Table]:
    """Return the map of names, the unused tensors, and the differences."""
    views = []
    if found.rows:
        rows = found.rows if whole else found.folded()
        cells = [[row.parameter, sizes_text(row.shape), row.tensor, sizes_text(row.stored), row.how] for row in rows]
        heads = [Column("parameter"), Column("shape", right=True), Column("tensor"), Column("stored", right=True), Column("")]
        views.append(Table("", heads, cells))
    beside = [
        [what, name] for what in ("tied", "fresh", "missing", "unexpected", "misfits", "unused") for name in getattr(found, what)
    ]
    if beside:
        views.append(Table("", [Column("what"), Column("tensor")], beside))
    if found.comparisons:
        views.append(_differences(found))
    return views


def _differences(found: Any) -> Table:
    places = list(dict.fromkeys(gap.place for one in found.comparisons for gap in one.gaps))
    columns = [{gap.place: gap for gap in one.gaps} for one in found.comparisons]
    rows = [[place, *(f"{gaps[place].relative:.1e}" if place in gaps else "·" for gaps in columns)] for place in places]
    rows.append(["allowed", *(f"{one.bound:.1e}" for one in found.comparisons)])
    rows.append(["holds", *("yes" if one.holds else "NO" for one in found.comparisons)])
    heads = [Column("difference at"), *(Column(one.what, right=True) for one in found.comparisons)]
    sums = f"The sha256 of {found.checked} tensors was compared. " if found.checked else ""
    notes = [
        "",
        f"Input: {found.given}",
        f"Each is the largest difference divided by the largest magnitude in the tensor, or by 1 if that is smaller. "
        f"{sums}".rstrip(),
        *found.notes,
    ]
    return Table("", heads, rows, notes, frozenset([len(rows) - 1]))
