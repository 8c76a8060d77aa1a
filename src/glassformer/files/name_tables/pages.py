"""Tensor names of encoders of text on a page: LayoutLM and LayoutLMv3."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import At, Names, Table, batch, token
from glassformer.files.name_tables.text import BERT, BERT_BODY

LAYOUTLM = replace(
    BERT,
    prefixes=("layoutlm.",),
    body={**BERT_BODY, **{f"embeddings.E_{name}": f"embeddings.{name}_position_embeddings.weight" for name in "xyhw"}},
)

# Heads for many tags have a hidden layer.
TAGS = (At("classifier.out_proj", with_hidden=True), At("classifier", with_hidden=False))
HIDDEN: Table = {"head.H": "classifier.dense", "head.C": "classifier.out_proj"}
LAYOUTLMV3 = replace(
    LAYOUTLM,
    prefixes=("layoutlmv3.",),
    body={
        **LAYOUTLM.body,
        "layers.E_relative": At("encoder.rel_pos_bias.weight", flipped=True),
        "layers.E_x_relative": At("encoder.rel_pos_x_bias.weight", flipped=True),
        "layers.E_y_relative": At("encoder.rel_pos_y_bias.weight", flipped=True),
        "embeddings.picture.c_patch": "patch_embed.proj.weight",
        "embeddings.picture.b_patch": "patch_embed.proj.bias",
        "embeddings.picture.class_token": token("cls_token"),
        "embeddings.picture.E_position": batch("pos_embed"),
        "embeddings.picture.norm_picture": "norm",
        "embeddings.picture.norm_both": "LayerNorm",
    },
    heads={
        "ForSequenceClassification": HIDDEN,
        "ForTokenClassification": {"head.H": "classifier.dense", "head.C": TAGS},
        "ForQuestionAnswering": {"head.H": "qa_outputs.dense", "head.C": "qa_outputs.out_proj"},
    },
)

NAMES: dict[str, Names] = {"layoutlm": LAYOUTLM, "layoutlmv3": LAYOUTLMV3}
