"""Every worked example of the known mistakes, right and wrong, gets its verdict and its code."""

import numpy as np
import pytest

from glassformer.answers.problems import check_worked

Q, K, V = [[2, 0], [0, 2], [1, 1]], [[0, 2], [2, 0], [1, 1]], [[2, 1], [0, 2], [1, 1]]
ATTENTION = {"Q": Q, "K": K, "V": V, "d_model": 4}
CAUSAL = {**ATTENTION, "mask": "causal"}
NORM = {"kind": "layer_norm", "x": [2, "7/3", "4/3", 1], "variance": "biased"}
ADD_NORM = {"kind": "layer_norm", "x": [1, 1, 0, 0], "residual": [1, "4/3", "4/3", 1]}
TWO_ROWS = {"kind": "layer_norm", "x": [[1, 2, 3], [3, 6, 9]]}
ENTRY = {"kind": "positions", "entries": [2, 1], "d_model": 4}
FLYING = {"Q": [0, 1], "K": [[1, 1], [0, -1]], "V": [[1, 1], [-1, -1]], "memory_tokens": ["flying", "arrows"]}


def four_words():
    """One word of four with square matrices, as a widely read tutorial has it."""
    random = np.random.RandomState(42)
    w_q, w_k, w_v = (random.randint(3, size=(3, 3)).tolist() for _ in range(3))
    return {"X": [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]], "W_Q": w_q, "W_K": w_k, "W_V": w_v}


def judged(problem, name, claim):
    return check_worked(problem, {name: claim}).judged[0]


def codes(found):
    return {code for finding in found.findings for code in finding.codes}


@pytest.mark.parametrize(
    ("problem", "name", "claim"),
    [
        (ATTENTION, "output", "[[0.2775, 1.7679], [1.7225, 1.0454], [1.0, 1.3333]]"),
        (ATTENTION, "weights", "[[0.0454, 0.7679, 0.1867], [0.7679, 0.0454, 0.1867], [0.3333, 0.3333, 0.3333]]"),
        (ATTENTION, "dot", "[[0.0, 4.0, 2.0], [4.0, 0.0, 2.0], [2.0, 2.0, 2.0]]"),
        (CAUSAL, "weights", "[[1.0, 0.0, 0.0], [0.9442, 0.0558, 0.0], [0.3333, 0.3333, 0.3333]]"),
        (NORM, "output", "[0.6325, 1.2649, -0.6325, -1.2649]"),
        (ADD_NORM, "output", "[0.6325, 1.2649, -0.6325, -1.2649]"),
        (TWO_ROWS, "output", "[[-1.2247, 0.0, 1.2247], [-1.2247, 0.0, 1.2247]]"),
        (ENTRY, "pe", "-0.4161"),
    ],
)
def test_right_examples_are_right(problem, name, claim):
    found = judged(problem, name, claim)
    assert (found.verdict, found.findings, found.notes) == ("right", (), ())


@pytest.mark.parametrize(
    ("problem", "name", "claim", "code"),
    [
        (ATTENTION, "output", "[[0.1491, 1.8668], [1.8509, 1.0159], [1.0, 1.3333]]", "no_scaling"),
        (ATTENTION, "output", "[[0.29, 1.78], [1.73, 1.06], [0.99, 1.32]]", "arithmetic_or_rounding"),
        (ATTENTION, "output", "[[0.4248, 1.6652], [1.5752, 1.09], [1.0, 1.3333]]", "sqrt_dmodel"),
        (ATTENTION, "weights", "[[0.09, 0.6652, 0.2447], [0.6652, 0.09, 0.2447], [0.3333, 0.3333, 0.3333]]", "divided_by_dk"),
        (ATTENTION, "output", "[[0.4241, 1.9146], [1.8692, 1.192], [0.7067, 0.8934]]", "softmax_wrong_axis"),
        (ATTENTION, "dot", "[[1.0, 5.0], [5.0, 1.0]]", "feature_by_feature"),
        (ATTENTION, "dot", "[[1, 5], [5, 1]]", "feature_by_feature"),
        (ATTENTION, "output", "[[0.0, 2.0], [2.0, 1.0], [2.0, 1.0]]", "hard_or_uniform_attention"),
        (ATTENTION, "output", "[[1.0, 1.3333], [1.0, 1.3333], [1.0, 1.3333]]", "hard_or_uniform_attention"),
        (CAUSAL, "weights", "[[0.3333, 0.3333, 0.3333], [0.8943, 0.0529, 0.0529], [0.3333, 0.3333, 0.3333]]", "mask_wrong"),
        (CAUSAL, "weights", "[[0.0454, 0.0, 0.0], [0.7679, 0.0454, 0.0], [0.3333, 0.3333, 0.3333]]", "mask_wrong"),
        (four_words(), "output", "[1.8544, 0.9973, 0.0]", "row_column_convention"),
        (NORM, "output", "[0.5477, 1.0954, -0.5477, -1.0954]", "layernorm_variance"),
        (NORM, "output", "[1.2, 2.4, -1.2, -2.4]", "layernorm_variance"),
        (NORM, "output", "[1.1442, 1.3348, 0.7628, 0.5721]", "rmsnorm_for_layernorm"),
        (ADD_NORM, "output", "[-1.0, 1.0, 1.0, -1.0]", "residual_forgotten"),
        (TWO_ROWS, "output", "[[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]", "layernorm_wrong_axis"),
        (ENTRY, "pe", "0.9998", "positional_index"),
        (ENTRY, "pe", "-0.99", "positional_index"),
    ],
)
def test_wrong_examples_get_their_code(problem, name, claim, code):
    found = judged(problem, name, claim)
    assert found.verdict == "wrong"
    assert code in codes(found)
    assert all(len(finding.codes) == 1 and not finding.near for finding in found.findings)


