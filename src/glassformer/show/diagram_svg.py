"""A diagram as SVG: text in the colour of the page it stands on, parts in their own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from glassformer.show.diagram import CENTRE, WIDTH, Arrow, Box, Diagram, Frame
from glassformer.show.diagram_inside import Inside, Node
from glassformer.show.palette import Part, ink

LEGIBLE = 0.8  # of its size: equations with indices can still be read
SCRIPTED = re.compile(r"_(\{[^{}]*\}|[A-Za-z0-9]+)")


def diagram_svg(diagram: Diagram) -> str:
    """The whole encoder."""
    parts = [*map(_frame, diagram.frames), *map(_arrow, diagram.arrows), *map(_box, diagram.boxes)]
    return svg(diagram.width, diagram.height, "the encoder as a diagram", parts)


def inside_svg(inside: Inside) -> str:
    """The steps of one block."""
    parts = [*map(_arrow, inside.arrows), *map(_node, inside.nodes)]
    return svg(inside.width, inside.height, f"inside {inside.key}", parts, least=LEGIBLE)


def svg(width: float, height: float, label: str, parts: Iterable[str], *, least: float = 0.0) -> str:
    """A picture of a size in pixels, which shrinks with its page, not below the share `least`; it has no ids, so any number stand
    on one page."""
    widest = f"max(100%,{least * width:g}px)" if least else "100%"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="system-ui,sans-serif" font-size="12" fill="currentColor" '
        f'style="max-width:{widest};height:auto">{"".join(parts)}</svg>'
    )


def scripted(text: str) -> str:
    """`W_Q` with its index below the line, and everything else as it is."""
    pieces, at, low = [], 0, False
    for found in SCRIPTED.finditer(text):
        pieces.append(_run(text[at : found.start()], low=low))
        pieces.append(f'<tspan dy="3" font-size="9">{escape(found[1].strip("{}"))}</tspan>')
        at, low = found.end(), True
    return "".join([*pieces, _run(text[at:], low=low)])


def _run(text: str, *, low: bool) -> str:
    """Text that goes on after an index, back on the line."""
    if not text:
        return ""
    return f'<tspan dy="-3">{escape(text)}</tspan>' if low else escape(text)


def _text(x: float, y: float, inner: str, *, anchor: str = "start", size: float = 12, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}" xml:space="preserve"{more}>{inner}</text>'


def _rect(x: float, y: float, width: float, height: float, part: Part | None) -> str:
    if part is None:
        paint = 'fill="none" stroke="currentColor" stroke-opacity=".35" stroke-dasharray="4 3"'
    else:
        paint = f'fill="{ink(part)}" fill-opacity=".13" stroke="{ink(part)}" stroke-width="1.5"'
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" {paint}/>'


def _frame(frame: Frame) -> str:
    words = _text(20, frame.y + 15, f"{escape(frame.title)}", more=' font-weight="600"')
    note = _text(WIDTH - 16, frame.y + 15, escape(frame.note), anchor="end", size=11)
    return _rect(6, frame.y, WIDTH - 12, frame.height, None) + words + note


def _box(box: Box) -> str:
    if box.kind == "words":
        return _text(CENTRE, box.y + 14, escape(box.title), anchor="middle")
    if box.kind == "sum":
        circle = f'<circle cx="{CENTRE:g}" cy="{box.y + 10:g}" r="10" fill="none" stroke="{ink("norm")}" stroke-width="1.5"/>'
        return circle + _text(CENTRE, box.y + 14.5, "+", anchor="middle", size=14)
    words = _text(box.x + 12, box.y + 22.5, escape(box.title), more=' font-weight="600"')
    count = f"{box.parameters:,}" if box.parameters else "no parameters"
    return (
        _rect(box.x, box.y, box.width, box.height, box.part)
        + words
        + _text(box.x + box.width - 10, box.y + 22.5, count, anchor="end", size=11, more=' font-variant-numeric="tabular-nums"')
    )


def _arrow(arrow: Arrow) -> str:
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in arrow.points)
    (fx, fy), (x, y) = arrow.points[-2:]
    length = max(((x - fx) ** 2 + (y - fy) ** 2) ** 0.5, 1e-9)
    ux, uy = (x - fx) / length, (y - fy) / length
    left, right = ((x - 6 * ux + side * uy, y - 6 * uy - side * ux) for side in (-3.5, 3.5))
    tip = f"M{left[0]:.4g} {left[1]:.4g}L{x:g} {y:g}L{right[0]:.4g} {right[1]:.4g}"
    paint = 'fill="none" stroke="currentColor" stroke-opacity=".6" stroke-width="1.2" stroke-linejoin="round"'
    line = f'<path d="{path}{tip}" {paint}/>'
    if arrow.around or not arrow.label:
        return line
    (_, top), (_, bottom) = arrow.points[0], arrow.points[-1]
    middle = (top + bottom) / 2 if bottom - top < 40 else bottom - 14
    return line + _text(CENTRE - 8, middle + 3, escape(arrow.label), anchor="end", size=11, more=' fill-opacity=".75"')


def _node(node: Node) -> str:
    centre = node.x + node.width / 2
    equation = _text(centre, node.y + 15, scripted(f"{node.left} = {node.right}"), anchor="middle", size=11.5)
    shape = _text(centre, node.y + 29, escape(node.shape), anchor="middle", size=10.5, more=' fill-opacity=".75"')
    return _rect(node.x, node.y, node.width, node.height, node.part) + equation + shape
