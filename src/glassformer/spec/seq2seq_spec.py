"""Seq2SeqSpec: the description of an encoder-decoder (the 2017 paper, T5, BART, Whisper): an encoder and a decoder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from glassformer.errors import GlassformerError, shown
from glassformer.spec.decoder_spec import FIXED, DecoderSpec
from glassformer.spec.encoder_fields import EncoderFields, _is, defaults
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.fields import FieldRule, accept, field_text, rule_for

STACKS = ("encoder", "decoder")
OF_ENCODER = frozenset(
    """block segments channels image image_width patch patch_width patch_stride patch_stride_width video_frames tube class_tokens
    registers mask_ratio mask_token beside_kernel beside_groups beside_activation mels pool pooler pooler_eps head classes
    head_reads head_hidden head_norm head_dense head_width spare_bias share_layers layer_cycle first_norm attend
    contact_head token_dropout mixing relative_terms relative_projections relative_norm""".split()
)  # fields that a decoder lacks, or that mean the encoder where no stack is named
OF_INPUT = frozenset({"vocab", "positions", "position", "position_offset", "embedding_scale", "embedding_norm"})


@dataclass(frozen=True, kw_only=True, repr=False)
class Seq2SeqSpec(EncoderSpec):
    """Description of an encoder-decoder. Its own fields are the encoder's; `decoder` is a separate record.

    The decoder is a DecoderSpec. Each of its layers has one more attention, whose keys and values come from the encoder.
    """

    decoder: DecoderSpec = field(
        default=DecoderSpec(), metadata={"doc": "the decoder's fields: decoder.layers=6, decoder.heads=8"}
    )
    share_tokens: bool = _is(True, "encoder and decoder look up their tokens in one table")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decoder.d_model != self.d_model:
            raise GlassformerError(
                f"decoder.d_model={self.decoder.d_model} is not encoder.d_model={self.d_model}: the decoder's attention reads "
                f"vectors of the encoder. Give d_model={self.d_model}, which sets both."
            )
        for name, allowed, why in FIXED_IN_ENCODER:
            if getattr(self, name) not in allowed:
                value = field_text(getattr(self, name))
                raise GlassformerError(f"{name}={value} is not implemented for an encoder-decoder: {why}. Leave {name} out.")
        if self.shares_table and (self.vocab, self.table_width) != (self.decoder.vocab, self.decoder.table_width):
            raise GlassformerError(
                f"decoder.vocab={self.decoder.vocab} is not encoder.vocab={self.vocab}, or their widths differ, and "
                "share_tokens=true makes them one table. Give vocab, which sets both, or share_tokens=false."
            )

    @cached_property
    def encoder(self) -> EncoderSpec:
        """The encoder alone, as a separate spec."""
        return EncoderSpec(**{name: getattr(self, name) for name in defaults(EncoderSpec)})

    @property
    def shares_table(self) -> bool:
        """Whether one token table serves both stacks."""
        return self.share_tokens and self.vocab is not None and self.decoder.vocab is not None

    @property
    def predicts_next(self) -> bool:
        """Whether logits of the next token follow the decoder's last layer."""
        return self.decoder.predicts_next

    def replace(self, **fields: Any) -> Self:
        """Return the same spec with some fields changed: `layers` in both stacks, `decoder.layers` in one of them."""
        own, of_decoder = divided(self, fields)
        decoder = own.pop("decoder", self.decoder)
        return dataclasses.replace(self, **own, decoder=decoder.replace(**of_decoder) if of_decoder else decoder)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of each stack that differ from the defaults, ready for JSON or TOML."""
        found: dict[str, Any] = {"base": "seq2seq", "encoder": self.encoder.to_dict(), "decoder": self.decoder.own_fields()}
        return found if self.share_tokens else {**found, "share_tokens": False}


# Fields of an encoder that it does not have inside an encoder-decoder, the values allowed, and why.
FIXED_IN_ENCODER: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("block", ("layer",), "both stacks consist of whole layers"),
    ("mixing", ("attention",), "layers with a Fourier transform cannot mask padding of the source"),
    ("head", ("none",), "its decoder predicts the next token"),
    ("pooler", ("none",), "its decoder reads every vector of the encoder"),
    ("final_norm", (None, "none", "all"), "its decoder reads every vector of the encoder"),
)
FIXED_IN_DECODER = frozenset(name for name, _, _ in FIXED) - {"position", "final_norm"}


def _fields_of_whole() -> tuple[str, ...]:
    """The fields of the encoder, and those of the two stacks together."""
    return (*defaults(EncoderSpec), "decoder", "share_tokens")


def stacks_of(spec: EncoderSpec, name: str) -> tuple[str, str]:
    """Return which stacks a field belongs to ("encoder", "decoder" or "both"), and its name there: `decoder.layers`, `layers`."""
    stack, dot, inner = name.partition(".")
    if dot and stack in STACKS:
        return stack, inner
    if name in ("decoder", "share_tokens") or name in OF_ENCODER | FIXED_IN_DECODER:
        return "encoder", name
    if name not in defaults(EncoderFields):
        return "decoder", name
    if name in OF_INPUT and spec.reads != "tokens" and spec.reads != "vectors":
        if name == "vocab":
            return "decoder", name
        raise GlassformerError(
            f"{name} is ambiguous: the encoder reads {spec.reads} and the decoder reads tokens. "
            f"Write encoder.{name}=… or decoder.{name}=…."
        )
    return "both", name


def divided(spec: EncoderSpec, fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return changed fields by stack: those of the encoder and of the whole, and those of the decoder."""
    own: dict[str, Any] = {}
    of_decoder: dict[str, Any] = {}
    named: list[tuple[str, str, Any]] = []
    for name, value in fields.items():
        if name in STACKS and isinstance(value, Mapping):
            named += [(name, inner, item) for inner, item in value.items()]
            continue
        stack, inner = stacks_of(spec, name)
        if "." in name:
            named.append((stack, inner, value))
            continue
        if stack != "decoder":
            own[inner] = value
        if stack != "encoder":
            of_decoder[inner] = value
    for stack, inner, value in named:  # a stack that is named has the last word
        (own if stack == "encoder" else of_decoder)[inner] = value
    return own, of_decoder


