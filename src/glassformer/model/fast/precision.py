"""The number format of matrix products: that of the tensors, or autocast's if enabled; and which formats our kernels support."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

HALVES = (torch.bfloat16, torch.float16)
TRITON = find_spec("triton") is not None and torch.version.hip is None  # the kernels contain NVIDIA assembler


def product_dtype(dtype: torch.dtype, device: torch.device) -> torch.dtype:
    """The format in which a matrix product of such numbers is computed on a device."""
    if device.type in ("cpu", "cuda") and torch.is_autocast_enabled(device.type) and dtype != torch.float64:
        return torch.get_autocast_dtype(device.type)
    return dtype


def kernels_take(x: Tensor) -> bool:
    """Whether our own kernels support this dtype on this device."""
    return TRITON and x.is_cuda and x.dtype in HALVES
