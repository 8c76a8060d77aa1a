"""Tensor names of text encoders with rotary positions: ModernBERT, EuroBERT, NomicBERT, GTE, Jina v3, ESM, RoFormer, NeoBERT."""

from __future__ import annotations

from dataclasses import replace

from glassformer.files.name_tables.names import At, Names, Table, half, third
from glassformer.files.name_tables.text import (
    ANSWERS,
    BERT_BODY,
    BERT_HEADS,
    BERT_LAYER,
    BERT_PREDICTIONS,
    LLAMA_ATTENTION,
    ON_TOKENS,
    ROBERTA_HEADS,
)

LLAMA_FEED_FORWARD: Table = {"ffn.1": "mlp.gate_proj", "ffn.3": "mlp.up_proj", "ffn.2": "mlp.down_proj"}
WHOLE_FEED_FORWARD: Table = {"ffn.1": "mlp.fc1", "ffn.2": "mlp.fc2"}
NORMS: Table = {"norm_1": "norm1", "norm_2": "norm2"}
POST_NORMS: Table = {"norm_1": "post_attention_layernorm", "norm_2": "post_mlp_layernorm"}
MODERN_HEAD: Table = {"head.H": "head.dense", "head.norm": "head.norm", "head.C": "classifier", "head.vocab": "decoder"}


def fused_attention(module: str, output: str) -> Table:
    """Return the names of queries, keys and values stored in one tensor, in this order."""
    return {
        "attention.Q": third(module, 0),
        "attention.K": third(module, 1),
        "attention.V": third(module, 2),
        "attention.O": output,
    }


MODERNBERT = Names(
    prefixes=("model.",),
    body={
        "embeddings.E_token": "embeddings.tok_embeddings.weight",
        "embeddings.norm": "embeddings.norm",
        "final_norm": "final_norm",
    },
    layers=(
        (
            "layers.{n}.",
            {
                **fused_attention("attn.Wqkv", "attn.Wo"),
                "norm_1": "attn_norm",
                "ffn.1": half("mlp.Wi", 0),  # input of the activation
                "ffn.3": half("mlp.Wi", 1),
                "ffn.2": "mlp.Wo",
                "norm_2": "mlp_norm",
            },
        ),
    ),
    heads=dict.fromkeys(
        ("ForMaskedLM", "ForSequenceClassification", "ForMultipleChoice", "ForTokenClassification", "ForQuestionAnswering"),
        MODERN_HEAD,
    ),
)
EUROBERT = Names(
    prefixes=("model.",),
    body={"embeddings.E_token": "embed_tokens.weight", "final_norm": "norm"},
    layers=(
        (
            "layers.{n}.",
            {**LLAMA_ATTENTION, **LLAMA_FEED_FORWARD, "norm_1": "input_layernorm", "norm_2": "post_attention_layernorm"},
        ),
    ),
    heads={
        "ForMaskedLM": {"head.vocab": "lm_head"},
        "ForSequenceClassification": {"head.H": "dense", "head.C": "classifier"},
        "ForTokenClassification": ON_TOKENS,
    },
)
NOMIC_BERT = Names(
    prefixes=("nomic_bert.", "bert."),
    body={**BERT_BODY, "embeddings.norm": ("emb_ln", "embeddings.LayerNorm")},
    layers=(
        (
            "encoder.layers.{n}.",
            {
                **fused_attention("attn.Wqkv", "attn.out_proj"),
                **NORMS,
                "ffn.1": "mlp.fc12",  # input of the activation
                "ffn.3": "mlp.fc11",
                "ffn.2": "mlp.fc2",
            },
        ),
        ("layers.{n}.", {**LLAMA_ATTENTION, **LLAMA_FEED_FORWARD, **POST_NORMS}),
    ),
    heads={**BERT_HEADS, "ForMaskedLM": {**BERT_PREDICTIONS, "head.norm": "cls.predictions.transform.layer_norm"}},
)
GTE_HEADS: dict[str, Table] = {
    "ForMaskedLM": {
        "head.H": "lm_head.dense",
        "head.norm": ("lm_head.norm", "lm_head.layer_norm"),
        "head.vocab": "lm_head.decoder",
    },
    "ForSequenceClassification": ON_TOKENS,
    "ForMultipleChoice": ON_TOKENS,
    "ForTokenClassification": ON_TOKENS,
    "ForQuestionAnswering": ANSWERS,
}
GTE_LAYERS = ("layers.{n}.", {**LLAMA_ATTENTION, **LLAMA_FEED_FORWARD, **POST_NORMS})
NEW_REST: Table = {
    "norm_1": "attn_ln",
    "ffn.1": half("mlp.up_gate_proj", 1),  # input of the activation
    "ffn.3": half("mlp.up_gate_proj", 0),
    "ffn.2": "mlp.down_proj",
    "norm_2": "mlp_ln",
}
NEW_LAYERS = ("encoder.layer.{n}.", {**fused_attention("attention.qkv_proj", "attention.o_proj"), **NEW_REST})
NEW_APART = ("encoder.layer.{n}.", {f"attention.{letter}": f"attention.{letter.lower()}_proj" for letter in "QKV"})
GTE = Names(prefixes=("gte.", "new."), body=BERT_BODY, layers=(NEW_LAYERS, NEW_APART, GTE_LAYERS), heads=GTE_HEADS)
JINA_V3 = Names(
    prefixes=("roberta.",),
    body={**BERT_BODY, "embeddings.norm": ("emb_ln", "embeddings.LayerNorm")},
    layers=(
        ("encoder.layers.{n}.", {**fused_attention("mixer.Wqkv", "mixer.out_proj"), **NORMS, **WHOLE_FEED_FORWARD}),
        ("layers.{n}.", {**LLAMA_ATTENTION, **WHOLE_FEED_FORWARD, **POST_NORMS}),
    ),
    heads=ROBERTA_HEADS,
)
ORIGINAL = ".parametrizations.weight.original"


