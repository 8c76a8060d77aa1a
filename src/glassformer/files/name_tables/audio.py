"""Tensor names of audio encoders."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import Names
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
    aside=("model.decoder.", "decoder.", "proj_out.", "projector.", "classifier.", "layer_weights"),
)

NAMES: dict[str, Names] = {"whisper": WHISPER}
