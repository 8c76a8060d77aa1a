"""Right, right under a convention, or the mistake that gives exactly that number."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import specs

from glassformer.algebra import count
from glassformer.answers.asked.counting_conventions import left_out_ways
from glassformer.answers.judging import check
from glassformer.answers.mistakes.catalogue import CATALOGUE
from glassformer.answers.mistakes.counting import RULES, rewrites
from glassformer.answers.mistakes.pieces import Setting, pieces_of, total
from glassformer.spec import EncoderSpec, GlassformerError
from glassformer.spec.reading import request

COURSE = {"d_model": 64, "heads": 4, "d_k": 16, "d_ff": 120}
FREE = {"d_model": 8, "heads": 1, "d_k": 4, "d_v": 6, "biases": "none"}
FIXED = {"vocab": 30522, "d_model": 768, "heads": 12, "positions": 512}
NARROW = {"d_model": 64, "heads": 4, "d_ff": 120, "biases": "none"}
A = {"d_model": 512, "heads": 8, "d_ff": 2048}
BERT = {"vocab": 30522}

# Question, spec, claim, verdict, and what must be named. The numbers are published right and wrong answers.
CASES = [
    (
        "params",
        "layer",
        {"d_model": 64, "heads": 4, "d_k": 16, "d_ff": 120},
        "27648",
        "convention",
        "without biases, norms, output",
    ),
    ("params", "layer", COURSE, "32440", "right", ""),
    ("params", "attention", A, "6,553,600", "wrong", "heads_times_full_width"),
    ("params", "attention", A, "6,291,456", "wrong", "heads_times_full_width"),
    ("params", "attention", A, "8,388,608", "wrong", "heads_times_full_width"),
    ("params", "attention", A, "98,304", "wrong", "one_head_vs_all_heads"),
    ("params", "attention", A, "360,448", "wrong", "one_head_vs_all_heads"),
    ("params", "attention", A, "1,048,576", "convention", "without biases"),
    ("params", "attention", A, "1,050,112", "wrong", "attention_bias"),
    ("params of ffn", "layer", A, "2,099,712", "right", ""),
    ("params of ffn", "layer", A, "2,097,152", "convention", "without biases"),
    ("params of ffn", "layer", A, "2,098,176", "wrong", "ffn_bias"),
    ("params of ffn", "layer", A, "2,097,664", "wrong", "ffn_bias"),
    ("params of ffn", "layer", A, "1,048,576", "wrong", "ffn_one_or_twice"),
    ("params of ffn", "layer", A, "4,194,304", "wrong", "ffn_one_or_twice"),
    ("params", "layer", A, "3,150,336", "convention", "without norms"),
    ("params of norms", "layer", A, "1,024", "wrong", "layernorm_undercounted"),
    ("params of norms", "layer", A, "4", "wrong", "layernorm_undercounted"),
    ("params", "encoder", A, "3,152,384", "wrong", "one_layer_only"),
    ("params of tables", "bert-base", BERT, "23,440,896", "wrong", "position_or_segment_table_missing"),
    ("params of tables", "bert-base", BERT, "23,834,112", "wrong", "position_or_segment_table_missing"),
    (
        "params of tables",
        "transformer-base",
        {"vocab": 30522, "d_model": 768, "heads": 12, "positions": 512},
        "23,834,112",
        "wrong",
        "sinusoidal_counted",
    ),
    ("params", "bert-base", {"head": "mlm"}, "132,955,194", "wrong", "tied_weights_twice"),
    (
        "params of qkv",
        "attention",
        {"d_model": 8, "heads": 1, "d_k": 4, "d_v": 6, "biases": "none"},
        "96",
        "wrong",
        "dv_dk_mixed",
    ),
    ("params of qkv", "attention", FREE, "112", "right", ""),
    ("params of qkv", "attention", A | {"t": 128, "biases": "none"}, "100,663,296", "wrong", "sequence_length_in_parameters"),
    ("params of head", "bert-base", {"head": "classify", "classes": 5}, "3,840", "convention", "without biases"),
    ("params of head", "bert-base", {"head": "classify", "classes": 5}, "773", "wrong", "head_count_wrong"),
    ("params of tokens", "bert-base", {"vocab": 119547}, "23,440,896", "wrong", "vocabulary_ignored"),
    ("params", "bert-base", {}, "110,592", "wrong", "hyperparameter_product"),
    ("params", "bert-base", {}, "108,891,648", "convention", "without pooler"),
    ("params", "bert-base", {}, "about 110 million", "right", ""),
    ("params", "bert-large", {}, "340M", "right", ""),
    (
        "params of ffn",
        "layer",
        {"d_model": 64, "heads": 4, "d_ff": 120, "biases": "none"},
        "32,768",
        "wrong",
        "ffn_width_assumed_4d",
    ),
    ("params", "bert-base", {"vocab": 40_000, "layers": 8, "heads": 8}, "219,858,432", "wrong", "heads_times_full_width"),
    ("params", "bert-base", {"vocab": 40_000, "layers": 8, "heads": 8}, "218,671,424", "wrong", "heads_times_full_width"),
    ("params", "bert-base", {}, "109,842,240", "wrong", "digits_exchanged"),
    ("params", "albert-base", {}, "89,650,176", "wrong", "shared_layers_multiplied"),
    ("shape of weights", "bert-base", {"t": 5}, "12 x 5 x 5", "convention", "without the batch"),
    ("shape of weights", "bert-base", {"t": 6}, "768 x 768", "wrong", "feature_by_feature"),
    ("shape of q", "bert-base", {"t": 5}, "5 x 768", "convention", "heads side by side"),
    ("elements of head output", "layer", {"d_model": 64, "heads": 2, "d_k": 32, "d_v": 16, "t": 32}, "512", "right", ""),
    ("tokens", "vit-b16", {}, "196", "wrong", "vit_tokens_or_patch"),
    ("tokens", "vit-b16", {}, "14", "wrong", "vit_tokens_or_patch"),
    ("flops", "bert-base", {"t": 128}, "22,347,251,712", "convention", "the layers alone"),
    ("flops", "bert-base", {"t": 128}, "11,173,625,856", "wrong", "macs_vs_flops"),
    ("flops", "bert-base", {"t": 128}, "28,991,029,248", "wrong", "score_cost_times_heads"),
]


@pytest.mark.parametrize(("question", "what", "fields", "claim", "verdict", "named"), CASES)
def test_published_answers(question, what, fields, claim, verdict, named):
    found = check(question, request(what, **fields), claim)
    assert found.verdict == verdict
    if verdict == "wrong":
        assert named in {code for finding in found.findings for code in finding.codes}
    else:
        assert named in found.convention


def test_two_mistakes_at_once_are_named_where_chance_is_ruled_out():
    """BERT-base, heads times full width, and only one layer: 12 · 4 · 768² + 2 · 768 · 3072, with embeddings."""
    right = pieces_of(count(request("bert-base").spec))
    setting = Setting(request("bert-base").spec, 1, None)
    first = next(r for r in rewrites(right, setting) if r.code == "heads_times_full_width")
    second = next(r for r in rewrites(first.pieces, setting) if r.code == "one_layer_only")
    found = check("params", request("bert-base"), str(total(second.pieces)))
    assert {finding.codes for finding in found.findings} == {("heads_times_full_width", "one_layer_only")}


def test_a_number_that_nothing_explains_gets_no_cause():
    found = check("params", request("bert-base"), "12345678")
    assert found.verdict == "wrong"
    assert found.findings == ()
    assert found.notes == ("no known mistake gives this number",)


def test_a_near_miss_is_called_near():
    found = check("params", request("bert-base", vocab=40_000, layers=8, heads=8), "218671424")
    assert [finding.near for finding in found.findings] == [True]


@pytest.mark.parametrize("claim", ["123456789", "123.4M", "95,123,456"])
def test_a_number_that_a_small_mistake_comes_near_to_has_no_cause(claim):
    assert check("params", request("bert-base"), claim).findings == ()


@given(specs(), st.integers(1, 3), st.sampled_from([None, 2, 5]))
@settings(max_examples=60)
def test_every_mistakes_own_value_is_diagnosed_as_that_mistake(spec: EncoderSpec, batch, t):
    whole = count(spec)
    if not whole.rows or spec.one_length:
        t = None
    if not whole.rows:
        return
    asked = request(spec, batch=batch, **({"t": t} if t else {}))
    pieces = pieces_of(whole)
    excused = {total(kept) for _, kept in left_out_ways(pieces)} | {whole.total}
    for rewrite in rewrites(pieces, Setting(spec, batch, t)):
        value = total(rewrite.pieces)
        if value in excused or value == 0:
            continue
        found = check("params", asked, str(value))
        assert found.verdict == "wrong"
        assert rewrite.code in {code for finding in found.findings for code in finding.codes}, (rewrite.what, value)


@given(specs())
@settings(max_examples=60)
def test_no_right_answer_is_ever_called_wrong(spec: EncoderSpec):
    whole = count(spec)
    if not whole.rows:
        return
    asked = request(spec)
    assert check("params", asked, str(whole.total)).verdict == "right"
    assert check("params", asked, f"{whole.total:,}").verdict == "right"
    assert check("params", asked, f"about {whole.total}").verdict == "right"
    for words, kept in left_out_ways(pieces_of(whole)):
        assert check("params", asked, str(total(kept))).verdict in ("right", "convention"), words


def test_every_rule_has_its_sentence():
    assert set(RULES) <= set(CATALOGUE)
    assert all(mistake.sentence.endswith(".") for mistake in CATALOGUE.values())


@pytest.mark.parametrize(
    ("question", "formula", "verdict"),
    [
        ("How many parameters does a transformer block have?", "12 d²", "convention"),
        ("Parameters per transformer block?", "≈12·d²", "convention"),
        ("How many parameters does a transformer block have?", "12d^2 + 13d", "right"),
        ("How many parameters does the FFN have?", "8 d_model^2 + 5 d_model", "right"),
        ("How many parameters does the FFN have?", "4d²", "wrong"),
        ("How many parameters does multi-head attention have?", "3 d²", "convention"),
    ],
)
def test_a_formula_is_judged_for_an_encoder_of_any_size(question, formula, verdict):
    assert check(question, None, formula).verdict == verdict


def test_a_number_is_not_judged_for_an_encoder_of_any_size():
    with pytest.raises(GlassformerError, match="which encoder"):
        check("How many parameters does a transformer block have?", None, "7 million")


@pytest.mark.parametrize("claim", ["1e30", "1e999", "-1e999"])
def test_a_number_that_is_far_away_is_not_near_for_being_written_coarsely(claim):
    found = check("params", request("bert-base"), claim)
    assert (found.verdict, found.notes) == ("wrong", ("no known mistake gives this number",))
