"""Charts as SVG, without matplotlib: lines over a number, with round ticks, and the colours of the page they stand on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from glassformer.show.diagram_svg import svg

WIDTH, HEIGHT = 360.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 10.0, 44.0, 36.0
MOST_POINTS = 400
HALO = 'paint-order="stroke" stroke="var(--gf-page,#fff)" stroke-width="3"'  # a word that lies on a line stays legible


@dataclass(frozen=True)
class Line:
    """One line: its name, its points, its colour, and whether it is dashed. A value that is no number leaves a gap."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Chart:
    """Lines over one axis; `marks` are points with a word."""

    title: str
    x: str
    lines: Sequence[Line]
    unit: str = ""
    marks: Sequence[tuple[float, float, str]] = ()
    top: float | None = None  # of the scale, where it is known: 1 for a share

    def svg(self) -> str:
        """The picture."""
        points = [point for line in self.lines for point in line.points if math.isfinite(point[1])]
        if not points:
            return svg(WIDTH, 60, self.title, [f'<text x="4" y="20">{escape(self.title)}: nothing to draw.</text>'])
        xs = [x for x, _ in points]
        first, last = min(xs), max(xs)
        span = (first - 0.5, last + 0.5) if first == last else (first, last)
        steps = ticks(self.top or max(y for _, y in points))
        top = self.top or steps[-1] or 1.0

        def at(x: float, y: float) -> tuple[float, float]:
            across = (x - span[0]) / (span[1] - span[0])
            return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - min(y / top, 1.0) * (HEIGHT - TOP - BOTTOM)

        parts = [
            f'<text x="4" y="14" font-weight="600">{escape(self.title)}</text>',
            *self._legend(),
            *self._axes(steps, span, at),
        ]
        for line in self.lines:
            drawn = [at(x, y) if math.isfinite(y) else None for x, y in thinned(line.points)]
            parts.append(_path(drawn, line))
        for x, y, word in self.marks:
            (left, above) = at(x, y)
            anchor = "end" if left > WIDTH * 0.7 else "start" if left < WIDTH * 0.3 else "middle"
            paint = 'fill="var(--gf-page,#fff)" stroke="currentColor" stroke-width="1.5"'
            ring = f'<circle cx="{left:.1f}" cy="{above:.1f}" r="4" {paint}/>'
            place = f'x="{left:.1f}" y="{above - 9:.1f}" text-anchor="{anchor}" font-size="11"'
            parts.append(f"{ring}<text {place} {HALO}>{escape(word)}</text>")
        return svg(WIDTH, HEIGHT, f"{self.title} over {self.x}", parts)

    def _legend(self) -> list[str]:
        """Names beside a piece of their line, one after the other below the title."""
        parts, x = [], 4.0
        for line in self.lines:
            dash = ' stroke-dasharray="5 3"' if line.dashed else ""
            parts.append(f'<path d="M{x:g} 29h18" stroke="{line.colour}" stroke-width="2"{dash}/>')
            parts.append(f'<text x="{x + 23:g}" y="33" font-size="11">{escape(line.name)}</text>')
            x += 35 + 6.1 * len(line.name)
        return parts

    def _axes(
        self, steps: list[float], span: tuple[float, float], at: Callable[[float, float], tuple[float, float]]
    ) -> list[str]:
        parts = []
        for step in steps:
            _, y = at(span[0], step)
            faint = 0.4 if step == 0 else 0.13
            parts.append(f'<path d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}" stroke="currentColor" stroke-opacity="{faint}"/>')
            parts.append(
                f'<text x="{LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end" font-size="11">{plain(step)}{self.unit}</text>'
            )
        for value in whole_ticks(*span):
            x, _ = at(value, 0.0)
            parts.append(
                f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15:g}" text-anchor="middle" font-size="11">{plain(value)}</text>'
            )
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(f'<text x="{middle:g}" y="{HEIGHT - 4:g}" text-anchor="middle" font-size="11">{escape(self.x)}</text>')
        return parts


def _path(points: Sequence[tuple[float, float] | None], line: Line) -> str:
    path, pen = "", "M"
    for point in points:
        path += "" if point is None else f"{pen}{point[0]:.1f} {point[1]:.1f}"
        pen = "M" if point is None else "L"
    dash = ' stroke-dasharray="5 3"' if line.dashed else ""
    rings = [f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="2.6" fill="{line.colour}"/>' for point in points if point]
    dots = "".join(rings) if len(points) < 3 else ""
    return f'<path d="{path}" fill="none" stroke="{line.colour}" stroke-width="2" stroke-linejoin="round"{dash}/>{dots}'


def ticks(top: float) -> list[float]:
    """0 and three to six round numbers, the last of them at or above `top`."""
    if not math.isfinite(top) or top <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(top))
    step = next(size * power / 10 for size in (2, 2.5, 5, 10, 20, 25) if size * power / 10 * 5 >= top * (1 - 1e-9))
    return [round(step * number, 12) for number in range(math.ceil(top / step - 1e-9) + 1)]


def whole_ticks(first: float, last: float) -> list[float]:
    """At most seven whole numbers along an axis."""
    low, high = math.ceil(first), math.floor(last)
    step = next((size for size in _round_steps() if (high - low) / size <= 6), 1)
    start = low if step == 1 else -(-low // step) * step
    return [float(value) for value in range(start, high + 1, step)]


def _round_steps() -> list[int]:
    return [size * 10**power for power in range(12) for size in (1, 2, 5)]


def thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """No more points than a picture has room for, the last one among them."""
    every = -(-len(points) // MOST_POINTS)
    return points if every == 1 else [*points[:-1:every], points[-1]]


def plain(value: float) -> str:
    """`0.25`, `1,000`, `2e9`."""
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e7 else f"{value:g}"
