"""What wrong weights imply about the scores."""

from fractions import Fraction

import pytest

from glassformer.answers.mistakes.implied import gap_behind, implied_gap
from glassformer.expressions import NotUnderstoodError, fold, parse, tokens, written


def gap(left, right):
    tree, claim = (parse(fold(tokens(text))).tree for text in (left, right))
    figures = written(claim)
    assert figures is not None
    return gap_behind(tree, figures, {})


def test_two_weights_imply_a_gap():
    assert float(implied_gap(0.6225, 0.3775)) == pytest.approx(0.5, abs=2e-4)
    assert implied_gap(Fraction(1, 2)) == 0


def test_no_scores_give_a_weight_of_one():
    with pytest.raises(NotUnderstoodError, match="no scores give them"):
        implied_gap(1)


SAID = "weights 0.6225/0.3775 imply a score gap of 0.5 instead of 1.414"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r"\exp(1/\sqrt{2}) / (\exp(1/\sqrt{2}) + \exp(-1/\sqrt{2}))", "0.6225"),
        ("e^{1/√2} / (e^{1/√2} + e^{-1/√2})", "0.6225"),
        (r"\frac{\exp(1/\sqrt{2})}{\exp(1/\sqrt{2}) + \exp(-1/\sqrt{2})}", "0.6225"),
        ("softmax([1/√2, -1/√2])", "[0.6225, 0.3775]"),
        ("softmax(1/√2, -1/√2)", "(0.6225, 0.3775)"),
    ],
)
def test_the_right_gap_is_stated(left, right):
    assert gap(left, right) == SAID


@pytest.mark.parametrize(("left", "right"), [("3 / (3 + 4)", "0.6"), ("softmax([1, 2, 3])", "[0.1, 0.2, 0.7]"), ("exp(1)", "2")])
def test_nothing_is_stated_unless_there_are_two_scores(left, right):
    assert gap(left, right) == ""
