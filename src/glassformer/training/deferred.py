"""Steps on one GPU that the host does not wait for: recorded as CUDA graphs, with figures that are read a few steps later."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from glassformer.model.fast.compiling import as_written
from glassformer.training.data.examples import Batch
from glassformer.training.not_finite import Trainer, refuse_not_finite
from glassformer.training.optimizer import rates_on_device, set_rate
from glassformer.training.stepping import Done, PlainStepper, Step
from glassformer.training.tasks.task import Tally
from glassformer.training.worker import number_format

BEHIND = 3  # steps that are started before the figures of the first are read
BEFORE_RECORDING = 1  # calls of each size that are not recorded, in which libraries set themselves up
BEFORE_COMPILED = 2  # and compilers
MOST_GRAPHS = 24  # of sizes of batches; further sizes are computed without a graph
AS_WRITTEN = 8  # first steps of a run, computed before anything is compiled: training starts at once

Key: TypeAlias = tuple[object, ...]


class DeferredStepper:
    """Computes steps without waiting for the device.

    A step whose loss or gradient is not finite is not applied, and neither are those after it: the device itself decides, by
    `found_inf` of the fused AdamW. When the host reads it, it repeats that step slowly to name the cause.
    """

    def __init__(self, trainer: Trainer, *, graphs: bool, compiled: bool) -> None:
        self.trainer, self.compiled = trainer, compiled
        device = trainer.worker.device
        self.sums = torch.zeros(2, dtype=torch.float64, device=device)  # loss and right predictions of the step so far
        self.found = torch.zeros(4, dtype=torch.float64, device=device)  # of the last step: both, the gradient norm, the fault
        self.fault = torch.zeros((), device=device)  # 1 from the first value on that is not finite
        self.targets = torch.ones((), device=device)
        self.pending: deque[Pending] = deque()
        self.last: Any = None  # the event at the end of the step before
        self.clip = trainer.settings.clip
        rates_on_device(trainer.optimizer, device)
        trainer.optimizer.found_inf = self.fault
        self.recorder = Recorder(BEFORE_COMPILED if compiled else BEFORE_RECORDING) if graphs else None

    def take(self, step: Step) -> Iterator[Done]:
        """Start a step, and yield those that are finished and further behind."""
        with self.stance(step), self.on_stream():
            if not self.pending:
                self.last = event(self.trainer.worker.device)
            self.targets.fill_(max(step.targets, 1))
            set_rate(self.trainer.optimizer, step.rate)
            for batch in step.batches:
                self.run(self.add_gradients, batch, step)
            self.run(self.update, None, step)
            self.pending.append(Pending(step, on_host(self.found), event(self.trainer.worker.device)))
        while len(self.pending) > BEHIND:
            yield self.read()

    def drain(self) -> Iterator[Done]:
        """Wait for all steps that were started, and yield them."""
        while self.pending:
            yield self.read()

    def stance(self, step: Step) -> AbstractContextManager[object]:
        """Run the first steps of a run as written, and batches of unusual sizes, which are not worth compiling for.

        Only the number of the step and its batch decide, so that a resumed run is identical bit for bit.
        """
        return as_written(self.trainer.encoder) if self.is_written(step) else nullcontext()

    def is_written(self, step: Step) -> bool:
        """Whether a step runs as written although the encoder is compiled."""
        budget = self.trainer.settings.batch_tokens is not None
        unusual = budget and any(batch.packed is not None and not batch.packed.usual for batch in step.batches)
        return step.number < AS_WRITTEN or unusual

    def on_stream(self) -> AbstractContextManager[object]:
        """Return the context of the stream on which graphs are recorded and replayed."""
        return nullcontext() if self.recorder is None else self.recorder.on_stream()

    def run(self, work: Callable[[Batch | None], None], batch: Batch | None, step: Step) -> None:
        """Do a part of a step, as a recorded graph where there is one."""
        if self.recorder is None or (self.compiled and self.is_written(step)):
            work(None if batch is None else batch.to(self.trainer.worker.device, non_blocking=True))
        else:
            self.recorder(work, batch, self.trainer.worker.device)

    def add_gradients(self, batch: Batch | None) -> None:
        """Add the gradients of a batch, and its loss and right predictions to the sums."""
        assert batch is not None
        trainer = self.trainer
        with number_format(trainer.worker, trainer.settings.precision):
            judged = trainer.parallel.loss(batch)
        (judged.loss / self.targets).backward()
        self.sums += torch.stack((judged.loss.detach().double(), judged.right.double()))

    @torch.no_grad()
    def update(self, _: Batch | None) -> None:
        """Clip the gradients and update the weights, unless something is not finite; write the figures of the step."""
        gradients = [one.grad for one in self.trainer.encoder.parameters() if one.grad is not None]
        length = torch.nn.utils.get_total_norm(gradients)
        bad = ~(self.sums[0].isfinite() & length.isfinite())
        self.fault.copy_(torch.maximum(self.fault, bad.to(self.fault.dtype)))
        if self.clip is not None:
            torch._foreach_mul_(gradients, (self.clip / (length + 1e-6)).clamp(max=1.0))
        self.trainer.optimizer.step()
        self.found.copy_(torch.cat((self.sums, torch.stack((length.double(), self.fault.double())))))
        torch._foreach_zero_([self.sums, *gradients])

    def read(self) -> Done:
        """Wait for the oldest step and return it; stop if it was not finite."""
        step, found, end = self.pending.popleft()
        if end is not None:
            end.synchronize()
        loss, right, length, fault = found.tolist()
        tally = Tally(loss, int(right), step.targets)
        if fault:
            self.refuse(step, tally, length)
        seconds = time.perf_counter() - step.began if end is None else self.last.elapsed_time(end) / 1000
        self.last = end
        return Done(step, tally, length, sum(batch.tokens for batch in step.batches), seconds)

    def refuse(self, step: Step, tally: Tally, length: float) -> None:
        """Repeat a step whose update was not applied, slowly, and stop with the name of what is not finite."""
        self.pending.clear()
        with as_written(self.trainer.encoder):
            mine, _ = PlainStepper(self.trainer).gradients(step)
        refuse_not_finite(self.trainer, mine, tally, length, step.batches)


class Pending(NamedTuple):
    """A step that was started; `found` is written when the device reaches `end`."""

    step: Step
    found: Tensor
    end: Any


class Recorded(NamedTuple):
    """A recorded part of a step: copy a batch into `batch`, replay."""

    graph: Any
    batch: Batch | None


class Recorder:
    """Records work as CUDA graphs, one for each size of batch, and replays them: hundreds of kernels are started at once."""

    def __init__(self, before: int) -> None:
        self.before = before  # calls of each size that are not recorded
        self.stream = torch.cuda.Stream()
        self.pool = torch.cuda.graph_pool_handle()
        self.calls: dict[Key, int] = {}
        self.recorded: dict[Key, Recorded] = {}

    def on_stream(self) -> AbstractContextManager[object]:
        """Return the context of the stream on which everything runs, after what was started before."""
        self.stream.wait_stream(torch.cuda.default_stream())
        return torch.cuda.stream(self.stream)

    def __call__(self, work: Callable[[Batch | None], None], batch: Batch | None, device: torch.device) -> None:
        """Do `work` on a batch in host memory."""
        key = (work.__name__, *(tuple(one.shape) for one in ([] if batch is None else batch.tensors())))
        if key not in self.recorded:
            self.calls[key] = self.calls.get(key, 0) + 1
            if self.calls[key] <= self.before or len(self.recorded) >= MOST_GRAPHS:
                work(None if batch is None else batch.to(device, non_blocking=True))
                return
            own = None if batch is None else batch.to(device)
            graph = torch.cuda.CUDAGraph()
            # Other threads allocate pinned memory meanwhile, which the strictest mode would take for an error of this one.
            with torch.cuda.graph(graph, pool=self.pool, stream=self.stream, capture_error_mode="thread_local"):
                work(own)
            self.recorded[key] = Recorded(graph, own)
        graph, own = self.recorded[key]
        if batch is not None and own is not None:
            for place, value in zip(own.tensors(), batch.tensors(), strict=True):
                place.copy_(value, non_blocking=True)
        graph.replay()


def on_host(found: Tensor) -> Tensor:
    """Copy a few numbers to the host, without waiting for them."""
    if not found.is_cuda:
        return found.clone()
    return torch.empty_like(found, device="cpu", pin_memory=True).copy_(found, non_blocking=True)


def event(device: torch.device) -> Any:
    """Return an event at this point of the current stream; None on a CPU, which is never behind."""
    if device.type != "cuda":
        return None
    made = torch.cuda.Event(enable_timing=True)
    made.record()
    return made
