"""Shapes in the row and the column convention."""

import pytest

import glassformer as gf
from glassformer.errors import GlassformerError


def test_bert_base_on_five_tokens():
    found = gf.shapes("bert-base", batch=1, t=5)
    assert found["x"].shape == (1, 5, 768)
    for name in "qkv":
        assert found[f"layers.0.attention.{name}"].shape == (1, 5, 12, 64)
    assert found["layers.0.attention.weights"].shape == (1, 12, 5, 5)
    assert found["layers.0.attention.mix"].shape == (1, 5, 12, 64)
    assert found["layers.0.attention.out"].shape == (1, 5, 768)


def test_two_heads_of_free_width_with_tokens_as_columns():
    found = gf.shapes("layer", d_model=64, heads=2, d_k=32, d_v=16, t=32, convention="columns")
    assert found["layers.0.attention.W_O"].shape == (64, 32)
    assert found["layers.0.attention.q"].one_head == (32, 32)
    assert found["layers.0.attention.scores"].one_head == (32, 32)
    assert found["layers.0.attention.mix"].one_head == (16, 32)
    rows = gf.shapes("layer", d_model=64, heads=2, d_k=32, d_v=16, t=32)
    assert rows["layers.0.attention.mix"].one_head == (32, 16)
    assert rows["layers.0.attention.mix"].to_dict()["one_head"] == {"shape": [32, 16], "elements": 512}


def test_columns_are_rows_transposed():
    rows, columns = (gf.shapes("bert-base", t=7, convention=c) for c in ("rows", "columns"))
    for row, column in zip(rows.rows, columns.rows, strict=True):
        assert row.matrix == column.matrix[::-1]
        assert row.elements == column.elements


def test_one_head_alone():
    found = gf.shapes("bert-base", t=5, head=3)
    assert found["layers.0.attention.q"].shape == (1, 5, 64)
    assert found["layers.0.attention.q"].elements == 5 * 64
    assert found["layers.0.attention.W_O"].shape == (64, 768)


def test_a_head_that_is_not_there_is_refused():
    with pytest.raises(GlassformerError, match="head=12 does not exist: the heads are 0 to 11"):
        gf.shapes("bert-base", head=12)


def test_a_tensor_that_is_not_there_is_refused_with_the_nearest():
    with pytest.raises(GlassformerError, match=r"no tensor 'layers\.0\.atention\.q'.*\. Did you mean 'layers\.0\.attent"):
        gf.shapes("bert-base")["layers.0.atention.q"]


def test_json_says_shape_axes_and_elements():
    document = gf.shapes("bert-base", t=5).to_dict()
    row = next(row for row in document["rows"] if row["name"] == "layers.0.attention.weights")
    assert row["shape"] == [1, 12, 5, 5]
    assert [axis["name"] for axis in row["axes"]] == ["batch", "head", "t", "s"]
    assert row["elements"] == 300


def test_grouped_queries_share_their_keys_and_values():
    found = gf.shapes("layer", d_model=64, heads=8, kv_heads=2, t=5)
    for name in "kv":
        assert found[f"layers.0.attention.{name}"].shape == (1, 5, 2, 8)
        assert found[f"layers.0.attention.{name}_shared"].shape == (1, 5, 8, 8)
    assert found["layers.0.attention.W_K"].matrix == (64, 16)
    assert found["layers.0.attention.W_K"].one_head == (64, 8)
    assert found["layers.0.attention.weights"].shape == (1, 8, 5, 5)
    columns = gf.shapes("layer", d_model=64, heads=8, kv_heads=2, t=5, convention="columns", head=7)
    assert columns["layers.0.attention.k"].shape == (8, 5)
    assert columns["layers.0.attention.k"].formula == "d_k × s"


@pytest.mark.parametrize("reading", [gf.shapes, gf.count, gf.cost, gf.notation])
def test_as_many_heads_of_keys_as_of_queries_change_nothing(reading):
    plain, said = (reading("layer", d_model=64, heads=8, **given).to_dict() for given in ({}, {"kv_heads": 8}))
    assert said.pop("spec").pop("kv_heads") == 8
    plain.pop("spec")
    assert {**said, "label": ""} == {**plain, "label": ""}
