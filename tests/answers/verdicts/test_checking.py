"""Claims judged: at their own precision, never right and wrong at once, never accused when right, and the mistake named."""

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import specs

import glassformer as gf
from glassformer.answers.quantities import Answer, ask
from glassformer.answers.verdicts import check
from glassformer.configs.reading import Request, request
from glassformer.errors import GlassformerError
from glassformer.spec import EncoderSpec

ASKED = (
    "params", "params(attention)", "params(ffn, layer=0)", "params(W_Q, layer=0)", "params(embeddings)", "params(without=biases)",
    "params(attention, head=0)", "flops(t=7)", "macs(ffn, layer=0, t=5)", "flops(scores, layer=0, t=9)", "bytes(weights)",
    "bytes(weights, dtype=fp16)", "bytes(training)", "bytes(scores, t=6)", "elements(scores, t=6)", "elements(q, t=4)",
    "d_k", "d_ff", "heads * layers", "params(ffn) / params", "params(attention) / params(ffn)", "sqrt(d_k)", "shape(scores, t=5)",
    "shape(q, t=4)", "shape(W_O)", "growth(flops(attention), t)", "count(norms)", "divisor",
)  # fmt: skip


def encoders(count: int) -> list[Request]:
    """Encoders of many sizes, heads and tables."""
    chance = random.Random(7)
    found = []
    while len(found) < count:
        heads = chance.choice([1, 2, 3, 4, 8, 12])
        fields = {
            "d_model": 2 * heads * chance.randint(1, 48),
            "heads": heads,
            "layers": chance.randint(1, 12),
            "d_ff": chance.randint(4, 3000),
            "vocab": chance.randint(10, 60_000),
            "position": chance.choice(["learned", "sinusoidal", "none"]),
            "positions": 512,
            "norm": chance.choice(["pre", "post"]),
            "activation": chance.choice(["relu", "gelu", "swiglu"]),
        }
        found.append(request("encoder", **fields))  # type: ignore[arg-type]
    return found


def written(answer: Answer, chance: random.Random) -> tuple[str, str]:
    """A right value in a random notation, and the sign before it."""
    value = answer.exact
    if isinstance(value, tuple):
        return "=", chance.choice([" x ", " × "]).join(
            map(str, value)
        ) if chance.random() < 0.5 else f"[{', '.join(map(str, value))}]"
    number = Fraction(answer.value) if not isinstance(value, int) else Fraction(value)
    if not isinstance(value, int):
        digits = chance.randint(2, 6)
        text = f"{float(number):.{digits}f}"
        if float(text) == 0:
            text = f"{float(number):.12f}"
        return chance.choice(["=", "≈"]), chance.choice([text, f"{float(number) * 100:.4f}%"])
    forms = [str(value), f"{value:,}", f"{value} + 0", f"2 * {value} / 2"]
    if value >= 10**6:
        forms += [f"{value / 10**6:.1f}M", f"{value / 10**6:.2f} million", f"about {round(value, -3)}"]
        forms += [f"{value / 2**20:.3f} MiB"] if answer.unit == "bytes" else []
    elif value >= 10**3:
        forms += [f"{value / 10**3:.1f}K"]
    return "=", chance.choice(forms)


