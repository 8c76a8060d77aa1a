"""Initial weights: random, or from a checkpoint with a head for the new task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from glassformer.checkpoints.folder import RUN, CheckpointFolder, model_folder
from glassformer.configs.reading import SPEC_FILES
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text
from glassformer.files.weight_files import INDEX, ONE_FILE
from glassformer.model import Encoder
from glassformer.model.boundary.decoder import model_of
from glassformer.model.boundary.start import SPREAD
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.embeddings import LearnedPositions
from glassformer.program import build
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec
from glassformer.spec.unread import require_read
from glassformer.training.data.dataset import Dataset, RowsFor
from glassformer.training.settings import Settings
from glassformer.training.tasks import task_of
from glassformer.training.tokenizers import Tokenizer

FOLDER = "start"  # in a run folder: the initial weights
ON_TOP = ("head", "pooler")
WIDTH = 768  # that the default initialization (std 0.02) is made for


@dataclass(frozen=True)
class Start:
    """An encoder with the weights of a checkpoint, and which weights are new."""

    encoder: Encoder
    tokenizer: Tokenizer | None
    about: dict[str, Any]  # for run.json: source of the weights, its config, and the names of the new weights
    folder: Path  # with the checkpoint's tokenizer and settings


def kind_of(spec: EncoderSpec) -> RowsFor:
    """Return what a spec describes."""
    return "seq2seq" if isinstance(spec, Seq2SeqSpec) else "decoder" if isinstance(spec, DecoderSpec) else "encoder"


def check_kind(spec: EncoderSpec, label: str, data: Dataset) -> None:
    """Refuse a model that cannot learn from these rows."""
    if spec.padding_reader:
        raise GlassformerError(
            f"{spec.padding_reader} is not implemented in training: batches are padded, and padding would change real tokens."
        )
    if kind_of(spec) != data.form.model:
        kinds = {"encoder": "an encoder", "decoder": "a decoder", "seq2seq": "an encoder-decoder"}
        raise GlassformerError(f"{shown(label)} is {kinds[kind_of(spec)]}, and {data.name} is for {kinds[data.form.model]}.")


def is_checkpoint(word: str) -> bool:
    """Return whether a word names a folder with weights: a model, or a run, whose best weights are used."""
    path = Path(word)
    if not path.is_dir():
        return False
    weights = any((path / name).exists() for name in (ONE_FILE, INDEX))
    return (path / RUN).is_file() or (weights and any((path / name).is_file() for name in SPEC_FILES))


def start_from(folder: str | Path, given: Mapping[str, Any], data: Dataset, settings: Settings) -> Start:
    """Load a checkpoint and prepare it for the data: body and tokenizer unchanged, with a head that fits the labels.

    The head is kept if the checkpoint has the same one (masked tokens, or the same labels), and is new otherwise.
    """
    path = model_folder(Path(folder))
    loaded = load_encoder(path, decoders=data.form.model != "encoder")
    check_kind(loaded.folder.spec, path_text(path), data)
    _refuse_other_inputs(loaded.encoder.spec, data, path)
    tokenizer = None if data.form.inputs == "image" else Tokenizer.load(path)
    spec = _spec_for(loaded.folder, dict(given), data, tokenizer)
    torch.manual_seed(settings.seed)
    encoder: Encoder = model_of(spec)
    fresh = _fill(encoder, loaded.encoder, keep_head=_same_head(loaded.folder, spec, data), given=given)
    about: dict[str, Any] = {"from": path_text(path), "folder": str(path.absolute())}
    about |= {"parameters": loaded.folder.parameters, "fresh": fresh}
    if loaded.folder.family == loaded.folder.config.get("model_type"):
        about["config"] = loaded.folder.config
    return Start(encoder, tokenizer, about, path)


def first_weights(folder: Path, spec: EncoderSpec, device: torch.device) -> Encoder:
    """Return the initial weights of a run: those stored in its folder, or random ones."""
    if (folder / FOLDER).is_dir():
        return cast(Encoder, load_encoder(folder / FOLDER, device=device, decoders=True).encoder)
    encoder: Encoder = model_of(spec, device=device)
    suit_width(encoder)
    return encoder


@torch.no_grad()
def suit_width(encoder: Encoder) -> None:
    """Scale the initialization with 1/√width: BERT's std of 0.02 suits a width of 768 but is too small for narrower matrices.

    The position embeddings of images start at the scale of the patches that they are added to.
    """
    for module in encoder.modules():
        if isinstance(module, nn.Linear) and module.in_features < WIDTH:
            _normal(module.weight, SPREAD * math.sqrt(WIDTH / module.in_features))
        elif isinstance(module, LearnedPositions) and encoder.spec.reads == "image" and not module.spec.stores_waves:
            _normal(module.E_position, SPREAD * math.sqrt(WIDTH))


def _normal(tensor: Tensor, spread: float) -> None:
    nn.init.trunc_normal_(tensor, std=spread, a=-2 * spread, b=2 * spread)


def _refuse_other_inputs(spec: EncoderSpec, data: Dataset, path: Path) -> None:
    wanted = "image" if data.form.inputs == "image" else "tokens"
    if spec.reads != wanted:
        words = {"image": "images", "tokens": "texts", "frames": "audio", "vectors": "vectors"}
        raise GlassformerError(
            f"{path_text(path)} reads {words[spec.reads]}, but {data.name} contains {words[wanted]}: "
            "start from another checkpoint."
        )
    if wanted == "image":
        shape = cast(Any, data.train.inputs).shape
        if shape != (spec.channels, *spec.image_size):
            has, reads = ("×".join(map(str, one)) for one in (shape, (spec.channels, *spec.image_size)))
            raise GlassformerError(
                f"{path_text(path)} reads images of {reads}, but those of {data.name} are {has} (channels × height × width): "
                f"try --resize {spec.image_size[0]}."
            )


def _spec_for(folder: CheckpointFolder, given: dict[str, Any], data: Dataset, tokenizer: Tokenizer | None) -> EncoderSpec:
    """Return the checkpoint's spec with the head of the task, and with the pooling of its embeddings."""
    wanted = task_of(data).head(data)
    for name, value in wanted.items():
        if name in given and given[name] != value:
            raise GlassformerError(f"{name}={shown(given[name])} does not fit {data.name}: it needs {value}. Leave it out.")
    spec = folder.spec.replace(**wanted | task_of(data).body(folder.path) | given)
    if tokenizer is not None and tokenizer.vocab > (spec.vocab or 0):
        raise GlassformerError(
            f"the tokenizer of {path_text(folder.path)} has {tokenizer.vocab:,} tokens, but its encoder has {spec.vocab:,}: "
            "they do not belong together."
        )
    require_read(spec, given)
    return spec


