"""The encoder as a stage of a Ray Data pipeline: reads a column of texts, and adds a column of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.encoding.cluster.connecting import actors, set_threads
from glassformer.encoding.jobs.computing import Computed, Task, compute
from glassformer.encoding.jobs.worker import load_for
from glassformer.encoding.tables import parquet_packages
from glassformer.errors import GlassformerError, listed, shown

ADDED = ("embedding", "scale", "error")


class Vectors:
    """An actor: adds the vectors of a column of texts to a table; a text that is refused has none, and the reason for it."""

    def __init__(self, checkpoint: Path, task: Task, column: str) -> None:
        set_threads(task.threads)
        self.task, self.column, self.model = task, column, load_for(checkpoint, task)

    def __call__(self, table: Any) -> Any:
        """Return the table with the columns `embedding`, `error` and, for int8, `scale`."""
        check_columns(self.column, table.column_names)
        found = table.column(self.column).to_pylist()
        faults = {i: f"must be a string, found {shown(one)}" for i, one in enumerate(found) if not isinstance(one, str)}
        good = [i for i in range(len(found)) if i not in faults]
        computed = compute(self.model, self.task, [found[i] for i in good])
        faults |= {good[number]: why for number, why in computed.faults.items()}
        return with_columns(table, self._columns(computed, good, len(found)), faults)

    def _columns(self, computed: Computed, good: list[int], rows: int) -> dict[str, Any]:
        """Return one value for each row of the table, null where there is no result."""
        arrow = parquet_packages()[0]
        places = [good[number] for number in computed.numbers]
        missing = np.ones(rows, dtype=bool)
        missing[places] = False
        # A block without any result has the types of the others.
        vectors: NDArray[Any] = np.zeros((rows, self.model.spec.d_model), dtype=self.task.store)
        columns: dict[str, Any] = {}
        if places:
            vectors[places] = computed.columns["embedding"]
        flat = arrow.array(vectors.reshape(-1))
        columns["embedding"] = arrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1], mask=arrow.array(missing))
        if self.task.store == "int8":
            scale = np.ones(rows, dtype=np.float32)
            scale[places] = computed.columns["scale"] if places else 1
            columns["scale"] = arrow.array(scale, mask=missing)
        return columns


def check_columns(column: str, known: list[str]) -> None:
    """Refuse a table without the column of texts, or with a column that has the name of a result."""
    if column not in known:
        raise GlassformerError(f"the dataset has no column '{shown(column)}': it has {listed(known)}.")
    for name in ADDED:
        if name in known:
            raise GlassformerError(f"the dataset already has a column '{name}': rename it, or drop it first.")


def with_columns(table: Any, columns: dict[str, Any], faults: dict[int, str]) -> Any:
    """Return a table with new columns and the reasons of rows without a result."""
    arrow = parquet_packages()[0]
    columns["error"] = arrow.array([faults.get(i) for i in range(table.num_rows)], arrow.string())
    for name, values in columns.items():
        table = table.append_column(name, values)
    return table


def encoded(ray: Any, dataset: Any, where: tuple[Path, Task, str], workers: int | None, rows: int) -> Any:
    """Return the dataset with the vectors, which Ray computes when it is used."""
    _, how = actors(ray, where[1], workers)
    return dataset.map_batches(Vectors, batch_size=rows, batch_format="pyarrow", fn_constructor_args=where, **how)
