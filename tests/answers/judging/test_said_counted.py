"""What the question says is counted is no matter of convention."""

import pytest

from glassformer.answers.judging import check
from glassformer.answers.judging.said_counted import forgotten

LAYER = "How many parameters does an encoder layer with d_model=64, 4 heads and d_ff=256 have"


@pytest.mark.parametrize(
    "said", ["biases included", "including biases", "with all biases", "counting the biases", "including weights and biases"]
)
def test_biases_that_are_counted_are_not_left_out(said):
    assert forgotten(f"How many parameters does the FFN have, {said}?", "without biases, one layer")


@pytest.mark.parametrize(
    "said",
    [
        "not counting biases",
        "with no biases",
        "without biases",
        "biases not included",
        "with 8 heads",
        "with embeddings of size 64",
    ],
)
def test_what_is_not_said_to_be_counted_may_be_left_out(said):
    assert not forgotten(f"How many parameters does it have, {said}?", "without biases, embeddings")


def test_the_same_number_is_a_convention_or_a_mistake():
    question = "How many parameters does the FFN have with d_model=64, d_ff=256{}?"
    assert check(question.format(""), None, "32,768").verdict == "convention"
    found = check(question.format(", biases included"), None, "32,768")
    assert found.verdict == "wrong"
    assert [finding.codes for finding in found.findings] == [("ffn_bias",)]


def test_two_things_left_out_are_said_so():
    found = check(f"{LAYER}, with biases?", None, "49,152")
    assert found.verdict == "wrong"
    assert not found.findings
    assert "without biases, norms" in found.notes[0]
