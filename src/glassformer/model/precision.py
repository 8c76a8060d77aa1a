"""The number format of matrix products: that of the tensors, or autocast's where it is on."""

from __future__ import annotations

import torch
from torch import Tensor


def product_dtype(like: Tensor) -> torch.dtype:
    """In which format a matrix product of a tensor like this is computed."""
    device = like.device.type
    if device in ("cpu", "cuda") and torch.is_autocast_enabled(device) and like.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    return like.dtype
