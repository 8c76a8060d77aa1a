"""What the benchmarks share: alternating medians, rows that may fail without taking the rest along, figures as JSON."""

from __future__ import annotations

import bz2
import fcntl
import gc
import gzip
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

SETS = Path(__file__).parents[1] / "src" / "glassformer" / "training" / "sets"
GPU = torch.cuda.is_available()


class Gate:
    """Processes that compile side by side and are timed one after the other.

    `GATE` is a folder, `GATE_COUNT` how many processes share it: none is timed before all are ready, and then one at a time.
    """

    def __init__(self) -> None:
        self.folder = Path(os.environ["GATE"]) if "GATE" in os.environ else None

    def ready(self) -> None:
        if self.folder is not None:
            (self.folder / f"ready-{os.getpid()}").touch()

    def __enter__(self) -> None:
        if self.folder is None:
            return
        self.ready()
        until = time.monotonic() + 240
        while len(list(self.folder.glob("ready-*"))) < int(os.environ["GATE_COUNT"]) and time.monotonic() < until:
            time.sleep(0.2)
        self.lock = (self.folder / "lock").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.lock.close()


class Figures:
    """Tables of rows, written to a file after each row, so that a run that is cut short loses nothing."""

    def __init__(self, out: Path | None, seconds: float, only: str | None = None) -> None:
        self.out, self.began, self.seconds, self.only = out, time.perf_counter(), seconds, only
        names = ("torch", "transformers", "sentence-transformers", "onnxruntime", "triton")
        self.document: dict[str, Any] = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": torch.cuda.get_device_name() if GPU else f"{platform.machine()}, {torch.get_num_threads()} threads",
            "python": platform.python_version(),
            "versions": {name: version for name in names if (version := installed(name))},
        }

    def row(self, table: str, name: str, measure: Callable[[], dict[str, Any]]) -> None:
        """Measure one row, unless the time is used up; an error is a row too."""
        if self.only is not None and self.only != f"{table}: {name}":
            return
        passed = time.perf_counter() - self.began
        if passed > self.seconds:
            figures: dict[str, Any] = {"left_out": f"{passed:.0f} s of {self.seconds:.0f} s were used up"}
        else:
            try:
                figures = measure()
            except Exception as error:  # a peer that cannot run here must not end the others' run
                figures = {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:300]}"}
            Gate().ready()
        took = time.perf_counter() - self.began - passed
        self.document.setdefault(table, {})[name] = figures | {"took_s": round(took, 1)}
        words = "  ".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()
        )
        print(f"[{passed:5.0f} s +{took:3.0f}] {table}: {name:52} {words}", flush=True)
        self.write()
        gc.collect()
        if GPU:
            torch._dynamo.reset()
            gc.collect()
            torch.cuda.empty_cache()

    def write(self) -> None:
        if self.out is not None:
            self.out.write_text(json.dumps(self.document, indent=1), encoding="utf-8")


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def seconds_of(call: Callable[[], Any], rounds: int, warm_ups: int = 3) -> list[float]:
    """Times of a call, the device's work included."""
    for _ in range(warm_ups):
        call()
    return [once(call) for _ in range(rounds)]


def once(call: Callable[[], Any]) -> float:
    wait()
    began = time.perf_counter()
    call()
    wait()
    return time.perf_counter() - began


def wait() -> None:
    if GPU:
        torch.cuda.synchronize()


def alternating(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Each call in turn, round after round: what disturbs the machine disturbs all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(once(call))
    return times


def rates(seconds: list[float], amount: float) -> dict[str, float]:
    """Amount a second: of the median, the slowest and the fastest round."""
    return {"median": amount / statistics.median(seconds), "slowest": amount / max(seconds), "fastest": amount / min(seconds)}


def real_texts(*names: str, split: str = "test") -> list[str]:
    """Texts of built-in sets."""
    found = []
    for name in names:
        found += [row["text"] for row in rows_of(name, split)]
    return found


def rows_of(name: str, split: str) -> list[dict[str, Any]]:
    """Rows of a built-in set as they are stored."""
    (path,) = (SETS / name).glob(f"{split}.jsonl.*")
    unpack = bz2.decompress if path.suffix == ".bz2" else gzip.decompress
    return [json.loads(line) for line in unpack(path.read_bytes()).splitlines()]


def mixed_lengths(count: int = 4096) -> list[int]:
    """Lengths between 8 and 512 with a mean near 112, as texts have them."""
    generator = torch.Generator().manual_seed(1)
    spread = torch.randn(count, generator=generator) * 0.85 + 4.4
    return [int(length) for length in spread.exp().clamp(8, 512)]
