"""Progress display of a run: the prediction, a bar or lines during training, and the measurements."""

from __future__ import annotations

import sys
import time
from typing import Any

from glassformer.show.metric import metric_of
from glassformer.training.runs import Run

PLAIN_SECONDS = 5.0  # between lines when standard error is not a terminal


def progress_of(run: Run, *, shown: bool) -> PlainProgress:
    """Return a progress bar in a terminal, lines elsewhere, or no display."""
    if not shown:
        return NoProgress(run)
    return RichProgress(run) if sys.stderr.isatty() else PlainProgress(run)


def opening(run: Run) -> str:
    """Return the first line: parameters and the predicted cost of a step."""
    predicted, counts = run.about["predicted"], run.about.get("counts", {})
    if not predicted:
        return f"training {run.path}"
    whole, trained = counts["parameters"], counts["trained"]
    start = f" from {run.about['start']['from']}" if run.about.get("start") else ""
    learned = "all trained" if trained == whole else f"{trained:,} trained"
    unit = "images" if run.tokenizer is None else f"× {predicted['t']} tokens"
    return (
        f"{whole:,} parameters{start}, {learned}, {counts['task_specific']:,} task-specific; predicted for a step of "
        f"{predicted['batch']} {unit}: {predicted['matrix_flops'] / 1e9:.3g} GFLOPs, {predicted['bytes'] / 1e6:,.0f} MB"
    )


def measured(figures: dict[str, Any]) -> str:
    """Return the last line: the measured cost of a step and its prediction."""
    found = figures["measured"]
    words = [f"{figures['step']:,} step{'' if figures['step'] == 1 else 's'} in {figures['seconds']:.1f} s"]
    if step := found.get("step"):
        predicted = step["predicted_flops"] is not None
        for name, unit, size in (("flops", "GFLOPs", 1e9), ("bytes", "MB", 1e6)):
            said = f" (predicted {step[f'predicted_{name}'] / size:,.4g})" if predicted else ""
            words.append(f"{step[name] / size:,.4g} {unit}{said}")
        words[1] = f"a step of {step['rows']} × {step['t']}: {words[1]}"
    if "share" in found:
        words.append(f"{found['share']:.0%} of the peak of {found['peak'] / 1e9:,.0f} GFLOP/s")
    words.append(f"peak process memory {figures['peak_bytes'] / 1e6:,.0f} MB")
    return "; ".join(words)


class PlainProgress:
    """Prints a line every few seconds at most, and one per epoch."""

    def __init__(self, run: Run) -> None:
        self.epochs, self.unit = run.settings.epochs, "images/s" if run.tokenizer is None else "tokens/s"
        self.metric = metric_of(run.path)
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
            f"{self.metric.name} {self.metric.text(self.metric.of(found))}  {figures['seconds']:.1f} s"
        )

    def words(self, figures: dict[str, Any]) -> str:
        """Format loss, accuracy where it is counted, speed and remaining time."""
        done = figures["step"] - self.first
        left = (time.monotonic() - self.began) / max(done, 1) * (self.total - figures["step"])
        speed = f"{figures['per_second']:,.0f} {self.unit}"
        share = f"  {figures['share']:.0%} of peak" if "share" in figures else ""
        counted = f"  accuracy {figures['accuracy']:.1%}" if "accuracy" in figures else ""
        return f"loss {figures['loss']:.4f}{counted}  {speed}{share}  {_time(left)} left"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


class RichProgress(PlainProgress):
    """Shows a progress bar in a terminal; printed lines stay above it."""

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


class NoProgress(PlainProgress):
    """Prints nothing."""

    def say(self, line: str) -> None:
        """Print nothing."""
