"""Tensor names of audio encoders: Whisper, and wav2vec 2.0 with its relatives."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import At, Names, Table
from glassformer.files.name_tables.text import BART

# The layers are named as in BART; the input differs.
WHISPER = replace(
    BART,
    body={
        "embeddings.conv1": "conv1",
        "embeddings.conv2": "conv2",
        "embeddings.E_position": "embed_positions.weight",
        "final_norm": "layer_norm",
    },
    shared=(),
    heads={"ForAudioClassification": {"head.C": "classifier", "head.T": "projector", "head.layer_weights": "layer_weights"}},
    own_prefix={"WhisperForAudioClassification": "encoder."},
    aside=("model.decoder.", "decoder.", "proj_out.", "projector.", "classifier.", "layer_weights"),
)


# Raw audio: wav2vec 2.0 and its relatives ----------------------------------------------------------------------------

MOST = 32  # convolutions
CONVOLUTIONS: Table = {
    **{f"embeddings.conv{i + 1}": f"feature_extractor.conv_layers.{i}.conv" for i in range(MOST)},
    **{f"embeddings.conv_norm_{i + 1}": f"feature_extractor.conv_layers.{i}.layer_norm" for i in range(MOST)},
    "embeddings.feature_norm": "feature_projection.layer_norm",
    "embeddings.E": "feature_projection.projection",
    "embeddings.mask_token": "masked_spec_embed",
    "embeddings.norm": "encoder.layer_norm",
    "final_norm": "encoder.layer_norm",
}
POSITIONS = "encoder.pos_conv_embed.conv"
# Weight norm in PyTorch's current layout; older files use the second spelling.
WEIGHT_NORM: Table = {
    "embeddings.V_position": (
        At(f"{POSITIONS}.parametrizations.weight.original1", merged=2),
        At(f"{POSITIONS}.weight_v", merged=2),
    ),
    "embeddings.g_position": (
        At(f"{POSITIONS}.parametrizations.weight.original0", ones_before=2),
        At(f"{POSITIONS}.weight_g", ones_before=2),
    ),
    "embeddings.b_position": f"{POSITIONS}.bias",
}
SEVERAL: Table = {
    entry: stored
    for i in range(MOST)
    for entry, stored in (
        (f"embeddings.V_position_{i + 1}", At(f"encoder.pos_conv_embed.layers.{i}.conv.weight", merged=2)),
        (f"embeddings.b_position_{i + 1}", f"encoder.pos_conv_embed.layers.{i}.conv.bias"),
    )
}
ONE: Table = {
    "embeddings.V_position": At("encoder.pos_conv_embed.layers.0.conv.weight", merged=2),
    "embeddings.b_position": "encoder.pos_conv_embed.layers.0.conv.bias",
}
LAYER: Table = {
    "attention.Q": "attention.q_proj",
    "attention.K": "attention.k_proj",
    "attention.V": "attention.v_proj",
    "attention.O": "attention.out_proj",
    "norm_1": "layer_norm",
    "ffn.1": "feed_forward.intermediate_dense",
    "ffn.2": "feed_forward.output_dense",
    "norm_2": "final_layer_norm",
    "adapter.norm": "adapter_layer.norm",
    "adapter.1": "adapter_layer.linear_1",
    "adapter.2": "adapter_layer.linear_2",
}
CLASSES: Table = {"head.C": "classifier", "head.T": "projector", "head.layer_weights": "layer_weights"}

# Pre-training: codes that sound is quantised to.
CODES: Table = {
    "head.V": "quantizer.weight_proj",
    "head.E_code": At("quantizer.codevectors", ones_before=1, merged=2),
    "head.P": "project_q",
    "head.S": "project_hid",
    "head.C": "ctc_proj",
}
STORED_CODES: Table = {
    **CODES,
    "head.E_code": At("quantizer.codevectors", ones_before=1),
    "head.K": "speaker_proj",
    "head.E_cluster": "label_embeddings_concat",
    "head.norm": "layer_norm_for_extract",
}

# Modules that are not read: quantiser and projections of pre-training, the x-vector network of speakers, other heads.
ASIDE = ("quantizer.", "project_q.", "project_hid.", "final_proj.", "lm_head.", "projector.", "classifier.", "layer_weights")


def _sound(prefix: str, positions: Table = WEIGHT_NORM, codes: Table = CODES) -> Names:
    return Names(
        prefixes=(f"{prefix}.",),
        body={**CONVOLUTIONS, **positions},
        layers=(("encoder.layers.{n}.", LAYER),),
        heads={"ForCTC": {"head.C": "lm_head"}, "Classification": CLASSES, "ForPreTraining": codes},
        aside=ASIDE,
    )


GATED: Table = {
    **LAYER,
    "attention.gate": "attention.gru_rel_pos_linear",
    "attention.c_gate": At("attention.gru_rel_pos_const", ones_before=1, ones_after=2),
}
WAVLM = replace(
    _sound("wavlm"),
    layers=(("encoder.layers.{n}.", GATED),),
    body={**CONVOLUTIONS, **WEIGHT_NORM, "layers.E_relative": "encoder.layers.0.attention.rel_attn_embed.weight"},
)

NAMES: dict[str, Names] = {
    "whisper": WHISPER,
    "wav2vec2": _sound("wav2vec2"),
    "hubert": _sound("hubert"),
    "unispeech": _sound("unispeech"),
    "unispeech-sat": _sound("unispeech_sat", codes=STORED_CODES),
    "data2vec-audio": _sound("data2vec_audio", {**SEVERAL, **ONE}),
    "wavlm": WAVLM,
}
