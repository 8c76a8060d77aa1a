"""Notations that were once mistaken for errors."""

import pytest

from glassformer.answers.documents import check_text


@pytest.mark.parametrize(
    "text",
    [
        "x = [2, 4, 6, 8]. So LN(x) = [-1.342, -0.447, 0.447, 1.342].",
        "FLOPs: 2 * 512 * 768 * 3072 = 2.42e9",
        "exp(20) = 4.85e8",
        r"Twee lagen: $2 \cdot 198.272 = 396.544 \approx 0,4$ miljoen.",
        "4 · 590.592 = 2.362.368 ≈ 2,36 Millionen",
        r"$12\cdot 512^2 \approx 3.15\,\text{M}$",
    ],
)
def test_a_right_line_in_another_notation_is_right(text: str) -> None:
    counts = check_text(text).counts
    assert counts["wrong"] == 0
    assert counts["right"] > 0


def test_the_same_line_with_a_wrong_number_is_wrong() -> None:
    assert check_text("exp(20) = 4.95e8").counts["wrong"] == 1
    assert check_text("x = [2, 4, 6, 8]. So LN(x) = [-1.342, -0.447, 0.447, 1.9].").counts["wrong"] == 1