def _adapted(part: str, module: str) -> Table:
    """A matrix, its bias, and the adapters that a file has for it."""
    adapter = f"{module}.parametrizations.weight.0.lora_"
    return {
        f"W_{part}": (f"{module}.weight", f"{module}{ORIGINAL}"),
        f"b_{part}": f"{module}.bias",
        f"A_{part}": f"{adapter}A",
        f"B_{part}": f"{adapter}B",
    }


def _inside(block: str, table: Table) -> Table:
    return {f"{block}.{part}": name for part, name in table.items()}


JOINED: Table = {
    **{
        f"attention.W_{one}": (third("mixer.Wqkv.weight", part), third(f"mixer.Wqkv{ORIGINAL}", part))
        for part, one in enumerate("QKV")
    },
    **{f"attention.b_{one}": third("mixer.Wqkv.bias", part) for part, one in enumerate("QKV")},
}
# XLM-RoBERTa in Jina's code, with adapters or without.
FLASH = replace(
    JINA_V3,
    body={
        "embeddings.norm": "emb_ln",
        **{
            f"embeddings.{'E' if part[0] == 'W' else part[0]}_{one}": name
            for one, table in (("token", "word"), ("segment", "token_type"), ("position", "position"))
            for part, name in _adapted(one, f"embeddings.{table}_embeddings").items()
        },
        **_inside("pooler", _adapted("P", "pooler.dense")),
    },
    layers=(
        (
            "encoder.layers.{n}.",
            {
                **JOINED,
                **_inside("attention", {part: _adapted("QKV", "mixer.Wqkv")[part] for part in ("A_QKV", "B_QKV")}),
                **_inside("attention", _adapted("O", "mixer.out_proj")),
                **_inside("ffn", {**_adapted("1", "mlp.fc1"), **_adapted("2", "mlp.fc2")}),
                **NORMS,
            },
        ),
    ),
)

ESM = Names(
    prefixes=("esm.",),
    body={
        **BERT_BODY,
        "embeddings.norm": "embeddings.layer_norm",
        "final_norm": "encoder.emb_layer_norm_after",
        "layers.contact": "contact_head.regression",
    },
    layers=(("encoder.layer.{n}.", {**BERT_LAYER, "norm_1": "attention.LayerNorm", "norm_2": "LayerNorm"}),),
    heads={
        ending: {"head.W_vocab": "lm_head.decoder.weight", "head.b_vocab": "lm_head.bias", **table}
        if ending == "ForMaskedLM"
        else table
        for ending, table in ROBERTA_HEADS.items()
    },
    buffers=("inv_freq",),
    aside=("esm.embeddings.position_embeddings.",),  # in files of models that are rotary
)

ROFORMER = Names(
    prefixes=("roformer.",),
    body={**BERT_BODY, "embeddings.E": "embeddings_project", "layers.E_rotary": "encoder.embed_positions.weight"},
    layers=(("encoder.layer.{n}.", BERT_LAYER),),
    heads={
        **{name: BERT_HEADS[name] for name in ("ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering")},
        "ForSequenceClassification": ROBERTA_HEADS["ForSequenceClassification"],
    },
)
NEOBERT = Names(
    prefixes=("model.",),
    body={"embeddings.E_token": "encoder.weight", "final_norm": "layer_norm"},
    layers=(
        (
            "transformer_encoder.{n}.",
            {
                **{f"attention.{letter}": At("qkv", part, 3, by_head=True) for part, letter in enumerate("QKV")},
                "attention.O": "wo",
                "norm_1": "attention_norm",
                "ffn.1": half("ffn.w12", 0),  # input of the activation
                "ffn.3": half("ffn.w12", 1),
                "ffn.2": "ffn.w3",
                "norm_2": "ffn_norm",
            },
        ),
    ),
    heads={
        "LMHead": {"head.vocab": "decoder"},
        "ForSequenceClassification": {"head.H": "dense", "head.C": "classifier"},
    },
)

NAMES: dict[str, Names] = {
    "modernbert": MODERNBERT,
    "eurobert": EUROBERT,
    "nomic_bert": NOMIC_BERT,
    "gte": GTE,
    "new": replace(GTE, prefixes=("new.", "gte.")),
    "gte-published": replace(GTE, prefixes=("gte.", "new.")),
    "jina_embeddings_v3": JINA_V3,
    "xlm-roberta-flash": FLASH,
    "esm": ESM,
    "roformer": ROFORMER,
    "neobert": NEOBERT,
}
