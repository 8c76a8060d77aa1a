"""Small random models of every family that is read, made with transformers: the outside witness of our arithmetic."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer.configs.huggingface import FAMILIES
from glassformer.program.operations.lookups import sinusoidal_table

TEXT = {
    "vocab_size": 37,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 19,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "cls_token_id": 0,
    "sep_token_id": 2,
    "num_labels": 3,
}
NARROW = {**TEXT, "embedding_size": 6}
XLM = {
    **{key: TEXT[key] for key in ("vocab_size", "max_position_embeddings", "pad_token_id", "num_labels")},
    **{"emb_dim": 12, "n_layers": 2, "n_heads": 3, "n_langs": 3},
}
EVEN = {**TEXT, "hidden_size": 16, "num_attention_heads": 2}
IMAGE = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "image_size": 8,
    "patch_size": 4,
    "num_labels": 3,
}
DINO = {**{key: value for key, value in IMAGE.items() if key != "intermediate_size"}, "mlp_ratio": 2}
RESTORER = {
    **{"decoder_hidden_size": 8, "decoder_num_hidden_layers": 2, "decoder_num_attention_heads": 2},
    "decoder_intermediate_size": 10,
}
SHARED = {"vocab_size": 37, "d_model": 12, "num_labels": 3, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
T5 = {**SHARED, "d_kv": 5, "d_ff": 20, "num_layers": 2, "num_heads": 3}
BART = {
    **SHARED,
    "encoder_layers": 2,
    "encoder_attention_heads": 3,
    "encoder_ffn_dim": 20,
    "max_position_embeddings": 19,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": 2,
}
WHISPER = {
    **{key: value for key, value in BART.items() if key not in ("max_position_embeddings", "num_labels")},
    "num_mel_bins": 5,
    "max_source_positions": 7,
}
# Three terms and heads of 12, two and 8, one and 16: transformers takes the root of the product in float32, so it is whole here.
DEBERTA = {
    **{**TEXT, "hidden_size": 24, "num_attention_heads": 2},
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_buckets": 4,
    "max_relative_positions": -1,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
}
TWO_TERMS = {"hidden_size": 16, "share_att_key": False, "norm_rel_ebd": "none"}
DEBERTA_V1 = {key: value for key, value in DEBERTA.items() if key not in ("position_buckets", "share_att_key", "norm_rel_ebd")}
NOT_RELATIVE = {"relative_attention": False, "pos_att_type": None, "norm_rel_ebd": "none", "position_biased_input": True}
SOUND = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "vocab_size": 7,
    "conv_dim": [6, 5, 8],
    "conv_kernel": [26, 12, 5],
    "conv_stride": [20, 10, 4],
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
    "classifier_proj_size": 5,
    "num_labels": 3,
    "hidden_dropout": 0.0,
    **{"num_codevector_groups": 2, "num_codevectors_per_group": 5, "codevector_dim": 8, "proj_codevector_dim": 6},
}
# Ids of tokens that inputs have: some of them are masked.
ESM2 = {"position_embedding_type": "rotary", "token_dropout": True, "mask_token_id": 5, "emb_layer_norm_before": False}
SAMPLES = 16_000  # the length that configs of raw audio are read with
CONFIGS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("wav2vec2", "hubert", "unispeech", "unispeech-sat"), SOUND),
    "wavlm": {**SOUND, "num_buckets": 8, "max_bucket_distance": 9},
    "data2vec-audio": {**SOUND, "num_conv_pos_embeddings": 2, "conv_pos_kernel_size": 3},
    "deberta": DEBERTA_V1,
    "deberta-v2": DEBERTA,
    "squeezebert": {
        **{**TEXT, "hidden_size": 24, "embedding_size": 24, "intermediate_size": 36},
        **{"q_groups": 4, "k_groups": 2, "v_groups": 3, "post_attention_groups": 1, "intermediate_groups": 4, "output_groups": 6},
    },
    "layoutlm": {**TEXT, "max_2d_position_embeddings": 9},
    "layoutlmv3": {
        **{**TEXT, "max_2d_position_embeddings": 9, "coordinate_size": 2, "shape_size": 2, "input_size": 8, "patch_size": 4},
        **{"rel_pos_bins": 8, "max_rel_pos": 5, "rel_2d_pos_bins": 8, "max_rel_2d_pos": 6},
    },
    "mobilebert": {
        **{**TEXT, "hidden_size": 16, "embedding_size": 6, "intra_bottleneck_size": 12, "num_feedforward_networks": 3},
        "true_hidden_size": 12,
    },
    "funnel": {
        **{key: TEXT[key] for key in ("vocab_size", "pad_token_id", "num_labels", "bos_token_id", "eos_token_id")},
        **{"d_model": 12, "n_head": 3, "d_head": 4, "d_inner": 20, "block_sizes": [2, 1, 1], "type_vocab_size": 3},
    },
    "nystromformer": {**TEXT, "num_landmarks": 11, "segment_means_seq_len": 11, "conv_kernel_size": 5},
    "longformer": {**TEXT, "attention_window": 4},
    **dict.fromkeys(("xlm", "flaubert"), XLM),
    "albert": {**NARROW, "num_hidden_groups": 1},
    "electra": NARROW,
    "rembert": {**TEXT, "input_embedding_size": 6, "output_embedding_size": 10},
    "distilbert": {
        **{key: TEXT[key] for key in ("vocab_size", "max_position_embeddings", "pad_token_id", "num_labels")},
        "dim": 12,
        "n_layers": 2,
        "n_heads": 3,
        "hidden_dim": 20,
    },
    "modernbert": {**EVEN, "local_attention": 4, "num_hidden_layers": 4, "norm_bias": True},
    "eurobert": {**EVEN, "mask_token_id": 3, "classifier_pooling": "mean"},
    "nomic_bert": EVEN,
    "gte": {**EVEN, "type_vocab_size": 2},
    "jina_embeddings_v3": EVEN,
    "esm": {**EVEN, **ESM2},
    "roformer": {**EVEN, "embedding_size": 6},
    "dpr": {**TEXT, "projection_dim": 5},
    "clip_text_model": {**TEXT, "projection_dim": 5, "eos_token_id": 36},
    "clip_vision_model": {**IMAGE, "projection_dim": 5},
    "siglip2_vision_model": {
        **{key: value for key, value in IMAGE.items() if key != "image_size"},
        **{"num_patches": 9, "num_channels": 2},
    },
    "dinov2": DINO,
    "dinov2_with_registers": {**DINO, "num_register_tokens": 3},
    "dinov3_vit": {**IMAGE, "hidden_size": 24, "num_register_tokens": 3},
    "beit": {**IMAGE, "vocab_size": 9, "use_relative_position_bias": True},
    "data2vec-vision": {**IMAGE, "use_shared_relative_position_bias": True},
    "videomae": {**IMAGE, "num_frames": 5, "tubelet_size": 2, **RESTORER},
    "vivit": {
        **{key: value for key, value in IMAGE.items() if key != "patch_size"},
        **{"num_frames": 4, "tubelet_size": [2, 4, 3]},
    },
    "vit_mae": {**IMAGE, "mask_ratio": 0.0, **RESTORER},
    "audio-spectrogram-transformer": {
        **{key: value for key, value in IMAGE.items() if key != "image_size"},
        **{"num_mel_bins": 8, "max_length": 11, "frequency_stride": 2, "time_stride": 3},
    },
    "whisper": WHISPER,
    **dict.fromkeys(("t5", "mt5", "umt5"), T5),
    **dict.fromkeys(("bart", "mbart", "pegasus", "marian", "blenderbot", "blenderbot-small"), BART),
}


@dataclass(frozen=True)
class Case:
    """A class of transformers with the config of one small model."""

    family: str
    model_class: str
    changes: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return "-".join([self.model_class, *(f"{key}={value}" for key, value in self.changes.items())]).replace(" ", "")

    @property
    def config(self) -> dict[str, Any]:
        keys = FAMILIES[self.family].keys
        config = CONFIGS.get(self.family, TEXT if "vocab_size" in keys else IMAGE)
        segments = {"type_vocab_size": 2} if "type_vocab_size" in keys else {}
        labels = {"num_labels": 2} if "ForQuestionAnswering" in self.model_class else {}
        return {**config, **segments, **labels, **self.changes}


# Published with code of their own, which is never run: tests/model/test_published_layouts.py compares them with a twin.
NOT_IN_TRANSFORMERS = ("new", "gte-published", "jina_bert", "neobert", "xlm-roberta-flash")

# Every class that the reader knows, and then what a config may change.
# Counted, but not computed: tokens of the question see all, patches are left out and states replaced at random.
ONLY_COUNTED = (
    "BigBirdForQuestionAnswering",
    "LongformerForMultipleChoice",
    "LongformerForQuestionAnswering",
    "VideoMAEForPreTraining",
    "UniSpeechForPreTraining",
    "UniSpeechSatForPreTraining",
)
CASES = [
    Case(family.model_type, name)
    for family in FAMILIES.values()
    for name in family.classes
    if family.model_type not in NOT_IN_TRANSFORMERS and name not in ONLY_COUNTED
]
VARIANTS = [
    Case("bert", "BertModel", {"type_vocab_size": 3, "hidden_act": "gelu_new", "layer_norm_eps": 1e-3}),
    Case("bert", "BertForMaskedLM", {"tie_word_embeddings": False}),
    Case("bert", "BertForPreTraining", {"tie_word_embeddings": False, "hidden_act": "relu"}),
    Case("roberta", "RobertaModel", {"pad_token_id": 0}),
    Case("roberta", "RobertaForMaskedLM", {"tie_word_embeddings": False, "hidden_act": "silu"}),
    Case("mobilebert", "MobileBertModel", {"use_bottleneck_attention": True, "key_query_shared_bottleneck": False}),
    Case("mobilebert", "MobileBertModel", {"use_bottleneck": False, "hidden_size": 12, "true_hidden_size": 12}),
    Case("mobilebert", "MobileBertModel", {"trigram_input": False, "normalization_type": "layer_norm", "layer_norm_eps": 1e-5}),
    Case("mobilebert", "MobileBertForMaskedLM", {"tie_word_embeddings": False, "num_feedforward_networks": 1}),
    Case("mobilebert", "MobileBertForPreTraining", {"classifier_activation": False}),
    Case("fnet", "FNetModel", {"hidden_act": "relu", "type_vocab_size": 3, "hidden_size": 10}),
    Case("fnet", "FNetForMaskedLM", {"tie_word_embeddings": False}),
    Case("fnet", "FNetForPreTraining", {"tie_word_embeddings": False, "num_hidden_layers": 3}),
    Case("ernie", "ErnieForMaskedLM", {"use_task_id": True, "task_type_vocab_size": 4}),
    Case(
        "layoutlmv3",
        "LayoutLMv3Model",
        {"has_spatial_attention_bias": False, "visual_embed": False, "coordinate_size": 1, "shape_size": 4},
    ),
    Case(
        "layoutlmv3",
        "LayoutLMv3ForTokenClassification",
        {"num_labels": 11, "has_relative_attention_bias": False, "has_spatial_attention_bias": False},
    ),
    Case(
        "funnel", "FunnelModel", {"block_sizes": [1, 2], "block_repeats": [1, 2], "num_decoder_layers": 1, "hidden_act": "relu"}
    ),
    Case("nystromformer", "NystromformerModel", {"conv_kernel_size": 1, "hidden_act": "relu"}),
    Case("nystromformer", "NystromformerForMaskedLM", {"tie_word_embeddings": False}),
    Case("xlm", "XLMModel", {"n_langs": 1, "gelu_activation": False}),
    Case("xlm", "XLMWithLMHeadModel", {"tie_word_embeddings": False, "use_lang_emb": False}),
    Case("squeezebert", "SqueezeBertForMaskedLM", {"post_attention_groups": 4, "k_groups": 1, "tie_word_embeddings": False}),
    Case("distilbert", "DistilBertForMaskedLM", {"tie_word_embeddings": False}),
    Case("albert", "AlbertForMaskedLM", {"num_hidden_layers": 6, "num_hidden_groups": 2, "inner_group_num": 2}),
    Case("albert", "AlbertModel", {"num_hidden_layers": 5, "num_hidden_groups": 3, "embedding_size": 12}),
    Case("electra", "ElectraForMaskedLM", {"embedding_size": 12}),
    Case("modernbert", "ModernBertForMaskedLM", {"tie_word_embeddings": False, "decoder_bias": False}),
    Case("modernbert", "ModernBertModel", {"attention_bias": True, "mlp_bias": True, "norm_bias": False}),
    Case("modernbert", "ModernBertForSequenceClassification", {"classifier_pooling": "mean", "classifier_bias": True}),
    Case(
        "eurobert", "EuroBertForSequenceClassification", {"classifier_pooling": "bos", "attention_bias": True, "mlp_bias": True}
    ),
    Case("eurobert", "EuroBertForSequenceClassification", {"classifier_pooling": "late"}),
    Case("eurobert", "EuroBertModel", {"head_dim": 6}),
    Case("eurobert", "EuroBertModel", {"num_attention_heads": 4, "num_key_value_heads": 2, "attention_bias": True}),
    Case("eurobert", "EuroBertForTokenClassification", {"num_key_value_heads": 1, "head_dim": 6}),
    Case("eurobert", "EuroBertForMaskedLM", {"tie_word_embeddings": True, "mlp_bias": True}),
    Case("esm", "EsmModel", {"position_embedding_type": "absolute", "emb_layer_norm_before": True}),
    Case("esm", "EsmForMaskedLM", {"token_dropout": False, "tie_word_embeddings": False, "rope_theta": 300.0}),
    Case("big_bird", "BigBirdModel", {"attention_type": "original_full", "use_bias": False, "rescale_embeddings": True}),
    Case("big_bird", "BigBirdForMaskedLM", {"tie_word_embeddings": False}),
    Case("roformer", "RoFormerModel", {"rotary_value": True, "embedding_size": 16}),
    Case("roformer", "RoFormerForMaskedLM", {"rotary_value": True, "tie_word_embeddings": False}),
    Case("nomic_bert", "NomicBertForMaskedLM", {"tie_word_embeddings": False}),
    Case("gte", "GteForMaskedLM", {"tie_word_embeddings": False, "hidden_act": "silu", "type_vocab_size": 0}),
    Case("deberta", "DebertaModel", {"hidden_size": 16, "pos_att_type": ["c2p"], "type_vocab_size": 2}),
    Case("deberta", "DebertaModel", {"hidden_size": 16, "pos_att_type": "p2c", "max_relative_positions": 5}),
    Case("deberta", "DebertaModel", {"position_biased_input": True, "hidden_act": "gelu_new"}),
    Case("deberta", "DebertaModel", {"hidden_size": 32, "relative_attention": False, "pos_att_type": None}),
    Case("deberta", "DebertaForMaskedLM", {"tie_word_embeddings": False}),
    Case("deberta-v2", "DebertaV2Model", {**TWO_TERMS, "pos_att_type": ["c2p"], "type_vocab_size": 2}),
    Case("deberta-v2", "DebertaV2Model", {**TWO_TERMS, "pos_att_type": "p2c", "position_buckets": -1}),
    Case("deberta-v2", "DebertaV2Model", {"share_att_key": False, "position_biased_input": True, "max_relative_positions": 7}),
    Case("deberta-v2", "DebertaV2Model", {**NOT_RELATIVE, "hidden_size": 32}),
    Case("deberta-v2", "DebertaV2Model", {"position_buckets": -1, "max_relative_positions": 5, "hidden_act": "gelu_new"}),
    Case("deberta-v2", "DebertaV2Model", {"conv_kernel_size": 3, "conv_act": "gelu", "conv_groups": 2}),
    Case("deberta-v2", "DebertaV2ForSequenceClassification", {"conv_kernel_size": 5, "num_hidden_layers": 1}),
    Case("deberta-v2", "DebertaV2ForMaskedLM", {"tie_word_embeddings": False}),
    Case("deberta-v2", "DebertaV2ForSequenceClassification", {"pooler_hidden_act": "tanh"}),
    Case("t5", "T5EncoderModel", {"feed_forward_proj": "gated-gelu", "relative_attention_num_buckets": 8}),
    Case("bart", "BartEncoder", {"scale_embedding": True, "activation_function": "relu"}),
    Case("wav2vec2", "Wav2Vec2Model", {"do_stable_layer_norm": True, "feat_extract_norm": "layer", "conv_bias": True}),
    Case("wav2vec2", "Wav2Vec2ForSequenceClassification", {"use_weighted_layer_sum": True, "mask_time_prob": 0.0}),
    Case("wav2vec2", "Wav2Vec2ForCTC", {"adapter_attn_dim": 5, "do_stable_layer_norm": True}),
    Case(
        "whisper", "WhisperForAudioClassification", {"classifier_proj_size": 6, "num_labels": 3, "use_weighted_layer_sum": True}
    ),
    Case("hubert", "HubertModel", {"feat_proj_layer_norm": False, "num_conv_pos_embeddings": 5}),
    Case(
        "wavlm",
        "WavLMForAudioFrameClassification",
        {"use_weighted_layer_sum": True, "do_stable_layer_norm": True, "feat_extract_norm": "layer"},
    ),
    Case("data2vec-audio", "Data2VecAudioModel", {"num_conv_pos_embeddings": 1, "conv_pos_kernel_size": 4, "conv_bias": True}),
    Case("whisper", "WhisperEncoder", {"activation_function": "relu", "scale_embedding": True, "num_mel_bins": 3}),
    Case("vit", "ViTModel", {"image_size": [8, 12], "patch_size": [4, 3], "num_channels": 1}),
    Case("vit", "ViTForImageClassification", {"qkv_bias": False, "image_size": 10}),
    Case("vit", "ViTModel", {"head_dim": 5}),
    Case("dinov2", "Dinov2Model", {"use_swiglu_ffn": True, "use_mask_token": False}),
    Case("dinov3_vit", "DINOv3ViTModel", {"use_gated_mlp": True, "hidden_act": "silu", "key_bias": True, "image_size": [8, 12]}),
    Case("dinov3_vit", "DINOv3ViTModel", {"num_register_tokens": 0, "query_bias": False, "proj_bias": False, "mlp_bias": False}),
    Case("beit", "BeitModel", {"use_absolute_position_embeddings": True, "use_relative_position_bias": False}),
    Case("beit", "BeitModel", {"use_shared_relative_position_bias": True, "use_relative_position_bias": False}),
    Case("beit", "BeitForImageClassification", {"use_mean_pooling": False, "layer_scale_init_value": 0.0}),
    Case("beit", "BeitModel", {"use_mean_pooling": False, "use_mask_token": True}),
    Case("videomae", "VideoMAEForVideoClassification", {"use_mean_pooling": False, "qv_bias": False, "image_size": [8, 12]}),
    Case("vivit", "VivitModel", {"tubelet_size": [1, 4, 4], "num_frames": 2, "qkv_bias": False, "num_channels": 2}),
    Case("audio-spectrogram-transformer", "ASTModel", {"frequency_stride": 5, "time_stride": 4, "qkv_bias": False}),
    Case("siglip2_vision_model", "Siglip2VisionModel", {"vision_use_head": False, "num_patches": 4, "num_channels": 1}),
    Case("siglip_vision_model", "SiglipVisionModel", {"vision_use_head": False}),
    Case("clip_vision_model", "CLIPVisionModel", {"hidden_act": "gelu"}),
]

# Counted and run in float64; the PyTorch model lacks parts of them.
NOT_BUILT_CLASSES = ("ViTMAEForPreTraining", "Wav2Vec2ForPreTraining")
BUILT, BUILT_VARIANTS = ([case for case in cases if case.model_class not in NOT_BUILT_CLASSES] for cases in (CASES, VARIANTS))


def guest(name: str) -> Any:
    """A package that only tests need: skipped over where it is not installed, but never on the machine that decides."""
    return importlib.import_module(name) if os.environ.get("CI") else pytest.importorskip(name)


@contextmanager
def all_in_float64() -> Iterator[None]:
    """transformers in float64 throughout: it computes softmax, RMSNorm and rotary angles in float32 whatever the model is in."""
    torch = guest("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "float32", torch.float64)
        patch.setattr(torch, "float", torch.float64)
        patch.setattr(torch.Tensor, "float", torch.Tensor.double)
        for name in ("deberta", "deberta_v2"):
            if (deberta := sys.modules.get(f"transformers.models.{name}.modeling_{name}")) is not None:
                # A compiled function: what is patched here does not reach the format that its root is rounded to.
                patch.setattr(deberta, "scaled_size_sqrt", lambda x, factor: torch.tensor(float(x.size(-1) * factor)).sqrt())
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            patch.undo()
            torch.set_default_dtype(torch.float32)


def model_of(case: Case, *, seed: int = 0) -> Any:
    """The model in float64, every parameter random: a fresh model's zeros and ones would hide a tensor in the wrong place."""
    torch, transformers = guest("torch"), guest("transformers")
    model_class = class_of(transformers, case.model_class)
    config = case.config
    if model_class.config_class.__name__ in (
        "CLIPConfig",
        "SiglipConfig",
        "Siglip2Config",
    ):  # image classifiers of two-tower families
        config = {"vision_config": config, "num_labels": config["num_labels"]}
    torch.manual_seed(seed)
    made = model_class.config_class(**config)
    made._attn_implementation = "eager"
    with all_in_float64(), torch.no_grad():
        model = model_class(made).to(torch.float64).eval()
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + ("norm" in name.lower() and name.endswith("weight")))
        for embeddings in (part for part in model.modules() if type(part).__name__ == "VideoMAEEmbeddings"):
            rows, width = embeddings.position_embeddings.shape[1:]  # its waves are rounded to float32
            embeddings.position_embeddings = torch.as_tensor(sinusoidal_table(rows, width))[None]
    return model


