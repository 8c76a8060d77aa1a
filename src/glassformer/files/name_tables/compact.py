"""Tensor names of text encoders with cheaper layers: SqueezeBERT."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import At, Names
from glassformer.files.name_tables.text import BERT


def convolution(name: str) -> At:
    """A linear map stored as a convolution over one position: [out, in / groups, 1]."""
    return At(name, ones_after=1)


SQUEEZEBERT = replace(
    BERT,
    prefixes=("transformer.",),
    layers=(
        (
            "encoder.layers.{n}.",
            {
                "attention.Q": convolution("attention.query"),
                "attention.K": convolution("attention.key"),
                "attention.V": convolution("attention.value"),
                "attention.O": convolution("post_attention.conv1d"),
                "norm_1": "post_attention.layernorm",
                "ffn.1": convolution("intermediate.conv1d"),
                "ffn.2": convolution("output.conv1d"),
                "norm_2": "output.layernorm",
            },
        ),
    ),
)

NAMES: dict[str, Names] = {
    "squeezebert": SQUEEZEBERT,
}
