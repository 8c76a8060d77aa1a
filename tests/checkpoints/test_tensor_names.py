"""Tensor names: the place of each parameter, lossless round trips, and errors for files that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoint_files import CONFIG, tensors_of
from tiny_models import CASES, VARIANTS, Case, guest, model_of, save

from glassformer.checkpoints.matching import MismatchError, match_tensors, require
from glassformer.checkpoints.tensor_names import tensor_names
from glassformer.configs.huggingface import from_config
from glassformer.errors import GlassformerError
from glassformer.files.layout import Place, from_file, to_file
from glassformer.files.weight_files import find_weights
from glassformer.program import build

BIG = {**CONFIG, "architectures": ["BertForMaskedLM"]}


def places_of(config, as_class=None):
    reading = from_config(config, as_class=as_class)
    shapes = {parameter.name: parameter.tensor.shape for parameter in build(reading.spec, t=None).parameters}
    return shapes, tensor_names(reading.spec, reading.family, reading.model_class, shapes)


def reading_of(case: Case):
    return places_of({**case.config, "model_type": case.family}, case.model_class)


READABLE = [case for case in (*CASES, *VARIANTS) if not case.model_class.startswith(("CLIPFor", "SiglipFor"))]


def test_a_query_matrix_of_bert_is_transposed_and_split_into_heads():
    shapes, places = places_of(CONFIG)
    name = "layers.1.attention.W_Q"
    assert shapes[name] == (8, 2, 4)
    assert places[name][0] == Place("encoder.layer.1.attention.self.query.weight", (8, 8), "transposed")
    stored = np.arange(64.0).reshape(8, 8)
    ours = from_file(stored, places[name][0], shapes[name])
    assert ours[3, 1, 2] == stored[1 * 4 + 2, 3]


def test_the_three_parts_of_a_fused_matrix_are_rows_of_one_tensor():
    _, places = reading_of(Case("modernbert", "ModernBertModel"))
    parts = [places[f"layers.0.attention.W_{letter}"][0] for letter in "QKV"]
    assert {part.name for part in parts} == {"layers.0.attn.Wqkv.weight"}
    assert [part.rows for part in parts] == [(0, 16), (16, 32), (32, 48)]


def test_the_patch_kernel_is_a_matrix():
    shapes, places = reading_of(Case("vit", "ViTModel"))
    place = places["embeddings.W_patch"][0]
    assert place == Place("embeddings.patch_embeddings.projection.weight", (12, 3, 4, 4), "transposed")
    kernel = np.random.default_rng(0).normal(size=(12, 3, 4, 4))
    assert from_file(kernel, place, shapes["embeddings.W_patch"])[2 * 16 + 1 * 4 + 3, 5] == kernel[5, 2, 1, 3]


def rows_of(place: Place) -> int:
    """The rows that the parts of a tensor share, in each of its equal pieces."""
    return place.shape[place.axis] // place.groups


@pytest.mark.parametrize("case", READABLE, ids=lambda case: case.name)
def test_every_parameter_has_a_place_and_survives_a_round_trip(case):
    shapes, places = reading_of(case)
    covered: dict[str, list[tuple[int, int]]] = {}
    for number, (name, shape) in enumerate(shapes.items()):
        assert places[name], name
        value = np.random.default_rng(number).normal(size=shape)
        for place in places[name]:
            part = to_file(value, place)
            assert part.shape == place.part_shape
            assert (from_file(part, place, shape) == value).all()
        written = places[name][0]
        covered.setdefault(written.name, []).append(written.rows or (0, rows_of(written)))
    for name, rows in covered.items():  # the parts of a shared tensor cover all of its rows
        whole = next(rows_of(place) for group in places.values() for place in group if place.name == name)
        assert sorted(rows)[0][0] == 0, name
        assert [stop for _, stop in sorted(rows)] == [start for start, _ in sorted(rows)[1:]] + [whole], name


# transformers drops the prefix of the layers of one class on saving, and renames the norms of ESM (gamma, beta).
SAVED = [case for case in READABLE if case.model_class != "ViTMSNForImageClassification" and case.family != "esm"]


@pytest.mark.parametrize("case", SAVED, ids=lambda case: case.name)
def test_the_first_place_is_where_transformers_writes_it(case, tmp_path):
    guest("transformers")
    saved = find_weights(save(model_of(case), tmp_path)).shapes
    _, places = reading_of(case)
    written = {group[0].name: group[0].shape for group in places.values()}
    assert written == {name: saved[name] for name in saved if name in written}
    assert all(
        "scaling_factor" in name or name.endswith(("_integer", "x_min", "x_max", "shift")) or 0 in saved[name]  # no registers
        for name in saved.keys() - written
    )


# Errors for files that do not fit ----------------------------------------------------------------------------------------


def mismatch(tensors, **changes) -> MismatchError:
    config = {**CONFIG, **changes}
    reading = from_config(config)
    _, places = places_of(config)
    present = {name: value.shape for name, value in tensors.items()}
    found = match_tensors(places, present, reading.family)
    with pytest.raises(MismatchError) as caught:
        require(found, reading.spec, family=reading.family, present=present, label="model.safetensors")
    assert len(str(caught.value)) <= 500
    return caught.value


def test_a_missing_tensor_is_named():
    tensors = tensors_of(CONFIG)
    del tensors["encoder.layer.1.output.dense.bias"]
    error = mismatch(tensors)
    assert (
        str(error) == "model.safetensors does not fit config.json: of 39 tensors, 1 missing (encoder.layer.1.output.dense.bias)."
    )
    assert error.match.missing == {"layers.1.ffn.b_2": "encoder.layer.1.output.dense.bias"}


def test_a_missing_tensor_is_named_under_the_prefix_that_the_file_uses():
    tensors = {f"bert.{name}": value for name, value in tensors_of(CONFIG).items()}
    del tensors["bert.embeddings.LayerNorm.weight"]
    assert "1 missing (bert.embeddings.LayerNorm.weight)" in str(mismatch(tensors))


def test_a_renamed_tensor_is_missing_and_unexpected():
    tensors = tensors_of(CONFIG)
    tensors["embeddings.place_embeddings.weight"] = tensors.pop("embeddings.position_embeddings.weight")
    assert str(mismatch(tensors)) == (
        "model.safetensors does not fit config.json: of 39 tensors, 1 missing (embeddings.position_embeddings.weight); "
        "1 unexpected (embeddings.place_embeddings.weight)."
    )


def test_a_tensor_of_another_size_is_named_with_both_sizes():
    assert str(mismatch(tensors_of(CONFIG), vocab_size=32)) == (
        "model.safetensors does not fit config.json: of 39 tensors, 1 of another size "
        "(embeddings.word_embeddings.weight is [31, 8], expected [32, 8])."
    )


def test_many_wrong_tensors_are_counted_and_the_first_ones_named():
    error = mismatch(tensors_of(CONFIG), hidden_size=16)
    assert str(error).startswith(
        "model.safetensors does not fit config.json: of 39 tensors, 37 of another size (embeddings.word_emb"
    )
    assert str(error).endswith("and 36 more).")
    assert len(error.match.misfits) == 37


@pytest.mark.parametrize(("layers", "count"), [(1000, "1,000"), (1, "1")])
def test_a_different_number_of_layers_is_named(layers, count):
    text = str(mismatch(tensors_of(CONFIG), num_hidden_layers=layers))
    assert text == (
        f"config.json has {count} layers, but model.safetensors has 2 (0 to 1). Use the config.json that belongs to these "
        "weights, or correct its number of layers."
    )


def test_other_heads_and_buffers_are_unused():
    tensors = tensors_of({**CONFIG, "architectures": ["BertForPreTraining"]})
    tensors["bert.embeddings.position_ids"] = np.arange(16)[None]
    _, places = places_of(CONFIG)
    found = match_tensors(places, {name: value.shape for name, value in tensors.items()}, "bert")
    assert not found.missing
    assert not found.unexpected
    assert {"cls.seq_relationship.weight", "cls.predictions.bias", "bert.embeddings.position_ids"} <= set(found.unused)


def test_the_spelling_of_converted_files_is_read():
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in tensors_of(CONFIG).items()
    }
    _, places = places_of(CONFIG)
    found = match_tensors(places, {name: value.shape for name, value in old.items()}, "bert")
    assert not found.missing
    assert found.found["layers.0.norm_1.gamma"].name == "encoder.layer.0.attention.output.LayerNorm.gamma"


def test_a_tied_matrix_may_be_stored_twice():
    _, places = places_of(BIG)
    tensors = tensors_of(BIG)
    tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"]
    found = match_tensors(places, {name: value.shape for name, value in tensors.items()}, "bert")
    assert not found.unexpected
    assert [place.name for place in found.copies["embeddings.E_token"]] == ["cls.predictions.decoder.weight"]


def test_untied_biases_are_two_tensors():
    _, places = places_of({**BIG, "tie_word_embeddings": False})
    assert [place.name for place in places["head.b_vocab"]] == ["cls.predictions.decoder.bias"]
    assert [place.name for place in places["head.b_spare"]] == ["cls.predictions.bias"]


def test_an_unknown_family_is_refused():
    with pytest.raises(GlassformerError, match="the tensor names of mamba files are not known"):
        tensor_names(from_config(CONFIG).spec, "mamba", "GPT2Model", {})