def right_claims(count: int, seed: int) -> int:
    chance, made = random.Random(seed), 0
    answers = []
    for asked in encoders(count // 600 + 3):
        for expression in ASKED:
            try:
                answers.append((expression, asked, ask(expression, asked)))
            except GlassformerError:
                continue
    while made < count:
        expression, asked, answer = chance.choice(answers)
        assert isinstance(answer, Answer)
        sign, claim = written(answer, chance)
        left, right = (expression, claim) if chance.random() < 0.8 or sign == "≈" else (claim, expression)
        found = check(f"{left} {sign} {right}", asked)
        assert found.verdict == "right", (left, sign, right, asked.label, found.judged)
        assert not found.findings
        made += 1
    return made


def test_a_right_claim_is_never_called_wrong() -> None:
    assert right_claims(600, seed=1) == 600


@pytest.mark.slow
def test_twenty_thousand_right_claims_are_never_called_wrong() -> None:
    assert right_claims(20_000, seed=2) == 20_000


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([one for one in ASKED if "shape" not in one]), st.integers(0, 10**7), st.integers(0, 3))
def test_a_relation_and_its_negation_are_never_both_right(expression: str, number: int, place: int) -> None:
    asked = request("encoder", d_model=32, heads=4, layers=2, vocab=100)
    truth = ask(expression, asked)
    assert isinstance(truth, Answer)
    claim = [str(number), f"{float(truth.value):.2f}", str(int(truth.value)), f"{number / 10:.1f}K"][place]
    for sign, negated in (("=", "!="), ("<", ">="), (">", "<=")):
        verdicts = {check(f"{expression} {one} {claim}", asked).right for one in (sign, negated)}
        assert verdicts == {True, False}, (expression, sign, claim)


@settings(max_examples=25, deadline=None)
@given(specs(), st.integers(1, 10**6))
def test_a_wrong_claim_is_wrong_or_right_under_a_convention_that_gives_it(spec: EncoderSpec, number: int) -> None:
    asked = request(spec)
    total = gf.count(spec).total
    found = check(f"params = {number}", asked)
    assert (found.verdict == "right") == (number == total)
    if found.verdict == "convention":
        assert any(other.value == number for other in found.answer.others)
    for finding in found.findings:
        assert finding.value != total


def test_a_formula_is_tried_at_other_sizes() -> None:
    every = check("params(ffn, layer=0) = 2*d_model*d_ff + d_ff + d_model", request("bert-base"))
    here = check("params(ffn, layer=0) = 8*d_model^2 + 5*d_model", request("bert-base"))
    assert every.notes == ("right for every size (tested on random sizes)",)
    assert here.right
    assert here.notes[0].startswith("right for these sizes, but not for all")


def test_a_size_that_an_option_fixes_stays_fixed_at_other_sizes() -> None:
    found = check("flops(scores, layer=0, t=512) = 2 t^2 d_model", request("bert-base"))
    assert found.verdict == "right"
    assert found.judged.notes == ("right for every size (tested on random sizes)",)


def test_a_formula_without_a_model_is_tried_on_several() -> None:
    assert check("params(ffn, layer=0) = 8*d^2 + 5*d").verdict == "right"
    assert check("params(layer=0) = 12*d^2").verdict == "convention"
    assert check("params(attention, layer=0) = 3*d^2 + 7*d").verdict == "wrong"


