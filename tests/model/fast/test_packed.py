"""Packed rows: the same answers as in a padded rectangle, and kernels that agree with their plain twins."""

import numpy as np
import pytest
import torch
from model_cases import core_of, furthest

from glassformer.model.core import Padded, Rule
from glassformer.model.fast.joint_attention import kernels_serve
from glassformer.model.fast.packed import Packed, flash_serves

LENGTHS = [4, 1, 6, 3]
CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def packed(*shape: int, dtype=torch.float64) -> torch.Tensor:
    return torch.randn(1, sum(LENGTHS), *shape, dtype=dtype, generator=torch.Generator().manual_seed(0))


def layouts() -> tuple[Packed, Padded]:
    bounds = torch.tensor(np.cumsum([0, *LENGTHS]), dtype=torch.int32)
    return Packed(bounds, max(LENGTHS)), Padded(torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None])


def as_rectangle(row: torch.Tensor) -> torch.Tensor:
    return torch.nn.utils.rnn.pad_sequence(row[0].split(LENGTHS), batch_first=True)


def as_row(rectangle: torch.Tensor) -> torch.Tensor:
    return torch.cat([line[:length] for line, length in zip(rectangle, LENGTHS, strict=True)])[None]


@pytest.mark.parametrize("rule", [Rule(), Rule(causal=True), Rule(window=2), Rule(causal=True, window=2)], ids=str)
@pytest.mark.parametrize("biased", [False, True], ids=["", "biased"])
def test_a_packed_row_attends_as_the_rectangle_does(rule, biased):
    row, rectangle = layouts()
    q, k, v = packed(2, 4), packed(2, 4) + 1, packed(2, 3)
    bias = torch.randn(2, 6, 6, dtype=torch.float64) if biased else None
    wide = [as_rectangle(x) for x in (q, k, v)]
    narrow = core_of(row, q, rule, bias).mix(q, k, v, scale=0.5, dropout=0.0)
    broad = core_of(rectangle, wide[0], rule, bias).mix(*wide, scale=0.5, dropout=0.0)
    assert furthest(narrow, as_row(broad)) < 1e-12


@pytest.mark.parametrize("how", ["first", "last", "mean"])
def test_a_packed_row_pools_as_the_rectangle_does(how):
    row, rectangle = layouts()
    x = packed(5)
    wanted = torch.stack([{"first": s[0], "last": s[-1], "mean": s.mean(0)}[how] for s in x[0].split(LENGTHS)])
    assert furthest(getattr(row, how)(x), wanted) < 1e-12
    assert furthest(getattr(rectangle, how)(as_rectangle(x)), wanted) < 1e-12


def test_a_packed_mean_of_bfloat16_is_summed_in_float32():
    x = torch.ones(1, 4000, 1, dtype=torch.bfloat16)
    assert Packed(torch.tensor([0, 4000], dtype=torch.int32), 4000).mean(x).item() == 1.0


def test_the_kernel_serves_half_precision_on_a_gpu():
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    assert flash_serves(8, 8, torch.bfloat16, gpu) and flash_serves(64, 64, torch.float16, gpu)
    assert not flash_serves(8, 8, torch.bfloat16, cpu)
    assert not flash_serves(8, 8, torch.float32, gpu)
    assert not flash_serves(8, 4, torch.bfloat16, gpu)


@CUDA
@pytest.mark.parametrize("rule", [Rule(), Rule(causal=True), Rule(window=2), Rule(causal=True, window=2)], ids=str)
def test_the_kernel_agrees_with_its_plain_counterpart(rule):
    row, _ = layouts()
    row = row._replace(bounds=row.bounds.cuda())
    q, k, v = (packed(2, 16, dtype=torch.bfloat16).cuda() + i for i in range(3))
    core = core_of(row, q, rule)
    kernel = core.mix(q, k, v, scale=0.25, dropout=0.0)
    assert furthest(kernel.float(), core._by_length(q, k, v, scale=0.25, dropout=0.0).float()) < 0.03


@CUDA
@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_our_kernel_agrees_with_its_plain_counterpart(width, dtype):
    lengths = [1, 31, 32, 33, 64, 2, 65, 127, 300, 511, 700, 1]
    bounds = torch.tensor([0, *lengths], device="cuda").cumsum(0).int()
    q, k, v = torch.randn(1, sum(lengths), 3, 5, width, device="cuda", dtype=dtype).mul(3).unbind(2)  # one beside the other
    core = core_of(Packed(bounds, 700), q)
    with torch.inference_mode():
        assert kernels_serve(q[0], 700)
        kernel = core.mix(q, k, v, scale=0.3, dropout=0.0)
    exact = core._by_length(q.double(), k.double(), v.double(), scale=0.3, dropout=0.0)
    assert kernel.dtype == dtype and furthest(kernel.double(), exact) < torch.finfo(dtype).eps * float(exact.abs().max())
    flash = core._flash(q[0], k[0], v[0], scale=0.3, dropout=0.0)[None]
    assert furthest(kernel.double(), exact) < 1.5 * furthest(flash.double(), exact)


@CUDA
def test_our_kernels_take_heads_of_some_widths_and_count_in_32_bits():
    q = torch.empty(0, 2, 64, dtype=torch.bfloat16, device="cuda")
    assert kernels_serve(q, 5_000_000)
    assert not kernels_serve(q, 6_000_000)
    assert not kernels_serve(q[..., :40], 10)
    assert not kernels_serve(q.float(), 10)
