"""The tree of blocks: every step once, every parameter in one block, descriptive titles."""

import pytest

import glassformer as gf
from glassformer.algebra import ledger, notation
from glassformer.show.blocks import blocks


def tree(name, **fields):
    return blocks(notation(gf.build(name, **fields)))


def named(nodes):
    return {node.name: node for top in nodes for node in top.walk()}


@pytest.mark.parametrize("name", sorted(gf.presets()))
def test_the_blocks_hold_every_parameter(name):
    assert sum(node.parameters for node in tree(name)) == ledger(gf.build(name)).total


@pytest.mark.parametrize("name", sorted(gf.presets()))
def test_every_step_is_in_one_place_and_each_kind_of_layer_is_there_once(name):
    steps = [node.name for top in tree(name) for node in top.walk() if node.equation is not None]
    assert steps == [equation.name for equation in notation(gf.build(name)).rows]


@pytest.mark.parametrize("name", ["bert-base", "modernbert-base", "albert-base", "dinov2-b", "siglip-b16-vision"])
def test_what_is_inside_a_block_holds_its_parameters(name):
    for node in named(tree(name)).values():
        if node.inner and node.kind not in ("layer", "embeddings", "pooler", "head"):
            assert sum(inner.parameters for inner in node.inner) == node.parameters, node.name


def test_the_blocks_of_bert_base():
    found = named(tree("bert-base"))
    assert [(node.name, node.title, node.parameters) for node in tree("bert-base")] == [
        ("embeddings", "embedding", 23_837_184),
        ("layers.0", "12 × layer", 85_054_464),
        ("pooler", "pooler", 590_592),
    ]
    assert found["layers.0"].note == "12 × 7,087,872 = 85,054,464"
    assert [inner.title for inner in found["layers.0"].inner] == [
        "attention, 12 heads",
        "attention residual",
        "LayerNorm",
        "feed-forward",
        "ffn residual",
        "LayerNorm",
    ]
    assert [inner.is_sum for inner in found["layers.0"].inner] == [False, True, False, False, True, False]
    assert [inner.title for inner in found["layers.0.attention"].inner][:5] == ["query", "key", "value", "scores", "weights"]
    assert found["layers.0.attention.scores"].equation.right == "Q Kᵀ / √d_k"


def test_layers_that_share_their_weights_say_so():
    node = named(tree("albert-base"))["layers.0"]
    assert (node.title, node.note) == ("12 × layer", "7,087,872, shared")
    assert node.parameters == 7_087_872


def test_each_kind_of_layer_states_what_it_attends_to():
    titles = [node.title for node in tree("modernbert-base") if node.layers]
    assert titles == ["layer 0, global", "14 × layer, window 128", "7 × layer, global"]


def test_heads_that_share_keys_are_reported():
    assert "attention, 8 heads on 2" in {node.title for node in named(tree("layer", heads=8, kv_heads=2)).values()}


def test_a_table_for_all_layers_stands_before_them():
    found = tree("deberta-v3-base")
    assert [(node.title, node.parameters) for node in found][:2] == [("embedding", 98_382_336), ("relative table", 394_752)]
    bias = tree("t5-small")[1]
    assert (bias.title, bias.part, bias.inner) == ("relative bias", "attention", ())


def test_a_tied_table_belongs_to_the_embeddings():
    head = named(tree("bert-base", head="mlm"))["head"]
    assert head.parameters == ledger(gf.build("bert-base", head="mlm")).parts["head"]
