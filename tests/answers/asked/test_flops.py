"""FLOPs of one product, one layer, one head, one token; formulas in the letters of the textbooks as the witness."""

import pytest

from glassformer.algebra import cost
from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.program import build
from glassformer.spec.reading import request, request_from_words

N, D, F, H, L = 512, 768, 3072, 12, 12

FLOPS = [
    ("flops of one layer", 24 * N * D * D + 4 * N * N * D),
    ("FLOPs of the self-attention in one layer", 8 * N * D * D + 4 * N * N * D),
    ("FLOPs of the feed-forward network per layer", 4 * N * D * F),
    ("FLOPs for QK^T in one layer", 2 * N * N * D),
    ("FLOPs of computing QK^T per head", 2 * N * N * D // H),
    ("flops of the qkv projections in one layer", 6 * N * D * D),
    ("floating point operations of the output projection per layer", 2 * N * D * D),
    ("macs of scaled dot-product attention per layer", 2 * N * N * D),
    ("flops of attention", L * (8 * N * D * D + 4 * N * N * D)),
    ("FLOPs of the feed-forward network per token per layer", 4 * D * F),
    ("flops per token", L * (24 * D * D + 4 * N * D)),
    ("training flops of the ffn in one layer", 3 * 4 * N * D * F),
    ("number of multiplications in one layer", 12 * N * D * D + 2 * N * N * D),
]


@pytest.mark.parametrize(("question", "value"), FLOPS)
def test_a_part_costs_what_its_formula_says(question, value):
    found = ask(question, request("bert-base", t=N))
    assert found.value == value
    assert sum(line.value for line in found.lines) == value


ENCODERS = (
    "bert-base kv_heads=3",
    "deberta-v3-small",
    "deberta-v3-small relative_projections=own relative_terms=content_to_position",
    "t5-small",
    "whisper-tiny",
)


@pytest.mark.parametrize("words", ENCODERS)
def test_attention_costs_what_its_steps_cost_together(words):
    asked = request_from_words(words.split())
    steps = [row for row in cost(build(asked.spec)).rows if ".attention." in row.name]
    assert ask("macs of attention", asked).value == sum(row.multiply_adds for row in steps)
    parts = ("projections", "scores", "mix")
    assert sum(ask(f"macs of the {part}", asked).value for part in parts) == ask("macs of attention", asked).value


def test_convolutions_cost_their_kernels():
    assert ask("macs of the convolutions", request("whisper-tiny")).value == 3000 * 384 * 80 * 3 + 1500 * 384 * 384 * 3


CLAIMS = [line.split("|") for line in """
flops of attention in one layer|8nd²+4n²d|right
flops of attention in one layer|4 n d^2 + 2 n^2 d|macs_vs_flops
flops of attention in one layer|2415919104|no_quadratic_term
flops of attention in one layer|38654705664|stack_for_one_layer
flops of attention|3221225472|one_layer_only
flops of QK^T in one layer|2 n^2 d h|score_cost_times_heads
flops of QK^T in one layer|2 n d|linear_instead_of_quadratic
flops of QK^T per head|402653184|one_head_vs_all_heads
flops of one layer|24 n d^2|no_quadratic_term
flops per token|2*85054464|
training flops|96637943808|backward_forgotten
training flops|193275887616|backward_forgotten
training flops|290 GFLOPs|right
""".strip().splitlines()]  # fmt: skip


@pytest.mark.parametrize(("question", "claim", "wanted"), CLAIMS)
def test_a_claim_about_a_part_is_judged(question, claim, wanted):
    found = check(question, request_from_words(("bert-base", "t=512")), claim)
    codes = [code for finding in found.findings for code in finding.codes]
    assert (
        (wanted in codes) if wanted not in ("right", "") else not codes
    )  # as many heads as layers: two mistakes give one number
    assert found.right == (wanted in ("right", "", "macs_vs_flops"))


def test_the_derivation_is_a_formula_with_its_numbers():
    line = ask("flops of ffn in one layer", request("bert-base", t=128)).lines[0]
    assert (line.symbols, line.numbers) == ("2 · batch · t · d_ff · d_model", "2 · 1 · 128 · 3072 · 768")


def test_the_bare_sub_layer_ends_with_its_output_projection():
    found = ask("flops of attention", request("attention", d_model=64, heads=4, t=10))
    assert (
        found.value == 8 * 10 * 64 * 64 + 4 * 10 * 10 * 64 == ask("flops", request("attention", d_model=64, heads=4, t=10)).value
    )
