"""Patching: one value of the clean run is put into the corrupt one, and nothing else."""

import json

import pytest
import torch

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.insight.patching import patch

CLEAN, CORRUPT = "the glass walls of an encoder", "the number walls of an encoder"


@pytest.mark.parametrize("at", ["layers", "attention", "ffn"])
def test_each_cell_is_what_one_hook_does(loaded, at):
    found = patch(loaded, CLEAN, CORRUPT, of="class=wall", at=at)
    clean, corrupt = (torch.tensor([loaded.tokenizer.encode(text).ids]) for text in (CLEAN, CORRUPT))
    name = {"layers": "layers.1.out", "attention": "layers.1.attention.out", "ffn": "layers.1.ffn.out"}[at]
    seen = []
    with loaded.hooks({name: seen.append}):
        loaded(clean)

    def put(value):
        value = value.clone()
        value[:, 2] = seen[0][:, 2]
        return value

    with loaded.hooks({name: put}):
        wanted = loaded(corrupt).logits[0, 2].item()
    assert found.values[found.depths.index("layer 1")][2] == pytest.approx(wanted, abs=1e-12)


def test_the_word_that_differs_restores_everything_before_the_first_layer(classifier):
    found = gf.patch(classifier, CLEAN, CORRUPT, of="class=wall", dtype="float64")
    assert found.depths == ("embeddings", "layer 0", "layer 1")
    restored = found.restored[0]
    differs = [one != other for one, other in zip(found.clean, found.corrupt, strict=True)]
    assert restored == pytest.approx([float(one) for one in differs], abs=1e-9)
    assert found.restored[-1] == pytest.approx([1.0] + [0.0] * (len(restored) - 1), abs=1e-9)
    assert json.loads(json.dumps(found.to_dict()))["restored"][0] == pytest.approx(restored)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ((CLEAN, "the glass"), {}, "the corrupt one 4: patching needs texts of equal length."),
        ((CLEAN, CLEAN), {}, "for both texts: there is no difference to restore."),
        ((CLEAN, CORRUPT), {"of": "class=walls"}, "Did you mean 'wall'?"),
        ((CLEAN, CORRUPT), {"at": "heads"}, "at=heads is not known."),
    ],
)
def test_bad_input_is_one_line(classifier, texts, options, message):
    with pytest.raises(GlassformerError) as refused:
        gf.patch(classifier, *texts, **options)
    assert message in str(refused.value)


def test_a_text_of_one_token_can_be_patched(classifier):
    assert len(gf.patch(classifier, "glass", "number", of="class=wall").values[0]) == 3
