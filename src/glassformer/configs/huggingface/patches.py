"""Encoders of patches other than those of a whole image: some left out, tubes of a video, overlapping ones of a spectrogram."""

from __future__ import annotations

import math

from glassformer.configs.huggingface.classes import CLASSIFIED, without
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import NOT_SEQ2SEQ
from glassformer.configs.huggingface.values import Fields
from glassformer.configs.huggingface.vision import PRE_NORM, VIT_INERT, VIT_KEYS, biases, image_and_patch, labelled, tanh_pooler
from glassformer.spec.fields import LARGEST

# Pre-training restores the patches that were left out.
DECODER = frozenset(
    "decoder_hidden_size decoder_intermediate_size decoder_num_attention_heads decoder_num_hidden_layers norm_pix_loss".split()
)
MOST_LAYERS = 32  # of a decoder
RESTORED: Fields = {"head": "restore"}

SPECTROGRAM_KEYS = {
    **{key: rule for key, rule in VIT_KEYS.items() if key != "num_channels"},
    "num_mel_bins": Key("image"),
    "max_length": Key("image_width"),
    "patch_size": Key("patch"),
}


def overlapping(draft: Draft) -> None:
    """Read the steps from patch to patch, over mel bins and over frames."""
    down, across = (draft.config.whole(key, 10) for key in ("frequency_stride", "time_stride"))
    draft.fields.update({"patch_stride": down} | ({"patch_stride_width": across} if across != down else {}))


def normed_classes(draft: Draft) -> None:
    """Read the classifier, whose norm is there even where it has no labels."""
    if draft.model_class.endswith("Classification"):
        draft.fields["pooler"] = "norm"
    labelled(draft)


def waves_fit(draft: Draft) -> None:
    """Check that the stored waves fit: rows and columns have a quarter of the features for sines and one for cosines, each."""
    if draft.fields["d_model"] % 4:
        raise draft.config.refusal("hidden_size", "the stored sines and cosines need a multiple of 4.")


