"""Typed phrases: a listed phrase is recognised however it is spelled; anything else is left to a person."""

import pytest

from glassformer.answers.quiz import load_set, variant
from glassformer.answers.quiz.phrases import proof_lines
from glassformer.numbers.experiments import EXPERIMENTS

KEY = next(item.key for item in variant(load_set("self-attention"), 0).items if item.id == "condition")


@pytest.mark.parametrize(
    "claim",
    ["d_q = d_k", "d_k=d_q", "dq = dk", "$d_q = d_k$", "D_q = D_k.", "d_{q} = d_{k}", "Queries and keys", "the queries and keys"],
)
def test_a_right_phrase_is_right(claim):
    assert KEY.judge(claim).verdict == "right"


@pytest.mark.parametrize("claim", ["d_q = d_v", "d_v=d_q", "dk = dv"])
def test_a_wrong_phrase_is_named(claim):
    assert KEY.judge(claim).codes == ("dv_dk_mixed",)


@pytest.mark.parametrize("claim", ["all of them", "<script>", "not queries and keys", "d", "=cmd()", "x" * 100_000])
def test_anything_else_is_not_graded(claim):
    found = KEY.judge(claim)
    assert (found.verdict, found.credit, found.codes) == ("unclear", 0, ())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_proof_of_an_idea_is_a_run_that_holds(name):
    assert proof_lines(name)[-1].startswith("the claim holds: ")
