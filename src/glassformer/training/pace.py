"""Speed choices of a run: the number of CPU threads, and whether torch.compile pays off."""

from __future__ import annotations

from typing import Any

import torch

from glassformer.model import Encoder
from glassformer.model.fast.compiling import compile_layers
from glassformer.training.settings import Settings

WORK_OF_A_THREAD = 1e9  # FLOPs per step and thread: with less work, threads mostly wait for each other
WORTH_COMPILING = 1e16  # FLOPs of a run, about a minute on a large GPU: compiling takes 20 s, and 10 s the next time


def threads_for(settings: Settings, predicted: dict[str, Any]) -> int:
    """Return the number of threads of a new run: the setting, or by the work of a step, up to torch's default."""
    most = torch.get_num_threads()
    if settings.threads is not None:
        return settings.threads
    return max(1, min(most, int(predicted["matrix_flops"] / WORK_OF_A_THREAD))) if "matrix_flops" in predicted else most


def use_threads(about: dict[str, Any]) -> None:
    """Use the thread count that the run started with, for bitwise equal sums; several processes share a machine."""
    if "threads" in about:
        most = torch.get_num_threads() if torch.distributed.is_initialized() else about["threads"]
        torch.set_num_threads(min(about["threads"], most))


def compile_if_worth(encoder: Encoder, settings: Settings, device: torch.device, flops: float) -> bool:
    """Compile the layers if requested, or for a long run on a GPU; return whether they were compiled."""
    worth = settings.compile == "yes" or (settings.compile == "auto" and device.type == "cuda" and flops >= WORTH_COMPILING)
    if worth:
        # The compiler has a setting of its own for this, which `use_deterministic` leaves out.
        warns = torch.is_deterministic_algorithms_warn_only_enabled()
        torch.use_deterministic_algorithms(mode=torch.are_deterministic_algorithms_enabled(), warn_only=warns)
        # Layers only: they share one graph, which takes seconds. Batches of so many tokens have one size.
        compile_layers(encoder, varied=settings.batch_tokens is None)
    return worth