def restored(draft: Draft) -> None:
    """Read the decoder that restores patches, and the numbers in a patch, which it predicts."""
    if draft.fields.get("head") != "restore":
        return
    config, fields = draft.config, draft.fields
    sizes = {"hidden_size": 512, "num_hidden_layers": 8, "num_attention_heads": 16, "intermediate_size": 2048}
    if "video_frames" in fields:
        sizes = {"hidden_size": 384, "num_hidden_layers": 4, "num_attention_heads": 6, "intermediate_size": 1536}
        fields["biases"] = tuple(place for place in fields["biases"] if place != "embedding")
        fields["pooler_eps"] = 1e-5
    fields["restore"] = tuple(
        config.whole(f"decoder_{key}", default, most=MOST_LAYERS if "layers" in key else LARGEST)
        for key, default in sizes.items()
    )
    width, _, heads, _ = fields["restore"]
    if fields.get("d_k") is None and width % heads:
        raise config.refusal("decoder_num_attention_heads", f"it must divide decoder_hidden_size = {width}.")
    if width % (2 if "video_frames" in fields else 4):
        raise config.refusal(
            "decoder_hidden_size", "positions are sines and cosines: it must be a multiple of 4, or of 2 for videos."
        )
    if not isinstance(config.get("patch_size"), int):
        raise config.refusal("patch_size", "the decoder restores squares: give one number.")
    sides = [side // fields["patch"] for side in config.pair("image_size")]
    if "video_frames" not in fields and math.isqrt(math.prod(sides)) ** 2 != math.prod(sides):
        raise config.refusal("image_size", f"the decoder's positions need a square number of patches, found {math.prod(sides)}.")
    fields["classes"] = fields["patch"] ** 2 * fields["channels"] * fields.get("tube", 1)


def clip_of_frames(draft: Draft) -> None:
    """Read VideoMAE's patches: squares that extend over some frames."""
    frames, tube = (draft.config.whole(key) for key in ("num_frames", "tubelet_size"))
    draft.fields.update({"video_frames": frames, "tube": tube})


def tubelets(draft: Draft) -> None:
    """Read ViViT's patches, whose frames, rows and columns are one list."""
    config = draft.config
    size, (height, width) = config.sizes("tubelet_size"), config.pair("image_size")
    if len(size) != 3:
        raise config.refusal("tubelet_size", "it must be a list of frames, rows and columns.")
    frames, tube, tall, wide = config.whole("num_frames"), *size
    if config.get("video_size", None) not in (None, [frames, height, width]):
        raise config.refusal("video_size", f"it must be [num_frames, height, width] = [{frames}, {height}, {width}].")
    draft.fields.update({"video_frames": frames, "tube": tube, "image": height, "patch": tall})
    draft.fields.update({"image_width": width} if width != height else {})
    draft.fields.update({"patch_width": wide} if wide != tall else {})


def query_value_biases(draft: Draft) -> None:
    """Read the biases of queries and values, which have one key or an older one; keys have none."""
    given = {key for key in ("qv_bias", "qkv_bias") if key in draft.config.values}
    flags = {draft.config.flag(key, default=True) for key in given} or {True}
    if len(flags) > 1:
        raise draft.config.refusal("qv_bias", "it contradicts qkv_bias.")
    draft.fields["biases"] = without("k") if flags == {True} else without("q", "k", "v")


def mean_or_first(draft: Draft) -> None:
    """Read pooling: the mean of all tokens has its own norm with PyTorch's eps, and the tokens have none."""
    mean = draft.config.flag("use_mean_pooling", default=True)
    draft.fields.update({"pool": "mean", "final_norm": "none"} if mean else {})
    if mean and draft.model_class.endswith("Classification"):
        draft.fields.update({"pooler": "norm", "pooler_eps": 1e-5})
    labelled(draft)


FAMILIES = [
    Family(
        model_type="videomae",
        base="VideoMAEModel",
        classes={
            "VideoMAEModel": {},
            "VideoMAEForVideoClassification": CLASSIFIED,
            "VideoMAEForPreTraining": RESTORED,
        },
        keys={key: rule for key, rule in VIT_KEYS.items() if key != "head_dim"},
        fixed={"norm": "pre", "position": "sinusoidal"},
        only=NOT_SEQ2SEQ,
        inert=DECODER,
        adjust=(image_and_patch(), clip_of_frames, query_value_biases, mean_or_first, restored),
    ),
    Family(
        model_type="vivit",
        base="VivitModel",
        classes={"VivitModel": {"pooler": "dense"}, "VivitForVideoClassification": CLASSIFIED},
        keys={**VIT_KEYS, "hidden_act": Key("activation", "gelu_fast"), "layer_norm_eps": Key("eps", 1e-6)},
        fixed={**PRE_NORM, "class_tokens": 1},
        only=NOT_SEQ2SEQ,
        inert=VIT_INERT,
        adjust=(tubelets, biases("qkv_bias"), labelled, tanh_pooler),
    ),
    Family(
        model_type="vit_mae",
        base="ViTMAEModel",
        classes={"ViTMAEModel": {}, "ViTMAEForPreTraining": RESTORED},
        keys={**VIT_KEYS, "mask_ratio": Key("mask_ratio", 0.75)},
        fixed={**PRE_NORM, "class_tokens": 1, "position": "sinusoidal_2d_stored"},
        only=NOT_SEQ2SEQ,
        inert=DECODER,
        adjust=(image_and_patch(), biases("qkv_bias"), waves_fit, restored),
    ),
    Family(
        model_type="audio-spectrogram-transformer",
        base="ASTModel",
        classes={"ASTModel": {}, "ASTForAudioClassification": CLASSIFIED},
        keys=SPECTROGRAM_KEYS,
        # A spectrogram is an image of one channel: mel bins down, frames across.
        fixed={**PRE_NORM, "channels": 1, "class_tokens": 2, "pool": "class_tokens"},
        only=NOT_SEQ2SEQ,
        adjust=(overlapping, biases("qkv_bias"), normed_classes),
    ),
]
