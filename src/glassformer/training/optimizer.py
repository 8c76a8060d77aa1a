"""AdamW, its weight decay groups and learning-rate schedule, and its state as named tensors."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.errors import GlassformerError
from glassformer.training.adamw import AdamW
from glassformer.training.settings import Settings

STACK = r"(?:encoder\.|decoder\.)?"  # of an encoder-decoder
LAYER = re.compile(STACK + r"layers\.(\d+)\.")
BELOW = re.compile(STACK + r"(?:embeddings|relative|tables)\.")


def make_optimizer(model: nn.Module, settings: Settings) -> AdamW:
    """Create AdamW; weight decay applies to matrices and tables, not to vectors.

    With `layer_decay`, the parameters of each layer are a separate group; `scale` is the factor of its learning rate.
    """
    groups: dict[tuple[float, bool], dict[str, Any]] = {}
    depths = _depths(model)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            scale, matrix = settings.layer_decay ** (max(depths.values()) - depths[name]), parameter.ndim >= 2
            decay = settings.weight_decay if matrix else 0.0
            group = groups.setdefault((-scale, not matrix), {"params": [], "weight_decay": decay, "scale": scale})
            group["params"].append(parameter)
    return AdamW([groups[key] for key in sorted(groups)], lr=settings.lr)


def _depths(model: nn.Module) -> dict[str, int]:
    """Return the depth of each parameter: 0 for embeddings and tables of positions, then the layers, then what follows them."""
    layers = [int(found[1]) for name, _ in model.named_parameters() if (found := LAYER.match(name))]  # of both stacks
    above = max(layers, default=-1) + 2
    depths = {}
    for name, _ in model.named_parameters():
        found = LAYER.match(name)
        depths[name] = int(found[1]) + 1 if found else 0 if BELOW.match(name) else above
    return depths


def learning_rate(settings: Settings, step: int, total: int) -> float:
    """Return the learning rate of a step: linear warmup, then decay to 0 after the last of `total` steps."""
    rise = round(settings.warmup * total)
    if step < rise:
        return settings.lr * (step + 1) / rise
    gone = (step - rise) / max(total - rise, 1)
    falls = {"cosine": (1 + math.cos(math.pi * gone)) / 2, "linear": 1 - gone, "none": 1.0}
    return settings.lr * falls[settings.decay]


def set_rate(optimizer: AdamW, rate: float) -> None:
    """Set the learning rate of the next step."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate * group["scale"])
        else:
            group["lr"] = rate * group["scale"]


def rates_on_device(optimizer: AdamW, device: torch.device) -> None:
    """Keep the learning rates on the device, where a recorded step reads them."""
    for group in optimizer.param_groups:
        group["lr"] = torch.tensor(float(group["lr"]), device=device)


def optimizer_state(model: nn.Module, optimizer: AdamW) -> dict[str, Tensor]:
    """Return the optimizer state as tensors named `parameter/state`."""
    return {
        f"{name}/{what}": value
        for name, parameter in model.named_parameters()
        for what, value in optimizer.state.get(parameter, {}).items()
    }


def load_optimizer_state(model: nn.Module, optimizer: AdamW, state: Mapping[str, Tensor]) -> None:
    """Restore the optimizer state."""
    parameters = dict(model.named_parameters())
    for key, value in state.items():
        name, _, what = key.rpartition("/")
        if name not in parameters:
            raise GlassformerError(f"the checkpoint has optimizer state for {name}, which this encoder lacks.")
        parameter = parameters[name]
        # The step count is a scalar; moments are on the device of their parameter.
        optimizer.state[parameter][what] = value.clone().to(parameter.device)
