"""Encoders of text on a page: LayoutLM."""

from __future__ import annotations

from glassformer.spec.huggingface.compact import TOKEN_CLASSES, beside_a_pooler
from glassformer.spec.huggingface.family import Family, Key
from glassformer.spec.huggingface.text import BERT_KEYS, LEARNED, NOT_SEQ2SEQ, same_width, tied_with_bias

FAMILIES = [
    Family(
        model_type="layoutlm",
        base="LayoutLMModel",
        classes=beside_a_pooler("LayoutLM", "Model", "SequenceClassification", *TOKEN_CLASSES),
        keys={**BERT_KEYS, "max_2d_position_embeddings": Key("page", 1024)},
        fixed=LEARNED,
        only=NOT_SEQ2SEQ,
        adjust=(same_width, tied_with_bias),
    ),
]
