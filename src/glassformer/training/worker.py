"""Device, rank, number format and random state of a run."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from glassformer.errors import GlassformerError
from glassformer.training.data.chance import bits


@dataclass(frozen=True)
class Worker:
    """One process among `world`, with its device."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def writes(self) -> bool:
        """Whether this process writes files and output; only rank 0 does."""
        return self.rank == 0


def current_worker() -> Worker:
    """Return the device, rank and world size of this process."""
    device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")
    return Worker(device, dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else Worker(device)


def set_determinism(worker: Worker, seed: int, equal_bits: str = "yes") -> None:
    """Seed the generators and make runs bit-for-bit reproducible, without filling uninitialized memory, which costs time.

    On a GPU, warn_only would leave the backward pass of attention non-deterministic, so an error is raised there instead;
    cuBLAS must be configured before its first product.
    """
    torch.manual_seed(seed)
    asked, gpu = equal_bits == "yes", worker.device.type == "cuda"
    if asked and gpu:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    use_deterministic(mode=asked, warn_only=not gpu)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def use_deterministic(*, mode: bool, warn_only: bool) -> None:
    """Do what `torch.use_deterministic_algorithms` does, without importing the compiler for its setting if nothing has."""
    if "torch._inductor" in sys.modules:
        torch.use_deterministic_algorithms(mode=mode, warn_only=warn_only)
    else:
        torch._C._set_deterministic_algorithms(mode, warn_only=warn_only)


@contextmanager
def restore_process_settings() -> Iterator[None]:
    """Restore process-wide torch settings after a run: the number of threads and deterministic algorithms."""
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    fills = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        use_deterministic(mode=deterministic, warn_only=warns)
        torch.utils.deterministic.fill_uninitialized_memory = fills  # type: ignore[attr-defined]


@contextmanager
def report_nondeterministic_kernels() -> Iterator[None]:
    """Report an operation without a deterministic kernel in one line."""
    try:
        yield
    except RuntimeError as error:
        if "does not have a deterministic implementation" not in str(error):
            raise
        kernel = str(error).split()[0]
        raise GlassformerError(
            f"{kernel} has no deterministic implementation on this device. Train with --equal-bits no."
        ) from None


def number_format(worker: Worker, precision: str) -> AbstractContextManager[object]:
    """Return the autocast context of a forward pass: bfloat16 if requested, or by default on a GPU.

    With float8, everything else is computed in bfloat16: see `model.fast.float8`.
    """
    if precision in ("bf16", "fp8") or (precision == "auto" and worker.device.type == "cuda"):
        return torch.autocast(worker.device.type, dtype=torch.bfloat16)
    return nullcontext()


def number_type(worker: Worker, precision: str) -> torch.dtype:
    """Return the dtype of matrix products inside `number_format`."""
    with number_format(worker, precision):
        return torch.get_autocast_dtype(worker.device.type) if torch.is_autocast_enabled(worker.device.type) else torch.float32


def seed_per_process(worker: Worker, seed: int, step: int) -> None:
    """Seed this process differently from the others, so that their dropout masks are independent."""
    if worker.rank or step:
        torch.manual_seed(int(bits(seed, "process", worker.rank, step)[0]) >> 1)


def random_state(worker: Worker) -> dict[str, Tensor]:
    """Return the state of the generators used for dropout; data order and masks are functions of the seed."""
    state = {"cpu": torch.get_rng_state()}
    if worker.device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(worker.device)
    return state


def set_random_state(worker: Worker, state: dict[str, Tensor]) -> None:
    """Restore the state returned by `random_state`."""
    torch.set_rng_state(state["cpu"])
    if worker.device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], worker.device)


def peak_bytes(worker: Worker) -> int:
    """Return the peak memory of the device, or of the whole process on a CPU."""
    if worker.device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(worker.device))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