def test_equally_simple_findings_are_all_listed():
    """d_model = d_k² makes √d_model and d_k the same number: the claim does not show which it was."""
    found = judged(ATTENTION, "output", "[[0.4248, 1.6652], [1.5752, 1.09], [1.0, 1.3333]]")
    assert codes(found) == {"sqrt_dmodel", "divided_by_dk"}
    assert "several mistakes give these numbers, which do not show which one it was" in found.notes


def test_a_finding_has_its_sentence_and_the_step_done_right():
    found = judged(FLYING, "weights", "[0.8808, 0.1192]")
    (finding,) = found.findings
    assert finding.codes == ("no_scaling",)
    assert finding.what == ("the dot products were not divided by √2",)
    assert "divided by √d_k before the softmax" in finding.mistakes[0].sentence
    (step,) = finding.corrections
    assert step.rule == "scores = dot / √d_k, d_k = 2"
    assert step.numbers[0].startswith("scores[flying] = 1 / √2")
    assert step.value == pytest.approx([0.5**0.5, -(0.5**0.5)])
    assert finding.value == pytest.approx([0.8808, 0.1192], abs=1e-4)


def test_flying_and_arrows_no_mistake_is_invented_and_the_output_is_carried_forward():
    found = check_worked(FLYING, {"output": "[0.245, 0.245]", "weights": "[0.6225, 0.3775]"})
    weights, output = found.judged
    assert (weights.name, weights.verdict, weights.findings) == ("weights", "wrong", ())
    assert "no known mistake gives these numbers" in weights.notes
    assert "these weights imply a score gap of 0.5 between flying and arrows instead of 1.4142" in weights.notes
    assert (output.name, output.verdict, output.follows) == ("output", "carried", ("weights",))
    assert found.wrong == (weights,)
    assert not found.right


def test_a_single_number_at_low_precision_proves_nothing():
    found = judged({"Q": [2, 1], "K": [[1, 0], [0, 1], [1, 1]], "d_model": 8}, "weights", "[0.3, 0.2, 0.4]")
    assert found.verdict == "wrong"
    assert found.findings == ()


def test_two_mistakes_at_once_are_named_if_several_numbers_rule_out_chance():
    problem = {"X": [[1, 0, 2], [0, 3, 1], [2, 1, 1]], "W_Q": [[1, 2, 0], [0, 1, 1], [1, 0, 3]],
               "W_K": [[2, 0, 1], [1, 1, 0], [0, 1, 1]], "W_V": [[1, 0, 2], [3, 1, 0], [0, 1, 1]]}  # fmt: skip
    x, w_q, w_k, w_v = (np.array(problem[name], dtype=float) for name in ("X", "W_Q", "W_K", "W_V"))
    scores = (x @ w_q / 4) @ (x @ w_k).T  # no √3 anywhere: not a known mistake, so that nothing single fits
    scores = (x @ w_q) @ (x @ w_k).T / 3  # divided by d_k …
    weights = np.exp(scores - scores.max(1, keepdims=True))
    output = weights / weights.sum(1, keepdims=True) @ (x @ w_v.T)  # … and W_V transposed
    found = judged(problem, "output", np.round(output, 4).tolist())
    assert codes(found) == {"divided_by_dk", "row_column_convention"}
    assert {len(finding.codes) for finding in found.findings} == {2}


def test_for_a_claim_of_another_size_the_right_size_is_stated():
    found = judged(ATTENTION, "weights", "[0.1, 0.2, 0.3, 0.4]")
    assert "it should have 3 × 3; the claim has 4 numbers" in found.notes


def test_the_document_has_what_a_grader_needs():
    document = check_worked(FLYING, {"weights": "[0.8808, 0.1192]"}).to_dict()
    assert (document["verdict"], document["right"]) == ("wrong", False)
    (claim,) = document["claims"]
    assert {"name", "claim", "verdict", "right", "truth", "findings", "notes"} <= set(claim)
    assert claim["truth"] == pytest.approx([0.8044, 0.1956], abs=1e-4)
    (finding,) = claim["findings"]
    assert finding["codes"] == ["no_scaling"]
    assert len(finding["what"]) == len(finding["sentences"]) == 1
    assert finding["corrections"][0]["rule"].startswith("scores = dot / √d_k")


def test_unrounded_and_rounded_intermediate_numbers_are_distinguished():
    """Worked out from the two-digit weights above it: the method is right, the rounding came too early."""
    found = check_worked(FLYING, {"weights": "[0.80, 0.20]", "output": "[0.600, 0.600]"})
    assert [judged.verdict for judged in found.judged] == ["right", "wrong"]
    assert codes(found.judged[1]) == {"arithmetic_or_rounding"}


def test_one_wide_head_is_named_if_the_claim_uses_another_name():
    """The outputs of the heads are called `mix` too; the work with one wide head has only that name."""
    one_of = {"X": [[0, 0, 0, 0], [0, 1, 0, 0]], "heads": 2}
    asks = [[0] * 4, [1, 0, 0, 0], [0] * 4, [0] * 4]
    problem = {**one_of, "W_Q": asks, "W_K": asks, "W_V": [[0] * 4, [0, 0, 0, 1], [0] * 4, [0] * 4]}
    found = check_worked(problem, {"mix": "[[0.0000, 0.0000, 0.0000, 0.5000], [0.0000, 0.0000, 0.0000, 0.6225]]"})
    assert codes(found.judged[0]) == {"one_head_vs_all_heads"}
