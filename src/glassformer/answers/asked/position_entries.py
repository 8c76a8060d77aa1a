"""Answers about one entry of the sinusoidal position table, PE(position, feature), and what people compute instead."""

from __future__ import annotations

from glassformer.answers.asked.answer import Answer, Line, Other, made, mistaken
from glassformer.answers.mistakes.positions import waves
from glassformer.answers.questions import Question
from glassformer.numbers.by_hand.operations import PositionEntries
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request

BASE = 10000.0


def entry(question: Question, asked: Request) -> Answer:
    """The number in row `position` and column `feature`, both counted from 0."""
    spec, given = asked.spec, dict(question.given)
    if spec.position not in ("sinusoidal", "sinusoidal_stored"):
        raise GlassformerError(
            f"'{shown(question.text)}': this encoder has position={spec.position}, so no formula gives an entry. "
            "Write position=sinusoidal."
        )
    position, feature = given["position"], given["feature"]
    if not 0 <= feature < spec.d_model:
        raise GlassformerError(
            f"'{shown(question.text)}': feature {feature} is not in the table: d_model={spec.d_model}, counted from 0."
        )
    table = PositionEntries(width=spec.d_model, base=BASE, layout="interleaved", pairs=((position, feature),))
    function, _, angle = table.wave(position, feature)
    symbols = f"{function}(pos / {BASE:g}^(2i/d_model)) with i = {feature // 2}"
    value = table.number(position, feature)
    line = Line(f"PE({position}, {feature})", symbols, f"{function}({angle})", value)
    others = [Other(said, table.number(*cell)) for said, cell in _counted_otherwise(position, feature) if cell[1] < spec.d_model]
    wrongs = [mistaken(code, what, wave(position, feature)) for code, what, wave in waves(table)]
    convention = "position and feature counted from 0, sines in even features, cosines in odd ones"
    return made(question, asked, value, "", convention, [line], others, wrongs)


def _counted_otherwise(position: int, feature: int) -> list[tuple[str, tuple[int, int]]]:
    """The same words, where somebody counts features from 1 or numbers the pairs."""
    found = [("features counted from 1", (position, feature - 1))] if feature else []
    found += [("positions counted from 1", (position - 1, feature))] if position else []
    return [*found, ("the second number read as the pair's, PE(pos, 2i)", (position, 2 * feature))]
