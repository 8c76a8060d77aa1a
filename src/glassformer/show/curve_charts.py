"""Learning curves as charts: loss and metric of one run or of several, for pages and notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from glassformer.show.charts import Chart, Line
from glassformer.show.curves import Curve
from glassformer.show.markup import Html, tags
from glassformer.show.palette import PARTS, ink


def charts(found: Sequence[Curve]) -> Html:
    """Loss and metric: training dashed, validation solid; for a single run, a circle at the lowest validation loss."""
    score = " or ".join(dict.fromkeys(curve.metric.name for curve in found))
    lines: dict[str, list[Line]] = {"loss": [], score: []}
    for place, curve in enumerate(found):
        alone = len(found) == 1
        colours = (ink("attention"), ink("embedding")) if alone else (ink(PARTS[place % len(PARTS)]),) * 2
        names = ("training", "validation") if alone else ("", curve.name)
        pairs = {"loss": (curve.train_loss, curve.validation_loss), score: (curve.train_score, curve.validation_score)}
        for what, (train, held_out) in pairs.items():
            points = [list(zip(map(float, curve.epochs), values, strict=True)) for values in (train, held_out)]
            dashed = [] if any(map(math.isnan, train)) else [Line(names[0], points[0], colours[0], dashed=True)]
            lines[what] += [*dashed, Line(names[1], points[1], colours[1])]
    turn = found[0].turn if len(found) == 1 else None
    marks = [(float(turn), found[0].validation_loss[turn - 1], f"turns at {turn}")] if turn is not None else []
    pictures = [Chart("loss", "epoch", lines["loss"], marks=marks), Chart(score, "epoch", lines[score], top=1.0)]
    return tags.div([tags.figure(chart.svg()) for chart in pictures], class_="pictures")
