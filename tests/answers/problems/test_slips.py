"""Slips with a right method are told from misconceptions: rounding, a lost minus, digits, a decimal point, exchanged numbers."""

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
            "the digits 4 and 6 changed places in number 3: 1.6645 for 1.6465",
        ),
        ("[-0.5488, -0.1098, 16.465, -0.9879]", "decimal_point", "the decimal point is misplaced in number 3: 16.465 for 1.6465"),
        ("[0.5488, -0.1098, 1.6465, -0.9879]", "sign_slip", "the sign is wrong in number 1: 0.5488 for −0.5488"),
        ("[-0.1098, -0.5488, 1.6465, -0.9879]", "entries_exchanged", "number 1 and number 2 changed places"),
        (
            "[-5.488, -1.098, 16.465, -9.879]",
            "decimal_point",
            "every number: the decimal point is misplaced: too large by a factor of ten",
        ),
    ],
)
def test_a_slip_of_the_pen_is_named_with_its_place(claim, code, what):
    judged = found(NORM, "output", claim)
    assert (code,) in codes(judged)
    assert any(what in finding.what[0] for finding in judged.findings)
    assert all(finding.corrections for finding in judged.findings)


def test_a_minus_lost_in_what_is_given_is_found_with_its_place():
    scores = check_worked({**ATTENTION, "K": [[0, 2], [2, 0], [1, 1]]}, {"dot": [[0, 4, 2], [4, 0, 2], [6, 2, 4]]})
    assert scores.right
    judged = found(ATTENTION, "weights", "[[0.0454, 0.7679, 0.1867], [0.7679, 0.0454, 0.1867], [0.7679, 0.0454, 0.1867]]")
    assert codes(judged) == [("sign_slip",)]
    assert "a minus was lost: k, row 3, number 2" in judged.findings[0].what[0]


@pytest.mark.parametrize("places", [1, 2, 3])
def test_rounding_on_the_way_is_told_with_its_places(places):
    from glassformer.numbers.by_hand import parse_problem, solve

    problem = parse_problem({"kind": "layer_norm", "x": [0.37, 2.11, 4.73, 1.09], "variance": "biased", "gamma": [7, 8, 9, 6]})
    rounded = solve(problem).rounded(places).values["output"]
    judged = found(problem, "output", [f"{number:.4f}" for number in rounded])
    assert codes(judged) == [("arithmetic_or_rounding",)]
    assert f"every number on the way was rounded to {places} place" in judged.findings[0].what[0]


def test_one_wrong_number_that_no_slip_explains_is_pointed_at():
    judged = found(NORM, "output", "[-0.5488, -0.3891, 1.6465, -0.9879]")
    assert judged.findings == ()
    assert "every other number is right: only number 2 should be −0.1098" in judged.notes
