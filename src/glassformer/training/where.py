"""Where a run takes place: the device, the ranks, the number format and the random numbers, all in this one file."""

from __future__ import annotations

import resource
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor


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
    """This process and the best device that it has."""
    return Where(torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def be_deterministic(seed: int) -> None:
    """Equal runs give equal bits, where a deterministic kernel exists; memory is not filled up for it, which would cost time."""
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def number_format(where: Where, precision: str) -> AbstractContextManager[object]:
    """The context of a forward pass: matrix products in bfloat16 where that was asked for."""
    if precision == "bf16":
        return torch.autocast(where.device.type, dtype=torch.bfloat16)
    return nullcontext()


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
