"""Grouped queries: what follows for W_K, W_V, keys, values and their cache, and the mistake of giving them all heads."""

import pytest

import glassformer as gf
from glassformer.errors import GlassformerError

SIZES = {"d_model": 64, "heads": 8, "kv_heads": 2, "d_ff": 128, "t": 5}
HELD = [
    ("params(W_Q)", 4096),
    ("params(W_K)", 1024),
    ("params(W_V)", 1024),
    ("params(attention)", 10_400),
    ("params(head=0)", 3 * (64 * 8 + 8)),
    ("shape(q)", (1, 5, 8, 8)),
    ("shape(k)", (1, 5, 2, 8)),
    ("shape(W_V)", (64, 16)),
    ("shape(k^T)", (1, 2, 8, 5)),
    ("elements(v)", 80),
    ("bytes(k)", 320),
    ("bytes(kv_cache)", 640),
]
CLAIMS = [
    ("params(W_K)", "4,096"),
    ("params(attention)", "16,640"),  # keys and values with all heads
    ("params(attention)", "7,280"),  # queries with as few heads as keys
    ("params(attention)", "9,360"),  # one head of keys and values
    ("shape(k)", "5 x 8 x 8"),
    ("shape(W_K)", "64 x 64"),
    ("bytes(kv_cache)", "2,560"),
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
def test_the_mistake_is_impossible_if_every_head_has_its_own_keys(question, claim):
    found = gf.check(question, "layer", claim=claim, **SIZES | {"kv_heads": None})
    assert "grouped_queries_ignored" not in [code for finding in found.findings for code in finding.codes]


def test_an_ambiguous_question_is_a_one_line_error():
    with pytest.raises(GlassformerError, match=r"heads in a group share keys and values here\. Ask for W_Q, scores or mix"):
        gf.ask("flops(qkv, head=0)", "layer", **SIZES)
