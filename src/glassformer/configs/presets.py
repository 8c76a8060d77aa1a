"""Presets: encoders, decoders and encoder-decoders by name, read from their TOML files on first use."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.spec.decoder_spec import DecoderSpec
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.seq2seq_spec import Seq2SeqSpec

# Publishers of the checkpoints under `also`. Any other name before a slash is a folder: models/bert-base is a path.
PUBLISHERS = frozenset(
    """albert answerdotai baai distilbert eleutherai facebook facebookai google google-bert google-t5 helsinki-nlp intfloat
    meta-llama microsoft mistralai mixedbread-ai openai openai-community qwen sentence-transformers snowflake thenlper
    winkawaks""".split()
)


def preset_names() -> tuple[str, ...]:
    """Return the names of all encoders, in the order of the file."""
    return tuple(_tables("presets.toml"))


def decoder_names() -> tuple[str, ...]:
    """Return the names of all decoders, in the order of the file."""
    return tuple(_tables("decoders.toml"))


def seq2seq_names() -> tuple[str, ...]:
    """Return the names of all encoder-decoders, in the order of the file."""
    return tuple(_tables("seq2seq.toml"))


def known_preset(word: str) -> str | None:
    """Return the preset that a word names, in any case, or as a published checkpoint such as `google-bert/bert-base-uncased`."""
    publisher, slash, name = word.lower().rpartition("/")
    return known_as().get(name) if not slash or publisher in PUBLISHERS else None


def unknown_preset(word: str) -> GlassformerError:
    """Return the error for an unknown preset, with the closest name."""
    begins = [name for name in known_as() if name.startswith(word.lower())]
    meant = nearest(word.lower(), begins) or nearest(word.lower(), known_as())
    return GlassformerError(f"unknown preset '{shown(word)}'.{meant} 'glassformer presets' lists them (or with --decoders).")


def preset_doc(name: str) -> str:
    """Return the one-line description of a preset."""
    return str(_table(name)["doc"])


@lru_cache(maxsize=256)
def preset(name: str) -> EncoderSpec:
    """Return the spec of a preset, by its name or one of its other names."""
    fields = {key: value for key, value in _table(name).items() if key not in ("doc", "also", "base")}
    base = _table(name).get("base")
    return (preset(base) if base is not None else _kind(name)()).replace(**fields)


def _kind(name: str) -> type[EncoderSpec]:
    known = known_preset(name)
    return DecoderSpec if known in decoder_names() else Seq2SeqSpec if known in seq2seq_names() else EncoderSpec


def _table(name: str) -> dict[str, Any]:
    known = known_preset(name)
    if known is None:
        raise unknown_preset(name)
    return _every_table()[known]


@lru_cache(maxsize=1)
def known_as() -> dict[str, str]:
    """Return every name in lower case -> the preset it stands for."""
    return {known.lower(): name for name, table in _every_table().items() for known in (name, *table.get("also", ()))}


def _every_table() -> dict[str, dict[str, Any]]:
    return _tables("presets.toml") | _tables("decoders.toml") | _tables("seq2seq.toml")


@lru_cache(maxsize=3)
def _tables(file: str) -> dict[str, dict[str, Any]]:
    text = files("glassformer.configs").joinpath(file).read_text(encoding="utf-8")
    return tomllib.loads(text)
