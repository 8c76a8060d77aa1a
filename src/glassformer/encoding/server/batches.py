"""Texts of many requests in common batches: each batch takes one text of every waiting request in turn, up to a token budget."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.encoding.server.memory import EVERY, hand_back

Compute = Callable[[list[Any]], NDArray[Any]]  # ids of some texts -> their vectors


class BusyError(Exception):
    """More tokens are waiting than the server accepts."""


@dataclass
class Work:
    """The texts of one request, and which of them were taken and computed."""

    ids: Sequence[Any]
    vectors: list[NDArray[Any] | None]
    future: Future[NDArray[Any]] = field(default_factory=Future)
    taken: int = 0
    done: int = 0


class Batches:
    """A thread that computes what is waiting. A request of a thousand texts does not delay one of a single text."""

    def __init__(self, compute: Compute, tokens_at_once: int, most_waiting: int) -> None:
        self.compute, self.tokens_at_once, self.most_waiting = compute, tokens_at_once, most_waiting
        self.waiting: deque[Work] = deque()
        self.tokens = 0  # that are waiting
        self.computed = 0  # batches
        self.changed = threading.Condition()
        self.closed = False
        self.thread = threading.Thread(target=self._serve, name="batches", daemon=True)
        self.thread.start()

    def add(self, ids: Sequence[Any]) -> Future[NDArray[Any]]:
        """Return a future for the vectors [text, width]."""
        work = Work(ids, [None] * len(ids))
        size = sum(len(one) for one in ids)
        with self.changed:
            if self.closed or self.tokens + size > self.most_waiting:
                raise BusyError
            self.tokens += size
            self.waiting.append(work)
            self.changed.notify()
        return work.future

    def close(self) -> None:
        """Compute what is waiting, and end."""
        with self.changed:
            self.closed = True
            self.changed.notify()
        self.thread.join()

    def _serve(self) -> None:
        since = 0  # tokens since memory was handed back
        while batch := self._next():
            try:
                vectors = self.compute([work.ids[place] for work, place in batch])
            except Exception as error:  # handed to the requests of this batch
                for work in {id(work): work for work, _ in batch}.values():
                    if not work.future.done():
                        work.future.set_exception(error)
                continue
            self.computed += 1
            since += sum(len(work.ids[place]) for work, place in batch)
            if since >= EVERY:
                hand_back()
                since = 0
            for (work, place), vector in zip(batch, vectors, strict=True):
                work.vectors[place] = vector
                work.done += 1
                if work.done == len(work.ids) and not work.future.done():
                    work.future.set_result(np.stack([one for one in work.vectors if one is not None]))

    def _next(self) -> list[tuple[Work, int]]:
        """Wait for work and return the next batch; it is empty when everything is done and the server closes."""
        batch, tokens = [], 0
        with self.changed:
            while not self.waiting and not self.closed:
                self.changed.wait()
            while self.waiting and tokens < self.tokens_at_once:
                work = self.waiting.popleft()
                size = len(work.ids[work.taken])
                if not work.future.done():  # one with an error needs no more
                    batch.append((work, work.taken))
                    tokens += size
                work.taken += 1
                self.tokens -= size
                if work.taken < len(work.ids):
                    self.waiting.append(work)
            if not batch and self.waiting:
                return self._next()
        return batch
