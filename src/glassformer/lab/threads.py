"""A small thread pool for long computations: the server stays responsive, and requests beyond the queue are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio
from anyio import to_thread

from glassformer.lab.guard import RefusedError

AT_ONCE = 2
MOST_WAITING = 1_024  # as many as the guard lets wait

Given = ParamSpec("Given")
Made = TypeVar("Made")


class Workers:
    """At most `AT_ONCE` calls run, at most `MOST_WAITING` wait, the next is refused with 429."""

    def __init__(self) -> None:
        self.limiter: anyio.CapacityLimiter | None = None
        self.waiting = 0

    async def do(self, function: Callable[Given, Made], *args: Given.args, **kwargs: Given.kwargs) -> Made:
        """`function(*args, **kwargs)` in a thread."""
        if self.waiting >= AT_ONCE + MOST_WAITING:
            raise RefusedError(429, f"{MOST_WAITING:,} calculations are already waiting. Try again in a moment.")
        self.limiter = self.limiter or anyio.CapacityLimiter(AT_ONCE)  # belongs to the running event loop
        self.waiting += 1
        try:
            return await to_thread.run_sync(partial(function, *args, **kwargs), limiter=self.limiter)
        finally:
            self.waiting -= 1
