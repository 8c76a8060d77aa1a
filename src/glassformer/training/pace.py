"""How fast a run may go: as many threads as a step has work for, and torch.compile where it wins back its start."""

from __future__ import annotations

from typing import Any

import torch

from glassformer.model import Encoder
from glassformer.model.compiling import compile_layers
from glassformer.training.settings import Settings

WORK_OF_A_THREAD = 1e9  # FLOPs of a step: with less, threads wait for each other longer than they work
WORTH_COMPILING = 5e16  # FLOPs of a whole run, about five minutes of a large GPU: the graphs take one, and save a fifth


def threads_for(settings: Settings, predicted: dict[str, Any]) -> int:
    """The number of threads of a new run: as was asked, or by the work of a step; never more than torch would take."""
    most = torch.get_num_threads()
    if settings.threads is not None:
        return settings.threads
    return max(1, min(most, int(predicted["matrix_flops"] / WORK_OF_A_THREAD))) if "matrix_flops" in predicted else most


def use_threads(about: dict[str, Any]) -> None:
    """The number that a run was begun with: sums in another order would be other bits. Several processes share a machine."""
    if "threads" in about:
        most = torch.get_num_threads() if torch.distributed.is_initialized() else about["threads"]
        torch.set_num_threads(min(about["threads"], most))


def compile_if_worth(encoder: Encoder, settings: Settings, device: torch.device, flops: float) -> bool:
    """Compile in place, where that was asked for, or on a GPU where the run is long; says whether it did."""
    worth = settings.compile == "yes" or (settings.compile == "auto" and device.type == "cuda" and flops >= WORTH_COMPILING)
    if worth:
        compile_layers(encoder)  # around the layers padding is left out, which a compiled whole could not do
    return worth
