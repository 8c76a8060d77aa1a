"""Claims and questions of somebody who had read only the documentation: each has the verdict and the cause that it should."""

import json
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from glassformer.answers.problems.diagnosis import check_worked
from glassformer.errors import GlassformerError

ROWS = [json.loads(line) for line in (Path(__file__).parent / "strangers.jsonl").read_text(encoding="utf-8").splitlines()]
ATTENTION = {"q": [[1, 2], [0, 1]], "k": [[1, 0], [2, 1]], "v": [[1, 3], [2, -1]]}
NORM = {"kind": "layer_norm", "x": [1, 5, 6, 8], "gamma": 2, "beta": 1}


@pytest.mark.parametrize("row", [row for row in ROWS if "check" in row], ids=lambda row: row["check"])
def test_a_claim_has_its_verdict_and_its_cause(row: dict[str, Any]) -> None:
    found = gf.check(row["check"], *([row["spec"]] if row["spec"] else []))
    assert found.verdict == row["verdict"]
    assert [code for finding in found.findings for code in finding.codes] == row["codes"]
    words = [found.convention, *(what for finding in found.findings for what in finding.what)]
    assert any(row["says"] in what for what in words)
    assert not any(finding.near for finding in found.findings)


@pytest.mark.parametrize("row", [row for row in ROWS if "ask" in row], ids=lambda row: row["ask"])
def test_a_question_is_answered(row: dict[str, Any]) -> None:
    found = gf.ask(row["ask"], *([row["spec"]] if row["spec"] else []))
    value = list(found.value) if isinstance(found.value, tuple) else found.value
    assert value == row["value"]
    assert row["expression"] in (found.text, "")


@pytest.mark.parametrize(
    ("problem", "quantity", "claim", "code"),
    [
        ({"kind": "attention", **ATTENTION}, "scores", "[[3.5355, 1.4142], [1.4142, 0.7071]]", "keys_not_transposed"),
        ({"kind": "attention", **ATTENTION}, "output", "[[6.3640, -0.7071], [1.4142, -0.7071]]", "softmax_forgotten"),
        (NORM, "output", "[-1.1379, 2.0000, 2.7845, 4.3534]", "gamma_beta_order"),
    ],
)
def test_slips_worked_by_hand_are_named(problem: dict[str, Any], quantity: str, claim: str, code: str) -> None:
    (finding,) = check_worked(problem, {quantity: claim})[quantity].findings
    assert finding.codes == (code,)


def test_both_sides_of_a_wrong_order_are_printed() -> None:
    notes = gf.check("flops(attention) > flops(ffn)", "bert-base t=512").notes
    assert notes == ("flops(attention) is 38,654,705,664", "flops(ffn) is 57,982,058,496")


def test_the_sentence_of_a_mistake_agrees_with_the_model() -> None:
    (finding,) = gf.check("params(norms) = 262,144", "llama-3-8b").findings
    norms = "layers.*.norm_1, layers.*.norm_2 and final_norm, each with a gamma and no beta of 4,096 entries"
    assert finding.mistakes[0].sentence == f"The norms of this model are {norms}."


@pytest.mark.parametrize("question", ["How many parameters does the first layer of gpt2 have?", "How many bananas has gpt2?"])
def test_a_refused_question_about_a_decoder_suggests_expressions_about_it(question: str) -> None:
    with pytest.raises(GlassformerError, match=r"is not understood here\. Try: .* gpt2$"):
        gf.ask(question)
