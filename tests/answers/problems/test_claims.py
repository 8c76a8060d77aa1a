"""A claim finds its quantity under any of its names, from words, tables and files."""

import json

import pytest

from glassformer.answers.problems import check_worked
from glassformer.answers.problems.claims import claim_in_words, claims_in_file, read_claims
from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand import parse_problem, solve

FLYING = {"Q": [0, 1], "K": [[1, 1], [0, -1]], "V": [[1, 1], [-1, -1]], "memory_tokens": ["flying", "arrows"]}


@pytest.fixture
def solution():
    return solve(parse_problem(FLYING))


@pytest.mark.parametrize("name", ["weights", "alpha", "attention weights", "Attention-Weights", "softmax"])
def test_a_quantity_goes_by_its_other_names(solution, name):
    (claim,) = read_claims(solution, [f"{name} = [0.8044, 0.1956]"])
    assert claim.quantity == "weights"


@pytest.mark.parametrize("words", ["output = [1, 2]", "output: [1, 2]", "output ≈ [1, 2]", "output is [1, 2]", "output=[1, 2]"])
def test_name_and_numbers_are_separated(words):
    assert claim_in_words(words) == ("output", "[1, 2]")


def test_numbers_without_a_name_belong_to_the_requested_quantity_or_the_result(solution):
    assert read_claims(solution, ["[0.6, 0.6]"])[0].quantity == "output"
    asked = solve(parse_problem({**FLYING, "ask": ["weights"]}))
    assert read_claims(asked, ["-0.5, 0.5"])[0].quantity == "weights"


def test_claims_are_judged_in_the_order_of_computation(solution):
    claims = read_claims(solution, {"output": [0.6, 0.6], "scores": [0.7, -0.7], "weights": [0.8, 0.2]})
    assert [claim.quantity for claim in claims] == ["scores", "weights", "output"]


def test_claims_may_be_in_the_problem(tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text('Q = [0, 1]\nK = [[1, 1], [0, -1]]\n[claims]\nweights = "[0.8044, 0.1956]"\n')
    assert check_worked(file).right
    assert not check_worked(file, {"weights": [0.5, 0.5]}).right


def test_claims_may_be_in_a_separate_file(tmp_path):
    file = tmp_path / "claims.json"
    file.write_text(json.dumps({"weights": [0.8044, 0.1956]}))
    assert check_worked(FLYING, claims_in_file(file)).right
    file.write_text(json.dumps({"claims": {"weights": [0.8044, 0.1956]}}))
    assert check_worked(FLYING, claims_in_file(file)).right


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({}, "there are no claims"),
        ({"wights": [1]}, "Did you mean 'weights'"),
        ({"weights": [0.5, 0.5], "alpha": [0.5, 0.5]}, "are the same quantity: give only one of them."),
        ({"weights": None}, "contains None, which is not a number"),
        ({"weights": {"a": 1}}, "which is not a number"),
        ({f"weights{' ' * n}": 1 for n in range(65)}, "too many"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_a_one_line_error(claims, why):
    with pytest.raises(GlassformerError, match=why):
        check_worked(FLYING, claims)


def test_a_claims_table_must_be_a_table():
    with pytest.raises(GlassformerError, match="claims must be a table"):
        check_worked({**FLYING, "claims": 3})
