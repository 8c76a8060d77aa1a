"""Tensor names of text encoders with cheaper layers: SqueezeBERT, MobileBERT, FNet and Nyströmformer."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import At, Names, Table
from glassformer.files.name_tables.text import ANSWERS, BERT, BERT_BODY, BERT_HEADS, BERT_LAYER, ON_TOKENS


def convolution(name: str) -> At:
    """A linear map stored as a convolution over one position: [out, in / groups, 1]."""
    return At(name, ones_after=1)


SQUEEZEBERT = replace(
    BERT,
    prefixes=("transformer.",),
    layers=(
        (
            "encoder.layers.{n}.",
            {
                "attention.Q": convolution("attention.query"),
                "attention.K": convolution("attention.key"),
                "attention.V": convolution("attention.value"),
                "attention.O": convolution("post_attention.conv1d"),
                "norm_1": "post_attention.layernorm",
                "ffn.1": convolution("intermediate.conv1d"),
                "ffn.2": convolution("output.conv1d"),
                "norm_2": "output.layernorm",
            },
        ),
    ),
)

MOST_BLOCKS = 32  # feed-forward blocks of a layer
MOBILEBERT = replace(
    BERT,
    prefixes=("mobilebert.",),
    body={**BERT_BODY, "embeddings.N": "embeddings.embedding_transformation"},
    layers=(
        (
            "encoder.layer.{n}.",
            {
                **BERT_LAYER,
                "W_narrow": "bottleneck.input.dense.weight",
                "b_narrow": "bottleneck.input.dense.bias",
                "norm_narrow": "bottleneck.input.LayerNorm",
                "W_asked": "bottleneck.attention.dense.weight",
                "b_asked": "bottleneck.attention.dense.bias",
                "norm_asked": "bottleneck.attention.LayerNorm",
                **{f"ffn_{i}.1": f"ffn.{i - 1}.intermediate.dense" for i in range(1, MOST_BLOCKS)},
                **{f"ffn_{i}.2": f"ffn.{i - 1}.output.dense" for i in range(1, MOST_BLOCKS)},
                **{f"norm_ffn_{i}": f"ffn.{i - 1}.output.LayerNorm" for i in range(1, MOST_BLOCKS)},
                "W_wide": "output.bottleneck.dense.weight",
                "b_wide": "output.bottleneck.dense.bias",
                "norm_3": "output.bottleneck.LayerNorm",
            },
        ),
    ),
    heads={
        ending: {**table, "head.W_rest": At("cls.predictions.dense.weight", input_first=True)} if "head.H" in table else table
        for ending, table in BERT_HEADS.items()
    },
)

FNET = replace(
    BERT,
    prefixes=("fnet.",),
    body={**BERT_BODY, "embeddings.E": "embeddings.projection"},
    layers=(("encoder.layer.{n}.", {**BERT_LAYER, "norm_1": "fourier.output.LayerNorm"}),),
    buffers=("dft_mat_hidden", "dft_mat_seq"),
)

NYSTROMFORMER = replace(
    BERT,
    prefixes=("nystromformer.",),
    layers=(
        (
            "encoder.layer.{n}.",
            {**BERT_LAYER, "attention.c_values": At("attention.self.conv.weight", one_inside=True, ones_after=1)},
        ),
    ),
    heads={
        **{ending: BERT_HEADS[ending] for ending in ("ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering")},
        "ForSequenceClassification": {"head.H": "classifier.dense", "head.C": "classifier.out_proj"},
        "ForMultipleChoice": {"head.H": "pre_classifier", "head.C": "classifier"},
    },
)

FUNNEL_LAYER: Table = {
    "attention.Q": "attention.q_head",
    "attention.K": "attention.k_head",
    "attention.V": "attention.v_head",
    "attention.O": "attention.post_proj",
    "attention.c_content": "attention.r_w_bias",
    "attention.c_place": "attention.r_r_bias",
    "attention.c_segment": "attention.r_s_bias",
    "attention.c_R": "attention.r_kernel",
    "attention.E_same": "attention.seg_embed",
    "norm_1": "attention.layer_norm",
    "ffn.1": "ffn.linear_1",
    "ffn.2": "ffn.linear_2",
    "norm_2": "ffn.layer_norm",
}
FUNNEL = Names(
    prefixes=("funnel.",),
    body={"embeddings.E_token": "embeddings.word_embeddings.weight", "embeddings.norm": "embeddings.layer_norm"},
    layers=(("{funnel}.", FUNNEL_LAYER),),
    heads={
        "ForPreTraining": {
            "head.H": "discriminator_predictions.dense",
            "head.C": "discriminator_predictions.dense_prediction",
        },
        "ForMaskedLM": {"head.W_vocab": "lm_head.weight", "head.b_vocab": "lm_head.bias"},
        "ForSequenceClassification": {"head.H": "classifier.linear_hidden", "head.C": "classifier.linear_out"},
        "ForMultipleChoice": {"head.H": "classifier.linear_hidden", "head.C": "classifier.linear_out"},
        "ForTokenClassification": ON_TOKENS,
        "ForQuestionAnswering": ANSWERS,
    },
)

NAMES: dict[str, Names] = {
    "fnet": FNET,
    "funnel": FUNNEL,
    "mobilebert": MOBILEBERT,
    "nystromformer": NYSTROMFORMER,
    "squeezebert": SQUEEZEBERT,
}
