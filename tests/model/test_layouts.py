"""Layouts: who may see whom, rows without a real token, and the same answers padded and packed."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import furthest

from glassformer.model.joint_attention import kernels_serve
from glassformer.model.layouts import Packed, Padded, Rule, flash_serves
from glassformer.program.operations import Mask

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


@given(causal=st.booleans(), window=st.sampled_from([None, 1, 2, 5, 40]), queries=st.integers(1, 9), keys=st.integers(1, 9))
def test_a_rule_is_the_programs_mask(causal, window, queries, keys):
    visible = Rule(causal, window).visible(queries, keys, torch.device("cpu"))
    wanted = Mask(causal, window).visible(queries, keys)
    assert np.array_equal(np.ones((queries, keys), bool) if visible is None else visible.numpy(), wanted)


@settings(max_examples=60)
@given(
    dtype=st.sampled_from([torch.float64, torch.float32, torch.bfloat16]),
    rule=st.sampled_from([Rule(), Rule(causal=True), Rule(window=2)]),
    biased=st.booleans(),
    d_v=st.sampled_from([4, 3]),
    seed=st.integers(0, 999),
)
def test_a_query_that_sees_no_key_gets_zeros_on_every_path(dtype, rule, biased, d_v, seed):
    rng = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 2, 7, 2, 4, generator=rng).to(dtype)
    v = torch.randn(2, 7, 2, d_v, generator=rng).to(dtype)
    attend = torch.rand(2, 7, generator=rng) < 0.3
    attend[0] = False
    bias = torch.randn(2, 7, 7, generator=rng).to(dtype) if biased else None
    sight = Padded(attend).sight(q[..., 0], rule, bias)
    mix, weights = sight.mix(q, k, v, scale=0.5, dropout=0.0), sight.weights(q, k, scale=0.5)
    blind = ~weights.bool().any(-1)  # BHT
    assert blind[0].all()
    assert mix.isfinite().all() and weights.isfinite().all()
    assert not mix.transpose(1, 2)[blind].any()
    assert furthest(weights.float().sum(-1)[~blind], torch.ones(int((~blind).sum()))) < 0.02


def test_a_query_that_sees_no_key_has_gradients_without_nan():
    q = torch.randn(2, 3, 2, 4, requires_grad=True)
    sight = Padded(torch.tensor([[True, True, False], [False, False, False]])).sight(q, Rule())
    (sight.weights(q, q, scale=0.5).square().sum() + sight.mix(q, q, q, scale=0.5, dropout=0.0).sum()).backward()
    assert q.grad.isfinite().all()
    assert not q.grad[1].any()


@pytest.mark.parametrize("rule", [Rule(), Rule(causal=True), Rule(window=2), Rule(causal=True, window=2)], ids=str)
@pytest.mark.parametrize("biased", [False, True], ids=["", "biased"])
def test_a_packed_row_attends_as_the_rectangle_does(rule, biased):
    row, rectangle = layouts()
    q, k, v = packed(2, 4), packed(2, 4) + 1, packed(2, 3)
    bias = torch.randn(2, 6, 6, dtype=torch.float64) if biased else None
    wide = [as_rectangle(x) for x in (q, k, v)]
    narrow = row.sight(q, rule, bias).mix(q, k, v, scale=0.5, dropout=0.0)
    broad = rectangle.sight(wide[0], rule, bias).mix(*wide, scale=0.5, dropout=0.0)
    assert furthest(narrow, as_row(broad)) < 1e-12


@pytest.mark.parametrize("how", ["first", "last", "mean"])
def test_a_packed_row_pools_as_the_rectangle_does(how):
    row, rectangle = layouts()
    x = packed(5)
    wanted = torch.stack([{"first": s[0], "last": s[-1], "mean": s.mean(0)}[how] for s in x[0].split(LENGTHS)])
    assert furthest(getattr(row, how)(x), wanted) < 1e-12
    assert furthest(getattr(rectangle, how)(as_rectangle(x)), wanted) < 1e-12


def test_pooling_skips_padding_on_the_left():
    x, attend = torch.arange(6.0).reshape(2, 3, 1), torch.tensor([[False, True, True], [True, True, False]])
    assert Padded(attend).first(x).flatten().tolist() == [1, 3]
    assert Padded(attend).last(x).flatten().tolist() == [2, 4]
    assert Padded(attend).mean(x).flatten().tolist() == [1.5, 3.5]


def test_a_packed_mean_of_bfloat16_is_summed_in_float32():
    x = torch.ones(1, 4000, 1, dtype=torch.bfloat16)
    assert Packed(torch.tensor([0, 4000], dtype=torch.int32), 4000).mean(x).item() == 1.0


def test_the_kernel_serves_half_precision_on_a_gpu():
    q = torch.empty(0, 2, 8, dtype=torch.bfloat16)
    assert not flash_serves(q, q)  # no GPU
    if torch.cuda.is_available():
        on_gpu = q.cuda()
        assert flash_serves(on_gpu, on_gpu)
        assert not flash_serves(on_gpu.float(), on_gpu.float())
        assert not flash_serves(on_gpu, on_gpu[..., :4])


@CUDA
@pytest.mark.parametrize("rule", [Rule(), Rule(causal=True), Rule(window=2), Rule(causal=True, window=2)], ids=str)
def test_the_kernel_agrees_with_its_plain_twin(rule):
    row, _ = layouts()
    row = row._replace(bounds=row.bounds.cuda())
    q, k, v = (packed(2, 16, dtype=torch.bfloat16).cuda() + i for i in range(3))
    sight = row.sight(q, rule)
    kernel = sight.mix(q, k, v, scale=0.25, dropout=0.0)
    assert furthest(kernel.float(), sight._one_by_one(q, k, v, scale=0.25, dropout=0.0).float()) < 0.03


@CUDA
@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_our_kernel_agrees_with_its_plain_twin(width, dtype):
    lengths = [1, 31, 32, 33, 64, 2, 65, 127, 300, 511, 700, 1]
    bounds = torch.tensor([0, *lengths], device="cuda").cumsum(0).int()
    q, k, v = torch.randn(1, sum(lengths), 3, 5, width, device="cuda", dtype=dtype).mul(3).unbind(2)  # one beside the other
    sight = Packed(bounds, 700).sight(q, Rule())
    with torch.inference_mode():
        assert kernels_serve(q[0], 700)
        kernel = sight.mix(q, k, v, scale=0.3, dropout=0.0)
    exact = sight._one_by_one(q.double(), k.double(), v.double(), scale=0.3, dropout=0.0)
    assert kernel.dtype == dtype and furthest(kernel.double(), exact) < torch.finfo(dtype).eps * float(exact.abs().max())
    flash = sight._flash(q[0], k[0], v[0], scale=0.3, dropout=0.0)[None]
    assert furthest(kernel.double(), exact) < 1.5 * furthest(flash.double(), exact)


@CUDA
def test_our_kernels_take_heads_of_some_widths_and_count_in_32_bits():
    q = torch.empty(0, 2, 64, dtype=torch.bfloat16, device="cuda")
    assert kernels_serve(q, 5_000_000)
    assert not kernels_serve(q, 6_000_000)
    assert not kernels_serve(q[..., :40], 10)
    assert not kernels_serve(q.float(), 10)


@CUDA
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("biased", [False, True], ids=["", "biased"])
def test_a_query_that_sees_no_key_gets_zeros_on_the_gpu_too(dtype, biased):
    q, k, v = torch.randn(3, 2, 40, 4, 64, device="cuda", dtype=dtype, requires_grad=True)
    attend = torch.zeros(2, 40, dtype=torch.bool, device="cuda")
    attend[0, :7] = True
    bias = torch.randn(4, 40, 40, device="cuda", dtype=dtype) if biased else None
    mix = Padded(attend).sight(q[..., 0], Rule(window=6), bias).mix(q, k, v, scale=0.1, dropout=0.0)
    mix.sum().backward()
    assert not mix[1].any() and not mix[0, 20:].any()
    assert mix.isfinite().all()
