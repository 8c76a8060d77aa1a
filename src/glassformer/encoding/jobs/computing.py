"""Texts of one row group through a model: vectors or predictions, and why a text has none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glassformer.encoding.jobs.measuring import work_of
from glassformer.encoding.streams import rows_of
from glassformer.errors import GlassformerError

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

NOT_FINITE = "its vector is not finite in the number format of the computation or of the output"


@dataclass(frozen=True)
class Task:
    """The task of a job: what is computed for each row, and how the result is stored."""

    kind: str  # encode or predict
    form: str  # parquet, npy or jsonl
    store: str = "float32"  # number format of stored vectors: float32, float16 or int8
    options: dict[str, Any] = field(default_factory=dict)  # of encode_stream or predict_stream
    threads: int = 1
    device: str = "cpu"
    dtype: str = "float32"
    as_class: str | None = None
    engine: str = "torch"  # of the passes: torch, onnx or openvino; auto until it is chosen
    graph: str | None = None  # the file that another engine runs
    precision: str = "float32"  # of the products of the layers: float32 (then dtype decides) or int8
    measured: bool = False  # whether FLOPs are counted, for the progress


@dataclass(frozen=True)
class Computed:
    """Results for some of the texts of a group, by their number from 0, and the reasons for those without one."""

    numbers: list[int]
    columns: dict[str, NDArray[Any] | list[Any]]
    faults: dict[int, str]
    cut: int = 0
    tokens: int = 0
    flops: float = 0.0  # of the matrix products, if they are counted
    peak: float = 0.0  # FLOP/s of this process's device, measured

    def to_message(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return JSON values and raw bytes: arrays keep all their bits without a pickle."""
        arrays = {name: value for name, value in self.columns.items() if isinstance(value, np.ndarray)}
        header = {
            "numbers": self.numbers, "cut": self.cut, "tokens": self.tokens,
            "flops": self.flops, "peak": self.peak, "faults": [[number, why] for number, why in self.faults.items()],
            "arrays": [[name, value.dtype.str, list(value.shape)] for name, value in arrays.items()],
            "lists": {name: value for name, value in self.columns.items() if name not in arrays},
        }  # fmt: skip
        return header, [np.ascontiguousarray(value).tobytes() for value in arrays.values()]

    @classmethod
    def from_message(cls, header: dict[str, Any], blobs: Sequence[bytes]) -> Computed:
        """Restore what `to_message` made."""
        columns: dict[str, Any] = dict(header["lists"])
        for (name, dtype, shape), blob in zip(header["arrays"], blobs, strict=True):
            columns[name] = np.frombuffer(blob, dtype=np.dtype(dtype)).reshape(shape)
        counts = {name: header[name] for name in ("cut", "tokens", "flops", "peak")}
        return cls(header["numbers"], columns, dict(map(tuple, header["faults"])), **counts)


def compute(model: LoadedModel, task: Task, texts: Sequence[str], *, peak: bool = True) -> Computed:
    """Encode or predict texts; one that is refused is named in `faults` and does not stop the others.

    With `peak`, the peak of the device is measured if FLOPs are counted.
    """
    faults: dict[int, str] = {}

    def refused(number: int, error: GlassformerError) -> None:
        faults[number] = str(error).removeprefix("the text ").removeprefix("the text: ")

    stream: Any = model.encode_stream if task.kind == "encode" else model.predict_stream
    found = list(stream(texts, name=lambda _: "the text", refused=refused, **task.options)) if texts else []
    numbers = [number for some in found for number in some.numbers]
    columns = _vectors(found, task, numbers, faults) if task.kind == "encode" else _predictions(found)
    kept = [i for i, number in enumerate(numbers) if number not in faults]
    if len(kept) < len(numbers):
        numbers = [numbers[i] for i in kept]
        columns = {n: v[kept] if isinstance(v, np.ndarray) else [v[i] for i in kept] for n, v in columns.items()}
    cut = sum(number not in faults for some in found for number in some.dropped)
    speed = work_of(model, task.kind, found, peak=peak) if task.measured else {}
    return Computed(numbers, columns, faults, cut, sum(some.tokens for some in found), **speed)


def _vectors(found: list[Any], task: Task, numbers: list[int], faults: dict[int, str]) -> dict[str, Any]:
    if not numbers:
        return {}
    vectors = np.concatenate([some.values for some in found])
    finite = np.isfinite(vectors).all(axis=1)
    if task.store == "float16":
        finite &= (np.abs(vectors) <= np.finfo(np.float16).max).all(axis=1)
    for i in np.flatnonzero(~finite):
        faults[numbers[i]] = NOT_FINITE
    return stored(np.where(finite[:, None], vectors, 0), task.store)


def stored(vectors: NDArray[Any], store: str) -> dict[str, NDArray[Any]]:
    """Convert vectors to the number format of the output; an int8 vector times its scale restores it."""
    if store != "int8":
        return {"embedding": vectors.astype(store)}
    scale = np.abs(vectors).max(axis=1).astype(np.float32) / np.float32(127)
    safe = np.where(scale > 0, scale, 1).astype(np.float32)
    return {"embedding": np.rint(vectors / safe[:, None]).clip(-127, 127).astype(np.int8), "scale": safe}


def _predictions(found: list[Any]) -> dict[str, Any]:
    said = [one for some in found for one in some.values]
    columns = dict(rows_of(range(len(said)), said).columns)
    restored: dict[str, Any] = json.loads(json.dumps(columns))  # plain values, the same here as from another process
    return restored
