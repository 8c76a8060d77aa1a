"""Shapes of every kind of expression, with numbers and with symbols; NumPy is the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.algebra.formulas import check_formula
from glassformer.errors import GlassformerError


def result(text, **shapes):
    answer = check_formula(text, shapes)
    assert answer.verdict == "fits", answer.to_dict()
    return answer.shape(answer.rows[-1])


def test_every_sub_expression_has_its_row_in_order():
    answer = check_formula("Q = X W_Q; K = X W_K; softmax(Q K^T / sqrt(d_k))", {"X": "6x8", "W_Q": "8x4", "W_K": "8x4"})
    assert [(row.text, answer.shape(row)) for row in answer.rows] == [
        ("X", (6, 8)),
        ("W_Q", (8, 4)),
        ("Q = X W_Q", (6, 4)),
        ("W_K", (8, 4)),
        ("K = X W_K", (6, 4)),
        ("K^T", (4, 6)),
        ("Q K^T", (6, 6)),
        ("Q K^T / sqrt(d_k)", (6, 6)),
        ("softmax(Q K^T / sqrt(d_k))", (6, 6)),
    ]
    assert answer.total == 3


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))
def test_products_sums_and_joins_have_numpys_shapes(a, b, c):
    A, B, C = np.ones((a, b)), np.ones((b, c)), np.ones((a, b))
    shapes = {"A": f"{a}x{b}", "B": f"{b}x{c}", "C": f"{a}x{b}"}
    assert result("A B", **shapes) == (A @ B).shape
    assert result("A^T C", **shapes) == (A.T @ C).shape
    assert result("A + C", **shapes) == (A + C).shape
    assert result("[A, C]", **shapes) == np.hstack([A, C]).shape
    assert result("[A; C]", **shapes) == np.vstack([A, C]).shape
    assert result("mean(A, axis=0)", **shapes) == A.mean(axis=0, keepdims=True).shape


@pytest.mark.parametrize(
    ("text", "shapes", "shape"),
    [
        ("W x", {"W": "4x768", "x": "768"}, (4, 1)),
        ("x W", {"W": "768x4", "x": "768"}, (1, 4)),
        ("x^T x", {"x": "768"}, (1, 1)),
        ("X + b", {"X": "6x8", "b": "8"}, (6, 8)),
        ("X + b", {"X": "8x6", "b": "8"}, (8, 6)),
        ("X + b", {"X": "8x6", "b": "8x1"}, (8, 6)),
        ("gamma ⊙ X + beta", {"X": "6x8", "gamma": "8", "beta": "8"}, (6, 8)),
        ("softmax(Q K^T / sqrt(d_k)) V", {"Q": "d_k x t", "K": "s x t", "V": "s x d_v"}, ("d_k", "d_v")),
        ("concat(A, B)", {"A": "6x2", "B": "6x3"}, (6, 5)),
        ("concat(A, B; axis=0)", {"A": "6x2", "B": "4x2"}, (10, 2)),
        ("vstack(A, B)", {"A": "6x2", "B": "4x2"}, (10, 2)),
        ("[A, B; C, D]", {"A": "1x2", "B": "1x3", "C": "4x2", "D": "4x3"}, (5, 5)),
        ("[x; y]", {"x": "3", "y": "4"}, (7, 1)),
        ("A B", {"A": "t x d", "B": "d x d_ff"}, ("t", "d_ff")),
        ("A B", {"A": "t x d", "B": "768x64"}, ("t", 64)),
        ("A B", {"A": "t x d", "B": "d x d", "d": "768"}, ("t", 768)),
        ("2 A / 3", {"A": "2x3"}, (2, 3)),
        ("A ⊙ (1 - A)", {"A": "2x3"}, (2, 3)),
        (
            "FFN(x) = W_2^T ReLU(W_1^T x + b_1) + b_2; FFN(X)",
            {"X": "8xm", "W_1": "8x32", "W_2": "32x8", "b_1": "32", "b_2": "8"},
            (8, "m"),
        ),
        (r"X, Y \in \mathbb{R}^{4 \times 4}; X Y", {}, (4, 4)),
        ("f(a, b) = a b^T; g(a) = f(a, a); g(X)", {"X": "3x2"}, (3, 3)),
    ],
)
def test_the_shape_of_an_expression(text, shapes, shape):
    assert result(text, **shapes) == shape


def test_the_papers_multi_head_attention_in_symbols():
    text = "head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V); Concat(head_1, ..., head_h) W^O"
    shapes = {
        "Q": "t x d",
        "K": "s x d",
        "V": "s x d",
        "W_i^Q": "d x d_k",
        "W_i^K": "d x d_k",
        "W_i^V": "d x d_v",
        "W^O": "h·d_v x d",
    }
    assert result(text, **shapes) == ("t", "d")


@pytest.mark.parametrize("columns", [False, True])
def test_multihead_splits_attends_and_joins(columns):
    shape = "512x6" if columns else "6x512"
    answer = check_formula("MultiHead(Q, K, V)", {**dict.fromkeys("QKV", shape), "heads": "8", "W_O": "512x512"})
    assert answer["concat(head_1, …, head_8)"] == ((512, 6) if columns else (6, 512))
    assert answer["Q[one head]"] == ((64, 6) if columns else (6, 64))
    assert answer.verdict == "fits"


def test_the_function_attention_follows_the_convention_of_its_tokens():
    shapes = {"X": "512x6", **dict.fromkeys(("W_Q", "W_K", "W_V"), "64x512")}
    answer = check_formula("Attention(W_Q X, W_K X, W_V X)", shapes)
    assert answer["Attention(W_Q X, W_K X, W_V X)"] == (64, 6)
    assert "is read with tokens as columns: V softmax(K^T Q / sqrt(d_k))." in answer.remarks[0]


def test_conditions_are_stated():
    answer = check_formula("[A, A] W_O", {"A": "t x d_v", "W_O": "d x d"})
    assert answer.verdict == "fits"
    assert answer.remarks == ("It fits if 2·d_v = d.",)


@pytest.mark.parametrize(
    ("text", "shapes", "message"),
    [
        ("Q = W_Q X", {"X": "768x6"}, "'W_Q' has no shape: add it, as in W_Q=768x6."),
        ("W_Q X", {"X": "768x6", "W_q": "3x3"}, "'W_Q' is neither given nor defined before it is used. Did you mean 'W_q'?"),
        ("sofmax(X)", {"X": "768x6"}, "Did you mean 'softmax'?"),
        ("banana X", {"X": "768x6"}, "'banana' is neither given nor defined before it is used. Known: X."),
        ("f(Q) = Q K", {}, "'Q' has no shape"),
        ("f(x) = f(x); f(X)", {"X": "2x2"}, "the definition of f refers to itself."),
        ("f(x) = x; f(X, X)", {"X": "2x2"}, "f takes 1 arguments, found 2."),
        ("X / 0", {"X": "2x2"}, "'X / 0' divides by zero."),
        ("mean(X)", {"X": "2x3"}, "which axis? Write mean(…, tokens), axis=0 or axis=1."),
        ("softmax(X, axis=7)", {"X": "2x3"}, "'axis=7' does not name one axis here: write axis=0"),
        ("softmax(X, keys)", {"X": "2x3"}, "'keys' does not name one axis here: write axis=0"),
        ("concat(X, X; rows)", {"X": "2x3"}, "'rows' does not name one axis here: write axis=0"),
        ("concat(X, 3)", {"X": "2x3"}, "contains a number: only matrices and vectors can be concatenated."),
        ("[X, …, X]", {"X": "2x3"}, "how many parts? The one after the dots needs an index"),
        ("MultiHead(Q, K, V)", {**dict.fromkeys("QKV", "6x7"), "heads": "4"}, "heads=4 does not divide the 7 features of Q."),
        (
            "; ".join(["f0(x) = x + x", *(f"f{i}(x) = f{i - 1}(x) + f{i - 1}(x)" for i in range(1, 30)), "f29(X)"]),
            {"X": "2x2"},
            "",
        ),
    ],
)
def test_a_mistake_is_one_line(text, shapes, message):
    with pytest.raises(GlassformerError) as error:
        check_formula(text, shapes)
    assert message in str(error.value)
