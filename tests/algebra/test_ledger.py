"""The parameter ledger, against published counts and against itself."""

import json
import math
import time

import pytest
from hypothesis import given, settings
from strategies import specs

import glassformer as gf
from glassformer.algebra import count, ledger
from glassformer.errors import GlassformerError
from glassformer.program import build


def test_bert_base_has_109_482_240_parameters():
    assert gf.count("bert-base").total == 109_482_240


def test_the_course_layer_has_27_648_weights_of_32_440_parameters():
    found = gf.count("layer", d_model=64, heads=4, d_k=16, d_ff=120, without="output,biases,norms")
    assert (found.total, found.full) == (27_648, 32_440)
    assert [item.part for item in found.left_out] == ["output", "biases", "norms"]
    assert found.total + sum(item.count for item in found.left_out) == found.full


def test_the_course_bert_has_87_737_856_weights():
    fields = {"vocab": 40_000, "layers": 8, "heads": 8}
    assert gf.count("bert-base", **fields, without="biases,norms,pooler").total == 87_737_856
    assert gf.count("bert-base", **fields, without="pooler").total == 87_819_264
    assert gf.count("bert-base", **fields).total == 88_409_856


@pytest.mark.parametrize(("classes", "total"), [(5, 3845), (2, 1538)])
def test_a_classification_head_has_its_weights_and_biases(classes, total):
    assert gf.count("bert-base", head="classify", classes=classes, only="head").total == total


def test_query_key_and_value_maps_have_d_model_times_the_sum_of_their_widths():
    assert gf.count("attention", d_model=10, heads=1, d_k=4, d_v=6, without="output,biases").total == 140


def test_a_tied_table_is_counted_once_and_marked():
    found = gf.count("bert-base", head="mlm")
    assert found.total == 109_514_298
    assert [row.also for row in found.rows if row.name == "embeddings.E_token"] == [("head.W_vocab",)]
    assert "a tensor used twice is counted once" in found.convention


def test_shared_layers_are_counted_once_and_marked():
    found = gf.count("albert-base")
    assert found.total == 11_683_584
    assert len(next(row for row in found.rows if row.name == "layers.0.attention.W_Q").also) == 11


def test_frozen_tables_are_counted_and_said():
    found = gf.count("layer", vocab=10, position="sinusoidal_stored", positions=16, d_model=8)
    assert found.total - found.trainable == 16 * 8
    assert "128 of them stored but not trained" in found.convention


def test_the_number_of_heads_does_not_change_the_count():
    assert len({gf.count("layer", d_model=64, heads=heads).total for heads in (1, 2, 4, 8)}) == 1


@pytest.mark.parametrize(
    ("part", "total"),
    [
        ("W_Q", 12 * 768 * 768),
        ("layers.0.ffn", 4_722_432),
        ("tokens", 30522 * 768),
        ("encoder", 85_054_464),
        ("LayerNorm", 38_400),
    ],
)
def test_parts_go_by_symbol_place_and_alias(part, total):
    assert gf.count("bert-base", only=part).total == total


REFUSALS = [
    ({"without": "output,biasses"}, "unknown part 'biasses'. Did you mean 'biases'?"),
    ({"only": "head"}, "--only head: this spec has no such part. Add one with head=classify classes=5."),
    ({"only": "../../etc"}, "unknown part '../../etc'."),
]


@pytest.mark.parametrize(("parts", "message"), REFUSALS)
def test_an_unknown_part_is_refused(parts, message):
    with pytest.raises(GlassformerError) as refusal:
        gf.count("bert-base", **parts)
    assert message in str(refusal.value)


@given(specs())
@settings(max_examples=150)
def test_every_reading_of_a_ledger_sums_to_the_same(spec):
    found = count(spec)
    assert found.total == sum(math.prod(axis.size for axis in row.axes) for row in found.rows)
    assert found.total == sum(found.parts.values()) == sum(found.kinds.values()) == sum(line.count for line in found.lines)
    assert sum(found.layers.values()) + sum(row.count for row in found.rows if row.layer is None) == found.total
    assert len({row.name for row in found.rows}) == len(found.rows)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["total"] == sum(row["count"] for row in document["rows"])
    assert document["spec"] == json.loads(json.dumps(spec.to_dict()))


@given(specs())
@settings(max_examples=100)
def test_a_part_and_its_complement_make_the_whole(spec):
    whole = count(spec)
    for part in ("biases", "norms", "attention", "ffn", "weights"):
        without = count(spec, without=part)
        assert without.full == whole.total
        if without.total < whole.total:
            assert without.total + count(spec, only=part).total == whole.total


@given(specs())
@settings(max_examples=100)
def test_the_ledger_does_not_depend_on_batch_and_length(spec):
    if not spec.one_length:
        assert ledger(build(spec, batch=2, t=3)).total == count(spec).total


def test_the_ledger_is_linear_in_the_number_of_layers():
    totals = [gf.count("bert-base", layers=n).total for n in (0, 4, 8)]
    assert totals[2] - totals[1] == totals[1] - totals[0]


def test_a_thousand_specs_are_counted_in_about_a_second():
    """1.3 s where this was written; the bound of 2 s is measured in bench/, here only that it is nowhere near minutes."""
    spec = gf.spec("bert-base")
    began = time.process_time()
    for vocab in range(1000, 1200):
        count(spec.replace(vocab=vocab))
    assert time.process_time() - began < 10


def test_a_misspelt_encoder_in_the_place_of_a_part_is_named():
    with pytest.raises(GlassformerError, match=r"unknown part 'bert-bas'. Did you mean 'bert-base'\?"):
        gf.count("bert-base", only="bert-bas")


def test_grouped_queries_have_narrower_keys_and_values():
    found = {row.name: row for row in gf.count("layer", d_model=64, heads=8, kv_heads=2).rows}
    assert found["layers.0.attention.W_Q"].count == 64 * 64
    assert found["layers.0.attention.W_K"].count == found["layers.0.attention.W_V"].count == 64 * 2 * 8
    assert found["layers.0.attention.b_K"].count == 2 * 8
    assert found["layers.0.attention.W_O"].count == 64 * 64
    assert found["layers.0.attention.W_K"].formula == "d_model · kv_head · d_k"
