"""Tensor names of DeBERTa-v2 and v3."""

from __future__ import annotations

from glassformer.files.name_tables.names import Names, Table
from glassformer.files.name_tables.text import BERT_BODY, BERT_HEADS, BERT_LAYER

POOLED_HEAD: Table = {"head.H": "pooler.dense", "head.C": "classifier"}
NAMES = {
    "deberta-v2": Names(
        prefixes=("deberta.",),
        body={
            **{name: stored for name, stored in BERT_BODY.items() if name != "pooler.P"},
            "layers.E_relative": "encoder.rel_embeddings.weight",
            "layers.relative_norm": "encoder.LayerNorm",
        },
        layers=(
            (
                "encoder.layer.{n}.",
                {
                    **BERT_LAYER,
                    "attention.Q": "attention.self.query_proj",
                    "attention.K": "attention.self.key_proj",
                    "attention.V": "attention.self.value_proj",
                    "attention.QR": "attention.self.pos_query_proj",
                    "attention.KR": "attention.self.pos_key_proj",
                },
            ),
        ),
        heads={
            **{ending: BERT_HEADS[ending] for ending in ("ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering")},
            "ForSequenceClassification": POOLED_HEAD,
            "ForMultipleChoice": POOLED_HEAD,
        },
        # Published files contain the pretraining heads of v3, and some an unused position table.
        aside=("lm_predictions.", "mask_predictions.", "deberta.embeddings.position_embeddings."),
    )
}
