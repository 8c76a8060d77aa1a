"""Tensor names of XLM and FlauBERT, which number the parts of layers, not the layers."""

from __future__ import annotations

from glassformer.files.name_tables.names import Names

XLM = Names(
    prefixes=("transformer.",),
    body={
        "embeddings.E_token": "embeddings.weight",
        "embeddings.E_position": "position_embeddings.weight",
        "embeddings.E_language": "lang_embeddings.weight",
        "embeddings.norm": "layer_norm_emb",
    },
    layers=(
        (
            "attentions.{n}.",
            {"attention.Q": "q_lin", "attention.K": "k_lin", "attention.V": "v_lin", "attention.O": "out_lin"},
        ),
        ("ffns.{n}.", {"ffn.1": "lin1", "ffn.2": "lin2"}),
        ("layer_norm1.{n}", {"norm_1": ""}),
        ("layer_norm2.{n}", {"norm_2": ""}),
    ),
    heads={
        "WithLMHeadModel": {"head.W_vocab": "pred_layer.proj.weight", "head.b_vocab": "pred_layer.proj.bias"},
        "ForSequenceClassification": {"head.C": "sequence_summary.summary"},
        "ForTokenClassification": {"head.C": "classifier"},
        "ForQuestionAnsweringSimple": {"head.C": "qa_outputs"},
    },
)

NAMES: dict[str, Names] = {"xlm": XLM, "flaubert": XLM}
