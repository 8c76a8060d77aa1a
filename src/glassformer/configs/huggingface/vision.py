"""Image encoders: ViT, DeiT, DINOv2 and v3, BEiT and their relatives."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import CLASSIFIED, without
from glassformer.configs.huggingface.family import SIZES, Adjust, Draft, Family, Key
from glassformer.configs.huggingface.rotary import gated
from glassformer.configs.huggingface.text import NOT_SEQ2SEQ, read_by_a_layer
from glassformer.configs.huggingface.values import REQUIRED, Fields
from glassformer.spec.encoder_fields import ALL_BIASES

VIT_KEYS = {
    **SIZES,
    "hidden_act": Key("activation", "gelu"),
    "num_channels": Key("channels", 3),
    "head_dim": Key("d_k", None),
    "layer_norm_eps": Key("eps", 1e-12),
    "hidden_dropout_prob": Key("dropout", 0.0),
}
PRE_NORM: Fields = {"norm": "pre", "position": "learned"}
BACKBONE = frozenset("out_features out_indices stage_names apply_layernorm reshape_hidden_states".split())


# Adjustments: what the tables cannot express -------------------------------------------------------------------------


def image_and_patch(*, patch: int = 16, square: bool = False) -> Adjust:
    """Read the sizes of image and patch, a number or [height, width]; `patch` is the default inside another config."""

    def adjust(draft: Draft) -> None:
        nested = draft.config.nested
        for field, key, default in (("image", "image_size", 224), ("patch", "patch_size", patch)):
            height, width = draft.config.pair(key, default if nested else REQUIRED)
            if square and height != width:
                raise draft.config.refusal(key, "images and patches of this family must be square.")
            draft.fields.update({field: height} if height == width else {field: height, f"{field}_width": width})

    return adjust


def biases(*flags: str, missing: tuple[str, ...] = ()) -> Adjust:
    """Set the biases: all but `missing`, and without those of Q, K and V if one of `flags` is false."""

    def adjust(draft: Draft) -> None:
        given = [draft.config.flag(flag, default=True) for flag in flags]
        lacking = missing if all(given) else (*missing, "q", "k", "v")
        if lacking:
            draft.fields["biases"] = without(*lacking)

    return adjust


def labelled(draft: Draft) -> None:
    """Remove the head of an image classifier without labels."""
    if draft.fields.get("classes") == 0:
        del draft.fields["head"], draft.fields["classes"]


def pixels_back(draft: Draft) -> None:
    """Read the head of masked image modelling, which maps each patch to a square of `encoder_stride` pixels."""
    if draft.model_class.endswith("ForMaskedImageModeling"):
        stride = draft.config.whole("encoder_stride", 16, most=4096)
        draft.fields.update({"head": "tag_patches", "classes": stride**2 * draft.fields["channels"], "mask_token": True})


def tanh_pooler(draft: Draft) -> None:
    """Check that ViT's pooler has the width and the activation of BERT's: others are not implemented."""
    if draft.fields.get("pooler") == "dense":
        width = draft.fields["d_model"]
        if draft.config.whole("pooler_output_size", None) not in (None, width):
            raise draft.config.refusal("pooler_output_size", f"only a pooler of width hidden_size = {width} is implemented.")
        draft.config.word("pooler_act", "tanh", ("tanh",))


def dinov2_feed_forward(draft: Draft) -> None:
    """Compute d_ff from a ratio; with SwiGLU it is two thirds of that, rounded up to a multiple of 8."""
    width = int(draft.fields["d_model"] * draft.config.number("mlp_ratio"))
    if draft.config.flag("use_swiglu_ffn", default=False):
        width = (int(width * 2 / 3) + 7) // 8 * 8
        draft.fields["activation"] = "swiglu"
    if width < 1:
        raise draft.config.refusal("mlp_ratio", "the feed-forward block would have width 0.")
    draft.fields["d_ff"] = width


def dinov3_biases(draft: Draft) -> None:
    """Read the biases, each of which has a key; that of the keys is off unless the file says otherwise."""
    flags = {
        "q": "query_bias",
        "k": "key_bias",
        "v": "value_bias",
        "output": "proj_bias",
        "ffn": "mlp_bias",
        "ffn_output": "mlp_bias",
    }
    given = {place: draft.config.flag(key, default=place != "k") for place, key in flags.items()}
    draft.fields["biases"] = tuple(place for place in ALL_BIASES if given.get(place, True))


def gated_feed_forward(draft: Draft) -> None:
    """Read whether the feed-forward block is gated, with the activation that the file names."""
    if draft.config.flag("use_gated_mlp", default=False):
        gated(draft)


def beit_positions(draft: Draft) -> None:
    """Read the positions: absolute, relative or both; relative tables are shared or per layer, but not both."""
    learned = draft.config.flag("use_absolute_position_embeddings", default=False)
    per_layer = draft.config.flag("use_relative_position_bias", default=False)
    shared = draft.config.flag("use_shared_relative_position_bias", default=False)
    if per_layer and shared:
        raise draft.config.refusal(
            "use_shared_relative_position_bias", "a shared table together with per-layer tables is not implemented."
        )
    relative = per_layer or shared
    words = ("learned" if learned else "", "relative_2d" if relative else "")
    draft.fields["position"] = "_".join(word for word in words if word) or "none"
    if relative:
        draft.fields["relative_tables"] = "per_layer" if per_layer else "shared"
    if shared:
        read_by_a_layer(draft)


def beit_top(draft: Draft) -> None:
    """Read pooling and head: mean pooling moves the final norm to the pooled vector; the masked-image head has its own norm."""
    mean = draft.config.flag("use_mean_pooling", default=True)
    masked = draft.model_class.endswith("ForMaskedImageModeling")
    if masked and not mean:
        raise draft.config.refusal("use_mean_pooling", "two consecutive norms before the masked-image head are not implemented.")
    if masked:
        draft.fields.update({"head": "tag_patches", "classes": draft.config.whole("vocab_size")})
    pooled = draft.fields.pop("pooler", None) is not None
    draft.fields.update({"final_norm": "none" if mean and not masked else "all", "pool": "mean" if mean else "first"})
    if pooled and mean:
        draft.fields["pooler"] = "norm"


def beit_scale(draft: Draft) -> None:
    draft.fields["layer_scale"] = draft.config.number("layer_scale_init_value", 0.1) > 0


# The families --------------------------------------------------------------------------------------------------------

VIT_ADJUST = (image_and_patch(), biases("qkv_bias"), labelled, tanh_pooler)
VIT_INERT = frozenset({"encoder_stride", "pooler_output_size", "pooler_act"})
DINOV2_KEYS = {key: rule for key, rule in VIT_KEYS.items() if key != "intermediate_size"} | {"layer_norm_eps": Key("eps", 1e-6)}
# These keys control the interpolation of the position table for images of another size.
DINOV2_INERT = BACKBONE | {"layerscale_value", "interpolate_antialias", "interpolate_offset"}
BEIT_ADJUST = (image_and_patch(), biases(missing=("k",)), beit_scale, beit_positions, beit_top, labelled)
BEIT_INERT = BACKBONE | frozenset(
    """
    add_fpn auxiliary_channels auxiliary_concat_input auxiliary_loss_weight auxiliary_num_convs pool_scales segmentation_indices
    semantic_loss_ignore_index use_auxiliary_head vocab_size
    """.split()
)
JOINED: Fields = {**CLASSIFIED, "head_reads": "first_and_mean"}

ONE_TOKEN: Fields = {**PRE_NORM, "class_tokens": 1}


def _vit(model_type: str, classes: dict[str, Fields], **changes: object) -> Family:
    """Return a ViT-like family; the first of `classes` is the default."""
    settings: Fields = {
        "keys": VIT_KEYS,
        "fixed": ONE_TOKEN,
        "only": NOT_SEQ2SEQ,
        "inert": VIT_INERT,
        "adjust": VIT_ADJUST,
        **changes,
    }
    return Family(model_type=model_type, base=next(iter(classes)), classes=classes, **settings)


def _dinov2(model_type: str, name: str, *, fixed: Fields, **keys: Key) -> Family:
    return _vit(
        model_type,
        {f"{name}Model": {}, f"{name}ForImageClassification": JOINED},
        keys={**DINOV2_KEYS, **keys},
        fixed={**ONE_TOKEN, "layer_scale": True, **fixed},
        inert=DINOV2_INERT,
        adjust=(image_and_patch(), biases("qkv_bias"), labelled, dinov2_feed_forward),
    )


DINOV3 = _vit(
    "dinov3_vit",
    {"DINOv3ViTModel": {}},
    keys={
        **{key: rule for key, rule in VIT_KEYS.items() if key not in ("head_dim", "hidden_dropout_prob")},
        "layer_norm_eps": Key("eps", 1e-5),
        "num_register_tokens": Key("registers", 0),
        "rope_theta": Key("rotary_base", 100.0),
    },
    fixed={"norm": "pre", "position": "rotary_2d", "class_tokens": 1, "mask_token": True, "layer_scale": True, "dropout": 0.0},
    # Positions are shifted, stretched and scaled at random in training only.
    inert=BACKBONE | frozenset("layerscale_value pos_embed_shift pos_embed_jitter pos_embed_rescale return_class_token".split()),
    adjust=(image_and_patch(), dinov3_biases, gated_feed_forward),
)


def _beit(model_type: str, classes: dict[str, Fields]) -> Family:
    keys = {**VIT_KEYS, "use_mask_token": Key("mask_token", default=False)}
    fixed: Fields = {"norm": "pre", "class_tokens": 1}
    return _vit(model_type, classes, keys=keys, fixed=fixed, inert=BEIT_INERT, adjust=BEIT_ADJUST)


FAMILIES = [
    _vit(
        "vit",
        {"ViTModel": {"pooler": "dense"}, "ViTForImageClassification": CLASSIFIED, "ViTForMaskedImageModeling": {}},
        adjust=(*VIT_ADJUST, pixels_back),
    ),
    _vit(
        "deit",
        {
            "DeiTModel": {"pooler": "dense"},
            "DeiTForImageClassification": CLASSIFIED,
            "DeiTForImageClassificationWithTeacher": {**CLASSIFIED, "head": "distilled"},
            "DeiTForMaskedImageModeling": {},
        },
        fixed={**PRE_NORM, "class_tokens": 2},  # all classes have the distillation token
        adjust=(*VIT_ADJUST, pixels_back),
    ),
    _vit(
        "vit_msn",
        {"ViTMSNModel": {}, "ViTMSNForImageClassification": CLASSIFIED},
        keys={**VIT_KEYS, "layer_norm_eps": Key("eps", 1e-6)},
    ),
    _vit("ijepa", {"IJepaModel": {}, "IJepaForImageClassification": CLASSIFIED}, fixed={**PRE_NORM, "pool": "mean"}),
    _dinov2("dinov2", "Dinov2", fixed={}, use_mask_token=Key("mask_token", default=True)),
    _dinov2("dinov2_with_registers", "Dinov2WithRegisters", fixed={"mask_token": True}, num_register_tokens=Key("registers")),
    DINOV3,
    _beit(
        "beit",
        {
            "BeitModel": {"pooler": "norm"},
            "BeitForImageClassification": {"pooler": "norm", **CLASSIFIED},
            "BeitForMaskedImageModeling": {},
        },
    ),
    _beit(
        "data2vec-vision",
        {"Data2VecVisionModel": {}, "Data2VecVisionForImageClassification": {"pooler": "norm", **CLASSIFIED}},
    ),
]
