"""A worker process of a job: loads the model once, then computes one row group after another until its input ends."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
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
    if task.device != "cpu":
        import_module("glassformer.model.sentences.loaded_model")  # not in two threads at once: each could wait for the other
        Thread(target=prepare_gpu, args=(task.device,), daemon=True).start()
    uses = ("pooler", "head") if task.kind == "predict" else ("pooler",) if task.options.get("pool") == "pooled" else ()
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


def prepare_gpu(device: str) -> None:
    """Start the GPU, import our kernels, and let Triton hash its own files, while another thread reads the model."""
    import torch

    from glassformer.model.fast.precision import TRITON

    with suppress(RuntimeError, AssertionError, ImportError, AttributeError):  # reported where it is needed
        torch.zeros(1, device=device)
        if TRITON:
            import_module("glassformer.model.fast.attention_kernels")
            import_module("triton.runtime.cache").triton_key()


def main() -> None:
    """Serve standard input and output; what libraries print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the job ends its workers
    given, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    work(given, out)


if __name__ == "__main__":
    main()