@pytest.mark.parametrize(
    ("relation", "spec", "verdict", "codes"),
    [
        ("params = 110M", "bert-base", "right", ()),
        ("params = 109.5M", "bert-base", "right", ()),
        ("params = 107M", "bert-base", "wrong", ()),
        ("params = 340000000", "bert-large", "wrong", ()),  # plain digits are exact
        ("params = 27648", "layer d_model=64 heads=4 d_k=16 d_ff=120", "convention", ()),
        ("params = 6553600", "attention d_model=512 heads=8", "wrong", ("heads_times_full_width",)),
        ("params = 110,592", "bert-base", "wrong", ("hyperparameter_product",)),
        ("params = 109,482,420", "bert-base", "wrong", ("digits_exchanged",)),
        ("shape(weights) = 768 x 768", "bert-base t=5", "wrong", ("feature_by_feature",)),
        ("shape(weights) = 12 x 5 x 5", "bert-base t=5", "convention", ()),
        ("shape(q, head=0) = t x d_k", "bert-base t=5", "convention", ()),
        ("flops(attention) < flops(ffn)", "bert-base t=128", "right", ()),
        ("params(decoder) > params(encoder)", "transformer", "convention", ()),  # only one holds the shared table
        ("params(ffn) < params(attention)", "bert-base", "wrong", ()),
        ("flops(attention, layer=0) = 8nd² + 4n²d", "bert-base t=512", "right", ()),
        ("bytes(training) = 876 MB", "bert-base", "wrong", ("training_state_forgotten",)),
        ("positions(1, 0) = 0.540", "transformer-base", "wrong", ("positional_index",)),
        ("complexity(core) = n^2*d", "bert-base", "right", ()),
        ("complexity(core) = O(n d)", "bert-base", "wrong", ("linear_instead_of_quadratic",)),
        ("tokens = 196", "vit-b16", "wrong", ("vit_tokens_or_patch",)),
        ("d_k = 768", "bert-base", "wrong", ("one_head_vs_all_heads",)),
        ("macs(ffn, layer=0) = 2.4e9", "bert-base t=512", "right", ()),
        ("params = 1.09e8", "bert-base", "right", ()),
        ("params = 1.2e8", "bert-base", "wrong", ()),
        ("softmax([2, 1, 0.1]) = [7.389, 2.718, 1.105]", "", "wrong", ("softmax_not_normalised",)),
        ("var([2, 4, 6, 8]) = 6.67", "", "convention", ()),
        ("params(ffn) / params(attention) = 0.500", "bert-base", "wrong", ("ratio_reversed",)),
        ("3 * (768 * 768) * 8 = 14,155,776", "", "right", ()),
        ("3 * (768 * 768) * 8 = 14,155,008", "", "wrong", ()),
        ("softmax([0, ln(3)]) = [0, 0]", "", "wrong", ()),
        ("softmax([0, ln(3)]) = [0.25, 0.75]", "", "right", ()),
        ("softmax([2, 1]) = [0, 0]", "", "wrong", ()),
        ("layernorm([1, 2, 3, 4]) = [-1.16, -0.39, 0.39, 1.16]", "", "wrong", ("layernorm_variance",)),
        ("gelu(1) = 0.8412", "", "convention", ()),
        ("params = 12 * 768^2 = 7,087,872", "layer d_model=768 heads=12", "wrong", ()),
        ("110M = params", "bert-base", "right", ()),
        ("gelu(1) = 0.7311", "", "wrong", ("function_replaced",)),
        ("exp(3.2) = 9.19", "", "wrong", ("function_replaced",)),
        ("-0.7*ln(0.7) - 0.3*ln(0.3) = 0.881", "", "wrong", ("function_replaced",)),
        ("2*0.75*0.6/(0.75+0.6) = 0.675", "", "wrong", ("function_replaced",)),
        ("softmax([4, 2] / sqrt(4)) = [0.440, 0.060]", "", "wrong", ("scaled_after_softmax",)),
        ("softmax([1.5, 0.5, -1]) = [1, 0, 0]", "", "wrong", ("hard_or_uniform_attention",)),
        ("cos(60) * 1.000 = 0.500", "", "wrong", ("degrees_for_radians",)),
        ("(4 + 1 + 0 + 9) / 4 = 4.667", "", "wrong", ("divided_by_one_less",)),
        ("shape(q) = 50 x 4 x 12 x 64", "bert-base batch=4 t=50", "wrong", ("axes_exchanged",)),
        ("shape(weights, head=0) = 50 x 64", "bert-base t=50", "wrong", ("size_replaced",)),
        ("params(ffn, layer=0) = 7,084,800", "bert-base", "wrong", ("part_not_there",)),
        ("updates(rows=8000, batch=16, accumulate=4, epochs=3) = 1500", "", "wrong", ("epochs_forgotten",)),
        ("-ln(0.25) = 2", "", "wrong", ("function_replaced",)),
        ("rmsnorm([1, 2, 3, 6]) = [-1.07, -0.53, 0, 1.60]", "", "wrong", ("layernorm_for_rmsnorm",)),
        ("dot([1, 2], [3, 4]) / sqrt(2) = 5.5", "", "wrong", ("root_forgotten",)),
        ("softmax([2, 1]) = [0.8, 0.2]", "", "wrong", ()),
        ("params(attention) = 263,168", "layer d_model=256 heads=4 d_k=32 d_v=32", "wrong", ("head_width_assumed",)),
        ("d_k = 128", "llama-3-8b d_k=64", "wrong", ("head_width_assumed",)),
        ("shape(concat) = 1 x 5 x 64", "bert-base t=5", "wrong", ("one_head_vs_all_heads",)),
        ("shape(decoder.layers.0.cross.scores) = 1 x 8 x 9 x 7", "transformer t=9 u=7", "wrong", ("queries_keys_transposed",)),
        ("shape(Q K^T, Q=7 x 64, K=9 x 64) = 9 x 7", "", "wrong", ("rows_columns_swapped",)),
        ("shape(W_Q^T X, W_Q=D x d_q, X=D x T) = d_q x T", "", "right", ()),
        ("shape(W_q X, W_q=d/S x n, X=n x m) = d x m", "", "wrong", ()),
        ("flops(attention, layer=0) = 8*t*d^2 + 2*t^2*d", "bert-base t=512", "wrong", ("product_left_out",)),
        ("flops(ffn, layer=0) = 8*t*d*d_ff", "bert-base t=512", "wrong", ("macs_vs_flops",)),
        ("bytes(kv_cache, dtype=fp16) = 36 MiB", "gpt2 t=1024 batch=8", "wrong", ("batch_forgotten",)),
        ("bytes(kv_cache, dtype=fp16) = 1 GiB", "mistral-7b t=8192", "wrong", ()),
        ("tokens = 1,000", "whisper-tiny positions=1000", "right", ()),
        ("tokens = 3,000", "whisper-tiny", "wrong", ("convolution_length",)),
        ("tokens = 50", "wav2vec2-base samples=16000", "wrong", ("convolution_length",)),
        ("patches = 225", "vit-b16 patch=15", "wrong", ("vit_tokens_or_patch",)),
        ("updates(rows=50000, batch=128, epochs=10) = 391", "", "wrong", ("epochs_forgotten",)),
        ("params = 109,482,240", "roberta-base", "wrong", ("another_model",)),
    ],
)
def test_verdicts(relation: str, spec: str, verdict: str, codes: tuple[str, ...]) -> None:
    found = gf.check(relation, spec or None)
    assert found.verdict == verdict
    assert (found.findings[0].codes if found.findings else ()) == codes or not codes


