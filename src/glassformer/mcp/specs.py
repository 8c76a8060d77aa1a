"""The model of a call: `bert-base layers=8 t=512` as one line of words, presets or files of the readable folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from glassformer.mcp.folders import Folders
from glassformer.spec import GlassformerError, shown
from glassformer.spec.presets import known_preset, unknown_preset
from glassformer.spec.reading import Request, only_fields, request

FILE_ENDINGS = (".json", ".toml", ".md", ".txt", ".tex", ".ipynb", ".safetensors")
MOST_SIZES = 24  # models in one table


@dataclass(frozen=True)
class Model:
    """The words of a spec, sorted: the preset or the resolved path, the fields, and the class of a Hugging Face config."""

    name: str
    fields: dict[str, Any]
    as_class: str | None = None

    def request(self) -> Request:
        return request(self.name, as_class=self.as_class, **self.fields)


def model(folders: Folders, spec: str) -> Model:
    """The model that one line of words describes."""
    name, *words = spec.split() or [""]
    if not name:
        raise GlassformerError("which model? Name a preset and change its fields, as in 'bert-base layers=8 t=512'.")
    if "=" in name:
        raise GlassformerError(
            f"'{shown(name)}' comes before a preset: write 'layer {shown(name)}' or 'bert-base {shown(name)}'."
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
        fields[field.replace("-", "_")] = value
    as_class = fields.pop("as", None)
    return Model(model_name(folders, name), only_fields(fields), as_class)


def models(folders: Folders, spec: str) -> list[tuple[dict[str, str], Model]]:
    """One model for each value of lists such as `t=128,256,512`, with the values that tell them apart."""
    lists = dict(_lists(spec))
    if not lists:
        return [({}, model(folders, spec))]
    kept = " ".join(word for word in spec.split() if word.partition("=")[0] not in lists)
    chosen = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    if len(chosen) > MOST_SIZES:
        raise GlassformerError(f"the lists of sizes make {len(chosen):,} models: at most {MOST_SIZES} go into one table.")
    return [(sizes, model(folders, " ".join([kept, *(f"{name}={value}" for name, value in sizes.items())]))) for sizes in chosen]


def _lists(spec: str) -> Iterator[tuple[str, list[str]]]:
    for word in spec.split()[1:]:
        name, _, value = word.partition("=")
        values = value.split(",")
        if len(values) > 1 and all(one.replace(".", "", 1).isdecimal() for one in values):
            yield name, values


def model_name(folders: Folders, word: str) -> str:
    """A preset by its own name, or the resolved path of a file or folder."""
    if (preset := known_preset(word)) is not None:
        return preset
    if "://" in word:
        raise GlassformerError(f"{shown(word)} is an address, and nothing is downloaded: name a preset such as bert-base.")
    is_path = "/" in word or "\\" in word or word.startswith(("~", ".")) or word.endswith(FILE_ENDINGS)
    try:
        return str(folders.inside(word))
    except GlassformerError:
        if is_path:
            raise
        raise unknown(word) from None


def unknown(word: str) -> GlassformerError:
    """What is said of a name that is no preset."""
    return GlassformerError(str(unknown_preset(word)).replace("'glassformer presets' lists", "The tool 'presets' lists"))
