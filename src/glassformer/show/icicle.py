"""The ledger as an icicle: parts and their tensors under one another, each as wide as its share of the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from glassformer.algebra import Count
from glassformer.show.palette import Part, ink, part_of

ROW = 30
LETTER, PHONE, DESK = 6.6, 320, 900  # pixels of a letter, and of the narrowest and a usual page
LEAST = 0.0004  # share of the total below which a tensor is not drawn


@dataclass
class Slice:
    """A part of the ledger and what it is made of; `name` is the path in the ledger, with alike layers written `*`."""

    name: str
    title: str
    count: int = 0
    parts: dict[str, Slice] = field(default_factory=dict)

    @property
    def part(self) -> Part | None:
        """The part of the encoder whose colour it has; None for what has several."""
        return None if self.name in ("", "layers") else part_of(self.name)

    def to_dict(self) -> dict[str, Any]:
        """The tree, ready for JSON."""
        inner = [one.to_dict() for one in self.parts.values()]
        return {"name": self.name, "title": self.title, "part": self.part, "count": self.count, "parts": inner}


def slices(count: Count) -> Slice:
    """The tree of a ledger: alike layers are one."""
    root = Slice("", "all parameters")
    for line in count.lines:
        words = line.name.replace("layers.*.", "layers.", 1).split(".")
        here = root
        here.count += line.count
        for place, word in enumerate(words):
            here = here.parts.setdefault(word, Slice(".".join(words[: place + 1]), word))
            here.count += line.count
    return root


def icicle_svg(count: Count) -> str:
    """The picture: as wide as its page; words stand where they fit, and every piece says what it is when pointed at."""
    root = slices(count)
    drawn = list(_pieces(root, root.count or 1, 0, 0.0))
    depth = 1 + max((level for level, _ in drawn), default=0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="icicle" role="img" aria-label="shares of the parameters" width="100%" '
        f'height="{depth * ROW}" font-family="system-ui,sans-serif" font-size="12" fill="currentColor">'
        f"{''.join(piece for _, piece in drawn)}</svg>"
    )


def _pieces(here: Slice, total: int, level: int, start: float) -> Iterator[tuple[int, str]]:
    share = here.count / total
    if share < LEAST:
        return
    yield level, _piece(here, share, level, start)
    for inner in sorted(here.parts.values(), key=lambda one: -one.count):
        yield from _pieces(inner, total, level + 1, start)
        start += inner.count / total


def _piece(here: Slice, share: float, level: int, start: float) -> str:
    paint = f'fill="{ink(here.part)}" fill-opacity=".22"' if here.part else 'fill="currentColor" fill-opacity=".07"'
    said = f"{here.name or here.title}: {here.count:,} ({share:.1%})"
    return (
        f'<svg x="{100 * start:.3f}%" y="{level * ROW}" width="{100 * share:.3f}%" height="{ROW - 2}">'
        f"<title>{escape(said)}</title>"
        f'<rect width="100%" height="100%" {paint} stroke="var(--gf-page,#fff)"/>{_words(here, share)}</svg>'
    )


def _words(here: Slice, share: float) -> str:
    """The longest label that fits a desk's page, and the longest that fits a telephone's where that is shorter."""
    labels = [f"{here.title} {here.count:,} · {share:.0%}", f"{here.title} {share:.0%}", here.title]
    fits = [next((label for label in labels if len(label) * LETTER + 12 <= share * page), "") for page in (DESK, PHONE)]
    if fits[0] == fits[1]:
        return _text(fits[0], "")
    return _text(fits[0], ' class="wide"') + _text(fits[1], ' class="narrow"')


def _text(label: str, more: str) -> str:
    return f'<text x="6" y="19"{more}>{escape(label)}</text>' if label else ""
