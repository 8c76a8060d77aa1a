"""The language on decoders and encoder-decoders: values are those of the algebra, and known mistakes have names."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import decoder_specs

import glassformer as gf
from glassformer.algebra.decoding import decoding
from glassformer.errors import GlassformerError
from glassformer.program import build
from glassformer.spec import DecoderSpec

SMALL = "transformer d_model=16 layers=2 heads=2 vocab=50 d_ff=24"


@pytest.mark.parametrize(
    ("model", "count"),
    [
        ("gpt2", 124_439_808),
        ("llama-3-8b", 8_030_261_248),
        ("t5-small-seq2seq", 60_506_624),
        ("opus-mt-en-fr", 75_133_952),
        ("whisper-tiny-seq2seq", 37_760_640),
    ],
)
def test_params_are_the_published_counts(model, count):
    assert gf.ask("params", model).value == count


@settings(deadline=None, max_examples=40)
@given(decoder_specs(), st.integers(1, 9), st.integers(1, 3))
def test_on_any_decoder_the_quantities_are_those_of_the_algebra(spec: DecoderSpec, t: int, batch: int):
    sizes = {"t": t, "batch": batch}
    assert gf.ask("params", spec).value == gf.count(spec).total
    assert gf.ask("flops", spec, **sizes).value == gf.cost(spec, **sizes).matrix_flops
    step = decoding(build(spec, **sizes))
    assert gf.ask("flops(pass=decode)", spec, **sizes).value == step.matrix_flops
    if spec.layers:
        assert gf.ask("bytes(kv_cache)", spec, **sizes).value == step.cache


@settings(deadline=None, max_examples=60)
@given(
    decoder_specs(), st.sampled_from(["params", "flops", "macs", "bytes(weights, dtype=bf16)", "elements(scores)", "d_k * heads"])
)
def test_a_right_claim_about_any_decoder_is_never_accused(spec: DecoderSpec, quantity: str):
    try:
        value = gf.ask(quantity, spec, t=5).value
    except GlassformerError:
        return  # no layers, no scores
    assert gf.check(f"{quantity} = {value}", spec, t=5).right


def test_the_parts_of_an_encoder_decoder_add_up():
    parts = ("encoder", "decoder")
    assert sum(gf.ask(f"params({part})", "bart-base-seq2seq").value for part in parts) == gf.count("bart-base-seq2seq").total
    own = sum(row.count for row in gf.count("transformer").rows if ".cross." in row.name)
    assert gf.ask("params(cross)", "transformer").value == own == 6_303_744
    assert gf.ask("params(decoder, layer=0)", "transformer").value == gf.ask("params(decoder.layers.0)", "transformer").value


def test_shapes_have_the_lengths_of_both_texts():
    assert gf.ask("shape(cross.weights)", "transformer", t=7, u=5).value == (1, 8, 5, 7)
    assert gf.ask("shape(cross.weights, t=7, u=5)", "transformer").value == (1, 8, 5, 7)
    assert gf.ask("growth(flops(cross), u)", SMALL, t=3).value == 1
    assert gf.ask("decoder.layers + layers", "transformer", **{"decoder.layers": 3}).value == 9


def test_the_cache_of_an_encoder_decoder_has_the_source_in_it():
    step = decoding(build(gf.spec(SMALL), batch=2, t=7, u=5))
    assert gf.ask("bytes(kv_cache)", SMALL, batch=2, t=7, u=5).value == step.cache


def test_a_window_keeps_fewer_tokens():
    whole = gf.ask("bytes(kv_cache)", "decoder d_model=16 layers=2 vocab=9", t=40).value
    assert gf.ask("bytes(kv_cache)", "decoder d_model=16 layers=2 vocab=9 window=14", t=40).value == whole * 8 // 40
    wrong = gf.check(f"bytes(kv_cache) = {whole}", "decoder d_model=16 layers=2 vocab=9 window=14", t=40)
    assert "window_ignored_in_cache" in wrong.findings[0].codes


GROUPED = "decoder d_model=64 heads=8 kv_heads=2 layers=3 vocab=99 norm=pre norm_kind=rms tie=false"


@pytest.mark.parametrize(
    ("model", "quantity", "claim", "code"),
    [
        ("gpt2", "params", 163_037_184, "tied_weights_twice"),
        ("transformer", "params", 63_082_496 - 6_303_744, "cross_attention_missing"),
        ("transformer", "params", 63_082_496 + 37_000 * 512, "tied_weights_twice"),
        ("transformer", "params", 63_082_496 - 25_224_192, "one_stack_only"),
        ("llama-3-8b", "bytes(kv_cache, t=8192, dtype=bf16)", 4 << 30, "grouped_queries_ignored"),
        ("llama-3-8b", "bytes(kv_cache, t=8192, dtype=bf16)", 1 << 29, "cache_keys_and_values"),
        ("llama-3-8b", "bytes(kv_cache, t=8192, dtype=bf16)", 1 << 25, "one_layer_only"),
        ("gpt2", "elements(scores, t=128)", 98_304, "causal_half_ignored"),
        ("gpt2", "params(layers)", 85_054_464 + 12 * (4 * 768 * 768 + 4 * 768), "cross_attention_missing"),
        (GROUPED, "params(norms)", 2 * gf.ask("params(norms)", GROUPED).value, "part_not_there"),
    ],
)
def test_a_wrong_number_has_its_mistake(model, quantity, claim, code):
    found = gf.check(f"{quantity} = {claim}", model)
    assert found.verdict == "wrong"
    assert code in [code for finding in found.findings for code in finding.codes], found.findings


def test_a_step_is_not_a_pass():
    whole = gf.ask("flops", "gpt2", t=64).value
    found = gf.check(f"flops(pass=decode) = {whole}", "gpt2", t=64)
    assert "whole_pass_for_a_step" in found.findings[0].codes


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("transformer", f"params(attention) = {18_911_232 - 6_303_744}"),
        ("bart-base-seq2seq", f"params(decoder) = {57_500_160 + 38_603_520}"),
        ("gpt2", f"flops(scores, t=128) = {301_989_888 * 129 // 256}"),
        ("gpt2", f"elements(scores, t=128) = {12 * 128 * 129 // 2}"),
        ("t5-small", "params = 60.5M"),
    ],
)
def test_other_usual_countings_are_conventions(model, claim):
    assert gf.check(claim, model).verdict == "convention"


@pytest.mark.parametrize(
    ("expression", "model", "says"),
    [
        ("flops(pass=decode)", "bert-base", "bert-base is an encoder: it predicts no next token"),
        ("decoder.layers", "gpt2", "this model has one stack of layers. Write layers."),
        ("u", "gpt2", "this model reads one text. Use t."),
        ("flops(pass=decode, per=token)", "gpt2", "a decoding step computes one token; leave per out."),
        ("params(decoder)", "gpt2", "this model has only a decoder. Write params for all of it"),
        ("params(ffn, layer=6)", "transformer", "the layers are 0 to 5"),
    ],
)
def test_quantities_that_a_model_lacks_are_refused_in_one_line(expression, model, says):
    with pytest.raises(GlassformerError) as error:
        gf.ask(expression, model)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_questions_may_name_decoders():
    assert gf.ask("How many parameters does GPT-2 have?").value == 124_439_808


def test_layers_and_heads_of_both_stacks_are_counted():
    assert gf.ask("count(layers)", "transformer").value == 12
    assert gf.ask("count(heads)", "transformer").value == 6 * 8 + 2 * 6 * 8
    assert gf.ask("count(heads)", "gpt2").value == 144
