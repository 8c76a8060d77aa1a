"""Tensor names of the encoders of sound."""

from __future__ import annotations

from dataclasses import replace

from glassformer.spec.huggingface.name_tables import Names
from glassformer.spec.huggingface.text_names import BART

# Whisper's layers are BART's; what stands before them is its own.
WHISPER = replace(
    BART,
    body={
        "embeddings.conv1": "conv1",
        "embeddings.conv2": "conv2",
        "embeddings.E_position": "embed_positions.weight",
        "final_norm": "layer_norm",
    },
    shared=(),
    aside=("model.decoder.", "decoder.", "proj_out.", "projector.", "classifier.", "layer_weights"),
)

NAMES: dict[str, Names] = {"whisper": WHISPER}
