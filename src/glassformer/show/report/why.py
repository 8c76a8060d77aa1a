"""The section of a report about one answer: the logit of the predicted class as a sum of contributions."""

from __future__ import annotations

from itertools import accumulate, pairwise

from glassformer.numbers.contributions.ledger import Contributions
from glassformer.show.contribution_pictures import waterfall
from glassformer.show.figures import figures
from glassformer.show.markup import Html, join, tags
from glassformer.show.present import present
from glassformer.show.report.page import Section, folded


def why_section(found: Contributions) -> Section:
    """A waterfall from 0 to the logit, and the lines of the ledger."""
    said = f"The {found.label} is {figures(found.value)}: the sum of what the embeddings and each part of each layer contribute."
    lines = folded("The ledger, line by line", [present(found).markup()])
    return Section(
        "why", "Why this answer?", join(tags.p(said), _bars(waterfall(found)), tags.p(f"Rules: {found.rules.text}."), lines)
    )


def _bars(bars: list[tuple[str, float]]) -> Html:
    """One bar for each part, starting at the end of the one above."""
    ends = list(accumulate((value for _, value in bars), initial=0.0))
    low, high = min(ends), max(ends)
    wide = (high - low) or 1.0
    rows = []
    for (name, value), (start, end) in zip(bars, pairwise(ends), strict=True):
        left, width = 100 * (min(start, end) - low) / wide, 100 * abs(value) / wide
        bar = tags.i(class_="up" if value > 0 else "down", style=f"left:{left:.2f}%;width:{max(width, 0.3):.2f}%")
        rows.append(tags.li(tags.span(name), tags.b(figures(value, 3)), tags.div(bar)))
    return tags.ol(rows, class_="waterfall")
