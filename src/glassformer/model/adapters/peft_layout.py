"""Adapters in the layout of peft: their tensors by module of a published class, and their settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from glassformer.checkpoints.adapter_folder import CONFIG
from glassformer.checkpoints.folder import LABELS
from glassformer.checkpoints.tensor_names import tensor_names
from glassformer.configs.huggingface import from_config
from glassformer.errors import GlassformerError
from glassformer.files.layout import Place, put_part
from glassformer.model.adapters.lora import Adapter, pieces_of
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.checkpoints.writing import Part, write_safetensors
from glassformer.spec import EncoderSpec

WEIGHTS = "adapter_model.safetensors"
PREFIX = "base_model.model."
# peft's task types, by the head of the encoder; a class name ends as the key of TASKS says.
TASKS = {"classify": "SEQ_CLS", "tag": "TOKEN_CLS", "none": "FEATURE_EXTRACTION"}


class Adapted(NamedTuple):
    """A linear layer of the published model, and the adapters of the parameters that it holds."""

    module: str
    pieces: list[tuple[Place, Adapter]]

    @property
    def rank(self) -> int:
        """The rank of its adapters together: those of queries and values in one matrix have one A and one B."""
        return sum(len(adapter.A) for _, adapter in self.pieces)

    def matrices(self) -> tuple[Tensor, Tensor]:
        """A [rank, in] and B [out, rank]; B is zero where an adapter does not reach."""
        a = torch.cat([adapter.A for _, adapter in self.pieces])
        b, start = a.new_zeros(self.pieces[0][0].shape[0], self.rank), 0
        for place, adapter in self.pieces:
            columns = adapter.B.new_zeros(len(b), len(adapter.A))
            put_part(columns, place._replace(shape=tuple(columns.shape)), adapter.B)
            b[:, start : start + len(adapter.A)] += columns
            start += len(adapter.A)
        return a, b


@torch.no_grad()
def write_adapter(
    encoder: Encoder,
    folder: Path,
    *,
    config: Mapping[str, Any],
    model_class: str,
    base: str,
    new: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> None:
    """Write the adapters of an encoder, and the parameters of its `new` blocks, into an existing folder.

    `config` and `model_class` say how transformers builds the model that the adapters belong to, `base` where its weights are.
    """
    places = places_of(encoder.spec, config, model_class, {name: tuple(view.shape) for name, view in encoder.ledger()})
    adapted = list(_by_module(encoder, places))
    parts: list[Part] = []
    for one in adapted:
        for letter, value in zip("AB", one.matrices(), strict=True):
            parts.append(Part(Place(f"{PREFIX}{one.module}.lora_{letter}.weight", tuple(value.shape)), value))
    whole = [name for name in places if places[name] and any(name.startswith(f"{block}.") for block in new)]
    views = dict(encoder.ledger())
    parts += [Part(places[name][0]._replace(name=PREFIX + places[name][0].name), views[name]) for name in whole]
    modules = list(dict.fromkeys(_module_of(name, places[name][0].name) for name in whole))
    document = _document(encoder, adapted, places) | {"base_model_name_or_path": base, "modules_to_save": modules or None}
    (folder / CONFIG).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if labels:
        names = {"id2label": {str(number): label for number, label in enumerate(labels)}}
        (folder / LABELS).write_text(json.dumps(names, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with (folder / WEIGHTS).open("wb") as file:
        write_safetensors(file, parts)


def _module_of(name: str, tensor: str) -> str:
    """Return the module that peft replaces as a whole: `classifier` with all its layers, or a layer of the body's pooler."""
    return tensor.partition(".")[0] if name.startswith("head.") else tensor.rpartition(".")[0]


def places_of(
    spec: EncoderSpec, config: Mapping[str, Any], model_class: str, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[Place, ...]]:
    """Return the places of each parameter in the published class."""
    reading = from_config(dict(config), as_class=model_class, source="config")
    return tensor_names(spec, reading.family, reading.model_class, shapes)


def _by_module(encoder: Encoder, places: Mapping[str, tuple[Place, ...]]) -> Iterator[Adapted]:
    """Yield each linear layer of the published model that has adapters."""
    found: dict[str, list[tuple[Place, Adapter]]] = {}
    for piece in pieces_of(encoder):
        name = f"{piece.block}.{piece.symbol}"
        if not places[name] or places[name][0].layout != "transposed":
            raise GlassformerError(f"{name} has no separate linear layer in the files of this family: leave it out of lora_on.")
        place = places[name][0]
        found.setdefault(place.name.removesuffix(".weight"), []).append((place, piece.adapter))
    yield from (Adapted(module, pieces) for module, pieces in found.items())


def _document(encoder: Encoder, adapted: Sequence[Adapted], places: Mapping[str, tuple[Place, ...]]) -> dict[str, Any]:
    """Return peft's settings; the rank is that of most modules, and others are listed."""
    ranks = [one.rank for one in adapted]
    rank = max(set(ranks), key=ranks.count)
    scale = adapted[0].pieces[0][1].scale
    other = {one.module: one.rank for one in adapted if one.rank != rank}
    return {
        "peft_type": "LORA",
        "task_type": TASKS.get(encoder.spec.head),
        "r": rank,
        "lora_alpha": scale * rank,
        "target_modules": targets([one.module for one in adapted], _linear_modules(places)),
        "rank_pattern": other,
        "alpha_pattern": {module: scale * size for module, size in other.items()},
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "use_rslora": False,
        "use_dora": False,
        "init_lora_weights": True,
        "inference_mode": True,
    }


def _linear_modules(places: Mapping[str, tuple[Place, ...]]) -> set[str]:
    return {found[0].name.removesuffix(".weight") for found in places.values() if found and found[0].layout == "transposed"}


def targets(adapted: Sequence[str], every: set[str]) -> list[str]:
    """Return names that choose exactly these modules: `attention.self.query` in every layer, or else each by its whole name."""
    short = sorted({re.split(r"\.\d+\.", module)[-1] for module in adapted})
    chosen = {module for module in every if any(module == name or module.endswith(f".{name}") for name in short)}
    return short if chosen == set(adapted) else list(adapted)
