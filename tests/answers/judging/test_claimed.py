"""Claims are read as people write them, and judged at their own precision."""

from fractions import Fraction

import pytest

from glassformer.answers.claimed import parse_grid, parse_number, parse_shape
from glassformer.spec import GlassformerError

NUMBERS = [
    ("27648", 27648, 0),
    ("27,648", 27648, 0),
    ("27 648", 27648, 0),
    ("30_522", 30522, 0),
    ("−3", -3, 0),
    ("0.62", Fraction(62, 100), Fraction(5, 1000)),
    ("110M", 110_000_000, 5_000_000),
    ("109M", 109_000_000, 500_000),
    ("about 110 million", 110_000_000, 5_000_000),
    ("~ 109.5 million parameters", 109_500_000, 50_000),
    ("≈ 218,671,424", 218_671_424, Fraction(1, 2)),
    ("1.1e8", 110_000_000, 5_000_000),
    ("2.5 × 10^6", 2_500_000, 50_000),
    ("437.9 MB", 437_900_000, 50_000),
    ("22.3 GFLOPs", 22_300_000_000, 50_000_000),
    ("62 %", Fraction(62, 100), Fraction(1, 200)),
]


@pytest.mark.parametrize(("text", "value", "room"), NUMBERS)
def test_numbers(text, value, room):
    found = parse_number(text)
    assert (found.value, found.room) == (value, room)


@pytest.mark.parametrize("text", ["", "many", "1,2,3,4,5", "12 apples", "9" * 100, "__import__('os')", "1e9999", "--3", "0x10"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(GlassformerError, match="is not a number that can be judged"):
        parse_number(text)


def test_a_rounded_claim_is_right_where_the_truth_rounds_to_it():
    assert parse_number("about 110 million").allows(109_482_240)
    assert parse_number("340M").allows(335_141_888)
    assert not parse_number("109M").allows(110_106_428)
    assert parse_number("0.80").allows(0.8044)
    assert not parse_number("0.81").allows(0.8044)


@pytest.mark.parametrize("text", ["[1, 5, 768]", "(1,5,768)", "1 x 5 x 768", "1×5×768", "1 by 5 by 768", "{1, 5, 768}"])
def test_shapes(text):
    assert parse_shape(text).sizes == (1, 5, 768)


@pytest.mark.parametrize("text", ["", "a x b", "1.5 x 2", "1 x -2", "x" * 500])
def test_what_is_no_shape_is_refused(text):
    with pytest.raises(GlassformerError, match="is not a shape"):
        parse_shape(text)


def test_grids_keep_their_shape_and_precision():
    found = parse_grid("[[0.8044, 0.1956], [0.5, 0.5]]")
    assert found.shape == (2, 2)
    assert found.numbers[0].allows(0.80440)
    assert not found.numbers[0].allows(0.8046)


@pytest.mark.parametrize("text", ["[", "[a, b]", "[[1, 2], 3]", "[" * 5000, "x" * 30_000])
def test_what_is_no_grid_is_refused(text):
    with pytest.raises(GlassformerError):
        parse_grid(text)
