"""Which weights are trained: all, only the head, all but frozen parts, or low-rank adapters of frozen matrices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.model import Encoder, fast
from glassformer.model.adapters import lora
from glassformer.model.adapters.lora import Lora
from glassformer.model.boundary.decoder import model_of
from glassformer.model.boundary.names import ledger_path
from glassformer.model.fast.checkpointing import checkpoint_layers
from glassformer.model.fast.float8_layers import check_float8
from glassformer.program import Program, build
from glassformer.program.trained import partly_trained, with_adapters
from glassformer.spec import EncoderSpec, Seq2SeqSpec
from glassformer.training.settings import ADAPTED, Settings
from glassformer.training.starting import first_weights, parts_of

MANY = re.compile(r"(.*\.)(\d+)-(\d+)(\..*)?")  # layers.0-5, layers.0-5.ffn


class Choice(NamedTuple):
    """Which weights are trained."""

    only: tuple[str, ...] | None = None  # the blocks that are trained; None: all
    frozen: tuple[str, ...] = ()
    lora: Lora | None = None

    @classmethod
    def of(cls, spec: EncoderSpec, about: Mapping[str, Any], settings: Settings) -> Choice:
        """Return the choice of the settings; `about` says which weights of the start are new."""
        adapters = lora_of(settings)
        if adapters is not None and isinstance(spec, Seq2SeqSpec):
            raise GlassformerError(
                f"lora={settings.lora} is not implemented for encoder-decoders: leave it out, or give freeze=…."
            )
        if adapters is not None and spec.predicts_next:
            raise GlassformerError(
                f"lora={settings.lora} is for encoders, and this model generates text: leave it out, or freeze parts."
            )
        alone = settings.train_only == "head" or adapters is not None
        return cls(new_blocks(spec, about) if alone else None, frozen_blocks(spec, settings.freeze), adapters)

    def trains(self, block: str) -> bool:
        """Return whether the own weights of a block are trained, adapters aside."""
        return (self.only is None or within(block, self.only)) and not within(block, self.frozen)

    def program(self, program: Program) -> Program:
        """Return the program with what is trained, and with adapters."""
        if self.only is None and not self.frozen:
            return program
        partly = partly_trained(program, self.trains)
        return partly if self.lora is None else with_adapters(partly, self.lora.rank, self.lora.symbols)

    def apply(self, encoder: Encoder) -> None:
        """Freeze what is not trained, and put on adapters."""
        for path, module in encoder.named_modules():
            for parameter in module.parameters(recurse=False):
                parameter.requires_grad_(self.trains(ledger_path(path).rstrip(".")))
        if self.lora is not None:
            lora.apply(encoder, self.lora)


def within(block: str, places: tuple[str, ...]) -> bool:
    """Return whether a block is one of these places, or inside one."""
    return any(block == place or block.startswith(f"{place}.") for place in places)


def new_blocks(spec: EncoderSpec, about: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the head, and the pooler if the checkpoint had none."""
    parts = parts_of(spec)
    if not any(parts.get(name) == "pooler" for name in about.get("fresh", ())):
        return ("head",)
    return ("head", "pooler", "final_norm") if spec.norm_after_last == "pooled" else ("head", "pooler")


def frozen_blocks(spec: EncoderSpec, freeze: str | None) -> tuple[str, ...]:
    """Read `embeddings,layers.0-5`; each name must be a block with weights."""
    if freeze is None:
        return ()
    blocks = list(dict.fromkeys(block.name for one in build(spec).parameters for block in one.block.path))
    places = [place for word in freeze.split(",") for place in _in_full(word.strip(), len(blocks))]
    for place in places:
        if place not in blocks:
            tops = [name for name in blocks if "." not in name or re.fullmatch(r"layers\.\d+", name)]
            listed = ", ".join(tops if len(tops) < 9 else [*tops[:4], "…", *tops[-3:]])
            raise GlassformerError(
                f"freeze={shown(freeze)} is not allowed: '{shown(place)}' is not a part of this encoder with weights: "
                f"{listed}.{nearest(place, blocks)}"
            )
    if all(within(one.block.name, tuple(places)) for one in build(spec).parameters):
        raise GlassformerError(f"freeze={shown(freeze)} leaves nothing to train: leave a part out.")
    return tuple(places)


