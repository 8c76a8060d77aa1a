"""Matrices pasted as text."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand.entries import read_entry
from glassformer.numbers.by_hand.pasted import pasted

SAME = [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "text",
    [
        "1 2; 3 4",
        "[1 2; 3 4]",
        "[1, 2; 3, 4]",
        "1,2;3,4",
        "1 2\n3 4\n",
        "{{1, 2}, {3, 4}}",
        "((1, 2), (3, 4))",
        str(np.array(SAME, dtype=float)),
        repr(np.array(SAME)),
        "np.array([[1.,2.],[3.,4.]], dtype=np.float32)",
        "tensor([[1., 2.],\n        [3., 4.]], device='cuda:0', grad_fn=<MmBackward0>)",
        "Matrix([[1, 2], [3, 4]])",
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        r"$\left[\begin{array}{cc}1&2\\3&4\\\end{array}\right]$",
        r"\begin{bmatrix}1 & 3\\2 & 4\end{bmatrix}^\top",
        "[[1, 3], [2, 4]]^T",
    ],
)
def test_one_matrix_in_many_forms(text):
    assert read_entry("Q", text).values.tolist() == SAME


def test_a_vector_a_column_and_a_row():
    assert pasted("q", "[1 -2.5 3e-1]") == [1, -2.5, 0.3]
    assert pasted("q", "[1; 2]") == [[1], [2]]
    assert pasted("q", "(1, 2)^T") == [[1], [2]]
    assert pasted("q", "1 2;") == [[1, 2]]


def test_fractions_and_roots_stay_exact():
    assert pasted("Q", "1/2 −1 / 3; √2 4") == [["1/2", "-1/3"], ["√2", 4]]
    assert pasted("Q", r"\begin{pmatrix}\frac{1}{2} & \sqrt{2}\\ \frac{1}{\sqrt{2}} & 0{,}5\end{pmatrix}") == [
        ["1/2", "sqrt(2)"],
        ["1/sqrt(2)", 0.5],
    ]
    exact = read_entry("Q", "1/3 1; 0 1").exact
    assert str(exact[0, 0]) == str(read_entry("Q", [["1/3"]]).exact[0, 0])


@pytest.mark.parametrize("text", ["", "hello", "9**9**9", "__import__('os')", "[[1 ... 2]]", "1/0 2", "f([[1]]) g", "[" * 50_000])
def test_text_that_is_not_a_matrix(text):
    assert pasted("Q", text) is None


def test_a_comma_that_may_be_a_decimal_point_is_refused_with_advice():
    with pytest.raises(GlassformerError, match="in '0,5 1,5' numbers are separated by commas and by spaces"):
        pasted("Q", "0,5 1,5; 2,5 3,5")


def test_an_array_is_a_matrix():
    assert read_entry("Q", np.array(SAME, dtype=np.float32)).values.tolist() == SAME


def test_ragged_rows_are_named():
    with pytest.raises(GlassformerError, match="Q is ragged: its first row has 2 numbers, row 2 has 1 number"):
        read_entry("Q", "1 2; 3")
    with pytest.raises(GlassformerError, match="Q is ragged"):
        read_entry("Q", "[[1, 2], [3]]^T")
