"""`gelu(x + bias)` and its gradients as two Triton kernels, each one pass over memory; `FeedForward` has their plain twin.

PyTorch's compiled GELU spends longer on its error function than on memory, and sums the bias's gradient in a second pass. Here
the normal distribution's tail is one exponential times a polynomial, within 3e-5 of itself everywhere: a bfloat16 number is
rounded by up to 4e-3. Sums are made in a fixed order, so a result has the same bits each time.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS = 8  # of a tile
COLUMNS = 1024  # at most: eight 16-bit numbers for each of 128 threads
TILES = 8  # in a column, that one program sums the bias's gradient over


@triton.jit
def _normal(x):  # type: ignore[no-untyped-def]
    """The normal distribution up to x, and its density there."""
    size = tl.abs(x)
    bell = tl.exp2(size * size * -0.7213475204444817)  # exp(-x² / 2)
    t = 1.0 / (1.0 + 0.37650450448600137 * size)
    tail = t * -0.09096559787352587 + 0.19797296836271058
    tail = t * tail + 0.0852842114459512
    tail = t * tail + 0.15800665400241734
    tail = t * tail + 0.14968754558535127
    tail = t * tail * bell
    return tl.where(x < 0.0, tail, 1.0 - tail), bell * 0.3989422804014327


@triton.jit
def _forward(x, bias, y, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row[:, None] < rows) & (column[None, :] < width)
    at = row[:, None].to(tl.int64) * width + column[None, :]
    shift = tl.load(bias + column, mask=column < width, other=0.0).to(tl.float32)
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32) + shift[None, :]
    below, _ = _normal(value)
    tl.store(y + at, value * below, mask=inside)


@triton.jit
def _backward(  # type: ignore[no-untyped-def]  # noqa: PLR0913
    gradient, x, bias, into, sums, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr, TILES: tl.constexpr
):
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    shift = tl.load(bias + column, mask=column < width, other=0.0).to(tl.float32)
    total = tl.zeros((COLUMNS,), dtype=tl.float32)
    for tile in range(TILES):
        row = (tl.program_id(0) * TILES + tile) * ROWS + tl.arange(0, ROWS)
        inside = (row[:, None] < rows) & (column[None, :] < width)
        at = row[:, None].to(tl.int64) * width + column[None, :]
        value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32) + shift[None, :]
        coming = tl.load(gradient + at, mask=inside, other=0.0).to(tl.float32)
        below, density = _normal(value)
        going = coming * (below + value * density)
        tl.store(into + at, going, mask=inside)
        total += tl.sum(going, axis=0)
    tl.store(sums + tl.program_id(0) * width + column, total, mask=column < width)


def _columns(width: int) -> int:
    return min(COLUMNS, triton.next_power_of_2(width))


@torch.library.triton_op("glassformer::biased_gelu", mutates_args=())
def biased_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """`gelu(x + bias)` of contiguous numbers, the bias along the last axis."""
    width = x.shape[-1]
    rows, columns = x.numel() // width, _columns(width)
    y = torch.empty_like(x)
    grid = (triton.cdiv(rows, ROWS), triton.cdiv(width, columns))
    torch.library.wrap_triton(_forward)[grid](x, bias, y, rows, width, ROWS=ROWS, COLUMNS=columns)
    return y


@torch.library.triton_op("glassformer::biased_gelu_backward", mutates_args=())
def biased_gelu_backward(gradient: Tensor, x: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of x and of the bias, the latter as sums over groups of rows."""
    width = x.shape[-1]
    rows, columns = x.numel() // width, _columns(width)
    groups = triton.cdiv(rows, ROWS * TILES)
    into, sums = torch.empty_like(x), torch.empty(groups, width, dtype=torch.float32, device=x.device)
    grid = (groups, triton.cdiv(width, columns))
    torch.library.wrap_triton(_backward)[grid](
        gradient, x, bias, into, sums, rows, width, ROWS=ROWS, COLUMNS=columns, TILES=TILES
    )
    return into, sums


def _keep(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]  # noqa: ARG001
    ctx.save_for_backward(*inputs)


def _gradients(ctx, gradient: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[no-untyped-def]
    x, bias = ctx.saved_tensors
    into, sums = biased_gelu_backward(gradient.contiguous(), x, bias)
    return into, sums.sum(0).to(bias.dtype)


biased_gelu.register_autograd(_gradients, setup_context=_keep)
