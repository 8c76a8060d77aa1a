"""Chains, definitions, formulas, and errors that are carried forward."""

import pytest

from glassformer.answers.documents import check_text


def judged(text, kind="md"):
    return [(one.verdict, one.kind) for one in check_text(text, name="a", kind=kind).findings]


def verdicts(text):
    return [one.verdict for one in check_text(text, name="a", kind="md").findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 + 3 = 5 = 1 + 4", ["right", "right"]),
        ("2 + 3 = 6 = 1 + 5", ["wrong", "carried"]),
        ("1/√2 ≈ 0.71 ≈ 0.7", ["right", "right"]),
        ("d_k = d_model / h = 512 / 8 = 64", ["right"]),
        ("d_k = 512 / 8 = 65", ["wrong"]),
        ("a = 3, b = 4", []),
        ("x = 2, y = 3 → x + y = 5", ["right"]),
        (r"$4/\sqrt{4} = 2$ and $2/\sqrt{4} = 0.5$", ["right", "wrong"]),
        ("Three epochs: 3 × 156 = 486 steps.", ["wrong"]),
        ("Three epochs: 3 × 156 = 500 steps.", ["unclear"]),
        ("5 and 3 + 4 = 8", ["unclear"]),
        ("1,000,000 × 4 = 4,000,000 bytes = 4 MB", ["right", "right"]),
        ("1,000,000 × 4 = 4,000,000 bytes = 4.00 MiB", ["right", "wrong"]),
    ],
)
def test_chains(text, expected):
    assert verdicts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "d_k = 64",
        "heads = 8",
        "Number of heads = 8",
        "$d, n = 512$",
        "t := 5",
        "Layer 1 = 30,720,000",
        "1 epoch = 500 steps",
        "h = 8 heads",
    ],
)
def test_definitions_and_labels_are_not_claims(text):
    assert judged(text) == []


@pytest.mark.parametrize(
    "text",
    [
        r"$\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V$",
        r"$$\mu_L = \frac{1}{D} \sum_{j=1}^D h_{ij}$$",
        r"$q^t = W_Q^T X^t$",
        "y = 3x + 2",
        r"$A\left(q^3, \{k^{t'}\}_{1 \leq t' \leq T}\right) = \sum_{t=1}^T \frac{\exp(q^t, k^t)}{2} v^t$",
        "1 + 2 + … + 10 = 55",
    ],
)
def test_formulas_with_free_symbols_are_not_claims(text):
    assert judged(text) == []


def test_symbols_keep_their_values():
    assert verdicts("h = 8 and d_k = 64.\nSo h × d_k = 512, not h × d_k = 521") == ["right", "wrong"]
    assert verdicts(r"$q = [1, 2]$, $k = [3, 4]$, $q \cdot k = 11$")[-1] == "right"


def test_a_symbol_from_another_question_is_not_an_error():
    assert verdicts("Q1) h = 8, d_k = 64\n\nQ2) h × d_k = 768")[-1] == "unclear"
    assert verdicts("h = 8, d_k = 64, h = 12\nh × d_k = 512")[-1] == "unclear"
    assert verdicts("x = 16\n1.25x = 100\nx = 80") == ["unclear"]


def test_a_value_given_later_may_confirm_but_is_never_an_error():
    assert verdicts("d / h = 32\nd = 64, h = 2")[0] == "right"
    assert verdicts("d / h = 33\nd = 64, h = 2") == []


def test_a_wrong_value_of_a_symbol_is_carried_forward():
    found = check_text("n = 12 × 12 = 154\nn + 1 = 155\nn + 1 = 156", name="a", kind="md").findings
    assert [one.verdict for one in found] == ["wrong", "carried", "wrong"]
    assert (found[1].sources, found[1].put_right) == ((1,), "145")


def test_a_right_line_next_to_a_wrong_one_is_right():
    assert verdicts("2 + 2 = 5\n5 + 1 = 6") == ["wrong", "carried"]
    assert verdicts("2 + 2 = 5\n10 / 2 = 5\n5 + 1 = 6")[-1] == "right"
    assert verdicts("5 tokens, 5 = 5\n2 + 2 = 5\n5 + 1 = 6")[-1] == "right"


def test_rounded_intermediate_numbers_are_used_unrounded():
    assert verdicts("recall = 8/12 = 0.67, f = 2 × 0.8 × 0.67/(0.8 + 0.67) = 0.727")[-1] == "right"
    assert verdicts("0.707 × 512 = 362.04") == ["right"]
    assert verdicts("0.6 × 0.7 = 0.43") == ["wrong"]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("[768,768] x [768,6] -> [768,6]", "right"),
        ("[768,768] x [768,6] -> [6,768]", "wrong"),
        ("[768,768] x [6,768] -> [768,6]", "wrong"),
        ("768×768 · 768×6 = 768×6", "right"),
        ("[8, 768] = 6,144", "right"),
    ],
)
def test_shapes(text, verdict):
    assert judged(text) == [(verdict, "shape")]


@pytest.mark.parametrize(
    "text", ["64 → 128 → 256", "(N, T, D) → (N, T, d_v)", "[1, 5, 768] → [1, 5, 12, 64]", "x ∈ ℝ^512", "10 ~ 20"]
)
def test_an_arrow_alone_is_not_a_claim(text):
    assert judged(text) == []
