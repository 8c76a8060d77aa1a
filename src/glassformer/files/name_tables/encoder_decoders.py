"""Tensor names of whole encoder-decoders: T5, BART and its relatives, Marian, Whisper."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from glassformer.files.name_tables.audio import WHISPER
from glassformer.files.name_tables.names import Names, Table
from glassformer.files.name_tables.text import BART, LLAMA_ATTENTION, T5


class Stacks(NamedTuple):
    """The tables of both stacks, the prefix of models with a head, and where files keep a token table that both share."""

    encoder: Names
    decoder: Names
    heads: dict[str, Table]
    outer: str = "model."
    folders: tuple[str, str] = ("encoder.", "decoder.")
    shared: tuple[str, ...] = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    buffers: tuple[str, ...] = ()

    def head(self, model_class: str) -> Table:
        """Return the table of a class: that of the longest matching ending."""
        fitting = [ending for ending in self.heads if model_class.endswith(ending)]
        return self.heads[max(fitting, key=len)] if fitting else {}

    def names(self) -> Names:
        """What a file of the whole model may hold besides its parameters."""
        return Names(prefixes=(self.outer,), body={}, layers=(), heads=self.heads, buffers=self.buffers)


LM_HEAD: Table = {"head.vocab": "lm_head"}
T5_CROSS: Table = {f"cross.{letter}": f"layer.1.EncDecAttention.{letter.lower()}" for letter in "QKVO"}
T5_DECODER = replace(
    T5,
    body={
        "embeddings.E_token": "decoder.embed_tokens.weight",
        "layers.E_relative": "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        "final_norm": "decoder.final_layer_norm",
    },
    layers=(
        (
            "decoder.block.{n}.",
            {
                **{f"attention.{letter}": f"layer.0.SelfAttention.{letter.lower()}" for letter in "QKVO"},
                **T5_CROSS,
                "E_relative": "layer.0.SelfAttention.relative_attention_bias.weight",
                "norm_1": "layer.0.layer_norm",
                "norm_cross": "layer.1.layer_norm",
                "ffn.1": "layer.2.DenseReluDense.wi",
                "ffn.2": "layer.2.DenseReluDense.wo",
                "norm_2": "layer.2.layer_norm",
            },
        ),
    ),
    gated={"ffn.1": "layer.2.DenseReluDense.wi_0", "ffn.3": "layer.2.DenseReluDense.wi_1"},
)
T5_WHOLE = Stacks(
    replace(T5, body={**T5.body, "embeddings.E_token": "encoder.embed_tokens.weight"}),
    T5_DECODER,
    {"ForConditionalGeneration": LM_HEAD, "LMHeadModel": LM_HEAD},
    outer="",
    folders=("", ""),
    buffers=("EncDecAttention.relative_attention_bias.weight",),  # in files of the first T5 models, where nothing reads it
)
ONE_TABLE = {"embeddings.E_token": "embed_tokens.weight"}
BART_DECODER_LAYER: Table = {
    **LLAMA_ATTENTION,
    "attention.O": "self_attn.out_proj",
    **{f"cross.{letter}": f"encoder_attn.{letter.lower()}_proj" for letter in "QKV"},
    "cross.O": "encoder_attn.out_proj",
    "norm_1": "self_attn_layer_norm",
    "norm_cross": "encoder_attn_layer_norm",
    "ffn.1": "fc1",
    "ffn.2": "fc2",
    "norm_2": "final_layer_norm",
}
BART_DECODER = replace(
    BART,
    body={**BART.body, **ONE_TABLE, "embeddings.token_norm": "layernorm_embedding"},
    layers=(("layers.{n}.", BART_DECODER_LAYER),),
)
BART_WHOLE = Stacks(
    replace(BART, body={**BART.body, **ONE_TABLE}),
    BART_DECODER,
    {"ForConditionalGeneration": LM_HEAD, "MTModel": LM_HEAD},
    buffers=("embed_positions.weights",),
)
WHISPER_WHOLE = Stacks(WHISPER, BART_DECODER, {"ForConditionalGeneration": {"head.vocab": "proj_out"}})

STACKS: dict[str, Stacks] = {
    **dict.fromkeys(("t5", "mt5", "umt5"), T5_WHOLE),
    **dict.fromkeys(("bart", "mbart", "pegasus", "marian", "blenderbot", "blenderbot-small", "m2m_100"), BART_WHOLE),
    "whisper": WHISPER_WHOLE,
}


def whole(family: str) -> str:
    """The key of a family's whole models among the tables."""
    return f"{family} (whole)"


NAMES: dict[str, Names] = {whole(family): stacks.names() for family, stacks in STACKS.items()}
