"""Ambiguous notation: every sensible reading is tried, the usual one first."""

import pytest

from glassformer.expressions import Evaluator, NotUnderstoodError, Reading, Real, fold, parse, readings, tokens


def values(text):
    """What each reading makes of a text."""
    folded = fold(tokens(text))
    found = []
    for reading in readings(folded):
        try:
            value = Evaluator(reading, {}).value(parse(folded, reading).tree)
        except NotUnderstoodError:
            continue
        found.append(round(float(value.middle), 4) if isinstance(value, Real) else [float(cell.middle) for cell in value.cells])
    return found


@pytest.mark.parametrize(
    ("text", "usual", "other"),
    [
        ("1/2 √4", 0.25, 1.0),
        ("log(100)", 4.6052, 2.0),
        ("[1,2] * [3,4]", 11.0, [3.0, 8.0]),
        ("-2^2", -4.0, 4.0),
        ("25%", 0.25, 25.0),
        ("4 MB", 4_000_000.0, 4_194_304.0),
        ("589.824", 589.824, 589_824.0),
        (r"2\frac{1}{2}", 1.0, 2.5),
        ("125 cm^3", 1_953_125.0, 125.0),
        ("var(1, 2, 3)", 0.6667, 1.0),
    ],
)
def test_both_readings_are_tried_the_usual_one_first(text, usual, other):
    found = values(text)
    assert found[0] == usual
    assert other in found


def test_a_comma_in_brackets_separates_items_or_thousands():
    assert values("[1,234]")[0] == [1.0, 234.0]
    assert [1234.0] in values("[1,234]")


def test_plain_arithmetic_has_one_reading():
    assert list(readings(tokens("3 × 4 + 5"))) == [Reading()]
    assert len(list(readings(tokens("[1,234] * log(3,5) / -2^2 % softmax([[1],[2]]) 5 MB var(1)")))) <= 24
