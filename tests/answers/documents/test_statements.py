"""The left and right sides of an equals sign in running text."""

import pytest

from glassformer.answers.documents.statements import relations
from glassformer.expressions import fold, tokens


def sides(text):
    def shown(run):
        return text[run.start : run.end] if run is not None else None

    return [(shown(found.left), shown(found.right)) for found in relations(fold(tokens(text)))]


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("Tokens (40k of them): $40,000 \\times 768 = 30,720,000$", "40,000 \\times 768", "30,720,000"),
        ("We have 12 heads, so 12 × 64 = 768.", "12 × 64", "768"),
        ("(since 3 × 4 = 12)", "3 × 4", "12"),
        ("$31$ (tables) + $187$ (layers) $\\approx 218$", "31$ (tables) + $187$ (layers)", "218"),
        ("the whole is 3 + 4 = 7 weights", "3 + 4", "7 weights"),
        ("512 (= 8 × 64)", "512", "8 × 64"),
        ("log_2 8 = 3", "log_2 8", "3"),
    ],
)
def test_the_sides_of_an_equality_in_prose(text, left, right):
    assert sides(text)[-1] == (left, right)


def test_a_chain_shares_its_sides():
    found = relations(fold(tokens("a = 3 × 4 ≈ 12")))
    assert [relation.chained for relation in found] == [False, True]
    assert found[1].left is found[0].right


def test_rows_of_a_formula_are_continued():
    found = relations(fold(tokens(r"x &= 3 \times 4 \\ &= 12 \\ y &= 5", math=True)))
    assert [relation.chained for relation in found] == [False, True, False]


@pytest.mark.parametrize(
    "text",
    [
        "the product of 3 and 4 + 5 = 17",
        "twice 4 + 1 = 9",
        "step 2 - 3 = 5",
        "Total - 3 × 4 = 13",
        "2 d_k = 128",
        "half of 768 = 384",
    ],
)
def test_a_side_that_may_begin_earlier_is_not_safe(text):
    assert not relations(fold(tokens(text)))[0].left.safe_before


@pytest.mark.parametrize("text", ["3 × 4 = 13 more than 2", "3 × 4 = 12 or 13", "3 × 4 = 13 14"])
def test_a_side_that_may_continue_is_not_safe(text):
    assert not relations(fold(tokens(text)))[0].right.safe_after


def test_names_before_a_comma_are_defined_together():
    assert relations(fold(tokens("$d, n = 512$")))[0].names == ["d"]
