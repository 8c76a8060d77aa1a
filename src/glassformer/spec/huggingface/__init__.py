"""Hugging Face configs, read without transformers: every family a table, every refusal one line."""

from glassformer.spec.huggingface.reader import FAMILIES, Reading, from_config, unwrap

__all__ = ["FAMILIES", "Reading", "from_config", "unwrap"]
