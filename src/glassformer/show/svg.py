"""Pictures as SVG: text in the colour of the page, no ids, so that a page can contain several."""

from __future__ import annotations

from collections.abc import Sequence

from glassformer.show.markup import Attribute, Child, Html, element, tags

Point = tuple[float, float]


def svg(width: float, height: float, label: str, *parts: Child, least: float = 0.0) -> Html:
    """A picture of a given size in pixels, which shrinks with the page, but not below the share `least`."""
    widest = f"max(100%,{least * width:g}px)" if least else "100%"
    return tags.svg(
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        aria_label=label,
        viewBox=f"0 0 {width:g} {height:g}",
        width=float(width),
        height=float(height),
        font_family="system-ui,sans-serif",
        font_size=12,
        fill="currentColor",
        style=f"max-width:{widest};height:auto",
    )


def text(x: float, y: float, *words: Child, **attributes: Attribute) -> Html:
    """Words at a point."""
    return element("text", *words, x=round(x, 2), y=round(y, 2), **attributes)


def line(points: Sequence[Point | None], **attributes: Attribute) -> Html:
    """A line through points; None leaves a gap."""
    path, formatter = "", "M"
    for point in points:
        path += "" if point is None else f"{formatter}{round(point[0], 1):g} {round(point[1], 1):g}"
        formatter = "M" if point is None else "L"
    return tags.path(d=path, fill="none", **attributes)
