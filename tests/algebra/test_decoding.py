"""A decoding step with a key/value cache: the last position of a forward pass, and what the cache holds."""

import pytest
from command_line import glassformer

import glassformer as gf

GROUPED = {"d_model": 32, "heads": 4, "kv_heads": 2, "d_ff": 48, "layers": 2, "vocab": 50, "position": "rotary"}
SMALL = "seq2seq d_model=8 heads=2 d_ff=12 layers=2 vocab=11"


def test_all_steps_together_are_a_forward_pass():
    steps = [gf.decoding("decoder", **GROUPED, t=t) for t in range(1, 7)]
    forward = gf.cost("decoder", **GROUPED, t=6, kernel="fused")  # fused: scores that the mask hides are not computed
    assert sum(step.multiply_adds for step in steps) == forward.multiply_adds


def test_llama_3_8b_caches_128_kib_a_token():
    found = gf.decoding("llama-3-8b", t=8192, dtype="bfloat16")
    assert found.cache == 8192 * 131_072  # published: 2 · 32 layers · 8 heads · 128 · 2 bytes
    assert gf.decoding("llama-3-8b", t=8192, batch=3, dtype="bfloat16").cache == 3 * found.cache
    assert gf.decoding("llama-3-8b", t=8192, kv_heads=32, dtype="bfloat16").cache == 4 * found.cache


def test_a_window_bounds_the_cache():
    short, long = (gf.decoding("mistral-7b", t=t).cache for t in (4096, 8192))
    assert short == long
    assert gf.decoding("mistral-7b", t=2048).cache == short // 2


def test_an_encoder_runs_once_and_its_keys_are_cached():
    found = gf.decoding(SMALL, t=5, u=7)
    assert {row.name: row.numbers for row in found.caches} == {"attention": 2 * 2 * 7 * 8, "cross": 2 * 2 * 5 * 8}
    assert not [name for name in found.parts if name.startswith("encoder")]
    whole = gf.cost(SMALL, t=5, u=7, kernel="fused").parts
    steps = [gf.decoding(SMALL, t=5, u=u).parts for u in range(1, 8)]
    for part in ("decoder: layers: attention", "decoder: layers: feed-forward", "head"):
        assert sum(step[part].multiply_adds for step in steps) == whole[part].multiply_adds
    keys = 2 * 2 * 5 * 8 * 8  # of cross-attention: computed once
    cross = "decoder: layers: cross-attention"
    assert sum(step[cross].multiply_adds for step in steps) == whole[cross].multiply_adds - keys


@pytest.mark.parametrize(("spec", "sizes", "memory"), [("llama-3-8b", {}, "24GB"), ("t5-small-seq2seq", {"t": 100}, "250MB")])
def test_the_longest_context_fits_and_the_next_does_not(spec, sizes, memory):
    longest = gf.longest_context(spec, memory, dtype="bfloat16", **sizes)
    name, limit = ("u" if sizes else "t"), {"24GB": 24 * 10**9, "250MB": 250 * 10**6}[memory]

    def needed(length):
        found = gf.decoding(spec, dtype="bfloat16", **sizes, **{name: length})
        return found.weights + found.cache

    assert needed(longest) <= limit < needed(longest + 1)


def test_a_position_table_bounds_the_context():
    assert gf.longest_context("gpt2", "80GB") == 1024
    assert gf.longest_context("gpt2", "1MB") == 0


def test_where_every_layer_has_a_window_any_context_fits():
    assert gf.longest_context("mistral-7b", "24GB", dtype="bfloat16") is None
    assert isinstance(gf.longest_context("mistral-7b", "24GB", dtype="bfloat16", global_every=4), int)
    assert gf.longest_context("mistral-7b", "10GB", dtype="bfloat16") == 0


def test_the_longest_context_is_reported_with_the_context_length_of_the_model():
    said = glassformer("cost", "mistral-7b", "--decode", "--dtype", "bf16", "--fit", "24GB").stdout
    assert "any number of tokens, since each layer keeps the last 4,096 of them; the model is for positions=32,768" in said
    said = glassformer("cost", "llama-3-8b", "--decode", "--dtype", "bf16", "--fit", "24GB").stdout
    assert "60,573 tokens; the model is for positions=8,192" in said


def test_an_encoder_has_no_decoding_step():
    with pytest.raises(gf.GlassformerError, match="bert-base is an encoder: it predicts no next token"):
        gf.decoding("bert-base")


def test_a_claim_in_gib_is_answered_in_gib():
    said = glassformer("check", "bytes(kv_cache) = 5 GiB", "llama-3-8b", "t=8192").stdout
    assert said.startswith("wrong.") and "it is 2.00 GiB = 2,147,483,648" in said
