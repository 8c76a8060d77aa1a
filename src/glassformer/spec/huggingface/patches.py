"""Encoders of patches other than those of a whole image: some left out, or overlapping ones of a spectrogram."""

from __future__ import annotations

from glassformer.spec.huggingface.classes import CLASSIFIED
from glassformer.spec.huggingface.family import Draft, Family, Key
from glassformer.spec.huggingface.text import NOT_SEQ2SEQ
from glassformer.spec.huggingface.vision import PRE_NORM, VIT_KEYS, biases, image_and_patch, labelled

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
        raise draft.config.refusal("hidden_size", "the stored waves by row and column need a multiple of 4.")


FAMILIES = [
    Family(
        model_type="vit_mae",
        base="ViTMAEModel",
        classes={"ViTMAEModel": {}},
        keys={**VIT_KEYS, "mask_ratio": Key("mask_ratio", 0.75)},
        fixed={**PRE_NORM, "class_tokens": 1, "position": "sinusoidal_2d_stored"},
        only=NOT_SEQ2SEQ,
        inert=frozenset(
            """
            decoder_hidden_size decoder_intermediate_size decoder_num_attention_heads decoder_num_hidden_layers norm_pix_loss
            """.split()
        ),
        adjust=(image_and_patch(), biases("qkv_bias"), waves_fit),
        unsupported={"ViTMAEForPreTraining": "its decoder, which restores the patches that were left out, is not implemented"},
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
