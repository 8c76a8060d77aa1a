"""A model folder, opened without reading a weight: what the model is, and which tensor of its files holds which parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from glassformer.spec import arguments
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.errors import GlassformerError, shown
from glassformer.spec.files import read_document
from glassformer.spec.huggingface import from_config
from glassformer.spec.huggingface.matching import Match, match_tensors, require, require_depth, require_room, untied
from glassformer.spec.huggingface.tensor_names import OWN, Shape, tensor_names
from glassformer.spec.paths import path_text
from glassformer.spec.reading import from_document
from glassformer.spec.weight_files import WeightFiles, find_weights, inside, model_folder

CONFIG = "config.json"  # says what the model is, in the Hugging Face layout,
SPEC = "spec.json"  # and in our own, where
LABELS = "labels.json"  # may name the classes: {"id2label": {"0": "negative", "1": "positive"}}
POSITIONS = "embeddings.E_position"
HEADS = ("head.", "pooler.")  # what a class puts on the body, and another class of the same family may lack

ShapesOf: TypeAlias = Callable[[EncoderSpec], Mapping[str, Shape]]


class CheckpointFolder(NamedTuple):
    """A folder whose weights fit its config. Nothing but headers was read."""

    path: Path
    config: dict[str, Any]  # the document that says what the model is
    spec: EncoderSpec
    family: str  # its model_type; OWN for a folder of our own
    model_class: str
    aside: Mapping[str, Any]  # what the config says beside the spec
    files: WeightFiles
    match: Match
    shapes: Mapping[str, Shape]  # of every parameter, by its name in the ledger
    computed: tuple[str, ...] = ()  # parameters that files may leave out, because their numbers are fixed
    fresh: tuple[str, ...] = ()  # parameters of a head that the file has not, and that whoever asked for the class will train

    @property
    def parameters(self) -> int:
        """How many numbers the model has learned."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def padding(self) -> int:
        """The token that fills rows up; 0 where the config names none."""
        found = self.aside.get("pad_token_id")
        return found if type(found) is int and 0 <= found < (self.spec.vocab or 0) else 0


class _Described(NamedTuple):
    config: dict[str, Any]
    spec: EncoderSpec
    family: str
    model_class: str
    aside: Mapping[str, Any]
    source: str


def open_folder(
    folder: str | Path, shapes_of: ShapesOf, *, as_class: str | None = None, new_head: bool = False
) -> CheckpointFolder:
    """Open a model folder; `shapes_of` works out the parameters of a spec. Weights that cannot be right are refused.

    With `new_head`, a class that was asked for by name may have a head that the file has not: its parameters are `fresh`.
    """
    path = model_folder(arguments.path("folder", folder))
    said = _described(path, as_class)
    _require_square_offsets(said)
    files = find_weights(path)
    present, spec = files.shapes, said.spec
    require_depth(spec, family=said.family, present=present, label=files.label, source=said.source)
    require_room(spec, present=present, label=files.label, source=said.source)
    shapes, match = _match(spec, said, present, shapes_of)
    poolers = [name for name in shapes if name.startswith("pooler.")]
    if spec.head == "none" and spec.pooler != "none" and all(name in match.missing for name in poolers):
        spec = spec.replace(pooler="none")  # a bare model may have been saved without its pooler
        shapes, match = _match(spec, said, present, shapes_of)
    computed: tuple[str, ...] = ()
    if spec.position == "sinusoidal_stored" and POSITIONS in match.missing:
        del match.missing[POSITIONS]
        computed = (POSITIONS,)
    fresh: tuple[str, ...] = ()
    if new_head and as_class is not None and all(name.startswith(HEADS) for name in match.missing):
        fresh = tuple(match.missing)
        match = match._replace(missing={})
    require(match, spec, family=said.family, present=present, label=files.label, source=said.source)
    return CheckpointFolder(
        path, said.config, spec, said.family, said.model_class, said.aside, files, match, shapes, computed, fresh
    )


def _described(path: Path, as_class: str | None) -> _Described:
    """What the folder's config, or its own spec, says that the model is."""
    if (path / CONFIG).exists() or not (path / SPEC).exists():
        if not (path / CONFIG).exists():
            raise GlassformerError(f"{CONFIG} is missing in {path_text(path)}: it says what the model is. Add it.")
        config = read_document(inside(path, CONFIG, source="the model folder"))
        reading = from_config(config, as_class=as_class)
        return _Described(config, reading.spec, reading.family, reading.model_class, reading.aside, CONFIG)
    if as_class is not None:
        raise GlassformerError(
            f"--as {shown(as_class)} belongs to a Hugging Face config; {path_text(path)} has a {SPEC}, which names its head."
        )
    document = read_document(inside(path, SPEC, source="the model folder"))
    spec, _ = from_document(document, source=SPEC)
    aside = read_document(inside(path, LABELS, source="the model folder")) if (path / LABELS).exists() else {}
    return _Described(document, spec, OWN, "Encoder", aside, SPEC)


def _require_square_offsets(said: _Described) -> None:
    """BEiT's classes take the table of offsets for one of as many columns as there are rows, and stretch it to the image."""
    down, across = said.spec.patch_grid
    if said.family != OWN and said.spec.position.endswith("2d") and down != across:
        raise GlassformerError(
            f"{said.source}: {down} x {across} patches are not a square, and {said.model_class} then stretches its relative "
            "table, which is not in the program. The parameters can be counted; the weights are not read."
        )


def _match(
    spec: EncoderSpec, said: _Described, present: Mapping[str, Shape], shapes_of: ShapesOf
) -> tuple[Mapping[str, Shape], Match]:
    shapes = shapes_of(spec)
    match = match_tensors(tensor_names(spec, said.family, said.model_class, shapes), present, said.family)
    return shapes, untied(match, said.family) if said.config.get("tie_word_embeddings") is False else match
