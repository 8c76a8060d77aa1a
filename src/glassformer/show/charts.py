"""Charts as SVG, without matplotlib: lines over a number, with round ticks, and the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from glassformer.show.markup import Html, tags
from glassformer.show.svg import Point, line, svg, text

WIDTH, HEIGHT = 360.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 10.0, 44.0, 36.0
MOST_POINTS = 400


@dataclass(frozen=True)
class Line:
    """One line: its name, its points, its colour, and whether it is dashed. NaN leaves a gap."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashed: bool = False

    @property
    def dashes(self) -> str | None:
        return "5 3" if self.dashed else None


@dataclass(frozen=True)
class Chart:
    """Lines over one axis; `marks` are labelled points."""

    title: str
    x: str
    lines: Sequence[Line]
    unit: str = ""
    marks: Sequence[tuple[float, float, str]] = ()
    top: float | None = None  # top of the scale, if known: 1 for a share

    def svg(self) -> Html:
        """The picture."""
        points = [point for line in self.lines for point in line.points if math.isfinite(point[1])]
        if not points:
            return svg(WIDTH, 60, self.title, text(4, 20, f"{self.title}: nothing to draw."))
        xs = [x for x, _ in points]
        first, last = min(xs), max(xs)
        span = (first - 0.5, last + 0.5) if first == last else (first, last)
        steps = ticks(self.top or max(y for _, y in points))
        top = self.top or steps[-1] or 1.0

        def at(x: float, y: float) -> Point:
            across = (x - span[0]) / (span[1] - span[0])
            return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - min(y / top, 1.0) * (HEIGHT - TOP - BOTTOM)

        title = text(4, 14, self.title, font_weight=600)
        lines = [_drawn([at(x, y) if math.isfinite(y) else None for x, y in thinned(line.points)], line) for line in self.lines]
        marks = [_mark(*at(x, y), word) for x, y, word in self.marks]
        return svg(WIDTH, HEIGHT, f"{self.title} over {self.x}", title, self._legend(), self._axes(steps, span, at), lines, marks)

    def _legend(self) -> Iterator[Html]:
        """The legend, below the title."""
        x = 4.0
        for one in self.lines:
            yield line([(x, 29), (x + 18, 29)], stroke=one.colour, stroke_width=2, stroke_dasharray=one.dashes)
            yield text(x + 23, 33, one.name, font_size=11)
            x += 35 + 6.1 * len(one.name)

    def _axes(self, steps: list[float], span: tuple[float, float], at: Callable[[float, float], Point]) -> Iterator[Html]:
        for step in steps:
            _, y = at(span[0], step)
            yield line([(LEFT, y), (WIDTH - RIGHT, y)], stroke="currentColor", stroke_opacity=0.4 if step == 0 else 0.13)
            yield text(LEFT - 6, y + 4, f"{plain(step)}{self.unit}", text_anchor="end", font_size=11)
        for value in whole_ticks(*span):
            yield text(at(value, 0.0)[0], HEIGHT - BOTTOM + 15, plain(value), text_anchor="middle", font_size=11)
        yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, self.x, text_anchor="middle", font_size=11)


def _drawn(points: Sequence[Point | None], one: Line) -> list[Html]:
    """The line, with dots if it has too few points to be visible."""
    path = line(points, stroke=one.colour, stroke_width=2, stroke_linejoin="round", stroke_dasharray=one.dashes)
    dots = [tags.circle(cx=round(p[0], 1), cy=round(p[1], 1), r=2.6, fill=one.colour) for p in points if p]
    return [path, *(dots if len(points) < 3 else [])]


def _mark(x: float, y: float, word: str) -> list[Html]:
    """A ring with a label that is legible on top of a line."""
    anchor = "end" if x > WIDTH * 0.7 else "start" if x < WIDTH * 0.3 else "middle"
    page = "var(--gf-page,#fff)"
    ring = tags.circle(cx=round(x, 1), cy=round(y, 1), r=4, fill=page, stroke="currentColor", stroke_width=1.5)
    halo: dict[str, Any] = {"paint_order": "stroke", "stroke": page, "stroke_width": 3}
    return [ring, text(x, y - 9, word, text_anchor=anchor, font_size=11, **halo)]


def ticks(top: float) -> list[float]:
    """0 and three to six round numbers, the last of them at or above `top`."""
    if not math.isfinite(top) or top <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(top))
    step = next(size * power / 10 for size in (2, 2.5, 5, 10, 20, 25) if size * power / 10 * 5 >= top * (1 - 1e-9))
    return [round(step * number, 12) for number in range(math.ceil(top / step - 1e-9) + 1)]


def whole_ticks(first: float, last: float) -> list[float]:
    """At most seven integers along an axis."""
    low, high = math.ceil(first), math.floor(last)
    step = next((size for size in _round_steps() if (high - low) / size <= 6), 1)
    start = low if step == 1 else -(-low // step) * step
    return [float(value) for value in range(start, high + 1, step)]


def _round_steps() -> list[int]:
    return [size * 10**power for power in range(12) for size in (1, 2, 5)]


def thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """Thin out points to as many as a picture can show, including the last one."""
    every = -(-len(points) // MOST_POINTS)
    return points if every == 1 else [*points[:-1:every], points[-1]]


def plain(value: float) -> str:
    """`0.25`, `1,000`, `2e9`."""
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e7 else f"{value:g}"
