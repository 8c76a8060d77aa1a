"""The weights of best/: those of the best epoch, or the mean of those of the last epochs if its validation loss is lower."""

from __future__ import annotations

from typing import Any, Protocol

from glassformer.training import state
from glassformer.training.data.batches import BatchStream
from glassformer.training.distributed.parallel_encoder import ParallelEncoder
from glassformer.training.feed import Feed
from glassformer.training.runs import Run
from glassformer.training.saving import Progress, Saving
from glassformer.training.settings import Settings
from glassformer.training.worker import Worker, number_format


class Says(Protocol):
    """Receives lines."""

    def say(self, line: str) -> None: ...


class Trainer(Protocol):
    """The part of the training loop's state that is read here."""

    run: Run
    settings: Settings
    worker: Worker
    parallel: ParallelEncoder
    feed: Feed
    stream: BatchStream
    saving: Saving
    progress: Progress

    @property
    def watch(self) -> Says: ...


def fill_best(trainer: Trainer) -> dict[str, Any] | None:
    """Fill the model with the weights that best/ will hold; return what is known of them."""
    best, step = trainer.progress.best, trainer.progress.step
    if best is None:
        return None
    average = averaged(trainer)
    if average is not None and average["loss"] < best["loss"]:
        return average
    if average is not None or best["step"] != step:
        trainer.saving.load_best(best["step"])
    return best


def averaged(trainer: Trainer) -> dict[str, Any] | None:
    """Fill the model with the mean of the weights after the last epochs, and validate it; None without `average`."""
    progress, saving = trainer.progress, trainer.saving
    steps = [step for step in state.saved_steps(trainer.run.epoch_weights) if step <= progress.step]
    steps = steps[: trainer.settings.average]
    if trainer.settings.average < 2 or len(steps) < 2:
        return None
    saving.load_mean(steps)
    with number_format(trainer.worker, trainer.settings.precision):
        found = trainer.parallel.evaluate(trainer.feed.validation())
    best = progress.best or found
    verdict = "lower" if found["loss"] < best["loss"] else "not lower"
    trainer.watch.say(
        f"mean of the weights after the last {len(steps)} epochs: validation loss {found['loss']:.4f}, {verdict} than "
        f"{best['loss']:.4f} after the best epoch."
    )
    return {**found, "step": progress.step, "epoch": trainer.stream.epoch, "averaged": len(steps)}
