"""Slips in writing a number, recognised by its digits."""

import pytest

from glassformer.answers.mistakes.arithmetic import slips
from glassformer.expressions import evaluate, fold, parse, tokens, written


def codes(left, right):
    tree = parse(fold(tokens(left))).tree
    claim = written(parse(fold(tokens(right))).tree)
    assert claim is not None
    return [slip.code for slip in slips(tree, evaluate(left), claim, {})]


@pytest.mark.parametrize(
    ("left", "right", "code"),
    [
        ("768 × 768 × 8", "4,718,529", "digits_exchanged"),
        ("768 × 768 × 8", "4,718,692", "digit_wrong"),
        ("40,000 × 768", "3,072,000", "zero_lost"),
        ("40,000 × 768", "307,200,000", "zero_added"),
        ("1,000 + 5", "105", "zero_lost"),
        ("768 × 768 × 8", "471,592", "digit_lost"),
        ("768 × 768 × 8", "47,718,592", "digit_added"),
        ("7 - 10", "3", "sign_slip"),
        ("12 × 1000", "12", "thousand"),
        ("40,000 × 0.5", "20.000", "decimal_comma"),
        ("exp(0.707)", "2.082", "digits_exchanged"),
        ("[1, 2] + [1, 37]", "[2, 93]", "digits_exchanged"),
    ],
)
def test_a_slip_in_writing_is_named(left, right, code):
    assert codes(left, right) == [code]


@pytest.mark.parametrize(
    ("left", "right", "code"),
    [
        ("768 × 768 × 8", "589,824", "factor_forgotten"),
        ("768 × 8", "4,718,592", "factor_twice"),
        ("768 × 8", "776", "sum_for_product"),
        ("768 + 8", "6,144", "product_for_sum"),
        ("3,840 + 768 + 5", "4,608", "term_forgotten"),
        ("3,840 - 5", "3,845", "sign_of_term"),
        ("3 + 4 × 5", "35", "left_to_right"),
        ("768^2", "1,536", "power_as_product"),
        ("100 / √64", "1.5625", "root_forgotten"),
        ("1,000 / 8", "8,000", "multiplied_for_divided"),
        ("300 × (1/√2)", "213", "rounded_early"),
    ],
)
def test_a_slip_in_arithmetic_is_named(left, right, code):
    assert code in codes(left, right)


@pytest.mark.parametrize(
    ("left", "right"), [("768 × 768 × 8", "4,569,984"), ("3 × 768 × 768 × 8", "14,155,008"), ("3 × 4", "13")]
)
def test_no_cause_is_invented(left, right):
    assert codes(left, right) == []


def test_a_slip_says_which_number_it_leads_to():
    tree = parse(tokens("768 × 768 × 8")).tree
    claim = written(parse(tokens("589,824")).tree)
    assert claim is not None
    (slip,) = slips(tree, evaluate("768 × 768 × 8"), claim, {})
    assert (slip.sentence, slip.predicted) == ("The factor 8 was left out.", "589,824")
