"""Progress of a job: a bar on a terminal, a line each minute elsewhere; rates, the share of the peak, and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from glassformer.encoding.jobs.computing import Computed
from glassformer.encoding.jobs.groups import Position

EVERY = 60.0  # seconds between two lines


@dataclass
class Pace:
    """Counts of this run; rows that were finished before do not count."""

    rows: int = 0
    tokens: int = 0
    kept: int = 0  # shards that were finished before
    made: int = 0  # shards that were written
    began: float = field(default_factory=time.monotonic)
    flops: float = 0.0
    peak: float = 0.0  # FLOP/s of all devices together
    devices: int = 1  # that compute: GPUs, or worker processes on the cores
    first: int | None = None  # bytes of the inputs that were skipped before the first row was computed

    def add(self, rows: int, computed: Computed) -> None:
        """Count a shard; the best peak that was measured counts for each device."""
        self.rows, self.tokens, self.made = self.rows + rows, self.tokens + computed.tokens, self.made + 1
        self.flops, self.peak = self.flops + computed.flops, max(self.peak, computed.peak * self.devices)

    def line(self, position: Position) -> str:
        """Return rows, rates, the share of the inputs that was read, and the time left."""
        seconds = max(time.monotonic() - self.began, 1e-9)
        share = position.done / position.total if position.total else 0.0
        left = ""
        if self.made and position.done > (self.first or 0):
            rest = seconds * (position.total - position.done) / (position.done - (self.first or 0))
            left = f", {_duration(rest)} left"
        rates = f"{self.rows / seconds:,.0f} rows/s, {self.tokens / seconds:,.0f} tokens/s"
        peak = f", {self.flops / seconds / self.peak:.0%} of the peak of {self.peak / 1e9:,.0f} GFLOP/s" if self.peak else ""
        return f"{self.rows:,} rows, {rates}{peak}, {share:.0%} of the input{left}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 90 else f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


@contextmanager
def progress(pace: Pace, position: Position, *, shown: bool) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each shard; it writes to standard error."""
    if not shown:
        yield lambda: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        with Progress(BarColumn(), TextColumn("{task.fields[line]}"), console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=None, line="reading")
            yield lambda: bar.update(task, total=position.total, completed=position.done, line=pace.line(position))
    else:
        last = [time.monotonic()]

        def tell() -> None:
            if time.monotonic() - last[0] >= EVERY:
                last[0] = time.monotonic()
                sys.stderr.write(f"glassformer: {pace.line(position)}.\n")

        yield tell
