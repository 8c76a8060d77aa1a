"""Charts: round ticks, gaps where a value is not a number, text that is only text."""

import math
from xml.etree import ElementTree

import pytest

from glassformer.show.charts import MOST_POINTS, Chart, Line, thinned, ticks, whole_ticks


@pytest.mark.parametrize("top", [0.003, 0.7, 1.0, 2.3, 9.9, 47.0, 1000.0, 123456.0])
def test_ticks_are_few_and_reach_the_top(top):
    found = ticks(top)
    assert found[0] == 0
    assert 3 <= len(found) <= 6
    assert found[-2] < top <= found[-1] * (1 + 1e-9)


@pytest.mark.parametrize("top", [0.0, -1.0, math.inf, math.nan])
def test_an_invalid_maximum_still_has_ticks(top):
    assert ticks(top) == [0.0, 1.0]


@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 2), (1, 10), (1, 50), (1, 512), (0, 8192)])
def test_epochs_are_whole_numbers_and_at_most_seven(first, last):
    found = whole_ticks(first, last)
    assert 1 <= len(found) <= 7
    assert all(first <= value <= last and value == int(value) for value in found)


def test_a_value_that_is_not_a_number_leaves_a_gap():
    chart = Chart("loss", "epoch", [Line("a", [(1, 2.0), (2, math.nan), (3, 1.0), (4, 0.5)], "red")])
    picture = chart.svg()
    ElementTree.fromstring(picture)
    assert "nan" not in picture
    assert picture.count('stroke-linejoin="round"') == 1
    assert len([piece for piece in picture.split('d="')[-1].split('"')[0].split("M") if piece]) == 2


def test_a_chart_without_finite_values_says_so():
    picture = Chart("loss", "epoch", [Line("a", [(1, math.inf)], "red")]).svg()
    assert "nothing to draw" in picture


def test_words_are_words():
    picture = Chart("<b>", "x & y", [Line("</svg><script>", [(1, 1.0), (2, 2.0)], "red")], marks=[(1, 1.0, "<i>")]).svg()
    ElementTree.fromstring(picture)
    assert "<script>" not in picture and "<b>" not in picture


def test_long_curves_keep_their_end():
    points = [(float(x), 1.0) for x in range(10_001)]
    assert len(thinned(points)) <= MOST_POINTS + 1
    assert thinned(points)[-1] == (10_000.0, 1.0)
