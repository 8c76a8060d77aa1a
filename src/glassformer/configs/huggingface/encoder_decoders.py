"""Whole encoder-decoders: T5, BART and its relatives, Marian, Pegasus, M2M100, BlenderBot, Whisper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from glassformer.configs.huggingface.audio import WHISPER_INERT, WHISPER_KEYS
from glassformer.configs.huggingface.decoders import tied
from glassformer.configs.huggingface.family import Adjust, Draft, Family, Key
from glassformer.configs.huggingface.seq2seq import BART_INERT, BART_KEYS, BART_LAYOUT, T5_KEYS, same_layers, scaled_embedding
from glassformer.configs.huggingface.seq2seq import FAMILIES as ENCODERS
from glassformer.configs.huggingface.values import Fields
from glassformer.spec.seq2seq_spec import Seq2SeqSpec

ENCODER_OF = {family.model_type: family for family in ENCODERS}
INSIDE = ("q", "k", "v", "output", "ffn", "norm")  # biases of a layer; the logits have none
NO_HEAD: Fields = {"decoder.next_token": False}
ONE_MODEL: Mapping[str, tuple[Any, ...]] = {"tie_encoder_decoder": (False,)}
TIED: Mapping[str, tuple[Any, ...]] = {"tie_word_embeddings": (True,)}
ABSENT = "its head is not implemented"
UNSUPPORTED = {
    "ForSequenceClassification": ABSENT,
    "ForTokenClassification": ABSENT,
    "ForQuestionAnswering": ABSENT,
    "ForCausalLM": "it is a decoder of an encoder-decoder, without its encoder",
}


def _classes(name: str, head: str, added: Fields | None = None) -> dict[str, Fields]:
    return {f"{name}{head}": added or {}, f"{name}Model": NO_HEAD}


def _whole(
    family: Family, name: str, *, head: str = "ForConditionalGeneration", added: Fields | None = None, **changed: Any
) -> Family:
    """The family of a whole model, derived from that of its encoder."""
    return replace(
        family,
        base=f"{name}{head}",
        classes=_classes(name, head, added) | changed.pop("more", {}),
        unsupported={f"{name}{ending}": why for ending, why in UNSUPPORTED.items()},
        spec=Seq2SeqSpec,
        decoder=False,
        **changed,
    )


# T5 ------------------------------------------------------------------------------------------------------------------


def own_depth(draft: Draft) -> None:
    """The decoder has as many layers as the encoder, unless the file says otherwise."""
    if draft.fields["decoder.layers"] is None:
        del draft.fields["decoder.layers"]


def t5_logits(scales: str) -> Adjust:
    """Read the logits: T5's are a product with the token table, of vectors divided by √d_model; v1.1 has its own matrix.

    transformers 5 writes `tie_word_embeddings` true for both; a file that says false holds two tables. `scales` says where the
    vectors are divided: "key" (by `scale_decoder_outputs`), "tied" (where the table is tied), or "never".
    """

    def adjust(draft: Draft) -> None:
        tied = draft.config.flag("tie_word_embeddings", default=True)
        draft.fields["decoder.tie"] = tied
        scaled = {"key": lambda: draft.config.flag("scale_decoder_outputs", default=tied), "tied": lambda: tied}
        if scales in scaled and scaled[scales]():
            draft.fields["decoder.output_scale"] = "sqrt_d_model"

    return adjust


def _t5(model_type: str, name: str, scales: str, **more: Any) -> Family:
    family = ENCODER_OF[model_type]
    return _whole(
        family,
        name,
        keys={**T5_KEYS, "num_decoder_layers": Key("decoder.layers", None)},
        fixed={**family.fixed, "biases": ()},
        only={**family.only, **ONE_MODEL},
        inert=family.inert - {"num_decoder_layers", "scale_decoder_outputs"}
        | ({"scale_decoder_outputs"} if scales != "key" else set()),
        adjust=(*family.adjust, own_depth, t5_logits(scales)),
        **more,
    )


# BART ----------------------------------------------------------------------------------------------------------------

SIZES = {"layers": "layers", "attention_heads": "heads", "ffn_dim": "d_ff"}
TWO_STACKS = {f"{stack}_{key}": Key(f"{stack}.{field}") for stack in ("encoder", "decoder") for key, field in SIZES.items()}
WHOLE_BART_KEYS = {key: rule for key, rule in BART_KEYS.items() if not key.startswith("encoder_")} | TWO_STACKS
DECODER_KEYS = frozenset(key for key in TWO_STACKS if key.startswith("decoder_"))
OFFSET: Fields = {"decoder.logit_offset": True}


def marian_tables(draft: Draft) -> None:
    """Read how many token tables there are, and the size of the decoder's."""
    config, fields = draft.config, draft.fields
    shared = config.flag("share_encoder_decoder_embeddings", default=True)
    tied = config.flag("tie_word_embeddings", default=True)
    size = config.whole("decoder_vocab_size", None)
    if shared:
        if not tied:
            raise config.refusal("tie_word_embeddings", "with shared embeddings only true is implemented.")
        return  # the size of a missing table means nothing
    fields.update({"share_tokens": False, "decoder.tie": tied, "decoder.vocab": size or fields["vocab"]})


