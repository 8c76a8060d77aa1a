"""Symbolic sizes: how they are written, and when two are equal."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.algebra.formulas.given import read_shape
from glassformer.algebra.formulas.sizes import Size, agreement
from glassformer.errors import GlassformerError


def size(text):
    return read_shape(text, "X")[0]


@pytest.mark.parametrize("text", ["768", "d", "d/S", "h·d_v", "2·d", "d/(2·S)", "d_k + d_v", "3·d/2", "d^2"])
def test_a_size_is_written_as_it_was_given(text):
    assert str(size(text.replace("d^2", "d d"))) == text


def test_numbers_are_substituted():
    assert size("d/S").put_in({"d": Size.of(512), "S": Size.of(8)}).number == 64
    assert str(size("d/S").put_in({"S": Size.of(8)})) == "d/8"


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ("6", "6", "same"),
        ("6", "7", "different"),
        ("d", "d", "same"),
        ("d", "t", "different"),
        ("d", "d_k", "different"),
        ("d", "d_model", "conditional"),
        ("d", "768", "bound"),
        ("h·d_v", "d", "conditional"),
        ("h·d_v", "512", "conditional"),
        ("d/S", "d", "different"),
        ("S·m", "m", "different"),
        ("2·d", "d", "different"),
        ("2·d_k", "d", "conditional"),
        ("2·d", "h·d", "conditional"),
        ("d_k + d_v", "d", "conditional"),
    ],
)
def test_two_sizes_agree_or_not(left, right, found):
    assert agreement(size(left), size(right)) == found
    assert agreement(size(right), size(left)) == found


@given(st.integers(1, 50), st.integers(1, 50))
def test_symbolic_arithmetic_agrees_with_numbers(a, b):
    assert (Size.of(a) + Size.of(b)).number == a + b
    assert (Size.of(a) * Size.of(b)).number == a * b
    assert (Size.of(a) / Size.of(b)).terms[0][1] == Fraction(a, b)
    assert (Size.of("d") * Size.of(a) / Size.of("d")).number == a


def test_a_size_that_grows_too_large_is_refused():
    grown = size("a+b")
    with pytest.raises(GlassformerError, match="too many terms"):
        for _ in range(20):
            grown = grown * size("c+d")
    with pytest.raises(GlassformerError, match="divide by one number or symbol"):
        size("d/(a+b)")
