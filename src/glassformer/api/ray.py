"""A stage for Ray Data in Python: `gf.ray.encode(dataset, checkpoint)` adds vectors to a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glassformer import arguments
from glassformer.api.jobs import Store, workers
from glassformer.checkpoints.folder import model_folder
from glassformer.errors import GlassformerError, needs_torch, shown

__all__ = ["encode"]

OPTIONS = ("pool", "normalise", "truncate", "batch_tokens")


@needs_torch
def encode(
    dataset: Any,
    checkpoint: str | Path,
    *,
    column: str = "text",
    store: Store = "float32",
    device: str | None = None,
    dtype: str = "float32",
    **options: Any,
) -> Any:
    """Add the vector of each text to a Ray dataset: `gf.ray.encode(ray.data.read_parquet("texts"), "models/minilm")`.

    Returns a dataset with the columns `embedding`, `error` (why a row has no vector, else null) and, with store="int8", `scale`.
    It is evaluated lazily, by `map_batches` in actors. Options: `pool`, `normalise`, `truncate`, `batch_tokens`,
    `workers` (actors; auto: one per GPU, or for all CPUs of the cluster), `threads` (of an actor), `batch_rows`.
    """
    from glassformer.encoding.cluster.connecting import device_on, require_ray, running
    from glassformer.encoding.cluster.pipeline import encoded
    from glassformer.encoding.jobs.computing import Task

    known = {**dict.fromkeys(OPTIONS), "truncate": False, "workers": "auto", "threads": 1, "batch_rows": 1024}
    for name in options:
        arguments.one_of("option", name, known)
    chosen = known | options
    require_ray()
    if not hasattr(dataset, "map_batches"):
        raise GlassformerError(
            f"dataset must be a Ray dataset, such as ray.data.read_parquet(…), found {shown(type(dataset).__name__)}."
        )
    folder = arguments.path("checkpoint", checkpoint)
    model_folder(folder)
    ray = running()
    task = Task(
        "encode",
        "parquet",
        str(arguments.one_of("store", store, ("float32", "float16", "int8"))),
        {name: chosen[name] for name in OPTIONS} | {"truncate": arguments.yes_no("truncate", chosen["truncate"])},
        arguments.whole("threads", chosen["threads"], least=1, most=1024),
        device_on(ray, device),
        arguments.text("dtype", dtype),
    )
    rows = arguments.whole("batch_rows", chosen["batch_rows"], least=1, most=1_000_000)
    where = (folder.absolute(), task, arguments.text("column", column))
    return encoded(ray, dataset, where, workers(chosen["workers"]), rows)
