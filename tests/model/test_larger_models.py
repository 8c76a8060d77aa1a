"""The encoder inside the file of a larger model: every class that a refusal sends to `--as` can then really be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import BART, CONFIGS, IMAGE, Case, all_in_float64, class_of, guest

from glassformer.errors import GlassformerError
from glassformer.model.checkpoints.answers import our_answer
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.numbers import open_checkpoint

DECODER = {"decoder_layers": 1, "decoder_attention_heads": 3, "decoder_ffn_dim": 4}
SEGMENTED = {**IMAGE, "image_size": 32, "patch_size": 16, "num_hidden_layers": 4, "out_indices": [0, 1, 2, 3], "vocab_size": 9}
UNTIED = {"tie_word_embeddings": False}

# The class of the file, its config, the class that is read from it, and what computes the same there.
LARGER = [
    ("BartForConditionalGeneration", BART | DECODER, "BartEncoder", "model.encoder"),
    ("BartForConditionalGeneration", BART | DECODER | UNTIED, "BartEncoder", "model.encoder"),
    ("BartModel", BART | DECODER | UNTIED, "BartEncoder", "encoder"),
    ("PegasusForConditionalGeneration", BART | DECODER | UNTIED, "PegasusEncoder", "model.encoder"),
    ("T5ForConditionalGeneration", CONFIGS["t5"] | UNTIED, "T5EncoderModel", "encoder"),
    ("RemBertForMaskedLM", Case("rembert", "RemBertModel").config, "RemBertModel", "rembert"),
    ("EuroBertForMaskedLM", CONFIGS["eurobert"], "EuroBertModel", "model"),
    ("BeitForSemanticSegmentation", SEGMENTED | {"use_relative_position_bias": True}, "BeitModel", "beit"),
    ("Data2VecVisionForSemanticSegmentation", SEGMENTED, "Data2VecVisionModel", "data2vec_vision"),
    (
        "DPRReader",
        Case("dpr", "DPRQuestionEncoder").config | {"projection_dim": 0},
        "DPRQuestionEncoder",
        "span_predictor.encoder.bert_model",
    ),
]


def larger(name: str, config: dict[str, Any], folder: Path) -> Any:
    """A random model of this class, saved."""
    torch, transformers = guest("torch"), guest("transformers")
    model_class = class_of(transformers, name)
    made = model_class.config_class(**config)
    made._attn_implementation = "eager"
    torch.manual_seed(0)
    with all_in_float64(), torch.no_grad():
        model = model_class(made).to(torch.float64).eval()
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    model.save_pretrained(folder)
    return model


def example(config: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    if "image_size" in config:
        return {"image": rng.normal(size=(2, 3, config["image_size"], config["image_size"]))}
    return {"tokens": rng.integers(3, 37, (2, 7))}


@pytest.mark.parametrize(("name", "config", "as_class", "inside"), LARGER, ids=[f"{case[0]}-{len(case[1])}" for case in LARGER])
def test_the_encoder_of_a_larger_model_computes_what_it_computes_there(name, config, as_class, inside, tmp_path):
    torch = guest("torch")
    part = larger(name, config, tmp_path).get_submodule(inside)
    loaded = load_encoder(tmp_path, as_class=as_class, dtype="float64")
    given = example(config)
    ours = our_answer(loaded.encoder, given).outputs["states"]
    with all_in_float64(), torch.no_grad():
        theirs = part(torch.as_tensor(next(iter(given.values())))).last_hidden_state.numpy()
    assert np.abs(ours - theirs).max() < 1e-10 * max(1, np.abs(theirs).max())
    run = open_checkpoint(tmp_path, as_class=as_class).run(**given)
    assert any(run[step].shape == ours.shape and np.abs(run[step] - ours).max() < 1e-9 for step in run)


@pytest.mark.parametrize(
    ("name", "config", "as_class"), [case[:3] for case in LARGER[-3:]], ids=[case[0] for case in LARGER[-3:]]
)
def test_the_refusal_of_a_larger_class_names_the_one_that_can_be_read(name, config, as_class, tmp_path):
    larger(name, config, tmp_path)
    with pytest.raises(GlassformerError, match=f"{name} is not supported: .* --as {as_class} reads the encoder.$"):
        load_encoder(tmp_path)


def test_different_copies_of_a_tied_table_are_refused(tmp_path):
    import json

    larger("BartModel", BART | DECODER | UNTIED, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": True}), encoding="utf-8")
    with pytest.raises(GlassformerError, match="have different values, but the model uses one tensor for both"):
        load_encoder(tmp_path, as_class="BartEncoder")
