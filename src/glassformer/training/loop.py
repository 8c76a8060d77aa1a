"""The training loop, from top to bottom: start or resume, epochs, steps, validation, checkpoints, the end.

glassformer train digits --epochs 5
glassformer train topic d_model=256 layers=4 --epochs 10,30,50 --out runs/topic
glassformer resume runs/digits-1
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Protocol

import torch

from glassformer.model import Encoder
from glassformer.spec import GlassformerError, shown
from glassformer.training import state
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.dataset import Dataset
from glassformer.training.data.examples import Batch, prepare
from glassformer.training.optimizer import learning_rate, load_optimizer_state, make_optimizer, optimizer_state, set_rate
from glassformer.training.runs import Log, Run, differences, identity
from glassformer.training.settings import FREE
from glassformer.training.signals import Flag, Interrupted, stopping
from glassformer.training.tasks import Tally, better, evaluate, judge
from glassformer.training.where import be_deterministic, number_format, peak_bytes, random_state, set_random_state, this_place

SHOWN_IDS = 8


class NotFinite(GlassformerError):  # noqa: N818 - a way for a run to end
    """A loss or a gradient that is no number: nothing was updated or saved after it."""


class Watcher(Protocol):
    """Who looks on: the command line's progress, or nobody."""

    def say(self, line: str) -> None: ...

    def start(self, step: int, total: int) -> None: ...

    def step(self, figures: dict[str, Any]) -> None: ...

    def epoch(self, figures: dict[str, Any]) -> None: ...


@dataclass
class Progress:
    """How far a run has come: the part of its state that is plain numbers."""

    step: int = 0
    tally: Tally = field(default_factory=Tally)  # of the epoch that is going on
    best: dict[str, Any] | None = None  # validation figures with their step and epoch
    stale: int = 0  # epochs since the best
    seconds: float = 0.0
    log_bytes: int = 0

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Progress:
        return cls(**document | {"tally": Tally(**document["tally"])})


def train(run: Run, data: Dataset, watch: Watcher) -> dict[str, Any]:
    """Train a run to its end, from wherever it stands: a new folder, or one that was stopped or killed at any moment.

    Gives the figures of the end. A signal ends it with `Interrupted`, after its state was saved.
    """
    check_data(run, data)
    with run.locked(), stopping() as stop, ExitStack() as stack:
        trainer = Trainer(run, data, watch, stop)
        state.sweep(run.checkpoints)
        trainer.resume()
        trainer.log = stack.enter_context(run.log(trainer.progress.log_bytes))
        trainer.start()
        while not trainer.finished:
            trainer.epoch()
        return trainer.end()


def check_data(run: Run, data: Dataset) -> None:
    """Refuse data that are not those the run was made for."""
    before = {name: value for name, value in run.about["data"].items() if name not in ("source", "name")}
    now = {name: value for name, value in identity(data).items() if name != "name"}
    if other := differences(before, now):
        raise GlassformerError(f"cannot resume, the data are others: {'; '.join(other)}.")


