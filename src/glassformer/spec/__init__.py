"""What is this encoder? EncoderSpec, presets, and reading one from words and files."""

import sys
from types import ModuleType
from typing import Any

from glassformer.spec.encoder_spec import (
    ALL_BIASES,
    GATES,
    MASKED_HEADS,
    SOUND_STRIDE,
    SOUND_WIDTH,
    TOKEN_HEADS,
    BiasPlace,
    EncoderSpec,
    defaults,
    field_docs,
)
from glassformer.spec.errors import GlassformerError, listed, nearest, shown
from glassformer.spec.fields import field_rules

__all__ = [
    "ALL_BIASES",
    "GATES",
    "MASKED_HEADS",
    "SOUND_STRIDE",
    "SOUND_WIDTH",
    "TOKEN_HEADS",
    "BiasPlace",
    "EncoderSpec",
    "GlassformerError",
    "defaults",
    "field_docs",
    "field_rules",
    "listed",
    "nearest",
    "shown",
]


class _SpecRoom(ModuleType):
    """`gf.spec` is this room and, called, the way into it: `gf.spec("bert-base", layers=8)`."""

    def __call__(self, *what: Any, **fields: Any) -> EncoderSpec:
        from glassformer.spec.reading import spec

        return spec(*what, **fields)


sys.modules[__name__].__class__ = _SpecRoom
