"""Presets: encoders by name, read from presets.toml the first time that one is asked for."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.errors import GlassformerError, nearest, shown

# Who published the checkpoints under `also`. Any other word before a slash is a folder: models/bert-base is a path.
PUBLISHERS = frozenset(
    """albert answerdotai distilbert facebook facebookai google google-bert google-t5 microsoft openai sentence-transformers
    winkawaks""".split()
)


def preset_names() -> tuple[str, ...]:
    """All presets, in the order of the file."""
    return tuple(_tables())


def known_preset(word: str) -> str | None:
    """The preset that a word means: written in any case, or as a published checkpoint, as in `google-bert/bert-base-uncased`."""
    publisher, slash, name = word.lower().rpartition("/")
    return known_as().get(name) if not slash or publisher in PUBLISHERS else None


def unknown_preset(word: str) -> GlassformerError:
    """What to say of a word that means none."""
    meant = nearest(word.lower(), known_as())
    return GlassformerError(f"unknown preset '{shown(word)}'.{meant} 'glassformer presets' lists them all.")


def preset_doc(name: str) -> str:
    """What a preset is, in one line."""
    return str(_table(name)["doc"])


@lru_cache(maxsize=256)
def preset(name: str) -> EncoderSpec:
    """The spec with that name, or with another that it is known by."""
    fields = {key: value for key, value in _table(name).items() if key not in ("doc", "also", "base")}
    base = _table(name).get("base")
    return preset(base).replace(**fields) if base is not None else EncoderSpec(**fields)


def _table(name: str) -> dict[str, Any]:
    known = known_preset(name)
    if known is None:
        raise unknown_preset(name)
    return _tables()[known]


@lru_cache(maxsize=1)
def known_as() -> dict[str, str]:
    """Every name in lower case, and the preset that it means."""
    return {said.lower(): name for name, table in _tables().items() for said in (name, *table.get("also", ()))}


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    text = files("glassformer.spec").joinpath("presets.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
