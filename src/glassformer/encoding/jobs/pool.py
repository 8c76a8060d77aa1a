"""Row groups shared among worker processes, or computed in this one; a worker that dies is replaced and its group repeated."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from glassformer.encoding.jobs.computing import Computed, Task, compute
from glassformer.encoding.jobs.engine import torch_threads
from glassformer.encoding.jobs.groups import Group
from glassformer.encoding.jobs.messages import receive, send
from glassformer.encoding.jobs.shards import good_rows
from glassformer.encoding.jobs.worker import load_for, set_up
from glassformer.errors import GlassformerError

TRIES = 3  # workers that may die on one group
MOST_WORKERS = 8  # that `auto` starts for the cores: each holds a copy of the weights
PACKAGES = Path(__file__).parents[3]

Done = Callable[[Group, Computed], None]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_threads() -> int:
    """Return the threads of a worker: the same for any number of workers, since results depend on it in the last bits."""
    return max(1, cores() // MOST_WORKERS)


def texts_of(group: Group) -> list[str]:
    """Return the texts of the good rows."""
    return [group.rows[place].text or "" for place in good_rows(group)]


def here(checkpoint: Path, task: Task, groups: Iterator[Group], done: Done) -> None:
    """Compute all groups in this process; meanwhile one thread reads the next group, and another writes the one before."""
    lock = threading.Lock()  # reading and writing share the state of the job

    def read() -> Group | None:
        with lock:
            return next(groups, None)

    def write(group: Group, found: Computed) -> None:
        with lock:
            done(group, found)

    model, written = None, None
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(1) as writer:
        ahead = reader.submit(read)
        while (group := ahead.result()) is not None:
            ahead = reader.submit(read)
            with torch_threads(task.threads):
                model = model or load_for(checkpoint, task)
                found = compute(model, task, texts_of(group))
            if written is not None:
                written.result()
            written = writer.submit(write, group, found)
        if written is not None:
            written.result()


class Worker:
    """A worker process and its pipes."""

    def __init__(self, checkpoint: Path, task: Task) -> None:
        paths = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("PYTHONPATH", ""))))
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), str(task.threads))
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

    def compute(self, group: Group) -> Computed:
        """Send the texts of a group and wait; EOFError or BrokenPipeError if the process has died."""
        with suppress(BrokenPipeError):  # its answer may be an error that was sent before it ended
            send(self.given, {"texts": texts_of(group)})  # type: ignore[arg-type]
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
    """One thread for each worker: takes the next group, waits for its result and hands it on, under one lock."""

    def __init__(self, checkpoint: Path, tasks: list[Task]) -> None:
        self.checkpoint, self.tasks = checkpoint, tasks
        self.lock, self.stopped = threading.Lock(), threading.Event()
        self.workers: list[Worker | None] = [None] * len(tasks)
        self.error: BaseException | None = None

    def run(self, groups: Iterator[Group], done: Done) -> None:
        """Compute all groups; the first error stops the others."""
        threads = [threading.Thread(target=self._serve, args=(i, groups, done)) for i in range(len(self.tasks))]
        with self._ended_at_exit():
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

    @contextmanager
    def _ended_at_exit(self) -> Iterator[None]:
        try:
            yield
        finally:
            for worker in self.workers:
                if worker is not None:
                    worker.end()

    def _stop(self) -> None:
        self.stopped.set()
        for worker in self.workers:
            if worker is not None:
                worker.process.kill()

    def _serve(self, place: int, groups: Iterator[Group], done: Done) -> None:
        try:
            while not self.stopped.is_set():
                with self.lock:
                    group = next(groups, None)
                if group is None:
                    return
                found = self._compute(place, group)
                if found is None:
                    return
                with self.lock:
                    done(group, found)
        except BaseException as error:  # handed to the thread that waits
            self.error = self.error or error
            self._stop()

    def _compute(self, place: int, group: Group) -> Computed | None:
        """Compute a group, on a new worker if one dies; None when the job is stopped."""
        for _ in range(TRIES):
            worker = self.workers[place]
            if worker is None:
                worker = self.workers[place] = Worker(self.checkpoint, self.tasks[place])
            try:
                return worker.compute(group)
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


def tasks_for(task: Task, workers: int | None) -> list[Task]:
    """Return one task for each worker: one a GPU, or as many as the cores serve."""
    if task.device == "cpu":
        return [task] * (workers or max(1, min(MOST_WORKERS, cores() // task.threads)))
    import torch

    count = torch.cuda.device_count()
    return [replace(task, device=f"cuda:{i % count}") for i in range(workers or count)]


def run_groups(checkpoint: Path, tasks: list[Task], groups: Iterator[Group], done: Done) -> None:
    """Compute all groups; one worker is this process."""
    if len(tasks) == 1:
        here(checkpoint, tasks[0], groups, done)
    else:
        Pool(checkpoint, tasks).run(groups, done)
