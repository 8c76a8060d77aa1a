"""Opening a folder of adapters in the layout of peft: the base model in its own folder, with the adapters merged."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassformer.arguments import path
from glassformer.checkpoints.adapter_folder import CONFIG, base_of, is_adapter, settings_of
from glassformer.checkpoints.folder import CONFIG as MODEL_CONFIG
from glassformer.checkpoints.folder import LABELS, CheckpointFolder
from glassformer.checkpoints.tensor_names import tensor_names
from glassformer.configs.huggingface import FAMILIES, from_config
from glassformer.errors import GlassformerError, shown
from glassformer.files.checksums import check_sums
from glassformer.files.documents import read_document
from glassformer.files.layout import Place, from_file, part_of
from glassformer.files.paths import path_text
from glassformer.files.safetensors_header import read_header, sums_in
from glassformer.files.weight_files import Located, WeightFiles, inside
from glassformer.model.adapters.peft_layout import PREFIX, TASKS, WEIGHTS
from glassformer.model.checkpoints import stored
from glassformer.model.checkpoints.export import TRAINED
from glassformer.model.checkpoints.loading import LoadedEncoder, load_encoder, open_for_model, shapes_of
from glassformer.spec import EncoderSpec

MATRIX = re.compile(re.escape(PREFIX) + r"(.+)\.lora_([AB])\.weight")


def load_whole(folder: str | Path, *, as_class: str | None, **how: Any) -> LoadedEncoder:
    """Load the encoder in a folder: a model, or adapters, which are merged into their base model."""
    adapted = is_adapter(path("folder", folder))
    return load_adapted(Path(folder), as_class=as_class, **how) if adapted else load_encoder(folder, as_class=as_class, **how)


def load_adapted(folder: Path, *, as_class: str | None, **how: Any) -> LoadedEncoder:
    """Load the base model, and add the adapters to its matrices; parameters that the folder holds whole replace the base's."""
    settings, files = settings_of(folder), _files(folder)
    base = base_of(folder, settings)
    opened = _opened(base, settings, files, as_class)
    if opened.spec.head in ("classify", "tag"):
        opened = _named(opened, folder)
    encoder = load_encoder(opened, **how).encoder
    places = _places(opened.spec, opened.family, opened.model_class)
    views = dict(encoder.ledger())
    filled = set()
    for name, place, value in _changes(settings, files, places, encoder.here.dtype):
        made = from_file(part_of(value, place), place, tuple(views[name].shape)).to(views[name].device)
        if place.name in files.tensors:  # a parameter that the folder holds whole
            views[name].copy_(made)
        else:
            views[name].add_(made)
        filled.add(name)
    left = tuple(name for name in opened.fresh if name not in filled)
    return LoadedEncoder(encoder, opened._replace(fresh=left))


def _named(opened: CheckpointFolder, folder: Path) -> CheckpointFolder:
    """Return the model with the names of its classes: those of the adapters, those of the base, or LABEL_0, LABEL_1, …"""
    beside = read_document(inside(folder, LABELS, source="the adapter folder")) if (folder / LABELS).is_file() else {}
    named = opened._replace(aside={**opened.aside, **beside}).labels
    names = {"id2label": {str(i): name for i, name in enumerate(named)}, "label2id": {name: i for i, name in enumerate(named)}}
    config = {key: value for key, value in opened.config.items() if key not in ("num_labels", "_num_labels")}
    return opened._replace(config=config | names, aside={**opened.aside, **names})


def _files(folder: Path) -> WeightFiles:
    if not (folder / WEIGHTS).exists():
        raise GlassformerError(f"{path_text(folder)} has no {WEIGHTS}: save the adapters with peft as safetensors.")
    file = inside(folder, WEIGHTS, source="the adapter folder")
    header = read_header(file)
    short = {
        name.removeprefix(PREFIX): Located(file, entry) for name, entry in header.tensors.items() if not MATRIX.fullmatch(name)
    }
    tensors = {name: Located(file, entry) for name, entry in header.tensors.items()}
    check_sums(WeightFiles(WEIGHTS, tensors, sums_in(header.metadata, tensors, WEIGHTS)))
    whole = {name: located for name, located in tensors.items() if MATRIX.fullmatch(name)}
    return WeightFiles(WEIGHTS, short | whole)


