"""A kernel for a product followed by GELU: the wide result is written once, instead of being written, read and written again."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from glassformer.model.fast.normal_distribution import TAIL
from glassformer.model.fast.operations import operation

SIDE, DEEP = 128, 64  # a tile of the result is square; this much of a row of x and of W is loaded at a time
NEAR = 8  # tiles are ordered down before across, so that what their neighbours have read is still in the cache
_C0, _C1, _C2, _C3, _C4, _C5, _C6, _C7 = (tl.constexpr(coefficient) for coefficient in TAIL)


@triton.jit
def power_of_2(x):
    return tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def tail(size):
    """The tail of the normal distribution, as in `normal_distribution.py`."""
    power = _C4 + size * (_C5 + size * (_C6 + size * _C7))
    return power_of_2(_C0 + size * (_C1 + size * (_C2 + size * (_C3 + size * power))))


@triton.jit
def linear_gelu_kernel(
    X, W, BIAS, OUT, down, width, depth, SIDE: tl.constexpr, DEEP: tl.constexpr, NEAR: tl.constexpr, BIASED: tl.constexpr
):
    """One tile of `gelu(x Wᵀ + b)`."""
    across = tl.cdiv(width, SIDE)
    first = tl.program_id(0) // (NEAR * across) * NEAR
    place = tl.program_id(0) % (NEAR * across)
    high = min(down - first, NEAR)
    row, column = (first + place % high) * SIDE, place // high * SIDE
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for at in range(0, depth, DEEP):
        total = tl.dot(X.load([row, at]), W.load([column, at]).T, total)
    if BIASED:
        columns = column + tl.arange(0, SIDE)
        total += tl.load(BIAS + columns, mask=columns < width, other=0.0).to(tl.float32)[None, :]
    size = tl.abs(total)
    OUT.store([row, column], (tl.maximum(total, 0.0) - size * tail(size)).to(OUT.dtype))


def unwritten(x_ND: Tensor, weight_FD: Tensor, bias_F: Tensor | None) -> Tensor:
    """The memory of the result."""
    return x_ND.new_empty(x_ND.shape[0], weight_FD.shape[0])


@operation("linear_gelu", unwritten)
def linear_gelu(x_ND: Tensor, weight_FD: Tensor, bias_F: Tensor | None) -> Tensor:
    """`gelu(x Wᵀ + b)` of matrices, summed and activated in float32."""
    (rows, depth), width = x_ND.shape, weight_FD.shape[0]
    out_NF = unwritten(x_ND, weight_FD, bias_F)
    given = [TensorDescriptor.from_tensor(matrix.contiguous(), [SIDE, DEEP]) for matrix in (x_ND, weight_FD)]
    down, across = triton.cdiv(rows, SIDE), triton.cdiv(width, SIDE)
    with torch.cuda.device(x_ND.device):
        linear_gelu_kernel[(down * across,)](
            *given, bias_F, TensorDescriptor.from_tensor(out_NF, [SIDE, SIDE]), down, width, depth,
            SIDE=SIDE, DEEP=DEEP, NEAR=NEAR, BIASED=bias_F is not None, num_warps=4, num_stages=2,
        )  # fmt: skip
    return out_NF