def class_of(transformers: Any, name: str) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")  # DeBERTa's file uses it, as it is imported
        found = getattr(transformers, name, None)
    if found is not None:
        return found
    folder = Path(transformers.__file__).parent / "models"
    for file in sorted(folder.glob("*/modeling_*.py")):
        if f"class {name}(" in file.read_text(encoding="utf-8"):
            return getattr(importlib.import_module(f"transformers.models.{file.parent.name}.{file.stem}"), name)
    raise AssertionError(f"transformers has no {name}")


def save(model: Any, folder: Path) -> Path:
    """The model as `save_pretrained` writes it."""
    model.save_pretrained(folder)
    return folder


def inputs_for(case: Case, *, padded: bool, seed: int = 0) -> dict[str, Any]:
    """Two texts (the second shorter, where padded), two images or two sounds."""
    rng = np.random.default_rng(seed)
    config = case.config
    if "conv_dim" in FAMILIES[case.family].keys:
        attend = {"attend": np.arange(19) < np.array([[19], [12]])} if padded else {}
        return {"frames": rng.normal(size=(2, 1, SAMPLES)), **attend}
    if case.family == "audio-spectrogram-transformer":
        return {"image": rng.normal(size=(2, 1, config["num_mel_bins"], config["max_length"]))}
    if "num_mel_bins" in FAMILIES[case.family].keys:
        return {"frames": rng.normal(size=(2, config["num_mel_bins"], 2 * config["max_source_positions"]))}
    if "vocab_size" not in FAMILIES[case.family].keys:
        if "num_patches" in config:
            config = {**config, "image_size": round(config["num_patches"] ** 0.5) * config["patch_size"]}
        height, width = config["image_size"] if isinstance(config["image_size"], list) else [config["image_size"]] * 2
        frames = [config["num_frames"]] if "num_frames" in config else []
        return {"image": rng.normal(size=(2, *frames, config.get("num_channels", 3), height, width))}
    length, short = 11, 7
    tokens = rng.integers(3, config["vocab_size"] - 1, (2, length))
    tokens[tokens == config.get("eos_token_id", 2)] = 3  # a text ends once
    attend = np.ones((2, length), dtype=int)
    if padded:
        attend[1, short:] = 0
        tokens[1, short:] = config["pad_token_id"]
    ends = attend.sum(1) - 1
    tokens[np.arange(2), ends] = config.get("eos_token_id", 2)  # CLIP pools at the end-of-text token
    given: dict[str, Any] = {"tokens": tokens}
    if config.get("type_vocab_size"):
        given["segments"] = rng.integers(0, config["type_vocab_size"], (2, length))
    if config.get("max_2d_position_embeddings"):
        sides = np.sort(rng.integers(0, config["max_2d_position_embeddings"], (2, length, 2, 2)), axis=2)
        given["boxes"] = sides.reshape(2, length, 4)
    return given | ({"attend": attend} if padded else {})


