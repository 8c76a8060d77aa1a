"""A tree is written out again in one notation, and means the same."""

import pytest

from glassformer.expressions import evaluate, fold, parse, plain, tokens


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"3 \times (768 \times 768) \times 8", "3 × (768 × 768) × 8"),
        (r"\frac{1}{\sqrt{2}}", "1 / √2"),
        (r"\exp(-1 / \sqrt{2})", "exp(-1 / √2)"),
        ("[0, 1] * [1, 1]", "[0, 1] * [1, 1]"),
        ("2(3 + 4)", "2 · (3 + 4)"),
        ("log_2 8", "log2(8)"),
        (r"\frac{3 + 4}{5}", "(3 + 4) / 5"),
        ("40{,}000", "40,000"),
    ],
)
def test_expressions_are_written_plainly(text, written):
    assert plain(parse(fold(tokens(text))).tree) == written


@pytest.mark.parametrize(
    "text", ["3 - (4 - 5)", "2^(3 + 1)", "-(2 + 3)^2", "12 / (3 × 4)", "2 × -3", "(2^3)^2", r"\frac{12}{3} \cdot 4"]
)
def test_the_plain_text_has_the_same_value(text):
    assert evaluate(plain(parse(fold(tokens(text))).tree)) == evaluate(text)
