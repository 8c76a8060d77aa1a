"""Grouped queries: what follows for W_K, W_V, keys, values and their cache, and the mistake of giving them all heads."""

import pytest

import glassformer as gf
from glassformer.spec import GlassformerError

SIZES = {"d_model": 64, "heads": 8, "kv_heads": 2, "d_ff": 128, "t": 5}
HELD = [
    ("params of W_Q", 4096),
    ("params of W_K", 1024),
    ("params of W_V", 1024),
    ("params of attention", 10_400),
    ("params of one head", 3 * (64 * 8 + 8)),
    ("shape of q", (1, 5, 8, 8)),
    ("shape of k", (1, 5, 2, 8)),
    ("shape of W_V", (64, 16)),
    ("shape of K^T", (1, 2, 8, 5)),
    ("elements of v", 80),
    ("bytes of k", 320),
    ("memory of the KV cache", 640),
]
CLAIMS = [
    ("params of W_K", "4,096"),
    ("params of attention", "16,640"),  # keys and values with all heads
    ("params of attention", "7,280"),  # queries with as few heads as keys
    ("params of attention", "9,360"),  # one head of keys and values
    ("shape of k", "5 x 8 x 8"),
    ("shape of W_K", "64 x 64"),
    ("memory of the KV cache", "2,560"),
]
REFUSED = [
    ("shape of qkv", "'shape of qkv': keys have fewer heads than queries here. Ask for one of the three."),
    ("memory of Q, K and V", "'memory of Q, K and V': these have different sizes here. Ask for one of them."),
    (
        "flops of qkv per head",
        "'flops of qkv per head': keys and values are shared by groups of heads here, so no one head has them. "
        "Ask for W_Q, the scores or the weighted sum.",
    ),
]


@pytest.mark.parametrize(("question", "value"), HELD)
def test_keys_and_values_have_fewer_heads(question, value):
    assert gf.ask(question, "layer", **SIZES).value == value


@pytest.mark.parametrize(("question", "claim"), CLAIMS)
def test_heads_that_were_confused_are_named(question, claim):
    found = gf.check(question, "layer", claim=claim, **SIZES)
    assert found.verdict == "wrong"
    assert ("grouped_queries_ignored",) in [finding.codes for finding in found.findings]


@pytest.mark.parametrize(("question", "claim"), CLAIMS)
def test_where_every_head_has_keys_of_its_own_nobody_can_make_that_mistake(question, claim):
    found = gf.check(question, "layer", claim=claim, **SIZES | {"kv_heads": None})
    assert "grouped_queries_ignored" not in [code for finding in found.findings for code in finding.codes]


@pytest.mark.parametrize(("question", "line"), REFUSED)
def test_what_has_no_one_answer_is_refused_in_one_line(question, line):
    with pytest.raises(GlassformerError) as refusal:
        gf.ask(question, "layer", **SIZES)
    assert str(refusal.value) == line
