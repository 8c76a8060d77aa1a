"""A job: encodes row groups of the inputs into a folder of shards; repeating the call resumes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from glassformer.encoding.jobs.computing import Computed, Task
from glassformer.encoding.jobs.engine import with_engine, with_precision
from glassformer.encoding.jobs.folder import BAD_ROWS, JobFolder
from glassformer.encoding.jobs.groups import Group, Position, groups_of
from glassformer.encoding.jobs.identity import checkpoint_sha256, versions
from glassformer.encoding.jobs.inputs import Input, find_inputs
from glassformer.encoding.jobs.pool import Done, Pool, default_threads, here, tasks_for
from glassformer.encoding.jobs.progress import Pace, progress
from glassformer.encoding.jobs.readers import Columns, check_columns
from glassformer.encoding.jobs.shards import COUNTS, make_shard
from glassformer.encoding.tables import parquet_packages
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text


@dataclass(frozen=True)
class Finished:
    """A finished job: its folder, what its manifest says, and how many of its shards this run made or found."""

    out: Path
    manifest: dict[str, Any]
    made: int
    kept: int

    @property
    def rows(self) -> int:
        """Rows with a result."""
        return int(self.manifest["rows"])

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the path as a dict."""
        counts = {name: self.manifest[name] for name in COUNTS}
        return {"out": str(self.out), **counts, "shards": len(self.manifest["shards"]), "made": self.made, "kept": self.kept}


@dataclass(frozen=True)
class Plan:
    """How a job is run; only the columns and the number of rows per shard affect the shards."""

    columns: Columns
    shard_rows: int = 8192
    workers: int | None = 1  # None: as many as the GPUs or the cores allow
    strict: bool = False
    told: bool = False  # whether progress is shown


class Job:
    """The state of a run."""

    def __init__(self, files: list[Input], plan: Plan, folder: JobFolder, form: str) -> None:
        self.files, self.plan, self.folder, self.form = files, plan, folder, form
        self.position, self.pace, self.lock = Position(), Pace(), Lock()
        self.records: dict[str, dict[str, Any]] = {}
        self.sources: dict[str, str] = {}
        self.tell: Any = None

    def unfinished(self) -> Iterator[Group]:
        """Yield the groups without a valid shard."""
        for group in groups_of(self.files, self.plan.columns, self.plan.shard_rows, self.position):
            source = group.sha256()
            record = self.folder.finished(group.name, source)
            if record is None:
                self.pace.first = self.position.done if self.pace.first is None else self.pace.first
                self.sources[group.name] = source
                yield group
            else:
                self.keep(record)

    def keep(self, record: dict[str, Any]) -> None:
        """Count a shard that was finished before."""
        if self.plan.strict and record["bad"]:
            raise GlassformerError(f"--strict: bad row {self.folder.first_bad_row(record)}")
        self.records[record["name"]] = record
        self.pace.kept += 1

    def done(self, group: Group, computed: Computed) -> None:
        """Write the shard of a group; several threads may do so at once."""
        shard = make_shard(self.form, group, computed, strict=self.plan.strict)
        record = self.folder.write(group.name, self.sources.pop(group.name), shard)
        with self.lock:
            self.folder.note(record)
            self.records[group.name] = record
            self.pace.add(len(group.rows), computed)
            self.tell()

    def inputs(self) -> list[dict[str, Any]]:
        """Return what the manifest says of the inputs, once all were read."""
        return [one.about() | {"rows": rows} for one, rows in zip(self.files, self.position.rows, strict=True)]

    def manifest(self, about: dict[str, Any], inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the manifest: the shards in the order of the rows."""
        ordered = [self.records[name] for name in sorted(self.records)]
        totals = {name: sum(record[name] for record in ordered) for name in COUNTS}
        return {**about, "inputs": inputs, **totals, "bad_rows": BAD_ROWS, "shards": ordered}


Compute = Callable[[Job], list[dict[str, Any]]]  # makes all shards; returns what the manifest says of the inputs
Place = Callable[[Path, Task, Plan], AbstractContextManager[Compute]]  # starts the workers of a job, and ends them


@contextmanager
def on_this_machine(checkpoint: Path, task: Task, plan: Plan) -> Iterator[Compute]:
    """Compute in worker processes on this machine, or in this process if one is enough."""
    tasks = tasks_for(checkpoint, task, plan.workers)

    def computed(job: Job, run: Callable[[Iterator[Group], Done], None]) -> list[dict[str, Any]]:
        job.pace.devices = len(tasks) if task.device == "cpu" else len({one.device for one in tasks})
        with progress(job.pace, job.position, shown=plan.told) as job.tell:
            run(job.unfinished(), job.done)
        return job.inputs()

    if len(tasks) == 1:
        yield partial(computed, run=partial(here, checkpoint, tasks[0]))
    else:
        with Pool(checkpoint, tasks) as pool:
            if task.form == "parquet":
                parquet_packages()[0].array([""])  # pyarrow imports pandas at its first array: now, while the worker starts
            yield partial(computed, run=pool.run)


def run_job(
    checkpoint: Path,
    inputs: Sequence[str | Path],
    out: Path,
    task: Task,
    plan: Plan,
    *,
    threads: int | None = None,
    place: Place = on_this_machine,
) -> Finished:
    """Run or continue a job; `threads` of a worker are those of the shards that are there, else a default."""
    files = find_inputs(inputs, out)
    for one in files:
        check_columns(one, plan.columns)
    if out.exists() and not out.is_dir():
        raise GlassformerError(f"--out {path_text(out)} is a file: name a folder.")
    folder = JobFolder(out)
    with folder.locked():
        before = (folder.job or {}).get("threads")
        chosen = threads or (before if type(before) is int and 0 < before <= 1024 else default_threads())
        task = replace(task, threads=chosen, measured=plan.told)
        if task.precision == "int8":
            engine, about_engine = with_precision(checkpoint, task, files, plan.columns)
        else:
            task, engine, about_engine = with_engine(checkpoint, task, folder)
        state = Job(files, plan, folder, task.form)
        with place(checkpoint, task, plan) as compute:
            job = settings_of(checkpoint, task, plan) | about_engine
            folder.require(job)
            about = compute(state)
        manifest = state.manifest({"job": job, "checkpoint": checkpoint.name, "versions": versions(), **engine.to_dict()}, about)
        if not sum(manifest[name] for name in ("rows", "bad", "left_out")):
            raise GlassformerError("there are no rows: the inputs are empty.")
        folder.complete(manifest)
    return Finished(out, manifest, state.pace.made, state.pace.kept)


def settings_of(checkpoint: Path, task: Task, plan: Plan) -> dict[str, Any]:
    """Return what the shards depend on, with a checksum of the model."""
    carry = None if plan.columns.carry is None else list(plan.columns.carry)
    return {
        "checkpoint_sha256": checkpoint_sha256(checkpoint), "task": task.kind, "form": task.form, "store": task.store,
        "options": task.options, "device": task.device, "dtype": task.dtype, "as_class": task.as_class,
        "threads": task.threads, "column": plan.columns.text, "carry": carry, "shard_rows": plan.shard_rows,
    }  # fmt: skip
