"""Slips with the right method are distinguished from misconceptions: rounding, a lost minus, digits, swapped numbers."""

import pytest

from glassformer.answers.problems import check_worked

ATTENTION = {"Q": [[2, 0], [0, 2], [1, 3]], "K": [[0, 2], [2, 0], [1, -1]], "V": [[2, 1], [0, 2], [1, 1]]}
NORM = {"kind": "layer_norm", "x": [1.5, 2, 4, 1], "variance": "biased"}  # −0.5488, −0.1098, 1.6465, −0.9879


def found(problem, name, claim):
    return check_worked(problem, {name: claim}).judged[0]


def codes(judged):
    return [finding.codes for finding in judged.findings]


@pytest.mark.parametrize(
    ("claim", "code", "what"),
    [
        (
            "[-0.5488, -0.1098, 1.6645, -0.9879]",
            "digits_exchanged",
            "the digits 4 and 6 are swapped in number 3: 1.6645 instead of 1.6465",
        ),
        (
            "[-0.5488, -0.1098, 16.465, -0.9879]",
            "decimal_point",
            "the decimal point is misplaced in number 3: 16.465 instead of 1.6465",
        ),
        ("[0.5488, -0.1098, 1.6465, -0.9879]", "sign_slip", "the sign is wrong in number 1: 0.5488 instead of −0.5488"),
        ("[-0.1098, -0.5488, 1.6465, -0.9879]", "entries_exchanged", "number 1 and number 2 are swapped"),
        (
            "[-5.488, -1.098, 16.465, -9.879]",
            "decimal_point",
            "every number: the decimal point is misplaced: too large by a factor of ten",
        ),
    ],
)
def test_a_slip_in_writing_is_named_with_its_position(claim, code, what):
    judged = found(NORM, "output", claim)
    assert (code,) in codes(judged)
    assert any(what in finding.what[0] for finding in judged.findings)
    assert all(finding.corrections for finding in judged.findings)


def test_a_lost_minus_sign_is_found_with_its_position():
    scores = check_worked({**ATTENTION, "K": [[0, 2], [2, 0], [1, 1]]}, {"dot": [[0, 4, 2], [4, 0, 2], [6, 2, 4]]})
    assert scores.right
    judged = found(ATTENTION, "weights", "[[0.0454, 0.7679, 0.1867], [0.7679, 0.0454, 0.1867], [0.7679, 0.0454, 0.1867]]")
    assert codes(judged) == [("sign_slip",)]
    assert "a minus sign was lost: k, row 3, number 2" in judged.findings[0].what[0]


@pytest.mark.parametrize("places", [1, 2, 3])
def test_early_rounding_is_reported_with_its_decimals(places):
    from glassformer.numbers.by_hand import parse_problem, solve

    problem = parse_problem({"kind": "layer_norm", "x": [0.37, 2.11, 4.73, 1.09], "variance": "biased", "gamma": [7, 8, 9, 6]})
    rounded = solve(problem).rounded(places).values["output"]
    judged = found(problem, "output", [f"{number:.4f}" for number in rounded])
    assert codes(judged) == [("arithmetic_or_rounding",)]
    assert f"every intermediate result was rounded to {places} decimal" in judged.findings[0].what[0]


def test_a_single_wrong_number_that_no_slip_explains_is_reported():
    judged = found(NORM, "output", "[-0.5488, -0.3891, 1.6465, -0.9879]")
    assert judged.findings == ()
    assert "all other numbers are right; number 2 should be −0.1098" in judged.notes
