"""Text, Markdown and LaTeX as tokens."""

import pytest

from glassformer.expressions import fold, tokens


def kinds(text, **options):
    return [(token.kind, token.text) for token in tokens(text, **options)]


@pytest.mark.parametrize("sign", ["x", "×", "*", "·", r"\times", r"\cdot", "X", "⋅"])
def test_every_product_sign_is_a_product(sign):
    (_, one), (kind, _), (_, two) = kinds(f"40,000 {sign} 768")
    assert (kind, one, two) == ("operator", "40,000", "768")


@pytest.mark.parametrize("text", ["768x768", "768 x 768", "$768 x 768$"])
def test_an_x_between_numbers_is_a_product(text):
    assert ("operator", "×") in kinds(text)


@pytest.mark.parametrize("text", ["x = 5", "3x - 1", "$2x + 1$", "input x is"])
def test_an_x_elsewhere_is_a_name(text):
    assert ("operator", "×") not in kinds(text)


@pytest.mark.parametrize("text", ["d_model", r"d_{model}", r"d_{\text{model}}", r"d\_model", r"$d_{\mathrm{model}}$"])
def test_a_name_has_one_spelling(text):
    assert ("name", "d_model") in kinds(text)


def test_an_index_below_a_sum_is_not_an_equation():
    assert "relation" not in {kind for kind, _ in kinds(r"$\sum_{t=1}^T \sum\limits_{j=1} x$")}


def test_positions_are_relative_to_the_given_start():
    found = tokens("a = 12", 100)
    assert [(token.start, token.end) for token in found] == [(100, 101), (102, 103), (104, 106)]


def test_powers_and_fractions_of_one_sign():
    assert kinds("10⁶") == [("number", "10"), ("operator", "^"), ("number", "6")]
    assert kinds("2⁻³")[1:] == [("operator", "^"), ("operator", "-"), ("number", "3")]
    assert kinds("½") == [("number", "½")]
    assert kinds(r"\frac12") == [("command", "frac"), ("number", "1"), ("number", "2")]


def test_words_can_be_relations_and_operations():
    assert [kind for kind, _ in kinds("3 times 4 is equal to 12")] == ["number", "operator", "number", "relation", "number"]
    assert [kind for kind, _ in kinds("12 divided by 4 gives 3")] == ["number", "operator", "number", "relation", "number"]


def test_a_factorial_a_ratio_and_bars_are_not_understood():
    for text in ("5! = 120", "3:4 = 0.75", "$|x| = 3$"):
        assert "unknown" in {kind for kind, _ in kinds(text)}


def test_comparisons_are_separators_not_equations():
    for text in ("3 <= 4", "3 != 4", r"3 \le 4", "3 ≥ 2", "x += 1"):
        assert "relation" not in {kind for kind, _ in kinds(text)}


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("110 million", "scale"),
        ("110M", "scale"),
        ("40k", "scale"),
        ("4 MB", "unit"),
        ("768 (hidden size)", "note"),
        (r"$768 \text{ (hidden size)}$", "note"),
        ("768 (d_model)", "note"),
        ("about 5", "about"),
    ],
)
def test_adjacent_tokens_are_combined(text, folded):
    assert folded in {token.kind for token in fold(tokens(text))}


def test_brackets_with_a_calculation_are_not_a_remark():
    assert "note" not in {token.kind for token in fold(tokens("so (8 heads) × 64"))}
    assert "note" not in {token.kind for token in fold(tokens("$3(6 + 1)$"))}


def test_digits_in_groups_of_three_are_one_number():
    assert [token.text for token in fold(tokens("30 720 000"))] == ["30 720 000"]
    assert len(fold(tokens("[1 234 567]"))) == 5
