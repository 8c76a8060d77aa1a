"""Subtotals: every part is the sum of its parts, every line is in the tree once, and the largest part is named."""

import pytest
from hypothesis import given, settings
from strategies import specs

import glassformer as gf
from glassformer.algebra import count
from glassformer.algebra.subtotals import Subtotal


def pieces(found) -> dict[str, Subtotal]:
    """Everything in a tree by its path: `layers/attention/qkv/W_Q + b_Q/W_Q`."""
    named: dict[str, Subtotal] = {}

    def add(part, above):
        named[f"{above}{part.name}"] = part
        for inner in part.parts:
            add(inner, f"{above}{part.name}/")

    for part in found.subtotals:
        add(part, "")
    return named


def require_sums(found):
    """Every part is the sum of its parts, down to the lines of the ledger, each of which is there once."""
    everything = [part for top in found.subtotals for _, part in top.walk()]
    for part in everything:
        assert part.count == (sum(inner.count for inner in part.parts) if part.parts else part.line.count)
    assert sum(part.count for part in found.subtotals) == found.total
    assert {part.name: part.count for part in found.subtotals} == found.parts
    lines = [part.line for part in everything if part.line is not None]
    assert sorted(line.name for line in lines) == sorted(line.name for line in found.lines)
    assert sum(line.count for line in lines) == found.total


@given(specs())
@settings(max_examples=150)
def test_subtotals_add_up_to_the_total(spec):
    found = count(spec)
    require_sums(found)
    inside = {part.name: part for top in found.subtotals if top.name == "layers" for part in top.parts}
    for name in ("attention", "ffn"):
        assert (inside[name].count if name in inside else 0) == found.layer_parts.get(name, 0)


@given(specs())
@settings(max_examples=50)
def test_subtotals_of_a_convention_add_up_too(spec):
    for part in ("biases", "norms", "qkv", "ffn"):
        require_sums(count(spec, without=part))


def test_subtotals_that_leave_a_part_out_are_found_wrong():
    found = count(gf.spec("bert-base"))
    vars(found)["subtotals"] = found.subtotals[1:]
    with pytest.raises(AssertionError):
        require_sums(found)


def test_attention_is_qkv_and_output_and_each_matrix_is_listed_with_its_bias():
    named = {path: part.count for path, part in pieces(gf.count("bert-base")).items()}
    assert named["layers/attention"] == named["layers/attention/qkv"] + named["layers/attention/output"] == 12 * 2_362_368
    assert named["layers/attention/qkv/W_Q + b_Q"] == 12 * (768 * 768 + 768)
    assert named["layers/attention/qkv/W_Q + b_Q/b_Q"] == 12 * 768
    assert named["layers/attention/output/W_O"] == 12 * 768 * 768
    assert named["layers/ffn"] == named["layers/ffn/W_1 + b_1"] + named["layers/ffn/W_2 + b_2"] == 56_669_184
    assert named["layers/norms"] == named["layers/norms/norm_1"] + named["layers/norms/norm_2"] == 12 * 4 * 768


@pytest.mark.parametrize("part", ["qkv", "output", "ffn", "attention"])
def test_a_subtotal_of_the_layers_equals_the_count_of_only(part):
    named = pieces(gf.count("bert-base"))
    path = f"layers/attention/{part}" if part in ("qkv", "output") else f"layers/{part}"
    assert named[path].count == gf.count("bert-base", only=part).total


def test_a_matrix_without_its_bias_has_its_own_line():
    named = pieces(gf.count("bert-base", without="biases"))
    assert "layers/attention/qkv/W_Q" in named
    assert not [path for path in named if "+" in path]


def test_a_stored_bias_that_is_never_added_belongs_to_no_matrix():
    named = pieces(gf.count("bert-base", head="mlm", tie=False, spare_bias=True))
    assert {"head/W_vocab + b_vocab", "head/b_spare"} <= set(named)


def test_the_bias_of_a_tied_matrix_is_in_the_head_and_the_matrix_in_the_embeddings():
    named = pieces(gf.count("bert-base", head="mlm"))
    assert {"embeddings/E_token", "head/b_vocab"} <= set(named)


LARGEST = [
    ({}, ["ffn"]),
    ({"only": "attention"}, ["qkv"]),
    ({"only": "qkv"}, ["W_Q + b_Q", "W_K + b_K", "W_V + b_V"]),
    ({"only": "W_Q"}, []),
    ({"vocab": 250_000}, ["embeddings"]),
    ({"only": "embeddings"}, ["E_token"]),
]


@pytest.mark.parametrize(("asked", "names"), LARGEST)
def test_the_largest_part_is_named(asked, names):
    assert [part.name for part in gf.count("bert-base", **asked).largest] == names


def test_the_tree_and_the_largest_part_are_in_the_document():
    document = gf.count("bert-base").to_dict()
    layers = next(part for part in document["subtotals"] if part["name"] == "layers")
    assert [part["name"] for part in layers["parts"]] == ["attention", "ffn", "norms"]
    query = layers["parts"][0]["parts"][0]["parts"][0]["parts"][0]
    assert query == {
        "name": "W_Q",
        "place": "layers.*.attention.W_Q",
        "count": 7_077_888,
        "times": 12,
        "formula": "12 × d_model · head · d_k",
        "numbers": "12 × 768 · 12 · 64",
    }
    assert document["largest"] == [{"name": "ffn", "count": 56_669_184, "share": 56_669_184 / 109_482_240}]