class Trainer:
    """A run at work."""

    log: Log

    def __init__(self, run: Run, data: Dataset, watch: Watcher, stop: Flag) -> None:
        self.run, self.data, self.watch, self.stop = run, data, watch, stop
        self.settings = settings = run.settings
        self.where = where = this_place()
        be_deterministic(settings.seed)
        self.encoder = Encoder(run.spec, device=where.device)
        self.optimizer = make_optimizer(self.encoder, settings)
        longest = min(settings.max_length, run.spec.longest or settings.max_length)
        rows = prepare(data.train, run.tokenizer, max_length=longest, augment=settings.augment)
        self.stream = BatchStream(rows, batch_size=settings.batch_size, seed=settings.seed, rank=where.rank, world=where.world)
        held_out = prepare(data.validation, run.tokenizer, max_length=longest)
        self.validation = BatchStream(held_out, batch_size=4 * settings.batch_size, seed=settings.seed, order="by_length")
        self.total = settings.epochs * -(-self.stream.steps(0) // settings.accumulate)  # steps of the whole run
        self.progress = Progress()
        self.clock = time.perf_counter()

    @property
    def finished(self) -> bool:
        """All epochs are done, or nothing got better for as long as patience allows."""
        patience = self.settings.patience
        return self.stream.epoch >= self.settings.epochs or (patience is not None and self.progress.stale >= patience)

    def start(self) -> None:
        """The first line of the log: what was predicted beside what is there."""
        self.watch.start(self.progress.step, self.total)
        if self.progress.log_bytes == 0:
            parameters = sum(parameter.numel() for parameter in self.encoder.parameters())
            measured = {"parameters": parameters, "device": str(self.where.device), "threads": torch.get_num_threads()}
            self.log.line(kind="start", steps=self.total, predicted=self.run.about.get("predicted", {}), measured=measured)

    def epoch(self) -> None:
        """What is left of an epoch, a validation, a checkpoint."""
        epoch = self.stream.epoch
        self.encoder.train()
        for batches in steps(self.stream, self.settings.accumulate):
            self.step(epoch, batches)
            last = self.stream.epoch != epoch or self.stream.index == self.stream.steps(epoch)
            if not last:  # after the last step comes the validation, and its checkpoint
                self.save_if_due()
        self.validate(epoch)
        self.save()
        self.leave_if_asked()

    def step(self, epoch: int, batches: list[Batch]) -> None:
        """Gradients of all the batches together, one update."""
        began = time.perf_counter()
        settings, number = self.settings, self.progress.step
        rate = learning_rate(settings, number, self.total)
        targets = sum(batch.targets_in_step for batch in batches)
        tally = Tally()
        self.optimizer.zero_grad(set_to_none=True)
        for batch in batches:
            with number_format(self.where, settings.precision):
                judged = judge(self.encoder, batch.to(self.where.device))
            (judged.loss / max(targets, 1)).backward()
            tally.add(float(judged.loss.detach()), int(judged.right), batch.targets)
        length = torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), settings.clip or math.inf)
        self.refuse_what_is_not_finite(tally, float(length), rate, batches)
        set_rate(self.optimizer, rate)
        self.optimizer.step()
        self.progress.step += 1
        self.progress.tally.add(tally.loss, tally.right, tally.targets)
        figures = tally.figures()
        seconds = time.perf_counter() - began
        per_second = (sum(batch.tokens for batch in batches) or tally.targets) / seconds
        line = {"step": number + 1, "epoch": epoch + 1, **figures, "hex": figures["loss"].hex(), "lr": rate}
        line |= {"gradient": float(length), "per_second": round(per_second, 1)}
        if (number + 1) % settings.log_every == 0 or number + 1 == self.total:
            self.log.line(kind="step", **line)
        self.watch.step(line)

    def validate(self, epoch: int) -> None:
        """The figures of an epoch; the best so far is remembered."""
        progress = self.progress
        with number_format(self.where, self.settings.precision):
            found = evaluate(self.encoder, self.validation.batches(), self.where.device)
        if better(self.data.task, found, progress.best):
            progress.best, progress.stale = {**found, "step": progress.step, "epoch": epoch + 1}, 0
        else:
            progress.stale += 1
        line = {"epoch": epoch + 1, "step": progress.step, "train": progress.tally.figures(), "validation": found}
        line |= {"hex": found["loss"].hex(), "seconds": round(self.seconds(), 3)}
        self.log.line(kind="epoch", **line)
        self.watch.epoch(line)
        progress.tally = Tally()

    def end(self) -> dict[str, Any]:
        """Weights of the last and the best step, the test, the curves. Done again, it gives the same."""
        run, labels, best = self.run, self.data.labels, self.progress.best
        run.export("last", self.encoder, labels)
        if best is not None and best["step"] != self.progress.step:
            self.load_weights(self.saved_best(best["step"]))
        run.export("best", self.encoder, labels)
        longest = min(self.settings.max_length, run.spec.longest or self.settings.max_length)
        rows = prepare(self.data.test, run.tokenizer, max_length=longest)
        test = BatchStream(rows, batch_size=4 * self.settings.batch_size, seed=self.settings.seed, order="by_length")
        found = evaluate(self.encoder, test.batches(), self.where.device)
        figures: dict[str, Any] = {"step": self.progress.step, "epochs": self.stream.epoch, "best": best, "test": found}
        figures |= {"seconds": round(self.progress.seconds, 3), "peak_bytes": peak_bytes(self.where)}
        self.log.line(kind="end", **figures)
        self.log.offset()
        run.draw()
        return figures

    def save_if_due(self) -> None:
        """A checkpoint within an epoch: every so many steps, or because a signal came."""
        every = self.settings.save_every
        if self.stop or (every is not None and self.progress.step % every == 0):
            self.save()
        self.leave_if_asked()

    def leave_if_asked(self) -> None:
        """End after a signal, with everything saved."""
        if self.stop.signal is not None and not self.finished:
            step = f"step {self.progress.step} of {self.total}"
            raise Interrupted(self.stop.signal, f"stopped at {step}, which is saved. Go on: glassformer resume {self.run.path}")

    def save(self) -> None:
        """Everything that the next step depends on."""
        progress = self.progress
        progress.seconds, self.clock = self.seconds(), time.perf_counter()
        progress.log_bytes = self.log.offset()
        tensors: dict[str, torch.Tensor] = {f"weights/{name}": value for name, value in self.encoder.named_parameters()}
        tensors |= {f"optimizer/{name}": value for name, value in optimizer_state(self.encoder, self.optimizer).items()}
        tensors |= {f"random/{name}": value for name, value in random_state(self.where).items()}
        notes = {"progress": asdict(progress), "stream": self.stream.state_dict(), "run": self.run.identity()}
        state.save_state(self.run.checkpoints, state.Saved(progress.step, tensors, notes))
        state.prune(self.run.checkpoints, self.settings.keep, progress.best["step"] if progress.best else None)

    def resume(self) -> None:
        """Go to the newest state that is whole; without one the run starts at its first step."""
        saved = state.load_newest(self.run.checkpoints, self.watch.say)
        if saved is None:
            return
        check_same_run(saved.notes["run"], self.run.identity())
        self.load_weights(saved)
        load_optimizer_state(self.encoder, self.optimizer, state.under("optimizer/", saved.tensors))
        self.stream.load_state_dict(saved.notes["stream"])
        self.progress = Progress.from_dict(saved.notes["progress"])
        set_random_state(self.where, state.under("random/", saved.tensors))
        self.watch.say(f"resuming after step {saved.step} of {self.total}.")

    def saved_best(self, step: int) -> state.Saved:
        try:
            return state.load_state(self.run.checkpoints, step)
        except state.Damaged as why:
            raise GlassformerError(f"the best checkpoint, step {step}, is damaged ({why}). last/ is written.") from None

    @torch.no_grad()
    def load_weights(self, saved: state.Saved) -> None:
        """Weights of a state into the encoder."""
        weights = state.under("weights/", saved.tensors)
        for name, parameter in self.encoder.named_parameters():
            parameter.copy_(weights[name])

    def refuse_what_is_not_finite(self, tally: Tally, length: float, rate: float, batches: list[Batch]) -> None:
        """Stop before the update where the loss or a gradient is NaN or infinite."""
        if math.isfinite(tally.loss) and math.isfinite(length):
            return
        first = next((name for name, one in self.encoder.named_parameters() if not _finite(one.grad)), None)
        what = f"loss is {tally.loss}" if not math.isfinite(tally.loss) else f"the gradient of {first} is not finite"
        where = f" First non-finite gradient: {first}." if first is not None and not math.isfinite(tally.loss) else ""
        ids = [number for batch in batches for number in batch.ids]
        listed = ", ".join(map(str, ids[:SHOWN_IDS])) + (", …" if len(ids) > SHOWN_IDS else "")
        good = next(iter(state.saved_steps(self.run.checkpoints)), None)
        kept = "No checkpoint yet" if good is None else f"Last good checkpoint: step {good}"
        raise NotFinite(
            f"step {self.progress.step + 1}: {what}.{where} lr = {rate:.3g}. Training rows of the batch: {listed}. {kept}. "
            f"Nothing was overwritten. Go on: glassformer resume {self.run.path} --lr {self.settings.lr / 10:.3g}"
        )

    def seconds(self) -> float:
        """Time spent on this run, by all the processes that worked on it."""
        return self.progress.seconds + time.perf_counter() - self.clock


def steps(stream: BatchStream, accumulate: int) -> Iterator[list[Batch]]:
    """What is left of an epoch, as the batches of each step."""
    source = iter(stream)
    while batches := list(islice(source, accumulate)):
        yield batches


def check_same_run(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse a checkpoint of another spec, tokenizer or setting, and name what differs."""
    settings = [{k: v for k, v in one["settings"].items() if k not in FREE} for one in (before, now)]
    other = [*differences(before["spec"], now["spec"]), *differences(*settings)]
    if before["tokenizer"] != now["tokenizer"]:
        other.append("the tokenizer is another one")
    if other:
        raise GlassformerError(f"cannot resume, the run was changed: {shown('; '.join(other), limit=400)}.")


def _finite(gradient: torch.Tensor | None) -> bool:
    return gradient is None or bool(gradient.isfinite().all())
