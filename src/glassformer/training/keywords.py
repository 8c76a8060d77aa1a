"""The keywords of `gf.train` and `gf.resume` as types, for editors and type checkers; a test holds them equal to the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from glassformer.files.texts import Context
from glassformer.training.data.row_options import Goal
from glassformer.training.settings import (
    Augment,
    Case,
    Checkpointing,
    ClassWeights,
    Compile,
    Decay,
    EqualBits,
    Parallel,
    Precision,
    TrainOnly,
)

if TYPE_CHECKING:
    from glassformer.training.loggers import Callback, Logger, LogTo


class GivenSettings(TypedDict, total=False):
    """Every setting but `epochs`, which may also be a list."""

    batch_size: int
    batch_tokens: int | None
    accumulate: int
    lr: float
    warmup: float
    decay: Decay
    weight_decay: float
    clip: float | None
    layer_decay: float
    label_smoothing: float
    class_weights: ClassWeights
    train_only: TrainOnly
    freeze: str | None
    lora: int | None
    lora_alpha: float | None
    lora_on: str
    precision: Precision
    compile: Compile
    checkpointing: Checkpointing
    threads: int | None
    parallel: Parallel
    patience: int | None
    best_by: str
    average: int
    seed: int
    equal_bits: EqualBits
    vocab: int
    case: Case
    max_length: int
    augment: Augment
    hidden: float
    mlm_probability: float
    temperature: float
    gradient_cache: int | None
    context: Context
    keep: int
    save_every: int | None
    log_every: int


class TrainKeywords(GivenSettings, total=False):
    """The settings, and how `train` reads its data and reports."""

    fields: Mapping[str, Any] | None
    out: str | Path | None
    text: str
    label: str | None
    task: Goal
    target: str | None
    resize: int | None
    split: tuple[float, ...]
    skip_bad: bool
    log_to: LogTo | Sequence[LogTo]
    loggers: Sequence[Logger | Callback]
    progress: bool


class FreeSettings(TypedDict, total=False):
    """The settings that may be changed on resume."""

    epochs: int
    lr: float
    clip: float | None
    patience: int | None
    parallel: Parallel
    keep: int
    save_every: int | None
    log_every: int
