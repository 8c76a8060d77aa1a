"""What train and resume do once their words are understood: specs, predicted figures, runs with somebody looking on."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from glassformer import algebra
from glassformer.algebra.memory import Dtype
from glassformer.program import build
from glassformer.spec import EncoderSpec, GlassformerError
from glassformer.spec.fields import accept, rule_for
from glassformer.spec.reading import SIZES, request, split_words

if TYPE_CHECKING:
    from glassformer.training.data import Dataset
    from glassformer.training.runs import Run
    from glassformer.training.settings import Settings
    from glassformer.training.tokenizers import Tokenizer

PLAIN_SECONDS = 5.0  # between two lines where nobody looks at a terminal


def all_runs(
    data: Dataset, source: dict[str, Any], words: Sequence[str], settings: Settings, epochs: list[int], path: Path
) -> list[dict[str, Any]]:
    """A run for each number of epochs; several lie side by side in one folder, with the picture that compares them."""
    from glassformer.training.fitting import tokenizer_for
    from glassformer.training.runs import Run

    tokenizer = tokenizer_for(data, settings)
    spec = spec_for(words, data, tokenizer, settings)
    folders = [path] if len(epochs) == 1 else [path / f"epochs-{count}" for count in epochs]
    if len(epochs) > 1:
        path.mkdir(exist_ok=True)
    results = []
    for folder, count in zip(folders, epochs, strict=True):
        chosen = settings.replace(epochs=count)
        predicted = prediction(spec, chosen)
        run = Run.create(folder, spec, chosen, tokenizer, data, source=source, predicted=predicted)
        results.append(one_run(run, data))
    if len(epochs) > 1:
        from glassformer.show.curves import read_curve, save_curves

        for form in ("png", "svg"):
            save_curves([read_curve(folder) for folder in folders], path / f"curves.{form}")
    return results


def spec_for(words: Sequence[str], data: Dataset, tokenizer: Tokenizer | None, settings: Settings) -> EncoderSpec:
    """The spec of `[SPEC] [field=value …]`: without a name, the small one that is chosen from the data."""
    from glassformer.training.fitting import check_fit, fitted, small_spec

    named = bool(words) and ("=" not in words[0] or Path(words[0]).exists())
    if named:
        ((name, fields),) = split_words(words, count=1)
        _refuse_sizes(fields)
        given: dict[str, Any] = dict(fields)
        return fitted(request(name, **given).spec, given, data, tokenizer, settings)
    fields = split_words(["small", *words], count=1)[0][1]
    _refuse_sizes(fields)
    changed = {name: accept(rule_for(name).name, value) for name, value in fields.items()}
    spec = small_spec(data, tokenizer, settings).replace(**changed)
    check_fit(spec, data, tokenizer)
    return spec


def _refuse_sizes(fields: dict[str, Any]) -> None:
    ways = {"batch": "--batch-size", "t": "--max-length"}
    for name in SIZES:
        if name in fields:
            raise GlassformerError(f"{name}= is no field of what is trained: write {ways[name]} {fields[name]}.")


def prediction(spec: EncoderSpec, settings: Settings) -> dict[str, Any]:
    """What the algebra says before the first step: parameters, and FLOPs and bytes of a step on the longest inputs."""
    t = settings.max_length if spec.reads == "tokens" else None
    program = build(spec, batch=settings.batch_size, t=t)
    dtype: Dtype = "bfloat16" if settings.precision == "bf16" else "float32"
    cost = algebra.cost(program, which="training", kernel="fused", dtype=dtype, optimizer="adamw")
    return {
        "parameters": algebra.count(spec).total,
        "matrix_flops": cost.matrix_flops * settings.accumulate,
        "bytes": cost.memory.total,
        "batch": settings.batch_size,
        "t": program.sizes.t,
    }


def one_run(run: Run, data: Dataset) -> dict[str, Any]:
    """Train with progress on standard error; what stops a run early ends the process with its code."""
    from glassformer.training.loop import NotFinite, train
    from glassformer.training.signals import Interrupted
    from glassformer.training.state import CannotSave

    watch = RichProgress(run) if sys.stderr.isatty() else PlainProgress(run)
    watch.say(_opening(run))
    try:
        with watch:
            figures = train(run, data, watch)
    except Interrupted as stopped:
        _leave(str(stopped), stopped.code)
    except (NotFinite, CannotSave) as failed:
        _leave(str(failed), 1)
    said = run.about["predicted"]
    watch.say(_measured(said, figures))
    return {"run": str(run.path), **figures}


def _opening(run: Run) -> str:
    said = run.about["predicted"]
    if not said:
        return f"training {run.path}"
    return (
        f"{said['parameters']:,} parameters; predicted for a step of {said['batch']} × {said['t']} tokens: "
        f"{said['matrix_flops'] / 1e9:.3g} GFLOPs, {said['bytes'] / 1e6:,.0f} MB"
    )


def _measured(said: dict[str, Any], figures: dict[str, Any]) -> str:
    predicted = f" (predicted for the model alone: {said['bytes'] / 1e6:,.0f} MB)" if said else ""
    spent = f"{figures['step']:,} steps in {figures['seconds']:.1f} s"
    return f"{spent}; peak memory of the process {figures['peak_bytes'] / 1e6:,.0f} MB{predicted}"


def _leave(line: str, code: int) -> NoReturn:
    sys.stderr.write(f"glassformer: {line}\n")
    sys.exit(code)


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
        return f"loss {figures['loss']:.4f}  accuracy {figures['accuracy']:.1%}  {speed}  {left:.0f} s left"


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
