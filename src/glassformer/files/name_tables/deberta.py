"""Tensor names of DeBERTa, v2 and v3."""

from __future__ import annotations

from glassformer.files.name_tables.names import At, Names, Table
from glassformer.files.name_tables.text import BERT_BODY, BERT_HEADS, BERT_LAYER

POOLED_HEAD: Table = {"head.H": "pooler.dense", "head.C": "classifier"}
HEADS = {
    **{ending: BERT_HEADS[ending] for ending in ("ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering")},
    "ForSequenceClassification": POOLED_HEAD,
    "ForMultipleChoice": POOLED_HEAD,
}
BODY: Table = {
    **{name: stored for name, stored in BERT_BODY.items() if name != "pooler.P"},
    "layers.E_relative": "encoder.rel_embeddings.weight",
    "layers.relative_norm": "encoder.LayerNorm",
    "layers.0.V_beside": At("encoder.conv.conv.weight", merged=2),
    "layers.0.b_beside": "encoder.conv.conv.bias",
    "layers.0.norm_beside": "encoder.conv.LayerNorm",
}
# Published files contain the pretraining heads of v3, and some an unused position table.
ASIDE = ("lm_predictions.", "mask_predictions.", "deberta.embeddings.position_embeddings.")


def joined(part: int) -> At:
    """Queries, keys or values of v1: one tensor holds them for each head in turn."""
    return At("attention.self.in_proj.weight", part, 3, by_head=True)


V1_LAYER: Table = {
    **BERT_LAYER,
    "attention.W_Q": joined(0),
    "attention.W_K": joined(1),
    "attention.W_V": joined(2),
    "attention.b_Q": "attention.self.q_bias",
    "attention.b_V": "attention.self.v_bias",
    "attention.QR": "attention.self.pos_q_proj",
    "attention.KR": "attention.self.pos_proj",
}
V2_LAYER: Table = {
    **BERT_LAYER,
    "attention.Q": "attention.self.query_proj",
    "attention.K": "attention.self.key_proj",
    "attention.V": "attention.self.value_proj",
    "attention.QR": "attention.self.pos_query_proj",
    "attention.KR": "attention.self.pos_key_proj",
}
NAMES = {
    family: Names(prefixes=("deberta.",), body=BODY, layers=(("encoder.layer.{n}.", layer),), heads=HEADS, aside=ASIDE)
    for family, layer in (("deberta", V1_LAYER), ("deberta-v2", V2_LAYER))
}
