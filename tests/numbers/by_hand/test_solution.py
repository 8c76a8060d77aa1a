"""A solution: values under every name, exact forms, other conventions, and a program that can be rewritten."""

import dataclasses

import numpy as np
import pytest

from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.numbers.by_hand.operations import Divide, RowSoftmax
from glassformer.program import Program

GIVEN = {"Q": [[2, 0], [0, 2], [1, 1]], "K": [[0, 2], [2, 0], [1, 1]], "V": [[2, 1], [0, 2], [1, 1]]}


def rewritten(program: Program, kind: type, operation) -> Program:
    """The program with one operation in place of another, as a mistake would have it."""
    steps = [step._replace(operation=operation) if isinstance(step.operation, kind) else step for step in program.steps]
    return dataclasses.replace(program, steps=steps)


@pytest.mark.parametrize(
    ("kind", "operation", "wrong"),
    [
        (Divide, Divide(1.0, "1"), [[0.1491, 1.8668], [1.8509, 1.0159], [1.0, 1.3333]]),
        (Divide, Divide(2.0, "2"), [[0.4248, 1.6652], [1.5752, 1.09], [1.0, 1.3333]]),
        (RowSoftmax, RowSoftmax("t"), [[0.4241, 1.9146], [1.8692, 1.192], [0.7067, 0.8934]]),
    ],
)
def test_a_rewritten_program_gives_the_wrong_answer_of_the_mistake(kind, operation, wrong):
    solution = solve(parse_problem(GIVEN))
    values = solution.rerun(rewritten(solution.program, kind, operation))
    np.testing.assert_allclose(values["output"], wrong, atol=5e-5)
    np.testing.assert_allclose(solution.values["output"], [[0.2775, 1.7679], [1.7225, 1.0454], [1.0, 1.3333]], atol=5e-5)


def test_the_product_and_the_scaled_scores_are_both_there():
    values = solve(parse_problem(GIVEN)).values
    np.testing.assert_allclose(values["scores"], np.array(values["dot"]) / np.sqrt(2))
    assert values["scaled"] == values["scores"]
    unscaled = solve(parse_problem({**GIVEN, "scale": "none"})).values
    assert unscaled["dot"] == unscaled["scores"]


def test_a_name_requested_in_another_spelling_is_answered_under_it():
    solution = solve(parse_problem({**GIVEN, "ask": ["Attention Weights", "context", "QK^T"]}))
    assert solution.requested == ("Attention Weights", "context", "QK^T")
    assert solution.values["Attention Weights"] == solution.values["weights"]
    assert solution.values["context"] == solution.values["output"]
    assert solution.values["QK^T"] == solution.values["dot"]


def test_only_the_steps_that_lead_to_what_is_asked_are_shown():
    solution = solve(parse_problem({**GIVEN, "ask": ["scores"]}))
    assert [step.name for step in solution.steps] == ["dot", "scores"]
    assert solution.needed == {"q", "k", "dot", "scores"}
    assert "output" in solution.values


def test_exact_values_where_they_exist():
    solution = solve(parse_problem({"layer_norm": [1, 2, 3, 4]}))
    exact = {step.name: step.to_dict()["exact"] for step in solution.steps}
    assert exact == {"mean": "5/2", "variance": "5/4", "std": "√5/2", "output": ["−3/√5", "−1/√5", "1/√5", "3/√5"]}
    weights = next(step for step in solve(parse_problem(GIVEN)).steps if step.name == "weights")
    assert weights.to_dict()["exact"] == [[None] * 3, [None] * 3, ["1/3"] * 3]


def test_decimals_are_the_nearest_to_what_is_exact():
    assert solve(parse_problem({"A": [0.1, 0.2], "B": [1, 1]})).values["output"] == 0.3


def test_layer_norm_shows_the_results_of_other_conventions():
    solution = solve(parse_problem({"layer_norm": [1, 2, 3, 4], "eps": 0.1}))
    assert [other.name for other in solution.others] == [
        "as computed here: biased variance, divided by n = 4, eps = 0.1 inside the root, √(variance + eps)",
        "unbiased variance, divided by n − 1 = 3",
        "eps = 0.1 outside it, √variance + eps",
    ]
    x = np.array([1.0, 2, 3, 4])
    np.testing.assert_allclose(solution.others[0].value, (x - 2.5) / np.sqrt(1.35))
    np.testing.assert_allclose(solution.others[1].value, (x - 2.5) / np.sqrt(5 / 3 + 0.1))
    np.testing.assert_allclose(solution.others[2].value, (x - 2.5) / (np.sqrt(1.25) + 0.1))
    np.testing.assert_allclose(solution.others[2].difference, np.abs(solution.others[2].value - solution.others[0].value).max())


def test_the_document_has_values_steps_title_and_what_was_asked():
    document = solve(parse_problem({**GIVEN, "title": "Three", "ask": ["weights"]})).to_dict()
    assert (document["title"], document["asked"], document["kind"]) == ("Three", ["weights"], "attention")
    step = document["steps"][1]
    assert (step["name"], step["rule"], step["shape"]) == ("scores", "scores = dot / √d_k", [3, 3])
    assert step["numbers"][1] == "scores[1, 2] = 4 / √2 ≈ 2.8284, exactly 2√2"
    assert step["exact"][0] == ["0", "2√2", "√2"]


def test_a_run_explains_itself_down_to_what_is_given():
    run = solve(parse_problem({"q": [0, 1], "k": [[1, 1], [0, -1]], "v": [[1], [3]]})).run
    assert "weights v" in str(run.explain("output", d_v=0))
    assert run.what_if({"q": [1, 0]}).moved["output"] > 0


def test_the_program_knows_its_sizes():
    program = solve(parse_problem({**GIVEN, "heads": 2})).program
    assert (program.sizes.t, program.spec.heads, program.spec.head_k) == (3, 2, 1)
