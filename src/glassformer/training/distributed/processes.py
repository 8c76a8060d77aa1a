"""Process groups: joining, collective helpers, printing once, and reporting lost processes.

torchrun --nproc-per-node 2 -m glassformer train digits --epochs 5
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn, TypeVar

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from glassformer.errors import GlassformerError

WAIT = timedelta(minutes=10)  # for a process that does not respond
WAIT_FOR_WORDS = timedelta(seconds=10)
GONE = re.compile(r"gloo|nccl|connection (closed|reset|refused)|broken pipe|socket|timed out", re.IGNORECASE)

Result = TypeVar("Result")


class ProcessLost(GlassformerError):  # noqa: N818 - a way for a run to end
    """One of the processes of a run ended; saved checkpoints are intact."""

    code = 1


@dataclass(frozen=True)
class Voice:
    """Makes sure that only one of several processes prints."""

    store: Store

    def say(self, speak: Callable[[], None]) -> None:
        """Print, unless another process did; wait until it is done, since torchrun ends all processes when one ends."""
        try:
            silent = self.store.add("speakers", 1) > 1
        except RuntimeError:  # the process that held the store has ended
            silent = False
        if not silent:
            speak()
        with suppress(RuntimeError):
            if silent:
                self.store.wait(["said"], WAIT_FOR_WORDS)
            else:
                self.store.set("said", "")


@contextmanager
def joined() -> Iterator[Voice]:
    """Join the processes that torchrun started into one group: gloo between CPUs, NCCL between GPUs."""
    if torch.cuda.is_available():
        torch.cuda.set_device(own_gpu())
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        shared, rank, world = next(iter(rendezvous("env://", timeout=WAIT)))
        store = PrefixStore(round_of(shared, rank, world), shared)
        dist.init_process_group(backend, store=PrefixStore("group", store), rank=rank, world_size=world, timeout=WAIT)
    except RuntimeError as error:
        if not (isinstance(error, dist.DistError) or GONE.search(str(error))):
            raise
        raise ProcessLost(
            "the processes of this run cannot reach each other: one of them ended. Start all of them again."
        ) from None
    yield Voice(PrefixStore("voice", store))
    dist.destroy_process_group()  # not after an error: it would wait for processes that may have ended


def leave(code: int) -> NoReturn:
    """Flush the output and end this process at once.

    The threads of gloo release tensors shortly after they were waited for, and need the interpreter for it. If the interpreter
    is shutting down, the process is aborted (PyTorch 2.13), and a successful run looks like a failed one.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def round_of(store: Store, rank: int, world: int) -> str:
    """Return a name for this launch of the processes, chosen by rank 0 and shared with the others.

    When a process dies, torchrun restarts all of them with the same store, which still holds the old addresses, and its restart
    count differs between machines. So each other rank publishes a random key and continues when rank 0 answers it.
    """
    mine = secrets.token_hex(8)
    if rank:
        store.set(f"here/{rank}", mine)
        store.wait([f"round/{mine}"], WAIT)
        name = store.get(f"round/{mine}").decode()
        store.set(f"{name}/{rank}", "")
        return name
    missing, end = set(range(1, world)), time.monotonic() + WAIT.total_seconds()
    while missing:
        for other in [other for other in missing if store.check([f"here/{other}"])]:
            store.set(f"round/{store.get(f'here/{other}').decode()}", mine)
            if store.check([f"{mine}/{other}"]):
                missing.remove(other)
        if time.monotonic() > end:
            raise RuntimeError(f"timed out waiting for {len(missing)} of {world} processes")
        time.sleep(0.02)
    return mine


def own_gpu() -> int:
    """Return the GPU of this process; each process has its own."""
    place, count = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if place >= count:
        raise GlassformerError(
            f"process {place + 1} on this machine has no GPU: there are only {count}. Use torchrun --nproc-per-node {count}."
        )
    return place


def first() -> bool:
    """Return whether this process is the first, or the only one."""
    return not dist.is_initialized() or dist.get_rank() == 0


def from_first(work: Callable[[], Result]) -> Result:
    """Run `work` in the first process and broadcast its result, or its GlassformerError, to all."""
    if not dist.is_initialized():
        return work()
    outcome: list[object] = [None, None]
    mistake = None
    if first():
        try:
            outcome[0] = work()
        except GlassformerError as error:
            mistake, outcome[1] = error, str(error)
    dist.broadcast_object_list(outcome, src=0)
    if outcome[1] is not None:
        raise mistake or GlassformerError(str(outcome[1]))
    return outcome[0]  # type: ignore[return-value]


def gathered(*numbers: float) -> list[tuple[float, ...]]:
    """Gather numbers from all processes, in rank order, so that sums are the same everywhere."""
    if not dist.is_initialized():
        return [numbers]
    mine = torch.tensor(numbers, dtype=torch.float64)
    everybody = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everybody, mine)
    return [tuple(one.tolist()) for one in everybody]


def added_up(*numbers: float) -> tuple[float, ...]:
    """Return the sum of each number over all processes."""
    return tuple(map(sum, zip(*gathered(*numbers), strict=True)))


def texts(mine: str) -> list[str]:
    """Gather texts from all processes, in rank order."""
    if not dist.is_initialized():
        return [mine]
    everybody: list[str] = [""] * dist.get_world_size()
    dist.all_gather_object(everybody, mine)
    return everybody


@contextmanager
def noticing(way_out: str | Callable[[], str]) -> Iterator[None]:
    """Report a broken connection in one line: another process was killed, or its machine cannot be reached."""
    try:
        yield
    except RuntimeError as error:
        if not (dist.is_initialized() and (isinstance(error, dist.DistError) or GONE.search(str(error)))):
            raise
        rest = way_out if isinstance(way_out, str) else way_out()
        raise ProcessLost(f"another process of this run ended or cannot be reached: all processes stop. {rest}") from None
