"""The training loop: start or resume, epochs, steps, validation, checkpoints, final evaluation.

glassformer train digits --epochs 5
glassformer train topic d_model=256 layers=4 --epochs 10,30,50 --out runs/topic
glassformer resume runs/digits-1
torchrun --nproc-per-node 2 -m glassformer train topic
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, Protocol

import torch

from glassformer.errors import GlassformerError
from glassformer.training import state
from glassformer.training.choosing import begun, to_training
from glassformer.training.data.dataset import Dataset
from glassformer.training.data.examples import Batch
from glassformer.training.deferred import DeferredStepper
from glassformer.training.distributed.parallel_encoder import ParallelEncoder
from glassformer.training.distributed.processes import from_first, gathered, noticing
from glassformer.training.ending import finish
from glassformer.training.feed import Feed
from glassformer.training.loggers import Logger
from glassformer.training.measuring import Gauge
from glassformer.training.memory import enough_memory
from glassformer.training.not_finite import NotFinite, refuse_state, refuse_validation
from glassformer.training.optimizer import learning_rate, make_optimizer
from glassformer.training.pace import compile_if_worth, use_threads
from glassformer.training.runs import Log, NoLog, Run, differences, identity
from glassformer.training.saving import Progress, Saving
from glassformer.training.signals import Flag, Interrupted, stopping
from glassformer.training.spikes import SpikeDetector
from glassformer.training.stepping import Done, PlainStepper, Step, Stepper
from glassformer.training.tasks import task_of
from glassformer.training.tasks.evaluating import better, training_judge
from glassformer.training.tasks.task import Tally
from glassformer.training.worker import (
    Worker,
    current_worker,
    number_format,
    number_type,
    report_nondeterministic_kernels,
    set_determinism,
)

__all__ = ["Interrupted", "NotFinite", "Trainer", "Watcher", "train"]


class Watcher(Protocol):
    """Receives progress reports, such as the progress display of the command line."""

    def say(self, line: str) -> None: ...

    def start(self, step: int, total: int) -> None: ...

    def step(self, figures: dict[str, Any]) -> None: ...

    def epoch(self, figures: dict[str, Any]) -> None: ...


def train(run: Run, data: Dataset, watch: Watcher, loggers: Sequence[Logger] = ()) -> dict[str, Any]:
    """Train a run to its end, from its current state: a new folder, or one that was stopped or killed at any moment.

    Returns the final metrics. A signal saves the state and raises `Interrupted`. `loggers` receive the lines of the log.
    """
    worker = current_worker()
    check_data(run, data)
    check_share(run, worker)
    with noticing(lambda: resume_hint(run)), ExitStack() as stack:
        from_first(lambda: stack.enter_context(run.locked()))
        stop = stack.enter_context(stopping(alone=worker.world == 1))
        trainer = Trainer(run, data, watch, worker, stop)
        stack.callback(trainer.saving.wait)
        from_first(run.sweep)
        trainer.resume()
        size = trainer.progress.log_bytes
        trainer.log = stack.enter_context(run.log(size, loggers, trainer.encoder)) if worker.writes else NoLog()
        trainer.start()
        with report_nondeterministic_kernels(), enough_memory(run, worker.device, watch.say):
            while not trainer.finished:
                trainer.epoch()
            return finish(trainer)


def check_data(run: Run, data: Dataset) -> None:
    """Refuse data that differs from the data the run was created with."""
    before = {name: value for name, value in run.about["data"].items() if name not in ("source", "name")}
    now = {name: value for name, value in identity(data).items() if name != "name"}
    if other := differences(before, now):
        raise GlassformerError(f"cannot resume, the data has changed: {'; '.join(other)}. Restore it, or train a new run.")


def check_share(run: Run, worker: Worker) -> None:
    """Refuse more processes than a batch has rows."""
    rows = run.settings.batch_size
    if run.settings.batch_tokens is None and worker.world > rows:
        raise GlassformerError(
            f"batch_size={rows} is too small for {worker.world} processes: each needs a row. Start fewer processes."
        )


def resume_hint(run: Run) -> str:
    """Describe the last good checkpoint and how to resume."""
    good = next(iter(state.saved_steps(run.checkpoints)), None)
    kept = "No checkpoint yet" if good is None else f"Last good checkpoint: step {good}"
    return f"{kept}. To resume, with any number of processes: {run.resume_command}"


class Trainer:
    """The state of a run while it is trained."""

    log: Log | NoLog

    def __init__(self, run: Run, data: Dataset, watch: Watcher, worker: Worker, stop: Flag) -> None:
        self.run, self.data, self.watch, self.worker, self.stop = run, data, watch, worker, stop
        self.stop_signal: int | None = None  # the signal that all processes agreed on
        self.settings = settings = run.settings
        self.task = task_of(data).configured(settings)
        self.metric = self.task.measured_by(settings.best_by)
        self.predicted: dict[str, Any] = run.about.get("predicted", {})
        set_determinism(worker, settings.seed, settings.equal_bits)
        use_threads(run.about)
        self.encoder = begun(run.path, run.spec, worker.device, run.about, settings)
        judge = training_judge(self.task, data, settings)
        self.parallel = ParallelEncoder(self.encoder, worker, settings.parallel, self.task, judge)
        self.optimizer = make_optimizer(self.encoder, settings)
        self.feed = Feed(run, data, worker, self.encoder)
        for note in self.feed.notes:
            watch.say(note)
        self.stream = self.feed.stream
        alone = worker.world == 1 and worker.device.type == "cuda" and self.task.independent
        self.saving = Saving(run, worker, self.encoder, self.optimizer, self.stream, background=alone)
        self.total = self.stream.total_steps(settings.epochs, settings.accumulate)
        self.progress, self.started = Progress(), 0  # steps that were started and are not reported yet
        self.spikes = SpikeDetector(settings.clip)
        flops = self.total * self.predicted.get("matrix_flops", 0)
        self.compiled = compile_if_worth(self.encoder, settings, worker.device, flops)
        self.stepper: Stepper = PlainStepper(self)
        if alone:
            self.stepper = DeferredStepper(self, graphs=settings.checkpointing == "no", compiled=self.compiled)
        self.clock = time.perf_counter()

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, patience has run out, or a logger asked for the end."""
        patience = self.settings.patience
        if self.stream.epoch >= self.settings.epochs or (patience is not None and self.progress.stale >= patience):
            return True
        return from_first(lambda: self.log.stopped)

    def start(self) -> None:
        """Write the first log line: predicted and actual sizes."""
        dtype = number_type(self.worker, self.settings.precision)
        self.gauge = Gauge(self.predicted, self.worker.device, dtype)
        self.watch.start(self.progress.step, self.total)
        self.saving.prepare()
        if self.progress.log_bytes == 0:
            parameters = sum(parameter.numel() for parameter in self.encoder.parameters())
            measured = {"parameters": parameters, "device": str(self.worker.device), "threads": torch.get_num_threads()}
            measured |= {"processes": self.worker.world, "compiled": self.compiled, "dtype": str(dtype).removeprefix("torch.")}
            self.log.line(kind="start", steps=self.total, predicted=self.predicted, measured=measured)

    def epoch(self) -> None:
        """Finish the current epoch, validate and save a checkpoint."""
        epoch = self.stream.epoch
        to_training(self.encoder)
        source = self.feed.batches()
        while batches := list(islice(source, self.settings.accumulate)):
            self.step(epoch, batches)
            last = self.stream.epoch != epoch or self.stream.index == self.stream.steps(epoch)
            if not last:  # the last step is followed by validation and a checkpoint
                self.save_if_due()
        self.drain()
        self.validate(epoch)
        self.agree_on_signal()
        self.save()
        self.stop_if_signalled()

    def step(self, epoch: int, batches: list[Batch]) -> None:
        """Start a step, and report those that are finished."""
        number = self.progress.step + self.started
        self.started += 1
        for done in self.stepper.take(Step(number, epoch, batches, learning_rate(self.settings, number, self.total))):
            self.report(done)

    def report(self, done: Done) -> None:
        """Log a finished step."""
        step, settings = done.step, self.settings
        number = step.number + 1
        self.progress.step, self.started = number, self.started - 1
        self.progress.tally.add(done.tally.loss, done.tally.right, done.tally.targets)
        figures = done.tally.figures(self.task.counts)
        per_second = round((done.tokens or step.targets) / done.seconds, 1)
        line = {"step": number, "epoch": step.epoch + 1, **figures, "hex": figures["loss"].hex(), "lr": step.rate}
        line |= {
            "gradient": done.length,
            "tokens": done.tokens,
            "per_second": per_second,
            **self.gauge.step(step.batches, done.seconds),
        }
        if number % settings.log_every == 0 or number == self.total:
            self.log.line(kind="step", **line)
        self.watch.step(line)
        if warning := self.spikes.check(number, figures["loss"], done.length):
            lower = f"{self.run.resume_command} --lr {settings.lr / 10:.3g}"
            self.watch.say(f"{warning} lr = {step.rate:.3g}. If it persists, stop and run {lower}")

    def drain(self) -> None:
        """Wait for all steps that were started."""
        for done in self.stepper.drain():
            self.report(done)

    def validate(self, epoch: int) -> None:
        """Evaluate on the validation data and keep track of the best epoch."""
        progress = self.progress
        with number_format(self.worker, self.settings.precision):
            found = self.parallel.evaluate(self.feed.validation())
        refuse_validation(self, found["loss"])
        if better(self.metric, found, progress.best):
            progress.best, progress.stale = {**found, "step": progress.step, "epoch": epoch + 1}, 0
        else:
            progress.stale += 1
        line = {"epoch": epoch + 1, "step": progress.step, "train": progress.tally.figures(self.task.counts), "validation": found}
        line |= {"hex": found["loss"].hex(), "seconds": round(self.seconds(), 3)}
        self.log.line(kind="epoch", **line)
        self.watch.epoch(line)
        progress.tally = Tally()

    def save_if_due(self) -> None:
        """Save a checkpoint within an epoch: every `save_every` steps, or after a signal."""
        every, number = self.settings.save_every, self.progress.step + self.started
        self.agree_on_signal()
        if self.stop_signal is not None or (every is not None and number % every == 0):
            self.drain()
            self.save()
        self.stop_if_signalled()

    def agree_on_signal(self) -> None:
        """Share signals between the processes, so that all act on one at the same step."""
        self.stop_signal = int(max(signal for (signal,) in gathered(self.stop.signal or 0))) or None

    def stop_if_signalled(self) -> None:
        """Stop after a signal; everything has been saved."""
        if self.stop_signal is not None and not self.finished:
            self.saving.wait()
            step = f"step {self.progress.step} of {self.total}"
            raise Interrupted(self.stop_signal, f"stopped at {step}; everything is saved. To resume: {self.run.resume_command}")

    def save(self) -> None:
        """Save everything that the next step depends on."""
        refuse_state(self)
        self.progress.seconds, self.clock = self.seconds(), time.perf_counter()
        self.progress.log_bytes = self.log.offset()
        self.saving.save(self.progress)

    def resume(self) -> None:
        """Restore the last saved state."""
        self.progress = self.saving.resume(self.watch.say, self.total)

    def seconds(self) -> float:
        """Training time so far in seconds, including earlier sessions."""
        return self.progress.seconds + time.perf_counter() - self.clock
