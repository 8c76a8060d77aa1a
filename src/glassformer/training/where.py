"""Where a run takes place: the device, the ranks, the number format and the random numbers, all in this one file."""

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

from glassformer.spec import GlassformerError
from glassformer.training.data.chance import bits


@dataclass(frozen=True)
class Where:
    """One process among `world`, with its device."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def writes(self) -> bool:
        """Whether this process writes files and lines; one of them does."""
        return self.rank == 0


def this_place() -> Where:
    """This process among those that it joined, and the best device that it has."""
    device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")
    return Where(device, dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else Where(device)


def be_deterministic(where: Where, seed: int, equal_bits: str = "yes") -> None:
    """Equal runs give equal bits; memory is not filled up for it, which would cost time.

    On a GPU a mere warning would leave attention's backward pass as it is, which sums in any order: there it is asked for in
    earnest, and cuBLAS wants to be told before its first product.
    """
    torch.manual_seed(seed)
    asked, gpu = equal_bits == "yes", where.device.type == "cuda"
    if asked and gpu:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(mode=asked, warn_only=not gpu)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


@contextmanager
def equal_bits_or_said() -> Iterator[None]:
    """A step for which there is no kernel that gives equal bits ends in one line."""
    try:
        yield
    except RuntimeError as error:
        if "does not have a deterministic implementation" not in str(error):
            raise
        kernel = str(error).split()[0]
        raise GlassformerError(
            f"{kernel} has no version on this device that gives the same bits each time. Train with --equal-bits no."
        ) from None


def number_format(where: Where, precision: str) -> AbstractContextManager[object]:
    """The context of a forward pass: matrix products in bfloat16 where that was asked for, or helps: on a GPU.

    With float8 this is what everything else is in: see `model.float8`.
    """
    if precision in ("bf16", "fp8") or (precision == "auto" and where.device.type == "cuda"):
        return torch.autocast(where.device.type, dtype=torch.bfloat16)
    return nullcontext()


def number_type(where: Where, precision: str) -> torch.dtype:
    """The type of the numbers that matrix products are made of, inside `number_format`."""
    with number_format(where, precision):
        return torch.get_autocast_dtype(where.device.type) if torch.is_autocast_enabled(where.device.type) else torch.float32


def draw_apart(where: Where, seed: int, step: int) -> None:
    """Random numbers of this process's own: dropout in one process has nothing to do with dropout in another."""
    if where.rank or step:
        torch.manual_seed(int(bits(seed, "process", where.rank, step)[0]) >> 1)


def random_state(where: Where) -> dict[str, Tensor]:
    """The generators that dropout draws from; data and masks are functions of the seed and have no state."""
    state = {"cpu": torch.get_rng_state()}
    if where.device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(where.device)
    return state


def set_random_state(where: Where, state: dict[str, Tensor]) -> None:
    """Go on drawing where `random_state` left off."""
    torch.set_rng_state(state["cpu"])
    if where.device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], where.device)


def peak_bytes(where: Where) -> int:
    """The most memory that was in use: of the device, or of the whole process on a CPU."""
    if where.device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(where.device))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
