"""The connection to a Ray cluster or a local Ray, and its devices."""

from __future__ import annotations

import importlib
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from glassformer.encoding.jobs.computing import Task
from glassformer.errors import GlassformerError, nearest, shown

DEVICES = ("cpu", "cuda")
CONNECTING = 10.0  # seconds
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # turn off Ray's usage reports
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


def require_ray() -> None:
    """Refuse a cluster where Ray Data is not installed."""
    lacking = [name for name in ("ray", "pandas", "pyarrow") if find_spec(name) is None]
    if lacking:
        raise GlassformerError(f"--on ray needs {', '.join(lacking)}: pip install 'glassformer[ray]'.")


@contextmanager
def connected() -> Iterator[Any]:
    """Yield Ray: the existing connection, else the cluster of RAY_ADDRESS or of this machine, else one that is started here."""
    require_ray()
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    ray = importlib.import_module("ray")
    if ray.is_initialized():
        yield ray
        return
    where = address()
    try:
        with _silent():
            ray.init(address=where, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        said = shown(str(error).partition("\n")[0], limit=160)
        raise GlassformerError(
            f"no connection to Ray: {said.rstrip('.')}. Check RAY_ADDRESS, RAY_AUTH_MODE and `ray status`."
        ) from None
    importlib.import_module("ray.data")  # sets the levels of its loggers
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        yield ray
    finally:
        ray.shutdown()


def address() -> str:
    """Return the address to connect to: RAY_ADDRESS, else the cluster that `ray start` started here, else none (local).

    Ray itself would wait minutes for an address where nothing answers, such as that of a cluster which was killed.
    """
    given = os.environ.get("RAY_ADDRESS", "")
    if given:
        why = _no_answer(given)
        if why:
            raise GlassformerError(
                f"RAY_ADDRESS={shown(given, limit=80)}: no answer ({why}). Start the cluster with `ray start`, or correct "
                "the address."
            )
        return given
    started = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir())) / "ray" / "ray_current_cluster"
    with suppress(OSError, UnicodeDecodeError):
        known = started.read_text(encoding="utf-8").strip()
        return "local" if _no_answer(known) else known
    return "local"


def _no_answer(place: str) -> str:
    """Return why nothing answers at HOST:PORT; empty if something does, or if the address has another form."""
    host, _, port = place.rpartition(":")
    if not host or "/" in host or not port.isdecimal():
        return ""
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECTING).close()
    except (OSError, OverflowError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


@contextmanager
def _silent() -> Iterator[None]:
    """Discard what Ray's compiled code writes to standard error while it starts; its errors are exceptions."""
    sys.stderr.flush()
    before, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nothing)


def running() -> Any:
    """Return the connected Ray of this process."""
    ray = importlib.import_module("ray")
    if not ray.is_initialized():
        raise GlassformerError("Ray is not running in this process: call ray.init() first.")
    return ray


def device_on(ray: Any, device: str | None) -> str:
    """Return the device of the actors: the requested one, else a GPU if the cluster has one."""
    if device is None:
        return "cuda" if ray.cluster_resources().get("GPU", 0) >= 1 else "cpu"
    if device not in DEVICES:
        raise GlassformerError(
            f"--device {shown(device)} on Ray must be cpu or cuda: Ray assigns GPUs.{nearest(device, DEVICES)}"
        )
    if device == "cuda" and ray.cluster_resources().get("GPU", 0) < 1:
        raise GlassformerError("--device cuda: the Ray cluster has no GPU. Try --device cpu.")
    return device


def actors(ray: Any, task: Task, count: int | None) -> tuple[int, dict[str, Any]]:
    """Return how many actors there are, and how `map_batches` starts them; by default all GPUs or all cores are used."""
    total = ray.cluster_resources()
    on_gpu = task.device == "cuda"
    most = int(total.get("GPU", 0)) if on_gpu else int(total.get("CPU", 0)) // task.threads
    number = count or max(1, most)
    if number > max(1, most):
        what = f"{most} GPUs" if on_gpu else f"{int(total.get('CPU', 0))} CPUs for actors with {task.threads} threads"
        raise GlassformerError(f"workers={number}: the Ray cluster has {what}. Try workers={max(1, most)}.")
    data = importlib.import_module("ray.data")
    how: dict[str, Any] = {
        "compute": data.ActorPoolStrategy(size=number),
        "num_cpus": task.threads,
    }
    return number, how | ({"num_gpus": 1} if on_gpu else {})


def set_threads(count: int) -> None:
    """Set the number of threads of the libraries of an actor."""
    import torch

    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), str(count)))
    torch.set_num_threads(count)