def test_no_mistake_about_heads_is_named_if_there_is_one_head() -> None:
    """Every wrong number that mistakes about heads would give with several heads is tried where there is only one."""
    asked = request("encoder", d_model=64, heads=1, layers=2, vocab=100)
    for number in range(1, 40):
        found = check(f"params(attention, layer=0) = {16_640 * number // 8}", asked)
        codes = {code for finding in found.findings for code in finding.codes}
        assert not codes & {
            "heads_times_full_width",
            "one_head_vs_all_heads",
            "grouped_queries_ignored",
            "score_cost_times_heads",
        }


@pytest.mark.parametrize(
    ("relation", "says"),
    [
        ("params", "is not a claim: write a relation"),
        ("params = 438 MB", "count different things"),
        ("params = 110M bytes", "count different things"),
        ("shape(weights) = 3.5", "is not a size"),
        ("shape(weights) = params / 2 + 1", "is not a shape"),
        ("complexity(core) = 7", "is a number, not a complexity class"),
        ("params = foo", "'foo' is not a quantity"),
        ("softmax([1, 2]) < 3", "compare single numbers"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_a_one_line_error(relation: str, says: str) -> None:
    with pytest.raises(GlassformerError) as refused:
        gf.check(relation, "bert-base", t=5)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_claim_given_with_an_expression_is_the_same_relation() -> None:
    assert gf.check("params", "bert-base", claim="110M").to_dict() == gf.check("params = 110M", "bert-base").to_dict()
