"""Runs from start to end: plan the encoder, create or open the run folder, train, and return the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text
from glassformer.model.boundary.start import free_bytes
from glassformer.model.checkpoints.folders import vacant
from glassformer.model.fast.float8_layers import check_float8
from glassformer.show.curves import read_curve, save_comparison
from glassformer.spec import EncoderSpec
from glassformer.training.choosing import Choice
from glassformer.training.data import Dataset
from glassformer.training.distributed.processes import first, from_first
from glassformer.training.fitting import (
    ENOUGH_CHARACTERS,
    Model,
    budget_for,
    names_checkpoint,
    rate_for,
    spec_for,
    start_for,
    suggested,
    tokenizer_for,
)
from glassformer.training.loggers import Callback, Logger, loggers_for
from glassformer.training.loop import check_data
from glassformer.training.loop import train as train_to_its_end
from glassformer.training.memory import SHARE
from glassformer.training.prediction import prediction
from glassformer.training.progress import measured, opening, progress_of
from glassformer.training.result import Trained, TrainedRuns
from glassformer.training.runs import Run, made_by_first
from glassformer.training.settings import Settings
from glassformer.training.signals import Interrupted
from glassformer.training.starting import Start
from glassformer.training.tasks import task_of
from glassformer.training.tokenizers import Tokenizer
from glassformer.training.worker import current_worker, number_type, restore_process_settings


@dataclass(frozen=True)
class Reporting:
    """The progress display and loggers of a run."""

    progress: bool = True  # lines, or a bar, on standard error
    log_to: str | Sequence[str] = ()
    loggers: Sequence[Logger | Callback] = ()

    def __post_init__(self) -> None:
        self.made()  # report a missing package before anything else

    def say(self, line: str) -> None:
        """Print a line that does not belong to a single run."""
        if self.progress:
            sys.stderr.write(f"{line}\n")

    def notes(self, notes: Sequence[str]) -> None:
        """Print what was found while reading the data."""
        for note in notes:
            self.say(f"note: {note}")

    def made(self) -> list[Logger]:
        """Return the loggers of a run."""
        return loggers_for(self.log_to, self.loggers)


def train_one(run: Run, data: Dataset, reporting: Reporting) -> Trained:
    """Train a run to its end, from its current state."""
    watch = progress_of(run, shown=reporting.progress)
    watch.say(opening(run))
    with restore_process_settings(), watch:
        figures = train_to_its_end(run, data, watch, reporting.made())
    watch.say(measured(figures))
    return Trained(run, figures)


class Plan(NamedTuple):
    """What to train, and how."""

    spec: EncoderSpec
    settings: Settings
    tokenizer: Tokenizer | None
    start: Start | None
    predicted: dict[str, Any]

    def with_epochs(self, epochs: int) -> Plan:
        """Return the same plan with another number of epochs."""
        return self._replace(settings=self.settings.replace(epochs=epochs))


def plan(data: Dataset, model: Model, fields: Mapping[str, Any], given: Mapping[str, Any]) -> Plan:
    """Plan a run: encoder, tokenizer and predicted cost; settings that are not `given` are chosen for the data."""
    check_batches(data, given)
    only = "adapters" if given.get("lora") is not None else given.get("train_only", "all")
    chosen = suggested(data, checkpoint=names_checkpoint(model), only=only)
    chosen |= budget_for(data, current_worker().device.type) if {"batch_size", "batch_tokens"}.isdisjoint(given) else {}
    settings = Settings(**{**chosen, **given})
    task_of(data).measured_by(settings.best_by)  # refuses a figure that the task lacks
    start = start_for(model, fields, data, settings)
    tokenizer = trained_tokenizer(data, settings) if start is None else start.tokenizer
    spec = spec_for(model, fields, data, tokenizer, settings) if start is None else start.encoder.spec
    if start is None and "lr" not in given:
        settings = settings.replace(lr=rate_for(spec, settings.lr))
    choice = Choice.of(spec, {} if start is None else start.about, settings)
    if settings.precision == "fp8":
        check_float8(spec, current_worker().device)
    worker = current_worker()
    dtype: Any = str(number_type(worker, settings.precision)).removeprefix("torch.")
    texts = 1 if task_of(data).independent else len(data.train.inputs[0])
    predict = partial(prediction, dtype=dtype, choice=choice, device=worker.device.type, texts=texts)
    if "batch_tokens" in chosen:
        settings = fitting_budget(spec, settings, predict, free_bytes(worker.device))
    return Plan(spec, settings, tokenizer, start, predict(spec, settings))


def trained_tokenizer(data: Dataset, settings: Settings) -> Tokenizer | None:
    """Train a tokenizer, without Python's lock; if the run will be compiled, a thread imports the compiler meanwhile."""
    if not may_compile(data, settings):
        return tokenizer_for(data, settings)
    meanwhile = Thread(target=import_module, args=("torch._dynamo",))
    meanwhile.start()
    try:
        return tokenizer_for(data, settings)
    finally:
        meanwhile.join()  # two threads must not import parts of one circle


