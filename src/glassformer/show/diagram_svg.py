"""A diagram as SVG: text in the colour of the page, parts in their own colours."""

from __future__ import annotations

from collections.abc import Iterable

from glassformer.show.diagram_boxes import HEADER, Arrow, Box, Pieces
from glassformer.show.markup import Attribute, Child, Html, tags
from glassformer.show.palette import Part, ink
from glassformer.show.svg import line, svg, text

LEGIBLE = 0.75  # of its size: equations with indices can still be read
LOW = 3  # offset of a subscript in pixels


def diagram_svg(width: float, height: float, label: str, boxes: Iterable[Box], arrows: Iterable[Arrow]) -> Html:
    """The whole picture."""
    return svg(width, height, label, map(_box, boxes), map(_arrow, arrows), least=LEGIBLE)


def _box(box: Box) -> list[Html]:
    centre, middle = box.x + box.width / 2, box.y + box.height / 2
    words = _scripted(box.pieces)
    if box.kind == "words":
        return [text(centre, middle + 4, words, text_anchor="middle")]
    if box.kind == "sum":
        circle = tags.circle(cx=centre, cy=middle, r=box.height / 2, fill="none", stroke=ink("norm"), stroke_width=1.5)
        return [circle, text(centre, middle + 4.5, words, font_size=14, text_anchor="middle")]
    if box.kind == "step":
        equation = text(centre, box.y + 15, words, font_size=11.5, text_anchor="middle")
        shape = text(centre, box.y + 29, box.note, font_size=10.5, fill_opacity=0.75, text_anchor="middle")
        return [_rect(box, box.height, 0.13, box.part), equation, shape]
    header = HEADER - 6 if box.open else box.height
    title = text(box.x + 12, box.y + header / 2 + 4.5, words, font_weight=600)
    note = text(box.x + box.width - 10, box.y + header / 2 + 4.5, box.note, font_size=11, text_anchor="end")
    frame = [_rect(box, box.height, 0.0, box.part)] if box.open else []
    return [*frame, _rect(box, header, 0.13, box.part), title, note]


def _rect(box: Box, height: float, faint: float, part: Part | None) -> Html:
    colour = ink(part) if part else ink("norm")
    place: dict[str, Attribute] = {"x": box.x, "y": box.y, "width": box.width, "height": height, "rx": 5}
    return tags.rect(**place, fill=colour, fill_opacity=faint, stroke=colour, stroke_width=1.5)


def _arrow(arrow: Arrow) -> list[Html]:
    drawn = line(
        [*arrow.points, None, *arrow.head], stroke="currentColor", stroke_opacity=0.6, stroke_width=1.2, stroke_linejoin="round"
    )
    label = text(*arrow.at, arrow.label, dy=3.5, font_size=11, fill_opacity=0.75, text_anchor="end") if arrow.label else None
    return [drawn, *([label] if label else [])]


def _scripted(pieces: Pieces) -> list[Child]:
    """Return text with indices below the line, as in `W_Q`."""
    found: list[Child] = []
    before = False
    for words, low in pieces:
        shift = (LOW if low else 0) - (LOW if before else 0)
        found.append(tags.tspan(words, dy=shift or None, font_size=9 if low else None) if shift or low else words)
        before = low
    return found
