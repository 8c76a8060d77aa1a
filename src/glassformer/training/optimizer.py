"""AdamW, its weight decay groups and learning-rate schedule, and its state as named tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from glassformer.errors import GlassformerError
from glassformer.training.settings import Settings

BETAS = (0.9, 0.999)


def make_optimizer(model: nn.Module, settings: Settings) -> torch.optim.AdamW:
    """Create AdamW (Loshchilov and Hutter 2017); weight decay applies to matrices and tables, not to vectors."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [one for one in parameters if one.ndim >= 2], "weight_decay": settings.weight_decay},
        {"params": [one for one in parameters if one.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=settings.lr, betas=BETAS, fused=True)


def learning_rate(settings: Settings, step: int, total: int) -> float:
    """Return the learning rate of a step: linear warmup, then decay to 0 after the last of `total` steps."""
    rise = round(settings.warmup * total)
    if step < rise:
        return settings.lr * (step + 1) / rise
    gone = (step - rise) / max(total - rise, 1)
    falls = {"cosine": (1 + math.cos(math.pi * gone)) / 2, "linear": 1 - gone, "none": 1.0}
    return settings.lr * falls[settings.decay]


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of the next step."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def optimizer_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer state as tensors named `parameter/state`."""
    return {
        f"{name}/{what}": value
        for name, parameter in model.named_parameters()
        for what, value in optimizer.state.get(parameter, {}).items()
    }


def load_optimizer_state(model: nn.Module, optimizer: torch.optim.Optimizer, state: Mapping[str, Tensor]) -> None:
    """Restore the optimizer state."""
    parameters = dict(model.named_parameters())
    for key, value in state.items():
        name, _, what = key.rpartition("/")
        if name not in parameters:
            raise GlassformerError(f"the checkpoint has optimizer state for {name}, which this encoder lacks.")
        parameter = parameters[name]
        # The step count is a scalar; moments are on the device of their parameter.
        optimizer.state[parameter][what] = value.clone().to(parameter.device)