def padded_positions(draft: Draft) -> None:
    """M2M100 numbers positions from the one after the padding token."""
    draft.fields["position_offset"] = draft.config.whole("pad_token_id", 1, least=0) + 1


def own_waves(draft: Draft) -> None:
    """BlenderBot small: a norm after the encoder's embeddings, and before the decoder's positions.

    `scale_embedding` scales the encoder's embeddings only. (The decoder's norm would undo the scale but for its ε.)
    """
    draft.fields.update({"encoder.embedding_norm": True, "decoder.embedding_norm": False, "decoder.token_norm": True})
    if scale := draft.fields.pop("embedding_scale", None):
        draft.fields["encoder.embedding_scale"] = scale


def _bart(model_type: str, name: str, *, adjust: tuple[Adjust, ...] = (), **changed: Any) -> Family:
    family = ENCODER_OF[model_type]
    settings: dict[str, Any] = {
        "keys": WHOLE_BART_KEYS,
        "fixed": {**family.fixed, "decoder.biases": INSIDE},
        "only": {**family.only, **ONE_MODEL, **TIED},
        "inert": family.inert - DECODER_KEYS - {"decoder_vocab_size", "share_encoder_decoder_embeddings"},
        "added": OFFSET,
        "adjust": (*family.adjust, *adjust),
    }
    return _whole(family, name, **(settings | changed))


MARIAN = _bart("marian", "Marian", head="MTModel", only={**ENCODER_OF["marian"].only, **ONE_MODEL}, adjust=(marian_tables,))
M2M100 = Family(
    model_type="m2m_100",
    base="M2M100ForConditionalGeneration",
    classes=_classes("M2M100", "ForConditionalGeneration"),
    keys={**WHOLE_BART_KEYS, "activation_function": Key("activation", "relu")},
    fixed={"position": "sinusoidal_halves", "norm": "pre", "eps": 1e-5, "decoder.biases": INSIDE},
    only={**ONE_MODEL, **TIED},
    synonyms=ENCODER_OF["mbart"].synonyms,
    inert=(BART_INERT | set(BART_LAYOUT)) - DECODER_KEYS,
    adjust=(scaled_embedding, same_layers, padded_positions),
    spec=Seq2SeqSpec,
)

# Whisper -------------------------------------------------------------------------------------------------------------

WHISPER = Family(
    model_type="whisper",
    base="WhisperForConditionalGeneration",
    classes=_classes("Whisper", "ForConditionalGeneration"),
    keys={
        **{key: rule for key, rule in WHISPER_KEYS.items() if not key.startswith("encoder_")},
        **TWO_STACKS,
        "num_mel_bins": Key("encoder.mels"),
        "max_source_positions": Key("encoder.positions", 1500),
        "max_target_positions": Key("decoder.positions", 448),
        "vocab_size": Key("decoder.vocab"),
    },
    fixed={
        "norm": "pre",
        "eps": 1e-5,
        "encoder.biases": ("q", "v", "output", "ffn", "norm", "convolution"),
        "encoder.position": "sinusoidal_stored",
        "decoder.biases": ("q", "v", "output", "ffn", "norm"),
        "decoder.position": "learned",
    },
    only=ONE_MODEL,
    synonyms={"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"},
    inert=WHISPER_INERT - DECODER_KEYS - {"max_target_positions", "vocab_size"},
    adjust=(same_layers, tied(default=True, field="decoder.tie")),
    unsupported={f"Whisper{ending}": why for ending, why in UNSUPPORTED.items()},
    spec=Seq2SeqSpec,
)

FAMILIES = [
    _t5("t5", "T5", "key", more={"T5WithLMHeadModel": {}}),
    _t5("mt5", "MT5", "never"),
    _t5("umt5", "UMT5", "tied"),
    _bart("bart", "Bart"),
    _bart("mbart", "MBart"),
    _bart("pegasus", "Pegasus"),
    MARIAN,
    _bart("blenderbot", "Blenderbot"),
    _bart("blenderbot-small", "BlenderbotSmall", adjust=(own_waves,)),
    M2M100,
    WHISPER,
]
