"""One optimizer step: forward and backward passes, gradient clipping, a check of every value, the update."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from glassformer.training.data.examples import PART_TOKENS, Batch
from glassformer.training.distributed.processes import added_up
from glassformer.training.not_finite import Trainer, refuse_not_finite, refuse_update
from glassformer.training.optimizer import set_rate
from glassformer.training.tasks.task import Tally
from glassformer.training.worker import number_format


@dataclass(frozen=True)
class Step:
    """A step to compute: its number from 0, its epoch, its batches and its learning rate."""

    number: int
    epoch: int
    batches: list[Batch]
    rate: float
    began: float = field(default_factory=time.perf_counter)

    @property
    def targets(self) -> int:
        """Labels of the step, over all processes."""
        return sum(batch.targets_in_step for batch in self.batches)


class Done(NamedTuple):
    """A finished step, with its sums over all processes."""

    step: Step
    tally: Tally
    length: float  # of the gradient, before it was clipped
    tokens: int
    seconds: float


class Stepper(Protocol):
    """Computes steps in order; a step may be finished some calls after it was started."""

    def take(self, step: Step) -> Iterator[Done]:
        """Start a step, and yield those that are finished since."""

    def drain(self) -> Iterator[Done]:
        """Wait for all steps that were started, and yield them."""


class PlainStepper:
    """Computes one step after the other and waits for each: on CPUs, and with several processes."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer

    def take(self, step: Step) -> Iterator[Done]:
        """Compute a step."""
        trainer = self.trainer
        mine, length = self.gradients(step)
        loss, right, tokens = added_up(mine.loss, mine.right, sum(batch.tokens for batch in step.batches))
        tally = Tally(loss, int(right), step.targets)
        set_rate(trainer.optimizer, step.rate)
        refuse_not_finite(trainer, mine, tally, length, step.batches)
        trainer.optimizer.step()
        refuse_update(trainer, step.batches)
        yield Done(step, tally, length, int(tokens), time.perf_counter() - step.began)

    def drain(self) -> Iterator[Done]:
        """Every step was finished when it was taken."""
        return iter(())

    def gradients(self, step: Step) -> tuple[Tally, float]:
        """Compute the gradients of a step; return the sums of this process and the gradient norm."""
        trainer = self.trainer
        parts = [part for batch in step.batches for part in self.parts(batch)]
        trainer.optimizer.zero_grad()
        mine = Tally()
        for place, part in enumerate(parts, 1):
            numbers = number_format(trainer.worker, trainer.settings.precision)
            with numbers, trainer.parallel.gradient_sync(last=place == len(parts)):
                judged = trainer.parallel.loss(part.to(trainer.worker.device))
            trainer.parallel.backward(judged, step.targets)
            mine.add(float(judged.loss.detach()), int(judged.right), part.targets)
        return mine, trainer.parallel.clip(trainer.settings.clip)

    def parts(self, batch: Batch) -> Iterator[Batch]:
        """Cut a batch of so many tokens into parts of similar length; sharded weights are gathered as often on each process."""
        whole = self.trainer.settings.batch_tokens is None or self.trainer.parallel.sharded
        return iter((batch,)) if whole else batch.parts(PART_TOKENS)