def _same_head(folder: CheckpointFolder, spec: EncoderSpec, data: Dataset) -> bool:
    if folder.spec.head != spec.head:
        return False
    return folder.spec.classes == spec.classes and task_of(data).keeps_head(data, tuple(folder.labels))


def parts_of(spec: EncoderSpec) -> dict[str, str]:
    """Return the part of the encoder that each parameter belongs to: embeddings, layers, final_norm, pooler or head."""
    return {parameter.name: parameter.block.part for parameter in build(spec).parameters}


@torch.no_grad()
def _fill(encoder: Encoder, loaded: Encoder, *, keep_head: bool, given: Mapping[str, Any]) -> list[str]:
    """Copy the weights of the checkpoint and return the names of the new ones; refuse a body that does not fit."""
    has, fresh, parts = dict(loaded.ledger()), [], parts_of(loaded.spec) | parts_of(encoder.spec)
    for name, view in encoder.ledger():
        stored = has.pop(name, None)
        fits = stored is not None and stored.shape == view.shape
        if fits and (keep_head or parts[name] != "head"):
            assert stored is not None
            view.copy_(stored)
        elif parts[name] in ON_TOP:
            fresh.append(name)
        else:
            raise _other_body(name, given)
    if left := [name for name in has if parts[name] not in (*ON_TOP, "final_norm")]:
        raise _other_body(left[0], given)
    return fresh


def _other_body(name: str, given: Mapping[str, Any]) -> GlassformerError:
    fields = " ".join(f"{field}={shown(value)}" for field, value in given.items())
    return GlassformerError(
        f"{fields} does not match the encoder of the checkpoint: {name} does not fit. Leave it out, or give a spec file."
    )
