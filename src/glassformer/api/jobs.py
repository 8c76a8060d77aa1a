"""Jobs in Python: encode or predict the rows of files into a folder of shards, resumable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glassformer import arguments
from glassformer.checkpoints.folder import model_folder
from glassformer.errors import GlassformerError, needs_torch, shown

if TYPE_CHECKING:
    from glassformer.encoding.jobs.job import Finished, Place

Form = Literal["parquet", "npy", "jsonl"]
Store = Literal["float32", "float16", "int8"]
ON = ("here", "ray")
MOST_WORKERS = 256


@needs_torch
def encode_files(
    checkpoint: str | Path,
    inputs: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    form: Form = "parquet",
    store: Store = "float32",
    pool: str | None = None,
    normalise: bool | None = None,
    **options: Any,
) -> Finished:
    """Encode the rows of files into a folder of shards: `gf.encode_files("models/minilm", "texts.csv", "vectors")`.

    `inputs` are text, CSV, JSONL or Parquet files, folders or globs. Repeat the call to continue an interrupted job.
    `store` is the number format of the vectors. Options: `column`, `carry`, `shard_rows`, `workers`, `threads`, `strict`,
    `truncate`, `empty`, `batch_tokens`, `dtype`, `device`, `as_class`, `engine` (auto, torch, onnx or openvino), `progress`,
    `precision` (float32, or int8 for the products on a CPU), `on` (here, or ray for a cluster).
    """
    arguments.one_of("form", form, ("parquet", "npy", "jsonl"))
    arguments.one_of("store", store, ("float32", "float16", "int8"))
    if normalise is not None:
        arguments.yes_no("normalise", normalise)
    return _run(checkpoint, inputs, out, ("encode", form, store), {"pool": pool, "normalise": normalise}, options)


@needs_torch
def predict_files(
    checkpoint: str | Path,
    inputs: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    form: Literal["parquet", "jsonl"] = "parquet",
    **options: Any,
) -> Finished:
    """Predict for the rows of files into a folder of shards, as `encode_files` does: `gf.predict_files(run, "in.csv", "out")`."""
    arguments.one_of("form", form, ("parquet", "jsonl"))
    return _run(checkpoint, inputs, out, ("predict", form, "float32"), {}, options)


def _run(
    checkpoint: str | Path, inputs: Any, out: str | Path, kind: tuple[str, str, str], own: dict[str, Any], given: dict[str, Any]
) -> Finished:
    from glassformer.encoding.engines.choice import ENGINES, check_engine
    from glassformer.encoding.engines.rounding import check_precision
    from glassformer.encoding.jobs.computing import Task
    from glassformer.encoding.jobs.job import Plan, run_job
    from glassformer.encoding.jobs.readers import ENCODED, PREDICTED, Columns
    from glassformer.encoding.tables import parquet_packages

    known = {
        "column": None, "carry": None, "shard_rows": 8192, "workers": "auto", "threads": None, "strict": False,
        "truncate": False, "empty": "refuse", "batch_tokens": None, "dtype": "float32", "device": None, "as_class": None,
        "engine": "torch", "precision": "float32", "on": "here", "progress": False,
    }  # fmt: skip
    for name in given:
        arguments.one_of("option", name, known)
    requested: dict[str, Any] = {**known, **given}
    folder, target = arguments.path("checkpoint", checkpoint), arguments.path("out", out)
    model_folder(folder)
    some = [inputs] if isinstance(inputs, str | Path) else arguments.as_list(inputs)
    paths = [arguments.path("inputs", one) for one in some]
    if kind[1] == "parquet":
        parquet_packages()
    column, carry = requested["column"], requested["carry"]
    carried = None if carry is None else tuple(arguments.words("carry", carry))
    columns = Columns(
        None if column is None else arguments.text("column", column), carried, ENCODED if kind[0] == "encode" else PREDICTED
    )
    reading = {
        "truncate": arguments.yes_no("truncate", requested["truncate"]),
        "empty": arguments.one_of("empty", requested["empty"], ("refuse", "skip", "encode")),
        "batch_tokens": _whole("batch_tokens", requested["batch_tokens"]),
    }
    dtype, engine = arguments.text("dtype", requested["dtype"]), arguments.one_of("engine", requested["engine"], ENGINES)
    precision = arguments.one_of("precision", requested["precision"], ("float32", "int8"))
    size = arguments.whole("shard_rows", requested["shard_rows"], least=1, most=1_000_000)
    strict, told = arguments.yes_no("strict", requested["strict"]), arguments.yes_no("progress", requested["progress"])
    plan = Plan(columns, size, workers(requested["workers"]), strict, told)
    threads = _whole("threads", requested["threads"], most=1024)
    with _place(arguments.one_of("on", requested["on"], ON), requested["device"]) as (device, place):
        check_engine(engine, device=device, dtype=dtype)
        check_precision(precision, kind=kind[0], engine=engine, device=device, dtype=dtype)
        task = Task(*kind, {**own, **reading}, device=device, dtype=dtype, as_class=requested["as_class"], engine=engine)
        task = replace(task, precision=precision)
        return run_job(folder, paths, target, task, plan, threads=threads, place=place)


@contextmanager
def _place(on: str, device: str | None) -> Iterator[tuple[str, Place]]:
    """Yield the device and the workers: processes on this machine, or actors of a Ray cluster."""
    if on == "here":
        from glassformer.encoding.devices import device_for
        from glassformer.encoding.jobs.job import on_this_machine

        yield device_for(device), on_this_machine
        return
    from glassformer.encoding.cluster.connecting import connected, device_on
    from glassformer.encoding.cluster.job import on_ray

    with connected() as ray:
        yield device_on(ray, device), partial(on_ray, ray)


def workers(given: Any) -> int | None:
    """Return the number of workers; None for auto."""
    if given == "auto":
        return None
    number = int(given) if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 6 else given
    if not arguments.is_whole(number) or not 1 <= number <= MOST_WORKERS:
        raise GlassformerError(f"workers={shown(given)} is not allowed: workers must be auto or 1 to {MOST_WORKERS}.")
    return int(number)


def _whole(name: str, value: Any, *, most: int | None = None) -> int | None:
    return None if value is None else arguments.whole(name, value, least=1, most=most)
