"""The certificate: verdict, map of names, differences and the bounds that they are held to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checkpoint_files import CONFIG, bert_folder, tensors_of
from model_cases import BERT, VIT
from tiny_models import BUILT, Case, guest, model_of, save

import glassformer as gf
from glassformer.api.verification import certify
from glassformer.model import Encoder
from glassformer.model.checkpoints.answers import Answer
from glassformer.model.checkpoints.certificate import BOUNDS, Certificate, compare
from glassformer.show.certificate import tables, verdict_line
from glassformer.spec import EncoderSpec


def verified(folder: Path, **options: Any) -> Certificate:
    asked: dict[str, Any] = {"as_class": None, "seed": 0, "original": True, "allow_nonfinite": False, **options}
    return certify(folder, **asked)


def text(found: Certificate, *, whole: bool = False) -> str:
    return "\n".join(view.text() for view in tables(found, whole=whole))


def test_the_bounds_are_those_that_are_stated():
    assert BOUNDS == {"float64": 1e-10, "float32": 1e-5, "original": 1e-5}


def test_a_right_load_has_three_witnesses_and_every_layer(tmp_path):
    guest("transformers")
    found = verified(save(model_of(Case("bert", "BertForPreTraining")), tmp_path), as_class="BertForPreTraining")
    assert (found.verdict, found.holds, len(found.comparisons)) == ("exact", True, 3)
    places = ["x", "layers.0.out", "layers.1.out", "states", "pooled", "logits", "next"]
    assert [gap.place for gap in found.comparisons[0].gaps] == places
    assert {gap.place for gap in found.comparisons[2].gaps} == {*places} - {"states", "pooled"}
    assert found.tied == ("head.W_vocab is embeddings.E_token, transposed",)
    assert "F64" in found.stored
    assert verdict_line(found).startswith("exact: BertForPreTraining, 3,487 parameters, stored as F64")
    assert "layers.*.attention.W_Q" in text(found)
    assert "layers.1.attention.W_Q" in text(found, whole=True)


ORDINARY = ("RobertaModel", "T5EncoderModel", "ModernBertModel", "ViTModel", "CLIPTextModel", "AlbertForMaskedLM", "BartEncoder")


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c.name, marks=() if c.name in ORDINARY else pytest.mark.slow) for c in BUILT]
)
def test_every_family_gets_its_certificate(case, tmp_path):
    guest("transformers")
    found = verified(save(model_of(case), tmp_path), as_class=case.model_class)
    assert found.verdict == "exact", found.reason
    assert len(found.comparisons) == 3, found.notes
    # In float64 throughout; transformers computes parts of some families in float32 whatever the model is in.
    assert found.comparisons[0].worst < 1e-10
    assert found.comparisons[1].worst < 5e-5  # a norm of a few random features may magnify what float32 rounds
    assert found.comparisons[2].worst < 1e-5


@pytest.mark.parametrize(
    ("family", "whole", "inner"),
    [("whisper", "WhisperModel", "WhisperEncoder"), ("bart", "BartModel", "BartEncoder")],
)
def test_an_encoder_inside_a_whole_model_is_compared_with_its_own_weights(family, whole, inner, tmp_path):
    """transformers finds none of them under the names of the whole model, and would answer with made-up ones."""
    guest("transformers")
    decoder = {"decoder_layers": 1, "decoder_attention_heads": 3, "decoder_ffn_dim": 8}
    found = verified(save(model_of(Case(family, whole, decoder)), tmp_path), as_class=inner)
    assert len(found.comparisons) == 3, found.notes
    assert found.comparisons[2].worst < 1e-10


def test_an_original_that_does_not_find_the_weights_is_not_compared(tmp_path, monkeypatch):
    guest("transformers")
    from glassformer.model.checkpoints import original

    monkeypatch.setattr(original.re, "escape", lambda name: f"no such {name}")
    model = model_of(Case("whisper", "WhisperModel", {"decoder_attention_heads": 3}))
    found = verified(save(model, tmp_path), as_class="WhisperEncoder")
    assert (found.holds, len(found.comparisons)) == (True, 2)
    assert found.notes[0].startswith("Not compared with the original model: transformers does not find ")
    assert (
        "parameters of WhisperEncoder in this folder, such as conv1.bias, and would initialise them randomly." in found.notes[0]
    )


@pytest.mark.parametrize("spec", [BERT, VIT, EncoderSpec(d_model=8, heads=2, layers=2)], ids=["tokens", "image", "vectors"])
def test_a_folder_of_our_own_has_two_witnesses(spec, tmp_path):
    gf.save(Encoder(spec), tmp_path / "m")
    found = verified(tmp_path / "m")
    assert (found.verdict, found.holds, len(found.comparisons)) == ("exact", True, 2)
    assert found.checked == len(found.rows)
    assert found.notes == ["Not compared with an original model: transformers does not support this model."]


def test_a_folder_that_does_not_fit_is_refused_with_every_tensor_named(tmp_path):
    tensors = tensors_of(CONFIG)
    del tensors["pooler.dense.bias"]
    tensors["more"] = np.zeros(2, dtype=np.float32)
    tensors["embeddings.LayerNorm.bias"] = np.zeros(9, dtype=np.float32)
    found = verified(bert_folder(tmp_path, tensors=tensors))
    assert (found.verdict, found.holds) == ("refused", False)
    assert verdict_line(found).startswith("refused: model.safetensors does not fit config.json: of 39 tensors, 1 missing")
    assert found.missing == ("pooler.b_P (pooler.dense.bias)",)
    assert found.unexpected == ("more",)
    assert found.misfits == ("embeddings.LayerNorm.bias is [9], expected [8]",)
    assert "unexpected  more" in text(found)


def test_another_head_is_reported_and_the_body_is_still_compared(tmp_path):
    found = verified(bert_folder(tmp_path), as_class="BertForSequenceClassification")
    assert (found.verdict, found.holds, found.fresh) == ("head differs", True, ("head.W_C", "head.b_C"))
    assert [gap.place for gap in found.comparisons[0].gaps] == ["x", "layers.0.out", "layers.1.out", "states"]


def test_a_non_finite_weight_is_refused_or_fails(tmp_path):
    tensors = tensors_of(CONFIG)
    tensors["encoder.layer.1.output.dense.weight"][2, 5] = np.nan
    folder = bert_folder(tmp_path, tensors=tensors)
    assert "is NaN (1 of 96 values" in verified(folder).reason
    found = verified(folder, allow_nonfinite=True, original=False)
    assert (found.verdict, found.holds) == ("exact", False)
    assert "But the differences are too large: model in float64, float64 run" in verdict_line(found)


def test_a_wrong_model_does_not_hold(tmp_path, monkeypatch):
    """Control: the certificate fails for a model whose second layer lacks its residual."""
    from glassformer.model import encoder as module

    monkeypatch.setitem(module.RESIDUALS, "post", lambda x, norm, sub_layer: norm(x + 1.001 * sub_layer(x)))
    found = verified(bert_folder(tmp_path), original=False)
    assert not found.holds
    gaps = {gap.place: gap.relative for gap in found.comparisons[0].gaps}
    assert gaps["x"] < 1e-12
    assert gaps["layers.0.out"] > 1e-6


def test_a_difference_is_measured_against_the_largest_number_there():
    ours, theirs = (Answer((np.zeros((1, 2, 3)), np.full((1, 2, 3), value)), {}) for value in (1000.0, 1000.001))
    found = compare("a, b", ours, theirs, bound=1e-5)
    assert [gap.place for gap in found.gaps] == ["x", "layers.0.out"]
    assert found.gaps[1].difference == pytest.approx(1e-3)
    assert found.worst == pytest.approx(1e-6, rel=1e-3)
    assert found.holds
    assert not compare("a, b", ours, theirs, bound=1e-7).holds


def test_padding_is_not_compared():
    state, other = np.zeros((1, 3, 2)), np.zeros((1, 3, 2))
    other[0, 2] = 9.0
    answers = Answer((state,), {"logits": state}), Answer((other,), {"logits": other})
    assert compare("", *answers, bound=1e-9, real=np.array([[True, True, False]])).worst == 0
    assert compare("", *answers, bound=1e-9).worst == 1.0


def test_a_model_that_cannot_be_run_is_a_note(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    found = verified(bert_folder(tmp_path))
    assert found.holds
    assert found.notes == [
        "Not compared with the original model: transformers is not installed: pip install 'glassformer[hf]' to compare with it."
    ]


def test_asking_leaves_the_random_numbers_of_the_caller_alone(tmp_path):
    guest("transformers")
    from glassformer.model.checkpoints.loading import open_for_model
    from glassformer.model.checkpoints.original import open_original

    folder = open_for_model(bert_folder(tmp_path))
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    open_original(folder)
    assert torch.equal(torch.rand(3), wanted)
