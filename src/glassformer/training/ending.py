"""The end of a run: the test data is evaluated and the curves are drawn while a thread writes best/ and last/."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, cast

from glassformer.model import Encoder
from glassformer.training import averaging
from glassformer.training.data.dataset import Dataset
from glassformer.training.distributed.processes import from_first
from glassformer.training.measuring import Gauge
from glassformer.training.runs import Log, NoLog
from glassformer.training.tasks.task import Task
from glassformer.training.worker import number_format, peak_bytes


class Trainer(averaging.Trainer, Protocol):
    """The part of the training loop's state that is read here."""

    data: Dataset
    task: Task
    encoder: Encoder
    gauge: Gauge
    log: Log | NoLog


def finish(trainer: Trainer) -> dict[str, Any]:
    """Export the last and the best weights, evaluate the best on the test data, draw the curves. Repeatable."""
    run, progress = trainer.run, trainer.progress
    trainer.saving.wait()
    export(trainer, "last")
    best = averaging.fill_best(trainer)  # waits for last/ if it changes the weights
    export(trainer, "best", same=best is not None and best["step"] == progress.step and "averaged" not in best)
    found = trainer.parallel.evaluate(trainer.feed.test(), detailed=trainer.data)
    measured: dict[str, Any] = trainer.gauge.figures()
    if trainer.worker.world == 1:  # the counters work for a single process
        batch = trainer.feed.sample().to(trainer.worker.device)
        numbers = partial(number_format, trainer.worker, trainer.settings.precision)
        measured |= trainer.gauge.one_step(trainer.encoder, batch, trainer.task, numbers)
    from_first(run.draw_curves)
    trainer.saving.wait()
    found |= from_first(lambda: trainer.task.scores(run.path / "best", trainer.data.test, trainer.watch.say))
    figures: dict[str, Any] = {"step": progress.step, "epochs": trainer.stream.epoch, "best": best, "test": found}
    figures |= {"seconds": round(progress.seconds, 3), "peak_bytes": peak_bytes(trainer.worker), "measured": measured}
    trainer.log.line(kind="end", **figures)
    trainer.log.offset()
    from_first(run.write_report)
    return figures


def export(trainer: Trainer, name: str, *, same: bool = False) -> None:
    """Write the weights, gathered if sharded, to best/ or last/; the `same` weights as those of last/ are copied from there."""
    run, labels = trainer.run, trainer.task.outputs(trainer.data)
    whole = trainer.parallel.whole()
    work: Callable[[], None] = partial(run.export, name, cast(Encoder, whole), labels)
    if same:
        work = partial(run.copy_export, "last", name)
    if trainer.worker.world == 1:
        trainer.saving.writer.do(work, background=True)
    else:
        from_first(work)