def _in_full(word: str, most: int) -> list[str]:
    """Return layers.0, layers.1, … for `layers.0-5`."""
    found = MANY.fullmatch(word)
    if found is None:
        return [word]
    first, last = int(found[2][:9]), int(found[3][:9])
    if not first <= last < first + most:
        return [word]
    return [f"{found[1]}{number}{found[4] or ''}" for number in range(first, last + 1)]


def lora_of(settings: Settings) -> Lora | None:
    """Return the adapters of the settings; None without --lora."""
    if settings.lora is None:
        return None
    alpha = 2.0 * settings.lora if settings.lora_alpha is None else settings.lora_alpha
    words = settings.lora_on.split(",")
    return Lora(settings.lora, alpha, tuple(dict.fromkeys(symbol for word in words for symbol in ADAPTED[word.strip()])))


def check_choice(settings: Mapping[str, Any], *, checkpoint: bool) -> None:
    """Refuse settings that exclude each other, and a frozen body that was never trained."""
    given = {name: settings.get(name) for name in ("lora", "freeze")}
    only = settings.get("train_only", "all") == "head"
    for name, value in given.items():
        if value is not None and only:
            raise GlassformerError(f"{name}={shown(value)} and train_only=head both select what is trained: give one.")
    if given["lora"] is not None and given["freeze"] is not None:
        raise GlassformerError(
            f"lora={given['lora']} freezes everything but adapters and head: leave freeze={shown(given['freeze'])} out."
        )
    if given["lora"] is not None and settings.get("precision") == "fp8":
        raise GlassformerError(f"precision=fp8 rounds products that lora={given['lora']} does not train. Try bf16.")
    for name, value in (("train_only", "head" if only else None), ("lora", given["lora"])):
        if value is not None and not checkpoint:
            raise GlassformerError(f"{name}={value} needs a checkpoint: give its folder after the data.")


def begun(folder: Path, spec: EncoderSpec, device: torch.device, about: Mapping[str, Any], settings: Settings) -> Encoder:
    """Return the encoder of a run before its first step: its first weights, in fast parts, and what is trained of it."""
    encoder = first_weights(folder, spec, device)
    if settings.precision == "fp8":
        check_float8(spec, device)
    fast.apply(encoder, float8=settings.precision == "fp8")
    choose_trained(encoder, about.get("start", {}), settings)
    return checkpoint_layers(encoder) if settings.checkpointing == "yes" else encoder


def choose_trained(encoder: Encoder, about: Mapping[str, Any], settings: Settings) -> None:
    """Freeze what is not trained, and put on adapters; call it after `fast.apply`."""
    Choice.of(encoder.spec, about, settings).apply(encoder)


def to_training(encoder: Encoder) -> None:
    """Switch to training mode; a part without trained weights stays in evaluation mode, without dropout."""
    encoder.train()
    for module in (*encoder.children(), *encoder.blocks()):
        learned = list(module.parameters())
        if learned and not any(parameter.requires_grad for parameter in learned):
            module.eval()


def parameter_counts(spec: EncoderSpec, about: Mapping[str, Any], settings: Settings) -> dict[str, int]:
    """Count all parameters, the trained ones, and the task-specific ones (the head, and a pooler if it is new)."""
    encoder: Encoder = model_of(spec, device="meta", fresh=False)
    choose_trained(encoder, about, settings)
    new = new_blocks(spec, about)
    every = list(encoder.parameters())
    own = sum(_own(module) for path, module in encoder.named_modules() if within(ledger_path(path).rstrip("."), new))
    trained = sum(one.numel() for one in every if one.requires_grad)
    return {"parameters": sum(one.numel() for one in every), "trained": trained, "task_specific": own}


def _own(module: nn.Module) -> int:
    return sum(one.numel() for one in module.parameters(recurse=False))
