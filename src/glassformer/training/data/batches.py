"""The stream of batches; its order is a pure function of (seed, epoch), so a position is two numbers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from glassformer.arguments import is_whole, require
from glassformer.errors import GlassformerError, shown
from glassformer.training.data.chance import shuffled
from glassformer.training.data.examples import Batch, Examples, Numbers, ignored

Order: TypeAlias = Literal["shuffled", "by_length"]
MORE_ROWS = 1.25  # than the average number in a batch of so many tokens
POOL = 50  # batches whose rows are sorted by length together: little padding, yet different batches in each epoch


Made = TypeVar("Made")


def in_advance(calls: Sequence[Callable[[], Made]], ahead: int) -> Iterator[Made]:
    """Yield the results of the calls in order; with `ahead`, a thread makes so many before they are asked for."""
    if not ahead:
        yield from (call() for call in calls)
        return
    with ThreadPoolExecutor(1) as pool:
        waiting = deque(pool.submit(call) for call in calls[:ahead])
        try:
            for call in calls[ahead:]:
                made = waiting.popleft().result()
                waiting.append(pool.submit(call))
                yield made
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()


class BatchStream:
    """Iterates over batches of rows of similar length, epoch after epoch.

        for epoch in range(stream.epoch, epochs):
            for batch in stream: ...              the rest of this epoch
            ...                                   stream.epoch is now the next one

    Each batch has `batch_size` rows, or as many rows as have `batch_tokens` tokens together. Rows of one batch are of similar
    length in the first case, which saves padding, and a random sample, sorted by length, in the second: it is packed, or computed
    in parts. With `world` processes, each takes every world-th row of the same batch, so that together they see what one process
    would see.
    """

    def __init__(
        self,
        examples: Examples,
        *,
        batch_size: int | None = None,
        batch_tokens: int | None = None,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        order: Order = "shuffled",
        multiple: int = 1,
    ) -> None:
        self.examples, self.seed, self.order, self.multiple = examples, seed, order, multiple
        self.batch_size, self.batch_tokens = batch_size, batch_tokens
        self.rank, self.world = rank, world
        self.epoch = self.index = 0  # of the next batch
        self._plan: tuple[int, list[Numbers]] | None = None
        self._check()

    def __iter__(self) -> Iterator[Batch]:
        """Yield the rest of this epoch, then move to the start of the next."""
        return self.made(self.at)

    def made(self, make: Callable[[int, int], Made], *, ahead: int = 0) -> Iterator[Made]:
        """Yield what `make(epoch, index)` returns for the rest of this epoch; `ahead` of them are made early, in a thread."""
        epoch, places = self.epoch, range(self.index, self.steps(self.epoch))
        for made in in_advance([partial(make, epoch, index) for index in places], ahead):
            self.index += 1  # before the yield: a state saved after this step points to the next batch
            yield made
        self.epoch, self.index = epoch + 1, 0

    def steps(self, epoch: int) -> int:
        """Return the number of batches in an epoch; with `batch_tokens` it varies slightly."""
        return len(self.plan(epoch))

    def total_steps(self, epochs: int, accumulate: int = 1) -> int:
        """Return the number of steps of `accumulate` batches in `epochs` epochs; the last step of an epoch may have fewer."""
        if self.batch_size is not None:
            return epochs * -(-self.steps(0) // accumulate)
        return sum(-(-len(self._planned(epoch)) // accumulate) for epoch in range(epochs))

    def batches(self, epoch: int = 0) -> Iterator[Batch]:
        """Yield all batches of an epoch without moving the stream, for evaluation."""
        return (self.at(epoch, index) for index in range(self.steps(epoch)))

    def at(self, epoch: int, index: int) -> Batch:
        """Return this rank's part of one step."""
        step = self.plan(epoch)[index]
        own = step[self.rank :: self.world]
        # A rank without rows gets one whose labels are ignored: every rank must take part in every step.
        batch = self.examples.batch(own if len(own) else step[:1], seed=self.seed, epoch=epoch, multiple=self.multiple)
        in_step = self.examples.targets(step, seed=self.seed, epoch=epoch)
        if len(own):
            return replace(batch, targets_in_step=in_step)
        return replace(batch, labels=batch.labels.fill_(ignored(batch.labels)), targets=0, targets_in_step=in_step)

    def most_rows(self) -> int:
        """Return the largest number of rows of a batch; a batch of `batch_tokens` tokens has few more than the average."""
        if self.batch_tokens is None:
            return self.batch_size or 0
        return math.ceil(MORE_ROWS * self.batch_tokens / float(self.examples.lengths.mean()))

    def plan(self, epoch: int) -> list[Numbers]:
        """Return the rows of each step of an epoch, over all ranks."""
        if self._plan is None or self._plan[0] != epoch:
            self._plan = (epoch, self._planned(epoch))
        return self._plan[1]

    def state_dict(self) -> dict[str, Any]:
        """Return the position and the parameters of the stream, JSON-serializable."""
        return {
            "epoch": self.epoch,
            "index": self.index,
            "seed": self.seed,
            "batch_size": self.batch_size,
            "batch_tokens": self.batch_tokens,
            "order": self.order,
            "examples": len(self.examples),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a position; the number of processes may differ, the data and the batches may not."""
        require(Mapping, state, "a position is the result of state_dict()")
        for name, value in self.state_dict().items():
            if name not in state:
                raise GlassformerError(f"the saved position in the data has no '{name}': it was written by another version.")
            if name not in ("epoch", "index") and state[name] != value:
                raise GlassformerError(
                    f"cannot resume: {name} was {shown(state[name])} and is {shown(value)} now. The batches would differ."
                )
        epoch, index = state["epoch"], state["index"]
        if not all(isinstance(place, int) and place >= 0 for place in (epoch, index)) or index > self.steps(epoch):
            raise GlassformerError(f"epoch {shown(epoch)}, batch {shown(index)} is not a position in this data.")
        self.epoch, self.index = epoch, index

    def _planned(self, epoch: int) -> list[Numbers]:
        lengths = self.examples.lengths
        if self.order == "by_length":
            return self._cut(np.argsort(lengths, kind="stable"))
        order = shuffled(len(lengths), self.seed, "order", epoch)
        if self.batch_tokens is not None:
            return [step[np.argsort(lengths[step], kind="stable")] for step in self._filled(order, self.batch_tokens)]
        steps, pool = [], POOL * (self.batch_size or 1)
        for start in range(0, len(order), pool):
            some = order[start : start + pool]
            steps += self._cut(some[np.argsort(lengths[some], kind="stable")])
        return [steps[place] for place in shuffled(len(steps), self.seed, "steps", epoch)]

    def _filled(self, order: Numbers, budget: int) -> Iterator[Numbers]:
        """Split rows, in this order, into batches of at most `budget` tokens."""
        ends, most, start = np.cumsum(self.examples.lengths[order]), self.most_rows(), 0
        while start < len(order):
            before = ends[start - 1] if start else 0
            stop = min(int(np.searchsorted(ends, before + budget, side="right")), start + most)
            yield order[start:stop]
            start = stop

    def _cut(self, order: Numbers) -> list[Numbers]:
        """Split rows, sorted by length, into batches; a budget includes padding."""
        if self.batch_size is not None:
            return [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]
        steps, start = [], 0
        padded = -(-self.examples.lengths[order] // self.multiple) * self.multiple
        for place, length in enumerate(padded.tolist()):  # the last row of a step is the longest
            if (place + 1 - start) * length > (self.batch_tokens or 0) and place > start:
                steps.append(order[start:place])
                start = place
        return [*steps, order[start:]]

    def _check(self) -> None:
        if not hasattr(self.examples, "lengths"):
            raise GlassformerError(f"expected examples, as returned by prepare(…), found {shown(self.examples)}.")
        if (self.batch_size is None) == (self.batch_tokens is None):
            raise GlassformerError("give either batch_size=… (rows per step) or batch_tokens=… (tokens per step).")
        for name in ("batch_size", "batch_tokens", "world", "multiple"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise GlassformerError(f"{name}={shown(value)} is not allowed: a whole number from 1.")
        if not 0 <= self.rank < self.world:
            raise GlassformerError(f"rank={self.rank} is not allowed: from 0 to {self.world - 1}, since world={self.world}.")
        if not is_whole(self.seed) or not 0 <= self.seed < 2**63:
            raise GlassformerError(f"seed={shown(self.seed)} is not allowed: a whole number from 0.")
        if not len(self.examples):
            raise GlassformerError("there are no rows to batch: the split is empty.")
        longest = -(-int(self.examples.lengths.max()) // self.multiple) * self.multiple
        if self.batch_tokens is not None and self.batch_tokens < longest:
            raise GlassformerError(
                f"batch_tokens={self.batch_tokens} is less than the longest row ({longest} tokens). "
                "Give more, or a smaller max_length."
            )
