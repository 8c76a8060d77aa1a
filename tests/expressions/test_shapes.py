"""Shapes of products and sums."""

import pytest

from glassformer.expressions import NotUnderstoodError, exactly, fold, parse, tokens
from glassformer.expressions.shapes import DoesNotFitError, multiplied, shapes_in


def shape(text, **names):
    return multiplied(shapes_in(parse(fold(tokens(text))).tree, {name: exactly(value) for name, value in names.items()}))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("[768, 768] x [768, 6]", (768, 6)),
        ("768×768 · 768×6", (768, 6)),
        ("768×768×768×6", (768, 6)),
        ("(5, 64) @ (64, 5)", (5, 5)),
        ("(5 × 64) (64 × 5)", (5, 5)),
        ("[5, 64] [5, 64]^T", (5, 5)),
        ("[8, 12, 5, 64] @ [8, 12, 64, 5]", (8, 12, 5, 5)),
        ("[1, 5, 64] @ [3, 64, 7]", (3, 5, 7)),
        ("[5, 64] @ [64, 2] @ [2, 3]", (5, 3)),
        (r"\mathbb{R}^{64 \times (2 \times 16)}", (64, 32)),
        (
            r"\begin{bmatrix} \cdots \\ \cdots \end{bmatrix}_{32 \times 64} \begin{bmatrix} \cdots \end{bmatrix}_{64 \times 32}",
            (32, 32),
        ),
    ],
)
def test_products_of_shapes(text, result):
    assert shape(text) == result


def test_sizes_may_be_names():
    assert shape(r"\mathbb{R}^{d \times (h \times v)}", d=64, h=2, v=16) == (64, 32)


def test_a_product_that_does_not_fit_says_why():
    with pytest.raises(DoesNotFitError, match=r"\[768, 768\] times \[6, 768\] does not exist: 768 is not 6"):
        shape("[768, 768] x [6, 768]")


@pytest.mark.parametrize("text", ["3", "3 + 4", "[0.5, 2]", "[768, 0]", "6 / 2", "2 × [3, 4]"])
def test_other_things_have_no_shape(text):
    with pytest.raises(NotUnderstoodError):
        shape(text)
