"""Two kernels for GELU between products in float8: each reads its input once and writes scaled, rounded rows."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from glassformer.model.fast.float8 import FLOAT8, LARGEST, LOWEST_GELU
from glassformer.model.fast.gelu_kernels import power_of_2, tail
from glassformer.model.fast.operations import operation

PROGRAMS = 4  # per multiprocessor of the GPU: each program processes many rows and adds up their gradients
_LARGEST, _LOWEST = tl.constexpr(LARGEST), tl.constexpr(LOWEST_GELU)


@triton.jit
def tanh(x):
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def below(x):
    """The normal distribution function of x, to 3e-4: float8 rounds by more."""
    return 0.5 + 0.5 * tanh(x * (0.7978845608 + 0.0356774081 * x * x))


@triton.jit
def normal(x):
    """As in `normal_distribution.py`: the distribution function of x, and the density."""
    size = tl.abs(x)
    beyond = tail(size)
    return tl.where(x < 0, beyond, 1.0 - beyond), power_of_2(size * size * -0.7213475204444817) * 0.3989422804014327


# The size of a block is a power of two; a row is split into two blocks, so that 3,072 are 2,048 and 1,024 instead of 4,096.


@triton.jit
def forward_kernel(WIDE, BIAS, VALUES, SCALE, width, ONE: tl.constexpr, TWO: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * width
    one = tl.arange(0, ONE)
    two = ONE + tl.arange(0, TWO)
    inside = two < width
    x_1 = tl.load(WIDE + start + one).to(tl.float32) + tl.load(BIAS + one).to(tl.float32)
    x_2 = tl.load(WIDE + start + two, mask=inside, other=0.0).to(tl.float32)
    x_2 += tl.load(BIAS + two, mask=inside, other=0.0).to(tl.float32)
    size = tl.maximum(tl.maximum(tl.max(x_1, 0), tl.max(x_2, 0)), _LOWEST)
    scale = _LARGEST / size
    tl.store(VALUES + start + one, (x_1 * scale * below(x_1)).to(tl.float8e4nv))
    tl.store(VALUES + start + two, (x_2 * scale * below(x_2)).to(tl.float8e4nv), mask=inside)
    tl.store(SCALE + tl.program_id(0), size / _LARGEST)


@triton.jit
def backward_kernel(G, WIDE, BIAS, BEFORE, VALUES, SCALE, SUMS, ACTIVE, rows, width, ONE: tl.constexpr, TWO: tl.constexpr):
    one = tl.arange(0, ONE)
    two = ONE + tl.arange(0, TWO)
    inside = two < width
    bias_1 = tl.load(BIAS + one).to(tl.float32)
    bias_2 = tl.load(BIAS + two, mask=inside, other=0.0).to(tl.float32)
    sum_1 = tl.zeros((ONE,), tl.float32)
    sum_2 = tl.zeros((TWO,), tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        start = row.to(tl.int64) * width
        x_1 = tl.load(WIDE + start + one).to(tl.float32) + bias_1
        x_2 = tl.load(WIDE + start + two, mask=inside, other=0.0).to(tl.float32) + bias_2
        g_1 = tl.load(G + start + one).to(tl.float32)
        g_2 = tl.load(G + start + two, mask=inside, other=0.0).to(tl.float32)
        below_1, density_1 = normal(x_1)
        below_2, density_2 = normal(x_2)
        g_1 *= below_1 + x_1 * density_1
        g_2 *= below_2 + x_2 * density_2
        sum_1 += g_1
        sum_2 += g_2
        tl.store(ACTIVE + start + one, (x_1 * below_1).to(tl.bfloat16))
        tl.store(ACTIVE + start + two, (x_2 * below_2).to(tl.bfloat16), mask=inside)
        tl.store(BEFORE + start + one, g_1.to(tl.bfloat16))
        tl.store(BEFORE + start + two, g_2.to(tl.bfloat16), mask=inside)
        size = tl.maximum(tl.maximum(tl.max(tl.abs(g_1), 0), tl.max(tl.abs(g_2), 0)), 1e-30)
        tl.store(VALUES + start + one, (g_1 * (_LARGEST / size)).to(tl.float8e4nv))
        tl.store(VALUES + start + two, (g_2 * (_LARGEST / size)).to(tl.float8e4nv), mask=inside)
        tl.store(SCALE + row, size / _LARGEST)
    tl.store(SUMS + tl.program_id(0).to(tl.int64) * width + one, sum_1)
    tl.store(SUMS + tl.program_id(0).to(tl.int64) * width + two, sum_2, mask=inside)


def blocks(width: int) -> dict[str, int]:
    """The largest power of two below the width, and the smallest one that holds the rest."""
    one = triton.next_power_of_2(width) // 2
    return {"ONE": one, "TWO": triton.next_power_of_2(width - one)}


def unwritten(wide: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The memory of the results."""
    return torch.empty_like(wide, dtype=FLOAT8), wide.new_empty((wide.shape[0], 1), dtype=torch.float32)


@operation("gelu8", unwritten)
def gelu_kernel(wide: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """`gelu(wide + bias)` in float8, and the scale of each row."""
    rows, width = wide.shape
    values, scale = unwritten(wide, bias)
    with torch.cuda.device(wide.device):
        forward_kernel[(rows,)](wide, bias, values, scale, width, **blocks(width), num_warps=4)
    return values, scale


def unwritten_backward(g: Tensor, wide: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The memory of the results."""
    programs = PROGRAMS * torch.cuda.get_device_properties(wide.device).multi_processor_count
    scale = wide.new_empty((wide.shape[0], 1), dtype=torch.float32)
    sums = wide.new_empty((programs, wide.shape[1]), dtype=torch.float32)
    return torch.empty_like(wide), torch.empty_like(wide, dtype=FLOAT8), scale, sums, torch.empty_like(wide)


@operation("gelu8_backward", unwritten_backward)
def gelu_backward_kernel(g: Tensor, wide: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The gradient before GELU, the same in float8, the scale of each row, each program's sums for the bias, and GELU."""
    rows, width = wide.shape
    results = unwritten_backward(g, wide, bias)
    before, values, scale, sums, active = results
    given = (g, wide, bias, before, values, scale, sums, active)
    with torch.cuda.device(wide.device):
        backward_kernel[(sums.shape[0],)](*given, rows, width, **blocks(width), num_warps=8)
    return results
