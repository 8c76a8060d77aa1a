"""A model folder, opened without reading weights: the spec, and which tensor in its files holds which parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from glassformer import arguments
from glassformer.checkpoints.matching import Match, match_tensors, require, require_depth, require_room, untied
from glassformer.checkpoints.tensor_names import Shape, tensor_names
from glassformer.configs.huggingface import FAMILIES, from_config
from glassformer.configs.presets import known_as, known_preset
from glassformer.configs.reading import from_document
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.files.documents import read_document
from glassformer.files.hub_names import hub_hint
from glassformer.files.layout import Place
from glassformer.files.name_tables import OWN
from glassformer.files.name_tables.encoder_decoders import whole
from glassformer.files.paths import no_such, path_text
from glassformer.files.weight_files import ONE_FILE, WeightFiles, find_weights, inside
from glassformer.spec.decoder_spec import DecoderSpec
from glassformer.spec.encoder_fields import MASKED_HEADS
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.seq2seq_spec import Seq2SeqSpec

CONFIG = "config.json"  # describes the model in the Hugging Face layout
SPEC = "spec.json"  # describes the model in our own layout
LABELS = "labels.json"  # may name the classes in our own layout: {"id2label": {"0": "negative", "1": "positive"}}
RUN, BEST = "run.json", "best"  # the file that marks a training run, and the folder of its best weights
POSITIONS = "embeddings.E_position"
UNLABELLED = ("none", "project", *MASKED_HEADS)  # heads without labels
HEADS = ("head.", "pooler.")  # what a class adds to the body; other classes of the same family may lack it

ShapesOf: TypeAlias = Callable[[EncoderSpec], Mapping[str, Shape]]


class CheckpointFolder(NamedTuple):
    """A folder whose weights fit its config. Only headers have been read."""

    path: Path
    config: dict[str, Any]  # the document that describes the model
    spec: EncoderSpec
    family: str  # its model_type; OWN for our own layout
    model_class: str
    aside: Mapping[str, Any]  # keys of the config that are not in the spec
    files: WeightFiles
    match: Match
    shapes: Mapping[str, Shape]  # of every parameter, by its name in the ledger
    computed: tuple[str, ...] = ()  # parameters that files may leave out because their values are fixed
    fresh: tuple[str, ...] = ()  # parameters of a new head that the file lacks and the caller will train

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def constants(self) -> dict[str, Place]:
        """The places of buffers in the file; missing buffers are zeros."""
        spec = self.spec.decoder if isinstance(self.spec, Seq2SeqSpec) else self.spec
        if not spec.logit_offset or not spec.predicts_next:
            return {}
        place = offset_place(self.family, spec.vocab or 0)
        return {"head.c_vocab": place} if self.files.shapes.get(place.name) == place.shape else {}

    @property
    def padding(self) -> int:
        """Id of the padding token; 0 if the config names none."""
        found = self.aside.get("pad_token_id")
        return found if type(found) is int and 0 <= found < (self.spec.vocab or 0) else 0

    @property
    def labels(self) -> list[str]:
        """The names of the classes: id2label if it names each class once, otherwise LABEL_0, LABEL_1, …"""
        count = self.spec.classes if self.spec.head not in UNLABELLED else 0
        given = self.aside.get("id2label")
        names = [given.get(str(i)) for i in range(count)] if isinstance(given, Mapping) else []
        if len(names) == len(set(map(str, names))) == count and all(isinstance(name, str) and name for name in names):
            return [str(name)[:200] for name in names]
        return [f"LABEL_{i}" for i in range(count)]


class _Described(NamedTuple):
    config: dict[str, Any]
    spec: EncoderSpec
    family: str
    model_class: str
    aside: Mapping[str, Any]
    source: str

    @property
    def layout(self) -> str:
        """The key of the name tables for the file's other tensors."""
        return whole(self.family) if isinstance(self.spec, Seq2SeqSpec) and self.family != OWN else self.family


def model_folder(path: Path) -> Path:
    """Return an existing folder; for a training run, the folder of its best weights."""
    try:
        is_folder, is_run, finished, is_file = path.is_dir(), (path / RUN).is_file(), (path / BEST).is_dir(), path.is_file()
    except (OSError, ValueError):
        is_folder = is_run = finished = is_file = False
    if is_run and not finished:
        way_out = f"Continue it: glassformer resume {path_text(path)}"
        raise GlassformerError(f"{path_text(path)} is a training run that has not finished: {BEST}/ is missing. {way_out}")
    if is_folder:
        return path / BEST if is_run else path
    if is_file:
        raise GlassformerError(f"{path_text(path)} is a file: a model is a folder with config.json and {ONE_FILE}.")
    if known_preset(str(path)) is not None:
        raise GlassformerError(
            f"{path_text(path)} is a preset, and presets have no weights. Name a folder with config.json and {ONE_FILE}."
        )
    meant = nearest(str(path).lower(), known_as())
    preset = f"{meant} That is a preset, and presets have no weights." if meant else ""
    raise no_such(path, "folder", wanted=f"A model is a folder with config.json and {ONE_FILE}.{preset}{hub_hint(str(path))}")


def spec_of(folder: Path) -> EncoderSpec:
    """Return the spec of a model folder, from its description alone."""
    return _describe(model_folder(folder), None).spec


