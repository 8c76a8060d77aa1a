"""Formulas are followed with the shapes that the text gives: remarks are made where the evidence is positive, nowhere else."""

import pytest
from solution_texts import RIGHT, TRAPPED, WRONG_ROOT

from glassformer.answers.documents import check_text
from glassformer.answers.documents.lines import lines_of
from glassformer.answers.documents.stated import stated_shapes


def remarks(text, verdict="wrong"):
    return [found for found in check_text(text).remarks if found.verdict == verdict]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("X has dimensions $[768, 6]$, and W^Q , W^K and W^V all have shape [768, 768]",
         {"X": ("768", "6"), "W_Q": ("768", "768"), "W_K": ("768", "768"), "W_V": ("768", "768")}),
        ("X is 6 x 768 and W_Q is 768 x 64.", {"X": ("6", "768"), "W_Q": ("768", "64")}),
        ("the dimensions of K , Q , and V are $[768, 6]$", dict.fromkeys("KQV", ("768", "6"))),
        ("$Q_1, \\dots, Q_S \\in \\mathbb{R}^{\\frac{d}{S} \\times t}$", {"Q_i": ("\\frac{d}{S}", "t")}),
        ("The shape of *zis* is [1, 5, 768].", {"zis": ("1", "5", "768")}),
        ("weights.shape = (1, 12, 5, 5)", {"weights": ("1", "12", "5", "5")}),
        ("the output of $\\text{Attention}(Q, K, V)$ has the dimension of $[768, 6]$", {"Attention()": ("768", "6")}),
        ("Q is [1, 2] and K is [3, 4]", {}),
        ("So $K^T$ is 6 x 64", {}),
        ("we multiply 3 x 4 x 5", {}),
    ],
)  # fmt: skip
def test_shapes_are_found_by_tokens(text, found):
    assert {one.name: one.sizes for one in stated_shapes(lines_of(text, latex=False))} == found


def test_features_that_attend_to_features_are_named():
    (found,) = remarks(TRAPPED)
    assert (found.codes, found.line) == (("feature_by_feature",), 7)
    assert found.due == "Attention(Q, K, V) = V softmax(K^T Q / sqrt(d_k))"


def test_stated_shapes_are_confirmed():
    assert [found.sentence for found in remarks(TRAPPED, "right")] == ["Q, K, V and Attention(…) are 768 × 6, as stated."]


def test_a_wrong_stated_shape_is_corrected():
    (found,) = remarks(RIGHT["columns"] + "\nSo Q is 6 x 64.\n")
    assert found.codes == ("claimed_shape",)
    assert "64 × 6, not 6 × 64" in found.sentence


def test_a_wrong_result_is_corrected_where_the_formula_is_right():
    text = TRAPPED.replace("\\text{softmax}\\left(\\frac{QK^T}{\\sqrt{d_k}}\\right)V", "V softmax(K^T Q / \\sqrt{d_k})")
    (found,) = remarks(text.replace("has the shape $[768, 6]$", "has the shape $[6, 6]$"))
    assert found.sentence == "Attention is 768 × 6, not 6 × 6."


def test_a_product_that_does_not_fit_is_found():
    (found,) = remarks("X is 6 x 768 and W_Q is 768 x 64.\n\nQ = W_Q X\n")
    assert found.codes == ("does_not_fit",)


def test_the_root_of_the_whole_width_is_found():
    (found,) = remarks(WRONG_ROOT)
    assert (found.codes, found.line) == (("sqrt_dmodel",), 6)
    assert found.due == "P_i = softmax(K_i^T Q_i / sqrt(d / S))"
