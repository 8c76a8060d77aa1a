"""Checkpoints of every family and class that is read, against transformers in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny_models import CASES, NOT_IN_TRANSFORMERS, VARIANTS, Case, forward, guest, inputs_for, model_of, save

from glassformer.configs.huggingface.reader import DECODERS, FAMILIES, SEQ2SEQ
from glassformer.files.name_tables import NAMES
from glassformer.numbers import Checkpoint, Run, open_checkpoint

CLOSE = 1e-10
NOT_COMPARED = ("end_logits", "mask", "ids_restore", "codevector_perplexity", "loss")  # parts of others, or of training


@pytest.mark.parametrize("case", [*CASES, *VARIANTS], ids=lambda case: case.name)
def test_a_run_agrees_with_transformers(case, tmp_path):
    model = model_of(case)
    checkpoint = open_checkpoint(save(model, tmp_path), as_class=case.model_class)
    assert checkpoint.parameters == sum(value.numel() for value in model.parameters())
    for padded in (False, True):
        given = inputs_for(case, padded=padded)
        if padded and "attend" not in given:
            continue  # an image has no padding
        run, theirs = checkpoint.run(**given), forward(case, model, given)
        real = given["attend"] == 1 if padded else np.ones(run["x"].shape[:2], dtype=bool)
        agree_on_layers(run, theirs, real)
        agree_on_outputs(case, run, theirs, real)


def close(run: Run, value: Any) -> float:
    """1e-10; of the largest number where norms only scale (MobileBERT), since numbers grow there, and rounding with them."""
    return CLOSE * (max(1.0, float(np.abs(value).max())) if run.program.spec.norm_kind == "scale" else 1.0)


def agree_on_layers(run: Run, theirs: Any, real: Any) -> None:
    hidden = [state.numpy() for state in theirs.hidden_states]
    assert len(hidden) == len(run.hidden)
    for ours, state in zip(run.hidden[:-1], hidden[:-1], strict=True):
        assert np.abs(ours - state)[pooled_to(real, ours.shape[1])].max() < close(run, state)
    # The last one is kept by some classes before the final norm and by some after it.
    last = [run.hidden[-1], *([run["final_norm"]] if run.program.spec.norm_after_last == "all" else [])]
    short = pooled_to(real, hidden[-1].shape[1])
    assert min(np.abs(ours - hidden[-1])[short].max() for ours in last) < close(run, hidden[-1])


def pooled_to(real: Any, length: int) -> Any:
    """Which tokens are real where a sequence is pooled: those of which both are, the first with itself, without the last."""
    while real.shape[1] > length:
        row = np.concatenate([real[:, :1], real[:, :-1], *([real[:, -2:-1]] if real.shape[1] % 2 else [])], axis=1)
        real = row[:, ::2] & row[:, 1::2]
    return real


def agree_on_outputs(case: Case, run: Run, theirs: Any, real: Any) -> None:
    wanted = dict(outputs(case, run, theirs))
    if case.model_class in ("SiglipTextModel", "Siglip2TextModel") and not real.all():
        del wanted["pooler_output"]  # theirs is read from the last position even where that is padding
    assert wanted
    for name, (ours, value) in wanted.items():
        error = np.abs(ours - value)
        real = pooled_to(real, error.shape[1]) if name == "last_hidden_state" else real
        assert (error[real] if error.shape[:2] == real.shape else error).max() < close(run, value), name


def outputs(case: Case, run: Run, theirs: Any) -> Any:
    """Pairs of ours and theirs, by their name."""
    spec = run.program.spec
    final = run["final_norm"] if spec.norm_after_last == "all" else run.hidden[-1]
    named = {name: value.numpy() for name, value in theirs.items() if name != "hidden_states"}
    heads = {
        "last_hidden_state": lambda: final,
        "extract_features": lambda: run["embeddings.feature_norm"],
        "logits": lambda: run["head.logits"],
        "prediction_logits": lambda: run["head.logits"],
        "seq_relationship_logits": lambda: run["head.next"],
        "sop_logits": lambda: run["head.next"],
        "cls_logits": lambda: run["head.class_logits"],
        "distillation_logits": lambda: run["head.distillation_logits"],
        "projected_states": lambda: run["head.states"],
        "projected_quantized_states": lambda: run["head.out"],
        "text_embeds": lambda: run["head.out"],
        "image_embeds": lambda: run["head.out"],
    }
    for name, value in named.items():
        if name in heads:
            ours = heads[name]()
            yield name, (ours, value.reshape(ours.shape))
        elif name == "start_logits":
            yield "answer", (run["head.logits"], np.stack([value, named["end_logits"]], axis=-1))
        elif name == "reconstruction":
            torch, stride = guest("torch"), round((spec.classes / spec.channels) ** 0.5)
            pixels = torch.nn.functional.pixel_unshuffle(theirs.reconstruction, stride).flatten(2).transpose(1, 2)
            yield name, (run["head.logits"], pixels.numpy())
        elif name == "pooler_output":
            yield name, (pooled(run, final), value)
        else:
            assert name in NOT_COMPARED, f"nothing of ours is compared with {name}"


def pooled(run: Run, final: Any) -> Any:
    """What stands for the whole input."""
    spec = run.program.spec
    if spec.head != "none" or spec.pooler != "none" or spec.norm_after_last == "pooled":
        return run.output
    if spec.pool == "class_tokens":
        return final[:, : spec.class_tokens].mean(1)
    if spec.pool == "first":  # no step of its own: the first token, as it is
        return final[:, 0]
    last = run["attend"].sum(1) - 1 if "attend" in run else np.full(len(final), final.shape[1] - 1)
    return final[np.arange(len(final)), last]


def test_every_family_that_is_read_has_names_and_a_small_model():
    assert set(NAMES) == {*FAMILIES, *DECODERS, *(f"{family} (whole)" for family in SEQ2SEQ)}
    assert {*(case.family for case in CASES), *NOT_IN_TRANSFORMERS} == set(FAMILIES)


@pytest.mark.parametrize("family", ["vit", "deit", "ijepa", "dinov2", "beit", "nomic_bert", "jina_embeddings_v3"])
def test_the_names_of_the_current_classes_are_read_too(family, tmp_path):
    safetensors = guest("safetensors.torch")
    case = next(case for case in CASES if case.family == family)
    model = model_of(case)
    save(model, tmp_path)
    safetensors.save_file(dict(model.named_parameters()), tmp_path / "model.safetensors")
    given = inputs_for(case, padded=False)
    run = open_checkpoint(tmp_path, as_class=case.model_class).run(**given)
    agree_on_layers(run, forward(case, model, given), np.ones(run["x"].shape[:2], dtype=bool))


def head_and_body(folder: Any) -> tuple[Any, Checkpoint, dict[str, Any]]:
    case = Case("bert", "BertForPreTraining")
    model = model_of(case)
    return model, open_checkpoint(save(model, folder), as_class="BertModel"), inputs_for(case, padded=True)


def test_the_body_of_a_model_with_a_head_opens_alone_and_lists_what_it_leaves_out(tmp_path):
    model, checkpoint, given = head_and_body(tmp_path)
    theirs = forward(Case("bert", "BertModel"), model.bert, given)
    run = checkpoint.run(**given)
    agree_on_outputs(Case("bert", "BertModel"), run, theirs, given["attend"] == 1)
    assert "cls.seq_relationship.weight" in checkpoint.unused


def test_the_encoder_of_a_whole_t5_and_of_a_whole_bart_opens(tmp_path):
    for case, whole in ((Case("t5", "T5EncoderModel"), "T5ForConditionalGeneration"), (Case("bart", "BartEncoder"), "BartModel")):
        model = model_of(
            Case(
                case.family,
                whole,
                {"decoder_layers": 1, "decoder_attention_heads": 3, "decoder_ffn_dim": 8} if whole == "BartModel" else {},
            )
        )
        given = inputs_for(case, padded=True)
        run = open_checkpoint(save(model, tmp_path / whole), as_class=case.model_class).run(**given)
        agree_on_outputs(case, run, forward(case, model.get_encoder(), given), given["attend"] == 1)


def test_both_towers_of_a_clip_file_open(tmp_path):
    transformers, torch = guest("transformers"), guest("torch")
    text, image = (
        Case("clip_text_model", "CLIPTextModelWithProjection"),
        Case("clip_vision_model", "CLIPVisionModelWithProjection"),
    )
    config = transformers.CLIPConfig(text_config=text.config, vision_config=image.config, projection_dim=5)
    config._attn_implementation = "eager"
    torch.manual_seed(1)
    model = transformers.CLIPModel(config).to(torch.float64).eval()
    model.save_pretrained(tmp_path)
    for case in (text, image):
        given = inputs_for(case, padded=False)
        run = open_checkpoint(tmp_path, as_class=case.model_class).run(**given)
        part = model.text_model if case is text else model.vision_model
        projection = model.text_projection if case is text else model.visual_projection
        wanted = projection(forward(case, part, given).pooler_output).detach().numpy()
        assert np.abs(run.output - wanted).max() < CLOSE


def test_a_model_saved_without_its_pooler_opens_without_it(tmp_path):
    transformers = guest("transformers")
    case = Case("bert", "BertModel")
    model = transformers.BertModel(transformers.BertConfig(**case.config), add_pooling_layer=False)
    checkpoint = open_checkpoint(save(model, tmp_path))
    assert checkpoint.spec.pooler == "none"
    assert checkpoint.parameters == sum(value.numel() for value in model.parameters())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_half_precision_weights_arrive_exactly(dtype, tmp_path):
    torch = guest("torch")
    case = Case("bert", "BertModel")
    model = model_of(case).to(getattr(torch, dtype))
    checkpoint = open_checkpoint(save(model, tmp_path))
    ours = checkpoint.weights["layers.1.attention.W_Q"].reshape(12, 12)
    theirs = model.encoder.layer[1].attention.self.query.weight.detach().double().numpy().T
    assert (ours == theirs).all()


def test_far_relative_positions_share_buckets_as_in_transformers(tmp_path):
    case = Case("t5", "T5EncoderModel")
    model = model_of(case)
    tokens = np.random.default_rng(0).integers(3, 37, (1, 150))
    run = open_checkpoint(save(model, tmp_path)).run(tokens=tokens)
    torch = guest("torch")
    with torch.no_grad():  # in float32, as the buckets are computed: a distance on the edge of two falls on one side
        theirs = model(torch.as_tensor(tokens)).last_hidden_state.numpy()
    assert np.abs(run["final_norm"] - theirs).max() < 1e-3
