"""What is this encoder? EncoderSpec, presets, and reading one from words and files."""

from glassformer.spec.encoder_spec import ALL_BIASES, GATES, BiasPlace, EncoderSpec, defaults, field_docs
from glassformer.spec.errors import GlassformerError, nearest, shown

__all__ = ["ALL_BIASES", "GATES", "BiasPlace", "EncoderSpec", "GlassformerError", "defaults", "field_docs", "nearest", "shown"]