def _opened(base: Path, settings: Mapping[str, Any], files: WeightFiles, as_class: str | None) -> CheckpointFolder:
    """Open the base as the first class that has every tensor of the adapters, with as many classes as their head."""
    config = read_document(inside(base, MODEL_CONFIG, source="the model folder"))
    for name in [as_class] if as_class is not None else _classes(config, settings):
        try:
            reading = from_config(config, as_class=name)
        except GlassformerError:
            continue
        places = _places(reading.spec, reading.family, reading.model_class)
        if all(any(place.name == held for found in places.values() for place in found) for held in _held(files)):
            spec = _with_classes(reading.spec, places, files)
            opened = open_for_model(base, as_class=reading.model_class)
            if spec.classes == opened.spec.classes:
                return opened
            shapes = shapes_of(spec)
            head = tuple(one for one in shapes if one.startswith("head."))
            found = {one: place for one, place in opened.match.found.items() if one not in head}
            match = opened.match._replace(found=found)
            return opened._replace(spec=spec, shapes=shapes, match=match, fresh=tuple({*opened.fresh, *head}))
    first = next(iter(files.tensors), "")
    raise GlassformerError(
        f"{WEIGHTS} does not fit {path_text(base)}: no class of that family has all its tensors ({shown(first, limit=150)}, …)."
    )


def _classes(config: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the classes to try: those of the task, the one of the base, and the others of its family."""
    family = FAMILIES.get(str(config.get("model_type")))
    if family is None:
        raise GlassformerError(f"the base model has model_type={shown(config.get('model_type'))}, which is not supported.")
    head = next((head for head, task in TASKS.items() if task == settings.get("task_type")), "")
    yield from (name for name in family.classes if head in TRAINED and name.endswith(TRAINED[head]))
    named = config.get("architectures")
    yield from (name for name in (named if isinstance(named, list) else []) if name in family.classes)
    yield from family.classes


def _held(files: WeightFiles) -> list[str]:
    """Return the tensors of the published model that the adapters change or replace."""
    adapted = (MATRIX.fullmatch(name) for name in files.tensors)
    return [f"{found[1]}.weight" if found else name for name, found in zip(files.tensors, adapted, strict=True)]


def _with_classes(spec: EncoderSpec, places: Mapping[str, tuple[Place, ...]], files: WeightFiles) -> EncoderSpec:
    """Return the spec with as many classes as the head of the adapters has outputs."""
    held = [files.shapes[place.name] for place in places.get("head.W_C", ()) if place.name in files.tensors]
    return spec.replace(classes=held[0][0]) if held and held[0] else spec


def _places(spec: EncoderSpec, family: str, model_class: str) -> dict[str, tuple[Place, ...]]:
    return tensor_names(spec, family, model_class, shapes_of(spec))


def _changes(
    settings: Mapping[str, Any], files: WeightFiles, places: Mapping[str, tuple[Place, ...]], dtype: torch.dtype
) -> Iterator[tuple[str, Place, Tensor]]:
    """Yield each parameter that changes: its place, and what is added to the stored tensor, or the tensor that replaces it."""
    for held in dict.fromkeys(_held(files)):
        value = _read(files, held, dtype) if held in files.tensors else _difference(settings, files, held, dtype)
        for name, found in places.items():
            place = next((one for one in found if one.name == held), None)
            if place is None:
                continue
            if tuple(value.shape) != place.shape:
                wanted = list(place.shape)
                raise GlassformerError(f"{WEIGHTS}: {shown(held)} is {list(value.shape)}, and the base model has {wanted}.")
            yield name, place, value


def _difference(settings: Mapping[str, Any], files: WeightFiles, held: str, dtype: torch.dtype) -> Tensor:
    """Return what the adapters of a linear layer add to its matrix, [out, in]."""
    module = held.removesuffix(".weight")
    names = [f"{PREFIX}{module}.lora_{letter}.weight" for letter in "AB"]
    for name in names:
        if name not in files.tensors or len(files.shapes[name]) != 2:
            raise GlassformerError(f"{WEIGHTS}: {shown(name)} is missing, or not a matrix.")
    a, b = (_read(files, name, dtype) for name in names)
    if a.shape[0] != b.shape[1]:
        raise GlassformerError(f"{WEIGHTS}: the ranks of {shown(module)} differ: {a.shape[0]} and {b.shape[1]}.")
    patterns = settings.get("alpha_pattern")
    alpha = settings.get("lora_alpha", 8)
    for suffix, own in patterns.items() if isinstance(patterns, dict) else ():
        if module == suffix or module.endswith(f".{suffix}"):
            alpha = own
    if not isinstance(alpha, int | float) or not math.isfinite(alpha):
        raise GlassformerError(f"{CONFIG}: lora_alpha={shown(alpha)} is not a number.")
    return b @ a * (alpha / (math.sqrt(len(a)) if settings.get("use_rslora") else len(a)))


def _read(files: WeightFiles, name: str, dtype: torch.dtype) -> Tensor:
    located = files.tensors[name]
    value = torch.empty(located.entry.shape, dtype=dtype)
    stored.read_into(value, located, Place(name, located.entry.shape))
    return value
