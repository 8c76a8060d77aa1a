"""Errors carried forward are distinguished from new ones."""

import numpy as np
import pytest

from glassformer.answers.problems import check_worked

ATTENTION = {"Q": [[2, 0], [0, 2], [1, 3]], "K": [[0, 2], [2, 0], [1, 1]], "V": [[2, 1], [0, 2], [1, 1]]}
NORM = {"kind": "layer_norm", "x": [1, 2, 4, 1], "gamma": [2, 1, 3, 1], "beta": [0, 1, 0, 1]}


def verdicts(problem, claims):
    return {judged.name: judged for judged in check_worked(problem, claims).judged}


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_a_named_mistake_is_new_once_and_then_carried():
    dot = np.array(ATTENTION["Q"]) @ np.array(ATTENTION["K"]).T
    weights = np.round(softmax(dot), 4)
    claims = {"weights": weights.tolist(), "output": np.round(weights @ np.array(ATTENTION["V"]), 4).tolist()}
    found = verdicts(ATTENTION, claims)
    assert [finding.codes for finding in found["weights"].findings] == [("no_scaling",)]
    assert (found["output"].verdict, found["output"].follows) == ("carried", ("weights",))


def test_digits_kept_but_not_written_are_carried_forward_too():
    """The output was worked out from weights of more digits than were written down."""
    weights = softmax(0.31 * np.array(ATTENTION["Q"]) @ np.array(ATTENTION["K"]).T)
    claims = {"weights": np.round(weights, 2).tolist(), "output": np.round(weights @ np.array(ATTENTION["V"]), 3).tolist()}
    found = verdicts(ATTENTION, claims)
    assert (found["weights"].verdict, found["output"].verdict) == ("wrong", "carried")


def test_a_new_error_after_a_wrong_claim_is_found_from_that_claim():
    """The weights are wrong without a known cause; then the keys are mixed for the values."""
    weights = np.array([[0.1, 0.7, 0.2], [0.6, 0.1, 0.3], [0.25, 0.45, 0.3]])
    claims = {
        "weights": [[f"{w:.3f}" for w in row] for row in weights],
        "output": np.round(weights @ np.array(ATTENTION["K"]), 4).tolist(),
    }
    found = verdicts(ATTENTION, claims)
    assert found["output"].verdict == "wrong"
    assert [finding.codes for finding in found["output"].findings] == [("values_forgotten",)]
    assert "from weights as claimed, this contains another error" in found["output"].notes


def test_for_a_claim_that_does_not_follow_the_right_consequence_is_shown():
    claims = {"weights": "[0.61, 0.39]", "output": "[0.317, 0.317]"}
    found = verdicts({"Q": [0, 1], "K": [[1, 1], [0, -1]], "V": [[1, 1], [-1, -1]]}, claims)
    assert found["output"].verdict == "wrong"
    assert any(note.startswith("from weights as claimed it would be [0.22") for note in found["output"].notes)


def test_a_right_output_after_wrong_weights_is_right():
    found = verdicts(
        {"Q": [0, 1], "K": [[1, 1], [0, -1]], "V": [[1, 1], [-1, -1]]}, {"weights": "[0.61, 0.39]", "output": "[0.6089, 0.6089]"}
    )
    assert (found["weights"].verdict, found["output"].verdict) == ("wrong", "right")


def test_a_chain_of_steps_is_carried_from_its_first_error():
    x = np.array(NORM["x"], dtype=float)
    std = 1.3  # wrong
    normalised = (x - 2) / std
    output = normalised * NORM["gamma"] + NORM["beta"]
    claims = {"mean": 2, "std": "1.3", "normalised": np.round(normalised, 4).tolist(), "output": np.round(output, 4).tolist()}
    found = verdicts(NORM, claims)
    assert [found[name].verdict for name in claims] == ["right", "wrong", "carried", "carried"]
    assert found["output"].follows == ("normalised",)


@pytest.mark.parametrize("transposed", [False, True])
def test_a_wrong_claim_in_columns_is_carried_too(transposed):
    weights = np.array([[0.1, 0.7, 0.2], [0.6, 0.1, 0.3]])
    problem = {**ATTENTION, "Q": ATTENTION["Q"][:2]}
    output = np.round(weights @ np.array(ATTENTION["V"]), 4)
    claims = {"weights": (weights.T if transposed else weights).tolist(), "output": (output.T if transposed else output).tolist()}
    assert verdicts(problem, claims)["output"].verdict == "carried"
