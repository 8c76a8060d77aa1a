"""The ledger as an icicle plot: parts and, below them, their tensors, each as wide as its share of the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from glassformer.algebra import Count
from glassformer.show.markup import Html, tags
from glassformer.show.palette import Part, block_part, ink, tensor_part

ROW = 30
LETTER, PHONE, DESK = 6.6, 320, 900  # pixels of a letter, and of the narrowest and a usual page
LEAST = 0.0004  # share of the total below which a tensor is not drawn


@dataclass
class Slice:
    """A part of the ledger with its sub-parts; `name` is the path in the ledger, with `*` for identical layers."""

    name: str
    title: str
    part: Part | None = None  # the part of the encoder that gives the colour; None if there are several
    count: int = 0
    parts: dict[str, Slice] = field(default_factory=dict)

    def inside(self, title: str, part: Part | None) -> Slice:
        """A part of this one."""
        return self.parts.setdefault(title, Slice(f"{self.name}.{title}" if self.name else title, title, part))

    def to_dict(self) -> dict[str, Any]:
        """The tree, ready for JSON."""
        inner = [one.to_dict() for one in self.parts.values()]
        return {"name": self.name, "title": self.title, "part": self.part, "count": self.count, "parts": inner}


def slices(count: Count) -> Slice:
    """Return the tree of a ledger, with identical layers combined."""
    root = Slice("", "all parameters")
    for line in count.lines:
        tensor, here = line.rows[0].tensor, root
        here.count += line.count
        for block in tensor.block.path:
            if block.kind != "layer":
                here = here.inside(block.word, None if block.kind == "layers" else block_part(block))
                here.count += line.count
        here.inside(tensor.symbol, tensor_part(tensor)).count += line.count
    return root


def icicle_svg(count: Count) -> Html:
    """The picture: as wide as its page, with labels where they fit, and a tooltip for every piece."""
    root = slices(count)
    drawn = list(_pieces(root, root.count or 1, 0, 0.0))
    return tags.svg(
        [piece for _, piece in drawn],
        xmlns="http://www.w3.org/2000/svg",
        class_="icicle",
        role="img",
        aria_label="shares of the parameters",
        width="100%",
        height=ROW * (1 + max((level for level, _ in drawn), default=0)),
        font_family="system-ui,sans-serif",
        font_size=12,
        fill="currentColor",
    )


def _pieces(here: Slice, total: int, level: int, start: float) -> Iterator[tuple[int, Html]]:
    share = here.count / total
    if share < LEAST:
        return
    yield level, _piece(here, share, level, start)
    for inner in sorted(here.parts.values(), key=lambda one: -one.count):
        yield from _pieces(inner, total, level + 1, start)
        start += inner.count / total


def _piece(here: Slice, share: float, level: int, start: float) -> Html:
    fill, faint = (ink(here.part), 0.22) if here.part else ("currentColor", 0.07)
    return tags.svg(
        tags.title(f"{here.name or here.title}: {here.count:,} ({share:.1%})"),
        tags.rect(width="100%", height="100%", fill=fill, fill_opacity=faint, stroke="var(--gf-page,#fff)"),
        _words(here, share),
        x=f"{100 * start:.3f}%",
        y=level * ROW,
        width=f"{100 * share:.3f}%",
        height=ROW - 2,
    )


def _words(here: Slice, share: float) -> list[Html]:
    """Return the longest label that fits a desktop page, and the longest for a phone if that is shorter."""
    labels = [f"{here.title} {here.count:,} · {share:.0%}", f"{here.title} {share:.0%}", here.title]
    fits = [next((label for label in labels if len(label) * LETTER + 12 <= share * page), "") for page in (DESK, PHONE)]
    classes = {fits[0]: None} if fits[0] == fits[1] else {fits[0]: "wide", fits[1]: "narrow"}
    return [tags.text(label, x=6, y=19, class_=name) for label, name in classes.items() if label]