def forward(case: Case, model: Any, given: dict[str, Any]) -> Any:
    """What transformers computes."""
    torch = guest("torch")
    names = {"tokens": "input_ids", "segments": "token_type_ids", "attend": "attention_mask", "boxes": "bbox"}
    names |= {"image": "pixel_values", "frames": "input_features"}
    tensors = {names[name]: torch.as_tensor(value) for name, value in given.items()}
    if "conv_dim" in FAMILIES[case.family].keys:
        tensors = raw_sound(case, tensors)
    if case.family == "siglip2_vision_model":
        tensors = in_patches(case, tensors["pixel_values"])
    if case.family == "vit_mae":  # patches in their order
        tensors["noise"] = torch.arange((case.config["image_size"] // case.config["patch_size"]) ** 2).expand(2, -1)
    if case.family == "audio-spectrogram-transformer":
        tensors = {"input_values": tensors["pixel_values"][:, 0].mT}
    if case.model_class.endswith("ForMultipleChoice"):
        tensors = {name: value[:, None] for name, value in tensors.items()}
    with all_in_float64(), torch.no_grad():
        return model(**tensors, output_hidden_states=True)


def in_patches(case: Case, image: Any) -> dict[str, Any]:
    """An image as SigLIP 2 takes it: patches, each pixel by pixel with its channels side by side."""
    torch, side = guest("torch"), case.config["patch_size"]
    patches = torch.nn.functional.unfold(image, side, stride=side).unflatten(1, (case.config["num_channels"], -1))
    grid = torch.tensor([[image.shape[2] // side, image.shape[3] // side]] * len(image))
    return {
        "pixel_values": patches.permute(0, 3, 2, 1).flatten(2),
        "pixel_attention_mask": torch.ones(len(image), patches.shape[-1], dtype=torch.int64),
        "spatial_shapes": grid,
    }


def raw_sound(case: Case, tensors: dict[str, Any]) -> dict[str, Any]:
    """Sound as transformers takes it: without an axis for its one feature, and with a mask for each sample."""
    torch = guest("torch")
    values = tensors.pop("input_features")[:, 0]
    if "attention_mask" not in tensors:
        return {"input_values": values}
    samples = tensors["attention_mask"].sum(1)
    for kernel, stride in list(zip(case.config["conv_kernel"], case.config["conv_stride"], strict=True))[::-1]:
        samples = (samples - 1) * stride + kernel
    return {"input_values": values, "attention_mask": (torch.arange(SAMPLES) < samples[:, None]).long()}


def farthest(ours: Any, theirs: Any, real: Any) -> float:
    """The largest difference over all layers and outputs, as a part of the largest number of each (or of one)."""

    def apart(a: Any, b: Any) -> float:
        error, scale = np.abs(a - b), max(1.0, float(np.abs(b).max()))
        gap = float((error[real] if error.shape[:2] == real.shape else error).max()) / scale
        return float("inf") if np.isnan(gap) else gap

    assert len(ours.hidden) == len(theirs.hidden)
    layers = [apart(a, b) for a, b in zip(ours.hidden[:-1], theirs.hidden[:-1], strict=True)]
    # The last one is kept by some classes before the final norm and by some after it.
    last = min(apart(a, theirs.hidden[-1]) for a in (ours.hidden[-1], ours.outputs["states"]))
    outputs = [apart(a, theirs.outputs[name].reshape(a.shape)) for name, a in ours.outputs.items() if name in theirs.outputs]
    assert outputs
    assert set(theirs.outputs) <= set(ours.outputs)
    return max([*layers, last, *outputs])
