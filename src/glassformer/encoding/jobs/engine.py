"""The engine of a job: chosen at the first start, stored with its graph in the folder, and used again on resume."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from glassformer.encoding.engines.choice import GRAPH, Choice, choose, part_of_task
from glassformer.encoding.engines.rounding import TEXTS, rounded
from glassformer.encoding.jobs.computing import Task
from glassformer.encoding.jobs.folder import JobFolder, file_sha256
from glassformer.encoding.jobs.inputs import Input
from glassformer.encoding.jobs.readers import Columns, read
from glassformer.encoding.jobs.worker import load_for


def with_engine(checkpoint: Path, task: Task, folder: JobFolder) -> tuple[Task, Choice, dict[str, Any]]:
    """Return the task with its engine, why it has that one, and what the settings of the job say of it."""
    before = folder.job
    asked = str(before.get("engine", "torch")) if task.engine == "auto" and before is not None else task.engine
    if asked == "torch":
        return replace(task, engine="torch"), Choice("torch", "as asked"), {}
    if asked == "auto" and task.device != "cpu":
        return replace(task, engine="torch"), Choice("torch", f"on {task.device.partition(':')[0]}, in {task.dtype}"), {}
    graph = folder.path / GRAPH
    with folder.writing(), torch_threads(task.threads):
        if before is None or file_sha256(graph) != before.get("graph_sha256"):
            graph.unlink(missing_ok=True)
        model = load_for(checkpoint, replace(task, engine="torch"))
        choice = choose(asked, model, part_of_task(task.kind, task.options.get("pool")), graph, task.threads)
        if choice.engine == "torch":
            for file in folder.path.glob(f"{GRAPH}*"):
                file.unlink()
            return replace(task, engine="torch"), choice, {}
    task = replace(task, engine=choice.engine, graph=str(graph))
    return task, choice, {"engine": choice.engine, "graph_sha256": file_sha256(graph)}


def with_precision(checkpoint: Path, task: Task, files: Sequence[Input], columns: Columns) -> tuple[Choice, dict[str, Any]]:
    """Return the comparison of int8 with float32 on the first texts of the inputs, and what the settings of the job say."""
    texts: list[str] = []
    for number, one in enumerate(files):
        most = len(texts) + math.ceil((TEXTS - len(texts)) / (len(files) - number))  # the same share of each
        with one.opened() as (plain, _):
            good = (row.text for row in read(one, columns, plain).rows if row.text)
            texts += islice(good, most - len(texts))
    with torch_threads(task.threads):
        model, exact = (load_for(checkpoint, replace(task, precision=name)) for name in ("int8", "float32"))
        pooling = {name: task.options.get(name) for name in ("pool", "batch_tokens")}
        found = rounded(model, exact, texts, pooling)
    found.require()
    return Choice("torch", "int8", [found]), {"precision": "int8"}


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Set the number of PyTorch's threads within the context."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
