"""What train and resume do once their words are understood: specs, predicted figures, runs with somebody looking on."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.cli.processes import made_by_first
from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.fields import accept, rule_for
from glassformer.spec.paths import path_text
from glassformer.spec.reading import SIZES, draft, is_there, only_fields, preset_meant, split_words
from glassformer.spec.unread import require_read

if TYPE_CHECKING:
    from glassformer.training.data import Dataset
    from glassformer.training.runs import Run
    from glassformer.training.settings import Settings
    from glassformer.training.starting import Start
    from glassformer.training.tokenizers import Tokenizer

PLAIN_SECONDS = 5.0  # between two lines where nobody looks at a terminal


def all_runs(
    data: Dataset,
    source: dict[str, Any],
    words: Sequence[str],
    settings: Settings,
    epochs: list[int],
    path: Path,
    *,
    tensorboard: bool = False,
) -> list[dict[str, Any]]:
    """A run for each number of epochs; several lie side by side in one folder, with picture and table that compare them."""
    from glassformer.cli.training_prediction import prediction
    from glassformer.model.float8 import check_float8
    from glassformer.training.distributed.processes import first, from_first
    from glassformer.training.fitting import tokenizer_for
    from glassformer.training.runs import Run
    from glassformer.training.signals import Interrupted
    from glassformer.training.starting import parameter_counts
    from glassformer.training.where import number_type, this_place

    start = start_for(words, data, settings)
    tokenizer = tokenizer_for(data, settings) if start is None else start.tokenizer
    spec = spec_for(words, data, tokenizer, settings) if start is None else start.encoder.spec
    trained = parameter_counts(spec, {} if start is None else start.about, settings)["trained"]
    if settings.precision == "fp8":
        check_float8(spec, this_place().device)
    dtype: Any = str(number_type(this_place(), settings.precision)).removeprefix("torch.")
    folders = [path] if len(epochs) == 1 else [path / f"epochs-{count}" for count in epochs]
    if len(epochs) > 1:
        from_first(lambda: _make_room(path, folders))
    results = []
    for folder, count in zip(folders, epochs, strict=True):
        chosen = settings.replace(epochs=count)
        predicted = prediction(spec, chosen, dtype=dtype, trained=trained)
        create = partial(Run.create, folder, spec, chosen, tokenizer, data, source=source, predicted=predicted, start=start)
        run = made_by_first(create)
        try:
            results.append(one_run(run, data, tensorboard=tensorboard))
        except Interrupted:
            if rest := [str(other) for other in epochs if other not in epochs[: len(results) + 1]]:
                sys.stderr.write(f"not begun: --epochs {', '.join(rest)}; 'glassformer curves {path}' compares what is there.\n")
            raise
    if len(epochs) > 1 and first():
        from glassformer.show.curves import save_comparison

        save_comparison(folders, path)
    return results


def _make_room(path: Path, folders: list[Path]) -> None:
    """A folder for several runs; one that is there already is found before hours are spent on the runs before it."""
    from glassformer.model.folders import vacant

    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise GlassformerError(f"{path_text(path)} cannot be made: {error.strerror}. Choose another --out.") from None
    for folder in folders:
        vacant(folder)


def start_for(words: Sequence[str], data: Dataset, settings: Settings) -> Start | None:
    """The checkpoint that the words name, made ready for the data; None where they name none."""
    if not names_checkpoint(words):
        return None
    from glassformer.training.starting import start_from

    ((name, fields),) = split_words(words, count=1)
    _refuse_sizes(fields)
    return start_from(name, {field: accept(rule_for(field).name, value) for field, value in fields.items()}, data, settings)


def names_checkpoint(words: Sequence[str]) -> bool:
    """Whether the first word is a folder with weights."""
    from glassformer.training.starting import is_checkpoint

    return bool(words) and is_checkpoint(words[0])


def spec_for(words: Sequence[str], data: Dataset, tokenizer: Tokenizer | None, settings: Settings) -> EncoderSpec:
    """The spec of `[SPEC] [field=value …]`: without a name, the small one that is chosen from the data."""
    from glassformer.training.fitting import check_fit, fitted, small_spec

    named = bool(words) and ("=" not in words[0] or is_there(words[0]))
    if named:
        ((name, fields),) = split_words(words, count=1)
        _refuse_sizes(fields)
        _refuse_published(name)
        asked, changed = draft(name, **only_fields(fields))
        spec = fitted(asked.spec, changed, data, tokenizer, settings)
        require_read(spec, changed)
        return spec
    fields = split_words(["small", *words], count=1)[0][1]
    _refuse_sizes(fields)
    changed = {name: accept(rule_for(name).name, value) for name, value in fields.items()}
    spec = small_spec(data, tokenizer, settings).replace(**changed)
    check_fit(spec, data, tokenizer)
    require_read(spec, changed)
    return spec


def _refuse_published(name: str) -> None:
    """Who names a published checkpoint means its weights, and those are not here: a preset alone would start from nothing."""
    meant = preset_meant(name)
    if meant is not None and meant != name.lower():
        raise GlassformerError(
            f"'{shown(name)}' names published weights, which are not here: give the folder that they are in. "
            f"{meant} is the same encoder, trained from nothing."
        )


def _refuse_sizes(fields: dict[str, Any]) -> None:
    ways = {"batch": "--batch-size", "t": "--max-length"}
    for name in SIZES:
        if name in fields:
            raise GlassformerError(f"{name}= is no field of what is trained: write {ways[name]} {fields[name]}.")


def one_run(run: Run, data: Dataset, *, tensorboard: bool = False) -> dict[str, Any]:
    """Train with progress on standard error."""
    from glassformer.training.loggers import TensorBoard
    from glassformer.training.loop import train

    loggers = [TensorBoard(run.path / "tensorboard")] if tensorboard else []
    watch = RichProgress(run) if sys.stderr.isatty() else PlainProgress(run)
    watch.say(_opening(run))
    with watch:
        figures = train(run, data, watch, loggers)
    watch.say(_measured(figures))
    return {"run": str(run.path), "parameters": run.about.get("counts", {}), **figures}


def _opening(run: Run) -> str:
    said, counts = run.about["predicted"], run.about.get("counts", {})
    if not said:
        return f"training {run.path}"
    whole, trained = counts["parameters"], counts["trained"]
    start = f" from {run.about['start']['from']}" if run.about.get("start") else ""
    learned = "all trained" if trained == whole else f"{trained:,} trained"
    unit = "images" if run.tokenizer is None else f"× {said['t']} tokens"
    return (
        f"{whole:,} parameters{start}, {learned}, {counts['task_specific']:,} of them for this task; predicted for a step of "
        f"{said['batch']} {unit}: {said['matrix_flops'] / 1e9:.3g} GFLOPs, {said['bytes'] / 1e6:,.0f} MB"
    )


def _measured(figures: dict[str, Any]) -> str:
    found = figures["measured"]
    words = [f"{figures['step']:,} step{'' if figures['step'] == 1 else 's'} in {figures['seconds']:.1f} s"]
    if step := found.get("step"):
        predicted = step["predicted_flops"] is not None
        for name, unit, size in (("flops", "GFLOPs", 1e9), ("bytes", "MB", 1e6)):
            said = f" (predicted {step[f'predicted_{name}'] / size:,.4g})" if predicted else ""
            words.append(f"{step[name] / size:,.4g} {unit}{said}")
        words[1] = f"a step of {step['rows']} × {step['t']}: {words[1]}"
    if "share" in found:
        words.append(f"{found['share']:.0%} of the peak of {found['peak'] / 1e9:,.0f} GFLOPs a second")
    words.append(f"peak memory of the process {figures['peak_bytes'] / 1e6:,.0f} MB")
    return "; ".join(words)


class PlainProgress:
    """Lines, at most one every few seconds, and one an epoch."""

    def __init__(self, run: Run) -> None:
        self.epochs, self.unit = run.settings.epochs, "images/s" if run.tokenizer is None else "tokens/s"
        self.total, self.began, self.first, self.told = 0, time.monotonic(), 0, time.monotonic()

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def say(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")

    def start(self, step: int, total: int) -> None:
        self.first, self.total, self.began = step, total, time.monotonic()

    def step(self, figures: dict[str, Any]) -> None:
        if time.monotonic() - self.told >= PLAIN_SECONDS:
            self.told = time.monotonic()
            self.say(f"step {figures['step']}/{self.total}  {self.words(figures)}")

    def epoch(self, figures: dict[str, Any]) -> None:
        train, found = figures["train"], figures["validation"]
        self.say(
            f"epoch {figures['epoch']}/{self.epochs}  training loss {train['loss']:.4f}  validation loss {found['loss']:.4f}  "
            f"accuracy {found['accuracy']:.1%}  {figures['seconds']:.1f} s"
        )

    def words(self, figures: dict[str, Any]) -> str:
        """Loss, accuracy, speed and the time that is left."""
        done = figures["step"] - self.first
        left = (time.monotonic() - self.began) / max(done, 1) * (self.total - figures["step"])
        speed = f"{figures['per_second']:,.0f} {self.unit}"
        share = f"  {figures['share']:.0%} of peak" if "share" in figures else ""
        return f"loss {figures['loss']:.4f}  accuracy {figures['accuracy']:.1%}  {speed}{share}  {_time(left)} left"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


class RichProgress(PlainProgress):
    """A bar in a terminal; lines that were said stay above it."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("step"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.fields[words]}"))
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task("train", total=None, words="")

    def __enter__(self) -> RichProgress:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def say(self, line: str) -> None:
        self.bar.console.print(line, markup=False, highlight=False)

    def start(self, step: int, total: int) -> None:
        super().start(step, total)
        self.bar.update(self.task, completed=step, total=total)

    def step(self, figures: dict[str, Any]) -> None:
        self.bar.update(self.task, completed=figures["step"], words=self.words(figures))
