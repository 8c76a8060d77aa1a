"""A mismatch: all rows up to it, both shapes, and the forms that would fit."""

import pytest

from glassformer.algebra.formulas import check_formula


def test_everything_up_to_the_failure_is_shown():
    answer = check_formula("Q = W_Q X; S = Q Q; S W_Q", {"X": "768x6", "W_Q": "64x768"})
    assert answer.verdict == "fails"
    assert [row.text for row in answer.rows] == ["W_Q", "X", "Q = W_Q X", "Q Q"]
    assert answer.failure is not None
    assert answer.failure.sentence == "Q Q does not fit: 64 × 6 times 64 × 6, 6 columns on the left, 64 rows on the right."
    assert [form.text for form in answer.failure.forms] == ["Q Q^T is 64 × 64", "Q^T Q is 6 × 6"]
    assert answer.left_out == ("S W_Q",)


@pytest.mark.parametrize(
    ("text", "shapes", "forms", "meant"),
    [
        ("X W_Q", {"X": "768x6", "W_Q": "64x768"}, ["W_Q X is 64 × 6"], None),
        ("X W_Q", {"X": "d x t", "W_Q": "d_k x d"}, ["W_Q X is d_k × t"], None),
        (
            "softmax(Q K / sqrt(d_k)) V",
            dict.fromkeys("QKV", "6x64"),
            ["Q K^T is 6 × 6", "Q^T K is 64 × 64"],
            "softmax(Q K^T / sqrt(d_k)) V",
        ),
        (
            "Q = W_Q X; K = W_K X; V = W_V X; softmax(K^T Q) V",
            {"X": "768x6", **dict.fromkeys(("W_Q", "W_K", "W_V"), "64x768")},
            ["softmax(K^T Q) V^T is 6 × 64", "V softmax(K^T Q) is 64 × 6"],
            "V softmax(K^T Q)",
        ),
    ],
)
def test_the_forms_that_would_fit_are_listed(text, shapes, forms, meant):
    answer = check_formula(text, shapes)
    assert answer.failure is not None
    assert [form.text for form in answer.failure.forms] == forms
    assert answer.meant_text == meant


def test_keys_and_values_of_different_tokens_are_explained():
    shapes = {"X": "5x8", "Y": "7x8", **dict.fromkeys(("W_Q", "W_K", "W_V"), "8x4")}
    answer = check_formula("Q = X W_Q; K = Y W_K; V = X W_V; softmax(Q K^T) V", shapes)
    assert answer.failure is not None
    assert answer.failure.explanation == (
        "The attention matrix is queries × keys: 5 queries attend to 7 keys. The values belong to 5 tokens; keys and values "
        "come from the same tokens, so there must be 7."
    )


@pytest.mark.parametrize(
    ("text", "shapes", "why"),
    [
        ("A + B", {"A": "2x3", "B": "3x2"}, "2 × 3 and 3 × 2 cannot be added element by element"),
        ("[A, B]", {"A": "2x3", "B": "3x2"}, "2 × 3 and 3 × 2 cannot be placed side by side"),
        ("[A; B]", {"A": "2x3", "B": "3x2"}, "2 × 3 and 3 × 2 cannot be placed one below the other"),
        ("A + b", {"A": "2x3", "b": "5"}, "2 × 3 and 5 × 1 cannot be added element by element"),
    ],
)
def test_sums_and_joins_fail_too(text, shapes, why):
    answer = check_formula(text, shapes)
    assert answer.verdict == "fails"
    assert answer.failure is not None
    assert answer.failure.why == why


def test_symbols_that_are_equal_only_if_one_of_them_is_1_do_not_fit():
    assert check_formula("A B", {"A": "m x d/S", "B": "d x d"}).verdict == "fails"
