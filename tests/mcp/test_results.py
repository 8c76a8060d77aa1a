"""Results are shortened for a conversation, with a note."""

import json

from assistant import told

import glassformer as gf
from glassformer.mcp.results import fitted, without_repeated_layers


def test_layers_that_repeat_layer_0_are_left_out_with_a_note():
    found = told("count", spec="bert-base")
    assert not [row for row in found["rows"] if row["name"].startswith("layers.1.")]
    assert found["notes"] == ["rows: 176 rows of other layers repeat those of layer 0 and are omitted."]
    assert len(json.dumps(found)) < 20_000


def test_a_layer_that_differs_is_listed():
    tensors = [gf.build("bert-base").tensors[f"layers.{layer}.ffn.W_1"] for layer in range(3)]
    rows = [{"name": tensor.name, "layer": layer, "count": [3, 3, 4][layer]} for layer, tensor in enumerate(tensors)]
    assert [row["layer"] for row in without_repeated_layers(rows, tensors)] == [0, 2]


def test_a_long_list_is_cut_and_the_note_says_how_to_get_more():
    found = told("shapes", spec="bert-base t=5", rows=3)
    assert len(found["rows"]) == 3
    assert found["notes"][-1].startswith("rows: the first 3 of ")
    assert found["notes"][-1].endswith("narrow with names='layers.0.attention', or ask for more with 'rows'.")
    assert len(told("shapes", spec="bert-base t=5", names="layers.0.attention", rows=1000)["rows"]) > 10


def test_every_list_is_cut_however_deep():
    found = fitted({"a": {"b": [[1, 2, 3], [4, 5, 6]]}}, rows=2, way_out=": ask for more")
    assert found == {"a": {"b": [[1, 2], [4, 5]]}, "notes": ["a.b: the first 2 of 3 entries: ask for more."]}


def test_numbers_without_a_json_form_are_text():
    assert fitted({"a": (float("nan"), float("inf"))}) == {"a": ["NaN", "Infinity"]}
