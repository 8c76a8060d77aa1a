"""Shapes in the notations that people use."""

import pytest

from glassformer.algebra.formulas import check_formula
from glassformer.algebra.formulas.given import read_given
from glassformer.errors import GlassformerError


def shapes(*words):
    return {key: " × ".join(map(str, shape)) for key, shape in read_given(words).shapes.items()}


@pytest.mark.parametrize(
    "word",
    ["X=768x6", "X=768×6", "X=768 x 6", "X=[768, 6]", "X=(768,6)", "X=R^{768x6}", r"X=\mathbb{R}^{768 \times 6}", "X = 768X6"],
)
def test_one_shape_has_many_spellings(word):
    assert shapes(word) == {"X": "768 × 6"}


def test_words_may_be_split_by_the_shell():
    assert shapes("X=d", "x", "t", "W_Q=d_k", "x", "d", "heads=8") == {"X": "d × t", "W_Q": "d_k × d", "heads": "8"}


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("X=dxt", "d × t"),
        ("X=d_kxd", "d_k × d"),
        ("X=(d/S) x m", "d/S × m"),
        ("X=2d x h·d_v", "2·d × h·d_v"),
        (r"X=\frac{d}{S} \times m", "d/S × m"),
        ("X=d_{\\text{model}} x t", "d_model × t"),
        ("X=(n+1) x 768", "1 + n × 768"),
    ],
)
def test_sizes_may_be_symbols(word, shape):
    assert shapes(word) == {"X": shape}


def test_python_gives_tuples_and_numbers():
    assert read_given({"X": (768, 6), "d_k": 64, "W": "d x d"}).shapes.keys() == {"X", "d_k", "W"}
    assert check_formula("W X", {"X": (768, 6), "W": (64, 768)})["W X"] == (64, 6)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("X=0x6", "X=0x6 is not allowed: a size is a whole number from 1 to 1,000,000,000."),
        ("X=99999999999x6", "X=99999999999x6 is not allowed"),
        ("X=1.5x6", "X=1.5x6 is not allowed"),
        ("X=-3x6", "X=-3x6 is not a shape"),
        ("X=1x2x3", "X=1x2x3 has 3 axes: formulas are about matrices, so omit the batch and head axes."),
        ("X=", "X= is not a shape"),
        ("X=d x", "X=d x is not a shape"),
        ("X=768*6", "X=768*6 is not a shape: write it as in X=768x6"),
        ("X", "'X' is not a shape: write it as in X=768x6"),
        ("3x4", "'3x4' is not a shape"),
        ("X=2x2 X=3x3", "X is given twice: as 2 × 2 and as 3 × 3."),
        ("X=" + "(" * 500, "is not a shape"),
        ("X=" + "(" * 60 + "d" + ")" * 60 + " x 3", "is not a shape"),
        ("X=1x1 " * 5_000, "the shapes have more than 20,000 characters"),
        (" ".join(f"X{i}=1x1" for i in range(400)), "more than 300 shapes are given"),
    ],
)
def test_a_bad_shape_is_one_line(word, message):
    with pytest.raises(GlassformerError) as error:
        read_given([word])
    assert message in str(error.value)
    assert "\n" not in str(error.value)
