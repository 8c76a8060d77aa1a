"""A job on a Ray cluster: tasks read the inputs, actors compute and write shards, and this process keeps the journal."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from glassformer.encoding.cluster.connecting import actors, set_threads
from glassformer.encoding.jobs.computing import Computed, Task, compute
from glassformer.encoding.jobs.folder import LOCK, UNFINISHED, JobFolder
from glassformer.encoding.jobs.groups import Group, Position, groups_of
from glassformer.encoding.jobs.inputs import Input
from glassformer.encoding.jobs.job import Compute, Job, Plan
from glassformer.encoding.jobs.pool import TRIES
from glassformer.encoding.jobs.progress import progress
from glassformer.encoding.jobs.readers import Columns
from glassformer.encoding.jobs.shards import make_shard
from glassformer.encoding.jobs.worker import load_for
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text

ACTORS_FOR_EACH_READER = 4


@dataclass(frozen=True)
class Item:
    """An output of a reader: a group to compute, the record of a finished shard, the end of an input, or an error."""

    number: int  # of the input
    done: int  # stored bytes of the input that were read
    group: Group | None = None
    source: str = ""
    told: dict[str, Any] | None = None  # for the journal's process: kept, input or error


class Reader:
    """Reads the groups of one input; those with a valid shard are not recomputed."""

    def __init__(self, out: Path, columns: Columns, size: int, known: Any) -> None:
        self.out, self.columns, self.size, self.known = out, columns, size, known

    def __call__(self, row: dict[str, Any]) -> Iterator[dict[str, Item]]:
        """Yield the items of an input."""
        number, one = row["item"]
        position = Position()
        try:
            for item in self._items(number, one, position):
                yield {"item": item}
        except GlassformerError as error:
            yield {"item": Item(number, position.done, told={"error": str(error)})}

    def _items(self, number: int, one: Input, position: Position) -> Iterator[Item]:
        folder = JobFolder(self.out)
        folder.known = importlib.import_module("ray").get(self.known)
        for group in groups_of([one], self.columns, self.size, position, number):
            source = group.sha256()
            record = folder.finished(group.name, source)
            told = None if record is None else {"kept": record}
            yield Item(number, position.done, None if told else group, source, told)
        yield Item(number, position.done, told={"input": one.about() | {"rows": position.rows[0]}})


class Maker:
    """An actor: computes groups, writes their shards, and forwards the messages of readers."""

    def __init__(self, out: Path, checkpoint: Path, task: Task, form: str, strict: bool) -> None:  # noqa: FBT001
        self.folder, self.checkpoint, self.task, self.form, self.strict = JobFolder(out), checkpoint, task, form, strict
        self.model: Any = None
        set_threads(task.threads)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """Return a JSON text for each item."""
        return {"told": [json.dumps({"number": item.number, "done": item.done, **self._told(item)}) for item in batch["item"]]}

    def _told(self, item: Item) -> dict[str, Any]:
        if item.group is None:
            return item.told or {}
        try:
            return self._made(item.group, item.source)
        except GlassformerError as error:
            return {"error": str(error)}

    def _made(self, group: Group, source: str) -> dict[str, Any]:
        if not (self.folder.path / LOCK).exists():
            raise GlassformerError(
                f"--out {path_text(self.folder.path)} is not there on all machines of the cluster: choose a folder on storage "
                "that they share."
            )
        with tried(self.folder, group):
            self.model = self.model or load_for(self.checkpoint, self.task)
            found = compute(self.model, self.task, group.texts)
            record = self.folder.write(group.name, source, make_shard(self.form, group, found, strict=self.strict))
        return {"made": record, "of": len(group.rows), "tokens": found.tokens, "flops": found.flops, "peak": found.peak}


@contextmanager
def tried(folder: JobFolder, group: Group) -> Iterator[None]:
    """Count the tries of a group in a file, since Ray repeats a group that ends its actor without end."""
    file = folder.shards / f"{UNFINISHED}{group.name}.tries"
    with folder.writing():
        before = file.stat().st_size if file.exists() else 0
        if before >= TRIES:
            raise GlassformerError(
                f"{group.file} rows {group.first:,} to {group.first + len(group.rows) - 1:,} ended {TRIES} actors in a row. "
                "If memory ran out, try fewer --workers or smaller --shard-rows."
            )
        with file.open("ab") as tries:
            tries.write(b".")
    yield
    with folder.writing():
        file.unlink(missing_ok=True)


@contextmanager
def on_ray(ray: Any, checkpoint: Path, task: Task, plan: Plan) -> Iterator[Compute]:
    """Compute in actors of a cluster, which start with the first rows."""
    number, how = actors(ray, task, plan.workers)
    yield partial(_computed, ray, checkpoint, task, number, how)


def _computed(ray: Any, checkpoint: Path, task: Task, number: int, how: dict[str, Any], job: Job) -> list[dict[str, Any]]:
    """Make all shards; returns what the manifest says of the inputs."""
    job.pace.devices = number
    job.position.total = sum(one.state()[0] for one in job.files)
    inputs: dict[int, dict[str, Any]] = {}
    done: dict[int, int] = {}
    with progress(job.pace, job.position, shown=job.plan.told) as job.tell:
        for told in _told(ray, job, checkpoint, task, how):
            if "error" in told:
                raise GlassformerError(told["error"])
            done[told["number"]] = max(done.get(told["number"], 0), told["done"])
            job.position.done = sum(done.values())
            if "kept" in told:
                job.keep(told["kept"])
            elif "input" in told:
                inputs[told["number"]] = told["input"]
            else:
                _note(job, told)
    return [inputs[number] for number in range(len(job.files))]


def _note(job: Job, told: dict[str, Any]) -> None:
    job.pace.first = job.pace.first or 0
    job.folder.note(told["made"])
    job.records[told["made"]["name"]] = told["made"]
    job.pace.add(told["of"], Computed([], {}, {}, tokens=told["tokens"], flops=told["flops"], peak=told["peak"]))
    job.tell()


def _told(ray: Any, job: Job, checkpoint: Path, task: Task, how: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Run the pipeline and yield the messages of its actors."""
    data = importlib.import_module("ray.data")
    out = job.folder.path.absolute()
    items = [(number, Input(one.path.absolute(), one.name, one.form, one.packing)) for number, one in enumerate(job.files)]
    readers = min(len(items), 1 + job.pace.devices // ACTORS_FOR_EACH_READER)
    flow = data.from_items(items, override_num_blocks=len(items))
    flow.context.target_max_block_size = 1  # every group is a separate block, so that all actors have work
    flow.context.enable_progress_bars = False
    read = Reader(out, job.plan.columns, job.plan.shard_rows, ray.put(job.folder.known))
    flow = flow.flat_map(read.__call__, compute=data.TaskPoolStrategy(size=readers), num_cpus=0)
    settings = (out, checkpoint.absolute(), task, job.form, job.plan.strict)
    flow = flow.map_batches(Maker, batch_size=1, batch_format="numpy", fn_constructor_args=settings, **how)
    try:
        for row in flow.iter_rows():
            yield json.loads(row["told"])
    except ray.exceptions.RayTaskError:
        raise  # an error in our code
    except ray.exceptions.RayError as error:
        said = shown(" ".join(str(error).split()), limit=200)
        raise GlassformerError(
            f"the Ray cluster lost a part of the job: {said.rstrip('.')}. Finished shards are kept: "
            "run the same command again to continue."
        ) from None