def accept_of(kind: type[EncoderSpec], name: str, value: Any) -> Any:
    """Return a field's value in its type, as `accept` does; `decoder.layers` is a field of the decoder."""
    stack, dot, inner = name.partition(".")
    if issubclass(kind, Seq2SeqSpec):
        if dot and stack in STACKS:
            return accept(inner, value, EncoderSpec if stack == "encoder" else DecoderSpec)
        if name in STACKS and isinstance(value, Mapping):
            of = EncoderSpec if name == "encoder" else DecoderSpec
            return {rule_for(inner, of=of).name: accept(inner, item, of) for inner, item in value.items()}
        if name == "decoder" and not isinstance(value, DecoderSpec):
            raise GlassformerError(f"decoder={shown(value)} is not allowed: write its fields, as in decoder.layers=6.")
        if name not in _fields_of_whole():
            return accept(name, value, DecoderSpec)
    return accept(name, value, kind)


def known_field(kind: type[EncoderSpec], name: str, also: tuple[str, ...]) -> str:
    """Return the name of a field, or raise an error that suggests a known one."""
    stack, dot, inner = name.partition(".")
    if not issubclass(kind, Seq2SeqSpec):
        if dot and stack in STACKS:
            raise GlassformerError(f"{shown(name)} names a stack, and this model has one. Write {shown(inner)}.")
        return rule_for(name, of=kind, also=also).name
    if dot and stack in STACKS:
        rule: FieldRule = rule_for(inner, of=EncoderSpec if stack == "encoder" else DecoderSpec)
        return f"{stack}.{rule.name}"
    if name == "encoder" or name in defaults(DecoderSpec):
        return name
    return rule_for(name, of=kind, also=also).name
