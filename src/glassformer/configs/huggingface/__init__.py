"""Hugging Face configs, read without the transformers library: one table per model family."""

from glassformer.configs.huggingface.reader import FAMILIES, Reading, from_config, unwrap

__all__ = ["FAMILIES", "Reading", "from_config", "unwrap"]
