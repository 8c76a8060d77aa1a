"""A worker process of a job: loads the model once, then computes one row group after another until its input ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO

from glassformer.encoding.engines.choice import part_of_task, use
from glassformer.encoding.jobs.computing import Task, compute
from glassformer.encoding.jobs.messages import receive, send, unpacked
from glassformer.encoding.streams import load_on
from glassformer.errors import GlassformerError


def set_up(checkpoint: Path, task: Task) -> dict[str, Any]:
    """Return the first message for a worker."""
    return {"checkpoint": str(checkpoint), "task": asdict(task)}


def load_for(checkpoint: Path, task: Task) -> Any:
    """Load the model of a task on its device; random weights are refused, since each process would have others."""
    uses = ("pooler", "head") if task.kind == "predict" else ("pooler",) if task.options.get("pool") == "pooled" else ()
    with preparing(task.device):
        model = load_on(checkpoint, device=task.device, dtype=task.dtype, as_class=task.as_class, uses=uses)
    if task.precision == "int8":
        model.round_products()
    if task.graph is not None:
        use(task.engine, model, part_of_task(task.kind, task.options.get("pool")), Path(task.graph), task.threads)
    return model


def work(given: BinaryIO, out: BinaryIO) -> None:
    """Answer messages until the job ends; an error of the whole job is sent instead of an answer."""
    import torch

    try:
        about, _ = receive(given)
        task = Task(**about["task"])
        torch.set_num_threads(task.threads)
        model = load_for(Path(about["checkpoint"]), task)
        while True:
            header, blobs = receive(given)
            send(out, *compute(model, task, unpacked(header, blobs), peak=header["peak"]).to_message())
    except (EOFError, BrokenPipeError):
        return
    except GlassformerError as error:
        send(out, {"error": str(error)})


@contextmanager
def preparing(device: str) -> Iterator[None]:
    """Within the context, another thread starts the GPU and lets Triton hash its own files, both of which take a while.

    It imports no module of ours: two threads that import modules at once may see half of one.
    """

    def prepare() -> None:
        import torch

        with suppress(RuntimeError, AssertionError, ImportError, AttributeError):  # reported where it is needed
            torch.zeros(1, device=device)
            import_module("triton.runtime.cache").triton_key()

    thread = Thread(target=prepare)
    if device != "cpu":
        thread.start()
    try:
        yield
    finally:
        if device != "cpu":
            thread.join()


def main() -> None:
    """Serve standard input and output; what libraries print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the job ends its workers
    given, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    work(given, out)


if __name__ == "__main__":
    main()