def may_compile(data: Dataset, settings: Settings) -> bool:
    """Return whether the run is likely to be compiled: on a GPU, with much text."""
    if settings.compile == "no" or current_worker().device.type != "cuda" or data.form.inputs == "image":
        return False
    return sum(map(len, data.train.texts())) > ENOUGH_CHARACTERS


def fitting_budget(spec: EncoderSpec, settings: Settings, predict: Callable[..., dict[str, Any]], free: int | None) -> Settings:
    """Return the settings with their budget of tokens halved until a step fits into memory, with as many tokens in a step."""
    while free is not None and predict(spec, settings)["bytes"] > SHARE * free:
        tokens = (settings.batch_tokens or 0) // 2
        if tokens < settings.max_length:
            break
        settings = settings.replace(batch_tokens=tokens, accumulate=2 * settings.accumulate)
    return settings


def check_batches(data: Dataset, given: Mapping[str, Any]) -> None:
    """Refuse a token budget together with a number of rows, or for images."""
    budget, rows = given.get("batch_tokens"), given.get("batch_size")
    if budget is None:
        return
    if rows is not None:
        raise GlassformerError(
            f"batch_tokens={shown(budget)} and batch_size={shown(rows)} both set the size of a batch: give one."
        )
    if data.form.inputs == "image":
        raise GlassformerError(
            f"batch_tokens={shown(budget)} does not apply to images: all have the same length. Give batch_size."
        )


def train_new(planned: Plan, data: Dataset, source: Mapping[str, Any], path: Path, reporting: Reporting) -> Trained:
    """Train a new run in a new folder; `source` holds the arguments of `load_data`, which resume needs."""
    spec, settings, tokenizer, start, predicted = planned
    create = partial(Run.create, path, spec, settings, tokenizer, data, source=dict(source), predicted=predicted, start=start)
    return train_one(made_by_first(create), data, reporting)


def train_several(
    planned: Plan, epochs: Sequence[int], data: Dataset, source: Mapping[str, Any], path: Path, reporting: Reporting
) -> TrainedRuns:
    """Train one run per number of epochs in one folder, with a picture and a table that compare them."""
    folders = [path / f"epochs-{count}" for count in epochs]
    from_first(lambda: _make_room(path, folders))
    runs: list[Trained] = []
    for folder, count in zip(folders, epochs, strict=True):
        try:
            runs.append(train_new(planned.with_epochs(count), data, source, folder, reporting))
        except Interrupted:
            if rest := [str(other) for other in epochs[len(runs) + 1 :]]:
                reporting.say(f"not started: --epochs {', '.join(rest)}; 'glassformer curves {path}' compares the runs so far.")
            raise
    if first():
        save_comparison(folders, path)
    return TrainedRuns(path.absolute(), tuple(runs))


def train_on(run: Run, data: Dataset, changed: Mapping[str, Any], reporting: Reporting) -> Trained:
    """Resume a run, with some settings changed from the next step on."""
    check_data(run, data)  # before anything in the folder changes
    if changed:
        run = made_by_first(lambda: _with_settings(run, changed))
    return train_one(run, data, reporting)


def _with_settings(run: Run, changed: Mapping[str, Any]) -> Run:
    fewer = changed.get("epochs")
    if fewer is not None and fewer < (done := _epochs_done(run)):
        raise GlassformerError(
            f"epochs={fewer} is not allowed: {shown(str(run.path))} has completed {done} already. Give {done} or more."
        )
    with run.locked():
        return run.with_settings(**changed)


def _epochs_done(run: Run) -> int:
    """Return the number of completed epochs in the log of a run."""
    try:
        return len(read_curve(run.path).epochs)
    except GlassformerError:
        return 0


def make_above(path: Path) -> None:
    """Create the parent folders of a run."""
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise GlassformerError(f"--out {shown(str(path))}: its parent folder cannot be created: {why}. Choose another.") from None


def _make_room(path: Path, folders: list[Path]) -> None:
    """Create the folder for several runs; an existing run is reported before any training starts."""
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise GlassformerError(f"{path_text(path)} cannot be created: {error.strerror}. Choose another --out.") from None
    for folder in folders:
        vacant(folder)
