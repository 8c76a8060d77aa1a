"""Row groups shared among worker processes, or computed in this one; a worker that dies is replaced and its group repeated."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from glassformer.encoding.devices import gpus
from glassformer.encoding.jobs.computing import Computed, Task, compute
from glassformer.encoding.jobs.engine import torch_threads
from glassformer.encoding.jobs.groups import Group
from glassformer.encoding.jobs.identity import weight_bytes
from glassformer.encoding.jobs.messages import packed, receive, send
from glassformer.encoding.jobs.worker import load_for, set_up
from glassformer.errors import GlassformerError
from glassformer.files.ahead import ahead

TRIES = 3  # workers that may die on one group
MOST_WORKERS = 8  # that `auto` starts for the cores: each holds a copy of the weights
MOST_ON_GPU, CORES_ON_GPU = 4, 4  # that `auto` starts for a GPU, and the cores that each needs, most of them to tokenize
ROOM, CONTEXT = 1 / 8, 2**30  # of a GPU's memory for the activations of a worker; the bytes that CUDA takes
SETTLED = 10.0  # seconds after which the peak of a GPU is measured, for the progress of a long job
PACKAGES = Path(__file__).parents[3]

Done = Callable[[Group, Computed], None]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_threads() -> int:
    """Return the threads of a worker: the same for any number of workers, since results depend on it in the last bits."""
    return max(1, cores() // MOST_WORKERS)


def here(checkpoint: Path, task: Task, groups: Iterator[Group], done: Done) -> None:
    """Compute all groups in this process; meanwhile one thread reads the next group, and another writes the one before."""
    model, written = None, None
    with ThreadPoolExecutor(1) as writer:
        for group in ahead(groups):
            with torch_threads(task.threads):
                model = model or load_for(checkpoint, task)
                found = compute(model, task, group.texts)
            if written is not None:
                written.result()
            written = writer.submit(done, group, found)
        if written is not None:
            written.result()


class Worker:
    """A worker process and its pipes."""

    def __init__(self, checkpoint: Path, task: Task, tokenizing: int) -> None:
        paths = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("PYTHONPATH", ""))))
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(task.threads))
        threads["RAYON_NUM_THREADS"] = str(tokenizing)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "glassformer.encoding.jobs.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **threads, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
            )
        except OSError as error:
            raise GlassformerError(f"a worker process cannot be started: {error.strerror}. Try --workers 1.") from None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.given, self.out = self.process.stdin, self.process.stdout
        with suppress(BrokenPipeError):
            send(self.given, set_up(checkpoint, task))  # type: ignore[arg-type]

    def compute(self, group: Group, *, peak: bool) -> Computed:
        """Send the texts of a group and wait; EOFError or BrokenPipeError if the process has died."""
        about, blobs = packed(group.texts)
        with suppress(BrokenPipeError):  # its answer may be an error that was sent before it ended
            send(self.given, {**about, "peak": peak}, blobs)  # type: ignore[arg-type]
        header, blobs = receive(self.out)  # type: ignore[arg-type]
        if "error" in header:
            raise GlassformerError(header["error"])
        return Computed.from_message(header, blobs)

    def end(self) -> None:
        """End the process and wait for it."""
        self.process.kill()
        for pipe in (self.given, self.out):
            with suppress(OSError):
                pipe.close()
        self.process.wait()


class Pool:
    """Worker processes. One thread for each takes the next group, waits for its result and hands it on to be written.

    The first worker starts at once and loads the model while the job is checked; the others start with their first group.
    """

    def __init__(self, checkpoint: Path, tasks: list[Task]) -> None:
        self.checkpoint, self.tasks = checkpoint, tasks
        # A GPU waits for tokens, so there the cores are shared out; elsewhere workers keep them busy themselves.
        self.tokenizing = tasks[0].threads if tasks[0].device == "cpu" else max(tasks[0].threads, cores() // len(tasks))
        self.lock, self.stopped, self.began = threading.Lock(), threading.Event(), time.monotonic()
        self.workers: list[Worker | None] = [None] * len(tasks)
        self.error: BaseException | None = None

    def __enter__(self) -> Pool:
        self._worker(0)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        for worker in self.workers:
            if worker is not None:
                worker.end()

    def run(self, groups: Iterator[Group], done: Done) -> None:
        """Compute all groups; the first error stops the others."""
        coming = ahead(groups)
        threads = [threading.Thread(target=self._serve, args=(i, coming, done)) for i in range(len(self.tasks))]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)  # in pieces, so that Ctrl-C is noticed
        finally:
            self._stop()
            for thread in threads:
                thread.join()
        if self.error is not None:
            raise self.error

    def _stop(self) -> None:
        self.stopped.set()
        for worker in self.workers:
            if worker is not None:
                worker.process.kill()

    def _serve(self, place: int, groups: Iterator[Group], done: Done) -> None:
        try:
            with ThreadPoolExecutor(1) as writer:
                written = None
                while (group := self._next(groups)) is not None:
                    found = self._compute(place, group)
                    if found is None:
                        return
                    if written is not None:
                        written.result()
                    written = writer.submit(done, group, found)
                if (worker := self.workers[place]) is not None:
                    worker.process.kill()  # now, since a process that used a GPU takes a while to end
                if written is not None:
                    written.result()
        except BaseException as error:  # handed to the thread that waits
            self.error = self.error or error
            self._stop()

    def _next(self, groups: Iterator[Group]) -> Group | None:
        with self.lock:
            return None if self.stopped.is_set() else next(groups, None)

    def _worker(self, place: int) -> Worker:
        worker = self.workers[place]
        if worker is None:
            worker = self.workers[place] = Worker(self.checkpoint, self.tasks[place], self.tokenizing)
        return worker

    def _compute(self, place: int, group: Group) -> Computed | None:
        """Compute a group, on a new worker if one dies; None when the job is stopped."""
        for _ in range(TRIES):
            worker = self._worker(place)
            try:
                return worker.compute(group, peak=self._measures(place))
            except (EOFError, OSError):
                if self.stopped.is_set():
                    return None
                worker.end()
                code, self.workers[place] = worker.process.returncode, None
        why = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        raise GlassformerError(
            f"{group.file} rows {group.first:,} to {group.first + len(group.rows) - 1:,} ended {TRIES} workers in a row ({why}). "
            "If memory ran out, try fewer --workers or smaller --shard-rows."
        )

    def _measures(self, place: int) -> bool:
        """Whether a worker is to measure the peak of its device: of a GPU one of them, and not while the job starts."""
        return self.tasks[0].device == "cpu" or (place == 0 and time.monotonic() - self.began > SETTLED)


def tasks_for(checkpoint: Path, task: Task, workers: int | None) -> list[Task]:
    """Return one task for each worker: as many per GPU as keep it busy, otherwise as many as the cores allow."""
    if task.device == "cpu":
        return [task] * (workers or max(1, min(MOST_WORKERS, cores() // task.threads)))
    memory = gpus() if task.device == "cuda" else gpus()[:1]
    each = min(on_gpu(size, weight_bytes(checkpoint), cores() // len(memory)) for size in memory)
    if task.device != "cuda":  # one GPU, by its number
        return [task] * (workers or each)
    return [replace(task, device=f"cuda:{i % len(memory)}") for i in range(workers or each * len(memory))]


def on_gpu(memory: int, weights: int, cores: int) -> int:
    """Return how many workers share a GPU: launching kernels from Python keeps one process from using all of it.

    Each holds the weights, twice if their number format is wider than that of the file, and activations.
    """
    fit = int(0.8 * memory / (ROOM * memory + 2 * weights + CONTEXT))
    return max(1, min(MOST_ON_GPU, cores // CORES_ON_GPU, fit))
