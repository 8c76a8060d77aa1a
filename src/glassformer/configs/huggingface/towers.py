"""The two towers of CLIP, SigLIP and SigLIP 2, each an encoder: with its own config, or inside the config of both."""

from __future__ import annotations

import math
from typing import NamedTuple

from glassformer.configs.huggingface.classes import CLASSIFIED
from glassformer.configs.huggingface.family import Adjust, Draft, Family, Key
from glassformer.configs.huggingface.values import REQUIRED, Fields
from glassformer.configs.huggingface.vision import biases, image_and_patch, labelled


class Towers(NamedTuple):
    """A config that contains two others: the family under each key, and the keys that concern both."""

    models: dict[str, str]
    inert: frozenset[str]


TOWERS = {
    "clip": Towers(
        {"text_config": "clip_text_model", "vision_config": "clip_vision_model"},
        frozenset({"projection_dim", "logit_scale_init_value"}),
    ),
    "siglip": Towers({"text_config": "siglip_text_model", "vision_config": "siglip_vision_model"}, frozenset()),
    "siglip2": Towers({"text_config": "siglip2_text_model", "vision_config": "siglip2_vision_model"}, frozenset()),
}

PRE_NORM: Fields = {"norm": "pre", "position": "learned", "dropout": 0.0}


def _keys(width: int, inner: int, heads: int, *, activation: str, eps: float) -> dict[str, Key]:
    return {
        "hidden_size": Key("d_model", nested=width),
        "intermediate_size": Key("d_ff", nested=inner),
        "num_hidden_layers": Key("layers", nested=12),
        "num_attention_heads": Key("heads", nested=heads),
        "hidden_act": Key("activation", activation),
        "layer_norm_eps": Key("eps", eps),
    }


def _text(vocab: int, longest: int) -> dict[str, Key]:
    return {"vocab_size": Key("vocab", nested=vocab), "max_position_embeddings": Key("positions", nested=longest)}


IMAGE = {"num_channels": Key("channels", 3)}


def projected(draft: Draft) -> None:
    """Read the projection of CLIP's towers into their shared space."""
    if draft.model_class.endswith("WithProjection"):
        width = draft.config.whole("projection_dim", 512 if draft.config.nested else REQUIRED)
        draft.fields.update({"head": "project", "classes": width})


def siglip_projection(draft: Draft) -> None:
    width = draft.config.whole("projection_size", None)
    draft.fields["classes"] = draft.fields["d_model"] if width is None else width


def siglip_head(draft: Draft) -> None:
    if not draft.config.flag("vision_use_head", default=True):
        del draft.fields["pooler"]


def square_of_patches(draft: Draft) -> None:
    """Read SigLIP 2's image: the one that its position table is for. Images of other shapes would need a resized table."""
    config, nested = draft.config, draft.config.nested
    patch = config.whole("patch_size", 16 if nested else REQUIRED)
    patches = config.whole("num_patches", 256 if nested else REQUIRED)
    side = math.isqrt(patches)
    if side**2 != patches:
        raise config.refusal("num_patches", f"the position table is a square: try {side**2} or {(side + 1) ** 2}.")
    draft.fields.update({"image": side * patch, "patch": patch})


def _siglip_text(model_type: str, name: str) -> Family:
    return Family(
        model_type=model_type,
        base=f"{name}TextModel",
        classes={f"{name}TextModel": {"head": "project"}},
        keys={**_text(32000, 64), **_keys(768, 3072, 12, activation="gelu_pytorch_tanh", eps=1e-6)},
        fixed={**PRE_NORM, "pool": "last"},
        adjust=(siglip_projection,),
    )


def _siglip_vision(model_type: str, name: str, image: Adjust) -> Family:
    return Family(
        model_type=model_type,
        base=f"{name}VisionModel",
        classes={
            f"{name}VisionModel": {"pooler": "attention"},
            f"{name}ForImageClassification": {"pooler": "attention", **CLASSIFIED, "head_reads": "mean"},
        },
        keys={**IMAGE, **_keys(768, 3072, 12, activation="gelu_pytorch_tanh", eps=1e-6)},
        fixed=PRE_NORM,
        adjust=(image, siglip_head, labelled),
    )


FAMILIES = [
    Family(
        model_type="clip_text_model",
        base="CLIPTextModel",
        classes={"CLIPTextModel": {}, "CLIPTextModelWithProjection": {}},
        keys={**_text(49408, 77), **_keys(512, 2048, 8, activation="quick_gelu", eps=1e-5)},
        # The pooled token is the end-of-text token, the last of a text.
        fixed={**PRE_NORM, "attend": "causal", "pool": "last"},
        inert=frozenset({"projection_dim"}),
        adjust=(biases(missing=("head",)), projected),
    ),
    Family(
        model_type="clip_vision_model",
        base="CLIPVisionModel",
        classes={
            "CLIPVisionModel": {},
            "CLIPVisionModelWithProjection": {},
            "CLIPForImageClassification": {**CLASSIFIED, "head_reads": "mean"},
        },
        keys={**IMAGE, **_keys(768, 3072, 12, activation="quick_gelu", eps=1e-5)},
        fixed={**PRE_NORM, "embedding_norm": True, "class_tokens": 1, "final_norm": "pooled"},
        inert=frozenset({"projection_dim"}),
        adjust=(image_and_patch(patch=32, square=True), biases(missing=("patch", "head")), projected, labelled),
    ),
    _siglip_text("siglip_text_model", "Siglip"),
    _siglip_vision("siglip_vision_model", "Siglip", image_and_patch(patch=16, square=True)),
    _siglip_text("siglip2_text_model", "Siglip2"),
    _siglip_vision("siglip2_vision_model", "Siglip2", square_of_patches),
]
