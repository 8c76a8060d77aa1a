"""Tensor names of image encoders (ViT and its relatives) and of the two towers of CLIP and SigLIP."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import At, Names, Table, batch, half, third, token

# ViT -----------------------------------------------------------------------------------------------------------------
# Files on the hub, and save_pretrained, use the first spelling; the current classes use the second.

VIT_BODY: Table = {
    "embeddings.class_token": token("embeddings.cls_token"),
    "embeddings.distillation_token": token("embeddings.distillation_token"),
    "embeddings.mask_token": token("embeddings.mask_token"),
    "embeddings.E_position": batch("embeddings.position_embeddings"),
    "embeddings.patch": "embeddings.patch_embeddings.projection",
    "final_norm": "layernorm",
    "pooler.P": "pooler.dense",
}
MOST_LAYERS_OF_DECODERS = 32
OLD_ATTENTION: Table = {
    "attention.Q": "attention.attention.query",
    "attention.K": "attention.attention.key",
    "attention.V": "attention.attention.value",
    "attention.O": "attention.output.dense",
}
NEW_ATTENTION: Table = {
    "attention.Q": "attention.q_proj",
    "attention.K": "attention.k_proj",
    "attention.V": "attention.v_proj",
    "attention.O": "attention.o_proj",
}
BEFORE_AND_AFTER: Table = {"norm_1": "layernorm_before", "norm_2": "layernorm_after"}
OLD_LAYER: Table = {**OLD_ATTENTION, **BEFORE_AND_AFTER, "ffn.1": "intermediate.dense", "ffn.2": "output.dense"}
NEW_LAYER: Table = {**NEW_ATTENTION, **BEFORE_AND_AFTER, "ffn.1": "mlp.fc1", "ffn.2": "mlp.fc2"}
LABELS: Table = {"head.C": "classifier"}
PIXELS: Table = {"head.W_C": At("decoder.0.weight", ones_after=2), "head.b_C": "decoder.0.bias"}  # a 1x1 convolution


def _restorer(*tables: Table) -> Table:
    """The layers of a decoder that restores patches; files on the hub have the second spelling, save_pretrained the first."""
    folders = ("decoder.decoder_encoder.layer", "decoder.decoder_layers")
    return {
        f"head.layer_{n}.{part}": tuple(f"{folder}.{n}.{table[part]}" for table in tables for folder in folders)
        for n in range(MOST_LAYERS_OF_DECODERS)
        for part in tables[0]
    }


VIT = Names(
    prefixes=("vit.",),
    body=VIT_BODY,
    layers=(("encoder.layer.{n}.", OLD_LAYER), ("layers.{n}.", NEW_LAYER)),
    heads={"ForImageClassification": LABELS, "ForMaskedImageModeling": PIXELS},
)
DEIT = replace(
    VIT,
    prefixes=("deit.",),
    heads={
        **VIT.heads,
        "ForImageClassificationWithTeacher": {"head.C": "cls_classifier", "head.D": "distillation_classifier"},
    },
)

SPECTROGRAM = replace(
    VIT,
    prefixes=("audio_spectrogram_transformer.",),
    heads={"ForAudioClassification": {"pooler.norm": "classifier.layernorm", "head.C": "classifier.dense"}},
)

# Files store the biases of queries and values next to the matrices; models in memory have them in the layers.
VIDEOMAE_LAYERS: tuple[Table, ...] = tuple(
    {**OLD_LAYER, **{f"attention.b_{name}": f"attention.attention.{bias}" for name, bias in biases.items()}}
    for biases in ({"Q": "q_bias", "V": "v_bias"}, {"Q": "query.bias", "V": "value.bias"})
)
VIDEOMAE = replace(
    VIT,
    prefixes=("videomae.",),
    layers=tuple(("encoder.layer.{n}.", table) for table in VIDEOMAE_LAYERS),
    heads={
        "ForVideoClassification": {"pooler.norm": "fc_norm", **LABELS},
        "ForPreTraining": {
            "head.E": "encoder_to_decoder",
            "head.mask_token": token("mask_token"),
            **_restorer(*VIDEOMAE_LAYERS),
            "head.norm": "decoder.norm",
            "head.C": "decoder.head",
        },
    },
)
VIT_MAE = replace(
    VIT,
    heads={
        "ForPreTraining": {
            "head.E": "decoder.decoder_embed",
            "head.mask_token": token("decoder.mask_token"),
            "head.E_position": batch("decoder.decoder_pos_embed"),
            **_restorer(OLD_LAYER, NEW_LAYER),
            "head.norm": "decoder.decoder_norm",
            "head.C": "decoder.decoder_pred",
        }
    },
    aside=("decoder.",),
)

# DINOv2 and BEiT: layer scale ----------------------------------------------------------------------------------------

DINOV2_REST: Table = {
    "norm_1": "norm1",
    "norm_2": "norm2",
    "lambda_1": "layer_scale1.lambda1",
    "lambda_2": "layer_scale2.lambda1",
    "ffn.1": "mlp.fc1",
    "ffn.2": "mlp.fc2",
}
DINOV2 = Names(
    prefixes=("dinov2.",),
    body={
        **VIT_BODY,
        "embeddings.mask_token": batch("embeddings.mask_token"),
        "embeddings.registers": batch("embeddings.register_tokens"),
    },
    layers=(("encoder.layer.{n}.", {**OLD_ATTENTION, **DINOV2_REST}), ("encoder.layer.{n}.", {**NEW_ATTENTION, **DINOV2_REST})),
    gated={
        "ffn.1": (half("mlp.weights_in", 0), "mlp.gate_proj"),
        "ffn.3": (half("mlp.weights_in", 1), "mlp.up_proj"),
        "ffn.2": ("mlp.weights_out", "mlp.down_proj"),
    },
    heads={"ForImageClassification": LABELS},
)
DINOV3_LAYER: Table = {**NEW_ATTENTION, **DINOV2_REST, "ffn.1": "mlp.up_proj", "ffn.2": "mlp.down_proj"}
DINOV3 = Names(
    prefixes=("model.",),  # no class has a head: the prefix is never used
    body={
        **VIT_BODY,
        "embeddings.patch": "embeddings.patch_embeddings",
        "embeddings.registers": batch("embeddings.register_tokens"),
        "final_norm": "norm",
    },
    layers=(("layer.{n}.", DINOV3_LAYER), ("model.layer.{n}.", DINOV3_LAYER)),
    gated={"ffn.1": "mlp.gate_proj", "ffn.3": "mlp.up_proj", "ffn.2": "mlp.down_proj"},
    empty=("embeddings.register_tokens",),
)
SCALES: Table = {"lambda_1": "lambda_1", "lambda_2": "lambda_2"}
OFFSETS = "relative_position_bias.relative_position_bias_table"
BEIT = Names(
    prefixes=("beit.",),
    body={
        **VIT_BODY,
        "layers.E_relative": (f"encoder.{OFFSETS}", "shared_position_bias.relative_position_bias_table"),
        "pooler.norm": "pooler.layernorm",
    },
    layers=(
        ("encoder.layer.{n}.", {**OLD_LAYER, **SCALES, "E_relative": f"attention.attention.{OFFSETS}"}),
        ("layers.{n}.", {**NEW_LAYER, **SCALES, "E_relative": OFFSETS}),
    ),
    heads={"ForImageClassification": LABELS, "ForMaskedImageModeling": {"final_norm": "layernorm", "head.C": "lm_head"}},
    aside=("decode_head.", "auxiliary_head.", "fpn"),  # segmentation
)

# CLIP and SigLIP -----------------------------------------------------------------------------------------------------

CLIP_LAYERS: tuple[tuple[str, Table], ...] = (
    (
        "encoder.layers.{n}.",
        {
            "attention.Q": "self_attn.q_proj",
            "attention.K": "self_attn.k_proj",
            "attention.V": "self_attn.v_proj",
            "attention.O": "self_attn.out_proj",
            "norm_1": "layer_norm1",
            "ffn.1": "mlp.fc1",
            "ffn.2": "mlp.fc2",
            "norm_2": "layer_norm2",
        },
    ),
)
CLIP_TEXT = Names(
    prefixes=("text_model.",),
    body={
        "embeddings.E_token": "embeddings.token_embedding.weight",
        "embeddings.E_position": "embeddings.position_embedding.weight",
        "final_norm": "final_layer_norm",
    },
    layers=CLIP_LAYERS,
    heads={"WithProjection": {"head.P": "text_projection"}},
    aside=("vision_model.", "visual_projection.", "logit_scale"),
)
CLIP_VISION = Names(
    prefixes=("vision_model.",),
    body={
        "embeddings.class_token": "embeddings.class_embedding",
        "embeddings.patch": "embeddings.patch_embedding",
        "embeddings.E_position": "embeddings.position_embedding.weight",
        "embeddings.norm": "pre_layrnorm",
        "final_norm": "post_layernorm",
    },
    layers=CLIP_LAYERS,
    heads={"WithProjection": {"head.P": "visual_projection"}, "ForImageClassification": LABELS},
    aside=("text_model.", "text_projection.", "logit_scale"),
)
SIGLIP_TEXT = replace(
    CLIP_TEXT,
    body={**CLIP_TEXT.body, "head.P": "head"},
    heads={},
    aside=("vision_model.", "logit_scale", "logit_bias"),
)
PROBE = "head.attention.in_proj_"
SIGLIP_VISION = replace(
    CLIP_VISION,
    body={
        **{
            name: stored for name, stored in CLIP_VISION.body.items() if name not in ("embeddings.class_token", "embeddings.norm")
        },
        "pooler.query": batch("head.probe"),
        **{f"pooler.attention.W_{name}": third(f"{PROBE}weight", part) for part, name in enumerate("QKV")},
        **{f"pooler.attention.b_{name}": third(f"{PROBE}bias", part) for part, name in enumerate("QKV")},
        "pooler.attention.O": "head.attention.out_proj",
        "pooler.norm": "head.layernorm",
        "pooler.ffn.1": "head.mlp.fc1",
        "pooler.ffn.2": "head.mlp.fc2",
    },
    heads={"ForImageClassification": LABELS},
    aside=("text_model.", "logit_scale", "logit_bias"),
)
SIGLIP2_VISION = replace(
    SIGLIP_VISION,
    body={
        **{name: stored for name, stored in SIGLIP_VISION.body.items() if name != "embeddings.patch"},
        "embeddings.W_patch": At("embeddings.patch_embedding.weight", channels_last=True),
        "embeddings.b_patch": "embeddings.patch_embedding.bias",
    },
)

NAMES: dict[str, Names] = {
    "vit": VIT,
    "vit_msn": VIT,
    "deit": DEIT,
    "videomae": VIDEOMAE,
    "vivit": replace(VIT, prefixes=("vivit.",), heads={"ForVideoClassification": LABELS}),
    "vit_mae": VIT_MAE,
    "audio-spectrogram-transformer": SPECTROGRAM,
    "ijepa": replace(VIT, prefixes=("ijepa.",)),
    "dinov2": DINOV2,
    "dinov2_with_registers": replace(DINOV2, prefixes=("dinov2_with_registers.",)),
    "dinov3_vit": DINOV3,
    "beit": BEIT,
    "data2vec-vision": replace(BEIT, prefixes=("data2vec_vision.",)),
    "clip_text_model": CLIP_TEXT,
    "clip_vision_model": CLIP_VISION,
    "siglip_text_model": SIGLIP_TEXT,
    "siglip_vision_model": SIGLIP_VISION,
    "siglip2_text_model": SIGLIP_TEXT,
    "siglip2_vision_model": SIGLIP2_VISION,
}
