"""Parses the model of a call: `bert-base layers=8 t=512`, with a preset or a readable file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from glassformer.configs.presets import known_preset, unknown_preset
from glassformer.configs.reading import SIZES, Request, only_fields, request
from glassformer.errors import GlassformerError, shown
from glassformer.mcp.folders import Folders

LOOSE = re.compile(r"\s*=\s*|,\s+|,$")  # 'layer d_model = 64, heads = 4' means 'layer d_model=64 heads=4'
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
FILE_ENDINGS = (".json", ".toml", ".md", ".txt", ".tex", ".ipynb", ".safetensors")


@dataclass(frozen=True)
class Model:
    """A parsed spec: the preset or the resolved path, the fields, and the class of a Hugging Face config."""

    name: str
    fields: dict[str, Any]
    as_class: str | None = None

    def request(self) -> Request:
        return request(self.name, as_class=self.as_class, decoders=True, **self.fields)


def model(folders: Folders, spec: str) -> Model:
    """Parse a spec in one line."""
    name, *words = LOOSE.sub(lambda found: "=" if "=" in found[0] else " ", spec).split() or [""]
    if not name:
        raise GlassformerError("no model is given: name a preset and optionally fields, as in 'bert-base layers=8 t=512'.")
    if "=" in name:
        raise GlassformerError(
            f"'{shown(name)}' needs a preset before it: write 'layer {shown(name)}' or 'bert-base {shown(name)}'."
        )
    fields: dict[str, str] = {}
    for word in words:
        field, equals, value = word.partition("=")
        if not equals or not field or not value:
            raise GlassformerError(
                f"'{shown(word)}' is not a field: after '{shown(name)}' write field=value without spaces, as in heads=8."
            )
        if field in fields:
            raise GlassformerError(
                f"{shown(field)} is given twice, as {shown(fields[field])} and as {shown(value)}: give it once."
            )
        if field not in SIZES and THOUSANDS.fullmatch(value):
            raise GlassformerError(
                f"{shown(word)} may be one number or a list: write {shown(word.replace(',', ''))} for a number, or put a list "
                f"into the expression, as in params({shown(word.replace(',', ', '))})."
            )
        fields[field.replace("-", "_")] = value
    as_class = fields.pop("as", None)
    return Model(model_name(folders, name), only_fields(fields), as_class)


def model_name(folders: Folders, word: str) -> str:
    """Return the name of a preset, or the resolved path of a file or folder."""
    if (preset := known_preset(word)) is not None:
        return preset
    if "://" in word:
        raise GlassformerError(f"{shown(word)} is a URL, and nothing is downloaded: name a preset such as bert-base.")
    is_path = "/" in word or "\\" in word or word.startswith(("~", ".")) or word.endswith(FILE_ENDINGS)
    try:
        return str(folders.inside(word))
    except GlassformerError:
        if is_path:
            raise
        raise unknown_preset(word) from None
