"""Products in int8 on a CPU: each token and each row of a matrix is rounded with its own scale."""

from __future__ import annotations

import platform
from pathlib import Path

import torch
from torch import Tensor

from glassformer.model.fast.feed_forward import IN_PLACE
from glassformer.model.fast.onednn import FUSED, Product

LARGEST = 127  # of int8, used symmetrically
ROWS = 128  # of the input at once for each thread: what is made of them stays in the cache
SMALLEST = 1e-12  # scale of a token of zeros
ACTIVATIONS = {name: IN_PLACE[function] for function, name in FUSED.items()}
EXACT = {"avx512_vnni", "avx_vnni", "amx_int8"}  # x86 instructions that add int8 products into 32 bits


class Int8Product(Product):
    """`x Wᵀ + b` with x rounded to int8 by token and W by row; sums are int32 and results float32.

    The scales of x are computed from each token, so the vector of a text does not depend on the other texts of its batch.
    """

    def forward(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        own: Tensor | None = self.read[1] if bias is None else bias
        x_ND = x.reshape(-1, x.shape[-1])
        out = x.new_empty(len(x_ND), len(self.scale))
        rows, activate = ROWS * torch.get_num_threads(), ACTIVATIONS.get(self.fused)
        for some, result in zip(x_ND.split(rows), out.split(rows), strict=True):
            rounded, scale = rounded_rows(some)
            sums = torch._int_mm(rounded, self.matrix).to(torch.float32).mul_(self.scale)
            if own is None:
                torch.mul(sums, scale, out=result)
            else:
                torch.addcmul(own, sums, scale, out=result)
            if activate is not None:
                activate(result)
        return out.reshape(*x.shape[:-1], -1)

    def convert(self, weight: Tensor) -> Tensor:
        """Return the rounded matrix, transposed; its scales are stored with it."""
        rounded, scale = rounded_rows(weight)
        self.scale, self.matrix = scale.flatten(), rounded.t().contiguous()
        return self.matrix


def rounded_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows in int8, and the scale of each, with which they are multiplied to restore them."""
    scale = x.abs().amax(1, keepdim=True).div_(LARGEST).clamp_(min=SMALLEST)
    return (x / scale).round_().to(torch.int8), scale


def saturates(flags: set[str] | None = None) -> bool:
    """Whether sums of two int8 products may be cut to 16 bits on this processor: x86 without VNNI."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    return not EXACT & (cpu_flags() if flags is None else flags)


def cpu_flags() -> set[str]:
    """Return the instruction sets that Linux lists for this processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return set()
    return set(next((line for line in lines if line.startswith("flags")), "").split())
