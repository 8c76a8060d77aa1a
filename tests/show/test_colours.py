"""Colours: one hue for weights, white in the middle of signed values, ink that can be read."""

import pytest

from glassformer.show.colours import DIVERGING, SEQUENTIAL, SEQUENTIAL_DARK, ink_on, mixed


def lightness(colour):
    return sum(share * int(colour[i : i + 2], 16) for share, i in ((0.299, 1), (0.587, 3), (0.114, 5)))


@pytest.mark.parametrize(("stops", "sign"), [(SEQUENTIAL, -1), (SEQUENTIAL_DARK, 1)])
def test_weights_run_from_the_page_to_the_ink_without_turning_back(stops, sign):
    steps = [lightness(mixed(stops, i / 50)) for i in range(51)]
    assert sorted(steps, reverse=sign < 0) == steps


def test_signed_values_are_white_at_zero_and_darken_both_ways():
    assert mixed(DIVERGING, 0.5) == "#ffffff"
    assert lightness(mixed(DIVERGING, 0)) < 100 > lightness(mixed(DIVERGING, 1))


def test_the_ends_are_the_first_and_the_last_stop():
    assert (mixed(SEQUENTIAL, -1), mixed(SEQUENTIAL, 2)) == (SEQUENTIAL[0], SEQUENTIAL[-1])


def test_ink_is_dark_on_light_and_light_on_dark():
    assert (ink_on("#ffffff"), ink_on("#08306b")) == ("#1b1f27", "#ffffff")
