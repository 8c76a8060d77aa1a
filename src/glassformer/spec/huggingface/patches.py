"""Encoders of patches that are not whole images: overlapping patches of a spectrogram."""

from __future__ import annotations

from glassformer.spec.huggingface.classes import CLASSIFIED
from glassformer.spec.huggingface.family import Draft, Family, Key
from glassformer.spec.huggingface.text import NOT_SEQ2SEQ
from glassformer.spec.huggingface.vision import PRE_NORM, VIT_KEYS, biases, labelled

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


FAMILIES = [
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
