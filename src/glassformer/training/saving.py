"""Saves and restores the state of a run: weights, optimizer, random state, position in the data, and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.errors import GlassformerError, shown
from glassformer.model import Encoder
from glassformer.training import state
from glassformer.training.adamw import MOMENTS, AdamW
from glassformer.training.data.batches import BatchStream
from glassformer.training.distributed.processes import from_first
from glassformer.training.optimizer import load_optimizer_state, optimizer_state
from glassformer.training.pieces import Damaged
from glassformer.training.runs import Run, differences
from glassformer.training.settings import FREE, Settings
from glassformer.training.starting import FOLDER as START
from glassformer.training.tasks.task import Tally
from glassformer.training.worker import Worker, random_state, seed_per_process, set_random_state
from glassformer.training.writer import Writer


@dataclass
class Progress:
    """The progress of a run: the part of its state that is plain numbers."""

    step: int = 0
    tally: Tally = field(default_factory=Tally)  # of the current epoch
    best: dict[str, Any] | None = None  # validation figures with their step and epoch
    stale: int = 0  # epochs since the best
    seconds: float = 0.0
    log_bytes: int = 0

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Progress:
        return cls(**document | {"tally": Tally(**document["tally"])})


@dataclass(frozen=True)
class Saving:
    """The parts of a running trainer that have a state, with saving and loading."""

    run: Run
    worker: Worker
    encoder: Encoder
    optimizer: AdamW
    stream: BatchStream
    background: bool = False  # copy the state, and write it while the next steps are computed
    writer: Writer = field(default_factory=Writer)

    def prepare(self) -> None:
        """Allocate the memory for copies of the state during the first steps."""
        if self.background:
            tensors = {f"weights/{name}": one for name, one in self.changing()}
            trained = [(name, one) for name, one in self.encoder.named_parameters() if one.requires_grad]
            tensors |= {f"optimizer/{name}/{moment}": one for name, one in trained for moment in MOMENTS}
            self.writer.do(partial(self.writer.make_room, tensors), background=True)

    def save(self, progress: Progress) -> None:
        """Save everything that the next step depends on."""
        weights: dict[str, Tensor] = {f"weights/{name}": value for name, value in self.changing()}
        tensors = weights | {f"optimizer/{name}": value for name, value in optimizer_state(self.encoder, self.optimizer).items()}
        tensors |= {f"{self.random}{name}": value for name, value in random_state(self.worker).items()}
        notes = {"progress": asdict(progress), "stream": self.stream.state_dict(), "run": self.run.identity()}
        best = progress.best["step"] if progress.best else None
        self.wait()
        if self.background:
            tensors = self.writer.copied(tensors)
        kept = partial(self.keep, state.Saved(progress.step, tensors, notes), best, ends_epoch=self.stream.index == 0)
        self.writer.do(kept, background=self.background)

    def keep(self, saved: state.Saved, best: int | None, *, ends_epoch: bool = False) -> None:
        """Write a state, and the weights alone if it is the best, or if they are averaged; remove older ones."""
        weights = {name: one for name, one in saved.tensors.items() if name.startswith("weights/")}
        if ends_epoch and self.run.settings.average > 1:  # before the state: a kill between the two repeats the epoch
            self.run.checkpoints.mkdir(exist_ok=True)
            self.write(self.run.epoch_weights, state.Saved(saved.step, weights, {}))
        self.write(self.run.checkpoints, saved)
        if best == saved.step:
            with suppress(state.CannotSave):  # then the state is kept in their place
                self.write(self.run.best_weights, state.Saved(best, weights, {}))
        from_first(lambda: self.prune(best, saved.step))

    def wait(self) -> None:
        """Wait until the last state is written, and raise the error if it could not be."""
        self.writer.wait()

    def prune(self, best: int | None, newest: int) -> None:
        """Remove older states, and the weights of all steps but the best."""
        checkpoints, weights = self.run.checkpoints, self.run.best_weights
        apart = best in state.saved_steps(weights)  # else the best is kept as a state, as in runs of version 0.1.0
        state.prune(checkpoints, self.run.settings.keep, None if apart else best, newest)
        state.prune(self.run.epoch_weights, self.run.settings.average, None, newest)
        if apart:
            state.prune(weights, 0, best)

    def resume(self, say: Callable[[str], None], total: int) -> Progress:
        """Restore the newest intact state; without one, start at the first step."""
        steps = from_first(lambda: state.saved_steps(self.run.checkpoints))
        saved = state.load_newest(self.run.checkpoints, say, self.load, steps)
        if saved is None:
            seed_per_process(self.worker, self.run.settings.seed, 0)
            return Progress()
        check_same_run(saved.notes["run"], self.run.identity())
        self.fill_weights(saved)
        self.fill_optimizer(saved)
        self.fill_random(saved)
        self.stream.load_state_dict(saved.notes["stream"])
        say(f"resuming after step {saved.step} of {total}.")
        return Progress.from_dict(saved.notes["progress"])

    def load_best(self, step: int) -> None:
        """Load the weights of the best step into the encoder."""
        self.wait()
        steps = from_first(lambda: state.saved_steps(self.run.best_weights))
        try:
            self.fill_weights(self.load(self.run.best_weights if step in steps else self.run.checkpoints, step))
        except Damaged as why:
            raise GlassformerError(
                f"the best checkpoint, step {step}, is damaged ({why}). The last weights are in last/."
            ) from None

    def load_mean(self, steps: list[int]) -> None:
        """Load the mean of the weights after some epochs into the encoder, summed in float64."""
        self.wait()
        sums = {name: torch.zeros_like(one, dtype=torch.float64) for name, one in self.changing()}
        for step in steps:
            try:
                self.fill_weights(self.load(self.run.epoch_weights, step))
            except Damaged as why:
                raise GlassformerError(f"the weights after step {step}, which are averaged, are damaged ({why}).") from None
            for name, one in self.changing():
                sums[name] += one.detach()
        for name, one in self.changing():
            one.detach().copy_(sums[name] / len(steps))

    @property
    def write(self) -> Callable[[Path, state.Saved], object]:
        """How a state is written: to one file, or, with several processes, one file each."""
        if self.worker.world == 1:
            return state.save_state
        from glassformer.training.distributed.shards import save_shards

        return save_shards

    @property
    def load(self) -> Callable[..., state.State]:
        """How a state is opened: read whole, or, with several processes, read in parts on demand."""
        if self.worker.world == 1:
            return state.load_state
        from glassformer.training.distributed.shards import load_shards

        return load_shards

    @property
    def random(self) -> str:
        """Name prefix of this process's random state."""
        return "random/" if self.worker.world == 1 else f"random/{self.worker.rank}/"

    def changing(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The weights that a state holds: those that are trained, and frozen ones that are not in start/."""
        whole = not (self.run.path / START).is_dir()
        return ((name, one) for name, one in self.encoder.named_parameters() if whole or one.requires_grad)

    def fill_weights(self, saved: state.State) -> None:
        """Load the weights of a state into the encoder."""
        saved.fill({f"weights/{name}": parameter.detach() for name, parameter in self.changing()})

    def fill_optimizer(self, saved: state.State) -> None:
        """Load the optimizer state; moments are placed and sharded like their parameter."""
        parameters = {name: parameter.detach() for name, parameter in self.encoder.named_parameters()}
        made = {}
        for name, shape in saved.shapes().items():
            if name.startswith("optimizer/"):
                like = parameters.get(name.removeprefix("optimizer/").rpartition("/")[0])
                made[name] = torch.empty_like(like) if like is not None and like.shape == shape else torch.empty(shape)
        saved.fill(made)
        load_optimizer_state(self.encoder, self.optimizer, state.under("optimizer/", made))

    def fill_random(self, saved: state.State) -> None:
        """Restore the random state; a process that did not exist when the state was saved is seeded anew."""
        shapes = saved.shapes()
        ways = [self.random, "random/", "random/0/"] if self.worker.writes else [self.random]
        found = next((way for way in ways if f"{way}cpu" in shapes), None)
        made = {name: torch.empty(shapes[name], dtype=torch.uint8) for name in shapes if found and name.startswith(found)}
        saved.fill(made)  # a collective call: all processes take part, even without targets
        if found is None:
            seed_per_process(self.worker, self.run.settings.seed, saved.step)
        else:
            set_random_state(self.worker, state.under(found, made))


def check_same_run(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse a checkpoint of another spec, tokenizer or setting, and name what differs; settings that did not exist when it was
    saved had their default."""
    given = [Settings().to_dict() | one["settings"] for one in (before, now)]
    settings = [{name: value for name, value in one.items() if name not in FREE} for one in given]
    other = [*differences(before["spec"], now["spec"]), *differences(*settings)]
    if before["tokenizer"] != now["tokenizer"]:
        other.append("the tokenizer is different")
    if other:
        raise GlassformerError(f"cannot resume, the run was changed: {shown('; '.join(other), limit=400)}.")
