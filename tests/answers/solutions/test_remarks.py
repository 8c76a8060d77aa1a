"""Remarks are made where the evidence is positive, and nowhere else."""

import pytest
from solution_texts import COUNTED_TWICE, CUT_OUT, RIGHT, TRAPPED, VARIABLES, WRONG_ROOT

from glassformer.answers.solutions import CODES, check_text


def remarks(text, verdict="wrong"):
    return [remark for remark in check_text(text).remarks if remark.verdict == verdict]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_document_is_not_accused(name):
    found = check_text(RIGHT[name])
    assert [remark for remark in found.remarks if remark.verdict != "right"] == []
    assert found.wrong == 0


@pytest.mark.parametrize("text", [COUNTED_TWICE, TRAPPED, WRONG_ROOT, CUT_OUT, VARIABLES])
def test_every_remark_has_a_known_code_and_a_line_of_the_document(text):
    for remark in check_text(text).remarks:
        assert remark.code in CODES
        assert 1 <= remark.line <= text.count("\n") + 1
        assert remark.sentence.endswith(".")


def test_full_width_times_heads_is_found_and_the_totals_are_put_right():
    first, second = remarks(COUNTED_TWICE)
    assert {first.code, second.code} == {"heads_times_full_width"}
    assert first.corrected == "3 × (768 × 768) = 1,769,472"
    assert second.corrected == "768 × 768 = 589,824"
    becomes = {total.claimed: total.becomes for total in second.totals}
    assert becomes["23,444,584"] == "7,077,888"
    assert becomes["218,671,424"] == "87,737,856"


@pytest.mark.parametrize("heads", ["8 heads", "8 attention heads", "number of heads: 8", "h = 8", "heads = 8", "eight heads"])
@pytest.mark.parametrize(
    "product", ["3 × 512 × 512 × 8 = 6,291,456", "3 · 512^2 · 8 = 6,291,456", "8 × 3 × (512 × 512) = 6,291,456"]
)
def test_heads_and_products_are_read_however_they_are_written(heads, product):
    (remark,) = remarks(f"d_model = 512, {heads}.\n\nQuery, key and value weights: {product}\n")
    assert remark.corrected.endswith("= 786,432")


def test_a_matrix_with_its_bias_is_counted_once():
    (remark,) = remarks("d_model = 512, 8 heads.\n\nQuery parameters: (512 × 512 + 512) × 8 = 2,101,248\n")
    assert remark.corrected.endswith("= 262,656")


def test_the_trap_of_features_that_attend_to_features_is_named():
    (remark,) = remarks(TRAPPED)
    assert (remark.code, remark.line) == ("feature_by_feature", 7)
    assert remark.corrected == "Attention(Q, K, V) = V softmax(K^T Q / sqrt(d_k))"


def test_stated_shapes_are_confirmed():
    sentences = [remark.sentence for remark in remarks(TRAPPED, "right")]
    assert sentences == ["Q, K and V are 768 × 6, as said.", "The output of Attention is 768 × 6, as said."]


def test_a_wrong_stated_shape_is_corrected():
    (remark,) = remarks(RIGHT["columns"] + "\nSo Q is 6 x 64.\n")
    assert remark.code == "claimed_shape"
    assert "64 × 6, not 6 × 64" in remark.sentence


def test_a_wrong_result_is_corrected_where_the_formula_is_right():
    text = TRAPPED.replace("\\text{softmax}\\left(\\frac{QK^T}{\\sqrt{d_k}}\\right)V", "V softmax(K^T Q / \\sqrt{d_k})")
    text = text.replace("has the shape $[768, 6]$", "has the shape $[6, 6]$")
    (remark,) = remarks(text)
    assert remark.sentence == "The output of Attention is 768 × 6, not 6 × 6."


def test_a_product_that_does_not_fit_is_found():
    (remark,) = remarks("X is 6 x 768 and W_Q is 768 x 64.\n\nQ = W_Q X\n")
    assert remark.code == "does_not_fit"


def test_the_root_of_the_whole_width_is_found():
    (remark,) = remarks(WRONG_ROOT)
    assert (remark.code, remark.line) == ("sqrt_dmodel", 6)
    assert remark.corrected == "P_i = softmax(K_i^T Q_i / sqrt(d / S))"


def test_coordinates_that_are_not_the_last_are_noticed():
    (note,) = remarks(CUT_OUT, "note")
    assert note.code == "other_coordinates"
    assert note.sentence == (
        "The values used, [1, 1] and [-1, -1], are not the last 2 coordinates of the vectors given, [1, 0] and [-1, 1]; "
        "they are coordinates 4 to 5."
    )
    assert check_text(CUT_OUT).wrong == 0


def test_coordinates_are_wrong_where_the_text_says_which_are_due():
    said = "The first two, next two and last two coordinates are Q, K and V.\n"
    (remark,) = remarks(CUT_OUT.replace("Two dimensions", f"{said}\nTwo dimensions"))
    assert remark.code == "other_coordinates"


def test_heads_that_make_up_the_width_are_confirmed():
    found = remarks(VARIABLES, "right")
    assert [remark.line for remark in found] == [4, 5]
    assert found[0].sentence == "q_heads: 12 heads of 64 make 12 × 64 = 768, the width of the tokens."


def test_heads_that_do_not_are_left_alone():
    assert remarks(VARIABLES.replace("12, 64", "12, 60"), "right") == []
