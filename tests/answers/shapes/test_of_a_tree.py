"""The shape and the cost of a tree that the language of quantities read."""

import pytest

from glassformer.answers.expressions.language import read
from glassformer.answers.shapes import products_of, shapes_of
from glassformer.spec import GlassformerError


@pytest.mark.parametrize(
    ("text", "given", "shape"),
    [
        ("Q K^T", {"Q": (5, 64), "K": (7, 64)}, (5, 7)),
        ("softmax(Q K^T / sqrt(d_k)) V", {"Q": (5, 64), "K": (7, 64), "V": (7, 32)}, (5, 32)),
        ("W_Q X + b", {"W_Q": ("d_k", "d"), "X": ("d", "t"), "b": ("d_k",)}, ("d_k", "t")),
        ("[A, B]", {"A": (5, 2), "B": (5, 3)}, (5, 5)),
        ("Q", {"Q": (5, 64)}, (5, 64)),
    ],
)
def test_the_shape_of_a_tree(text, given, shape):
    assert shapes_of(read(text), given) == shape


@pytest.mark.parametrize(
    ("text", "given", "products"),
    [
        ("A B", {"A": (512, 768), "B": (768, 3072)}, 512 * 768 * 3072),
        ("A B C", {"A": (2, 3), "B": (3, 4), "C": (4, 5)}, 2 * 3 * 4 + 2 * 4 * 5),
        ("Q K^T", {"Q": (5, 64), "K": (7, 64)}, 5 * 64 * 7),
        ("A + A", {"A": (5, 64)}, 0),
    ],
)
def test_the_multiply_adds_of_a_tree(text, given, products):
    assert products_of(read(text), given) == products


def test_what_does_not_fit_is_one_line():
    with pytest.raises(GlassformerError, match="Q K does not fit: 5 × 64 times 7 × 64"):
        shapes_of(read("Q K"), {"Q": (5, 64), "K": (7, 64)})
    with pytest.raises(GlassformerError, match="needs numbers for all sizes"):
        products_of(read("A B"), {"A": ("t", 64), "B": (64, 7)})