def open_folder(
    folder: str | Path, shapes_of: ShapesOf, *, as_class: str | None = None, new_head: bool = False, decoders: bool = False
) -> CheckpointFolder:
    """Open a model folder; `shapes_of` computes the parameter shapes of a spec. Weights that do not fit are refused.

    With `new_head`, a class requested by name may have a head that is not in the file: its parameters are `fresh`. A decoder is
    refused unless the caller accepts `decoders`.
    """
    path = model_folder(arguments.path("folder", folder))
    described = _describe(path, as_class)
    if not decoders:
        _require_encoder(described, path)
    _require_square_offsets(described)
    files = find_weights(path)
    present, spec = files.shapes, described.spec
    require_depth(spec, family=described.layout, present=present, label=files.label, source=described.source)
    require_room(spec, present=present, label=files.label, source=described.source)
    shapes, match = _match(spec, described, present, shapes_of)
    poolers = [name for name in shapes if name.startswith("pooler.")]
    if spec.head == "none" and spec.pooler != "none" and all(name in match.missing for name in poolers):
        spec = spec.replace(pooler="none")  # a bare model may have been saved without its pooler
        shapes, match = _match(spec, described, present, shapes_of)
    computed = tuple(name for name in _waves(spec) if name in match.missing)
    for name in computed:
        del match.missing[name]
    fresh: tuple[str, ...] = ()
    if new_head and as_class is not None and all(name.startswith(HEADS) for name in match.missing):
        fresh = tuple(match.missing)
        match = match._replace(missing={})
    require(match, spec, family=described.layout, present=present, label=files.label, source=described.source)
    return CheckpointFolder(
        path,
        described.config,
        spec,
        described.family,
        described.model_class,
        described.aside,
        files,
        match,
        shapes,
        computed,
        fresh,
    )


def _describe(path: Path, as_class: str | None) -> _Described:
    """Read the description of the model: the folder's config.json, or its spec.json."""
    if (path / CONFIG).exists() or not (path / SPEC).exists():
        if not (path / CONFIG).exists():
            raise GlassformerError(f"{CONFIG} is missing in {path_text(path)}: it describes the model. Add it.")
        config = read_document(inside(path, CONFIG, source="the model folder"))
        reading = from_config(config, as_class=as_class)
        return _Described(config, reading.spec, reading.family, reading.model_class, reading.aside, CONFIG)
    if as_class is not None:
        raise GlassformerError(
            f"--as {shown(as_class)} is for a Hugging Face config; {path_text(path)} has a {SPEC}, which names its head."
        )
    document = read_document(inside(path, SPEC, source="the model folder"))
    spec, _ = from_document(document, source=SPEC)
    aside = read_document(inside(path, LABELS, source="the model folder")) if (path / LABELS).exists() else {}
    return _Described(document, spec, OWN, KINDS.get(type(spec), "Encoder"), aside, SPEC)


def offset_place(family: str, vocab: int) -> Place:
    """Return where files keep the number that is added to each logit."""
    return Place("head.c_vocab", (vocab,)) if family == OWN else Place("final_logits_bias", (1, vocab))


def _waves(spec: EncoderSpec) -> tuple[str, ...]:
    """Return the position tables that files may leave out, because they hold sine waves."""
    stacks = {"encoder.": spec.encoder, "decoder.": spec.decoder} if isinstance(spec, Seq2SeqSpec) else {"": spec}
    return tuple(f"{stack}{POSITIONS}" for stack, one in stacks.items() if one.position == "sinusoidal_stored")


KINDS = {DecoderSpec: "Decoder", Seq2SeqSpec: "Seq2Seq"}  # the class name of models in our own layout


def _require_encoder(described: _Described, path: Path) -> None:
    if isinstance(described.spec, DecoderSpec):
        raise GlassformerError(
            f"{path_text(path)} is a decoder ({described.model_class}): it predicts the next token, not vectors or classes "
            f"of a text. Continue texts with it: glassformer generate {path_text(path)} --text …"
        )
    if isinstance(described.spec, Seq2SeqSpec):
        family = FAMILIES.get(described.family)
        way = f"--as {family.base} reads its encoder" if family is not None else "its encoder cannot be loaded alone"
        translates = (
            f" Translate with it: glassformer translate {path_text(path)} --text …" if described.spec.reads == "tokens" else ""
        )
        raise GlassformerError(
            f"{path_text(path)} is an encoder-decoder ({described.model_class}), which is not supported here: {way}.{translates}"
        )


def _require_square_offsets(described: _Described) -> None:
    """Refuse grids that are not square: BEiT's classes assume a square offset table and interpolate it to the image."""
    down, across = described.spec.patch_grid
    if described.family != OWN and described.spec.relative and described.spec.position.endswith("2d") and down != across:
        raise GlassformerError(
            f"{described.source}: {down} x {across} patches are not a square grid, for which {described.model_class} "
            "interpolates its relative position table. That is not supported: parameters can be counted, but not loaded."
        )


def _match(
    spec: EncoderSpec, described: _Described, present: Mapping[str, Shape], shapes_of: ShapesOf
) -> tuple[Mapping[str, Shape], Match]:
    shapes = shapes_of(spec)
    match = match_tensors(tensor_names(spec, described.family, described.model_class, shapes), present, described.layout)
    return shapes, untied(match, described.layout) if described.config.get("tie_word_embeddings") is False else match
