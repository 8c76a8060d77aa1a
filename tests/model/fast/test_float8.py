"""Matrices in float8: as near to the exact ones as their rounding allows; GELU between two of them and back."""

import pytest
import torch
from torch.nn import functional

from glassformer.model.fast import float8

CUDA = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0), reason="needs a GPU that multiplies float8"
)
HERE = pytest.param("cpu"), pytest.param("cuda", marks=CUDA)


def error(found, exact):
    return float((found.double() - exact.double()).norm() / exact.double().norm())


def test_a_row_is_rounded_by_what_float8_rounds_whatever_its_size():
    x = torch.randn(50, 64) * 10.0 ** torch.linspace(-20, 20, 50)[:, None]
    found = float8.rounded(x)
    values = found.values.double() * found.scale.double()
    largest = x.double().abs().amax(-1, keepdim=True)
    normal = x.abs() > largest / 448 * 2**-6  # below it there are fewer bits
    assert ((values - x).abs()[normal] <= 2**-4 * x.abs()[normal]).all()
    assert (values.abs().amax(-1, keepdim=True) / largest - 1).abs().max() < 1e-6


def test_zeros_stay_zeros():
    found = float8.rounded(torch.zeros(3, 16))
    assert torch.isfinite(found.scale).all() and not found.values.float().any()


@pytest.mark.parametrize("device", HERE)
@pytest.mark.parametrize("biased", [True, False])
def test_a_product_is_that_of_the_rounded_numbers(device, biased):
    a, b = float8.rounded(torch.randn(40, 48, device=device)), float8.rounded(torch.randn(32, 48, device=device))
    bias = torch.randn(32, device=device).to(torch.bfloat16) if biased else None
    exact = (a.values.double() * a.scale) @ (b.values.double() * b.scale).t() + (bias.double() if biased else 0.0)
    assert error(float8.product(a, b, bias), exact) < 3e-3  # bfloat16 rounds the result


def test_the_bound_on_gelu_holds():
    x = torch.linspace(-9, 9, 100_001).double()
    assert (functional.gelu(x).abs() <= x.clamp(min=float8.LOWEST_GELU)).all()


@pytest.mark.parametrize("shape", [(5, 16), (33, 64), (7, 48), (100, 3072)])
def test_the_plain_counterparts_are_gelu_and_its_gradient(shape):
    wide, bias, g = torch.randn(shape).mul(3).bfloat16(), torch.randn(shape[1]), torch.randn(shape).mul(1e-6).bfloat16()
    x = (wide.double() + bias.double()).requires_grad_()
    active = functional.gelu(x)
    before = torch.autograd.grad(active, x, g.double())[0]
    there = float8.plain_gelu(wide, bias)
    back = float8.plain_gelu_backward(g, wide, bias)
    assert error(there.values.float() * there.scale, active.detach()) < 0.04
    assert error(back.active, active.detach()) < 3e-3 and error(back.wide, before) < 3e-3
    assert error(back.rounded.values.float() * back.rounded.scale, before) < 0.04
    assert error(back.bias, before.sum(0)) < 1e-4
