"""The shape and the cost of a tree parsed by the language of quantities."""

import pytest

from glassformer.algebra.formulas import products_of, shapes_of
from glassformer.errors import GlassformerError
from glassformer.expressions.language import read
from glassformer.expressions.tree import Name, Product


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


def test_a_mismatch_is_reported_in_one_line():
    with pytest.raises(GlassformerError, match="Q K does not fit: 5 × 64 times 7 × 64"):
        shapes_of(read("Q K"), {"Q": (5, 64), "K": (7, 64)})
    with pytest.raises(GlassformerError, match="needs a number for every size"):
        products_of(read("A B"), {"A": ("t", 64), "B": (64, 7)})


def test_brackets_decide_the_order_of_products_and_concatenations_are_read():
    given = {"A": (2, 3), "B": (3, 4), "C": (4, 5)}
    name = {key: Name(key) for key in given}
    inner = Product((("", name["B"]), ("", name["C"])))
    assert products_of(Product((("", name["A"]), ("", inner))), given) == 3 * 4 * 5 + 2 * 3 * 5
    assert shapes_of(read("concat(A, A)"), given) == (2, 6)
    assert shapes_of(read("[A; A]"), given) == (4, 3)
    assert shapes_of(read("W^Q A"), {"W_Q": (7, 2), "A": (2, 3)}) == (7, 3)


def test_an_expression_without_a_matrix_has_no_shape():
    with pytest.raises(GlassformerError, match="there is no matrix in '3 \\* 4'"):
        shapes_of(read("3 * 4"), {"A": (2, 3)})
