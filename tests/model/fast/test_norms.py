"""Norms that keep less are torch's, forth and back, and hand on the format of matrix products."""

import pytest
import torch
from torch import nn

from glassformer.model.fast.norms import FastNorm, Halved, rms_norm
from glassformer.spec import EncoderSpec


def test_under_autocast_a_norm_hands_on_the_format_of_products():
    norm = FastNorm(EncoderSpec(), 6)
    nn.init.ones_(norm.gamma)
    nn.init.zeros_(norm.beta)
    x = torch.randn(2, 3, 6)
    assert norm(x).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert norm(x).dtype == torch.bfloat16
        assert norm.double()(x.double()).dtype == torch.float64


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("shifts", [True, False])
@pytest.mark.parametrize("frozen", [False, True])
def test_a_norm_that_keeps_16_bits_is_torchs_in_float32(dtype, shifts, frozen):
    torch.manual_seed(0)
    x = torch.randn(4, 3, 6).mul(5).to(dtype).requires_grad_()
    gamma, beta = torch.randn(2, 6).unbind()
    gamma, beta = gamma.requires_grad_(not frozen), beta.requires_grad_() if shifts else None
    g, learned = torch.randn(4, 3, 6).to(dtype), [one for one in (x, gamma, beta) if one is not None and one.requires_grad]
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda one: kept.append(one) or one, lambda one: one):
        ours = Halved.apply(x, gamma, beta, 1e-5)
    theirs = nn.functional.layer_norm(x.float(), (6,), gamma, beta, 1e-5).to(dtype)
    assert torch.equal(ours, theirs) and not any(one.shape == x.shape and one.dtype == torch.float32 for one in kept)
    for mine, yours in zip(torch.autograd.grad(ours, learned, g), torch.autograd.grad(theirs, learned, g), strict=True):
        assert mine.dtype == yours.dtype and torch.equal(mine, yours)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_rms_norm_in_training_is_torchs_and_keeps_its_input_alone(dtype):
    torch.manual_seed(0)
    x, gamma = torch.randn(4, 3, 6).mul(5).to(dtype).requires_grad_(), torch.randn(6).to(dtype).requires_grad_()
    g, kept = torch.randn(4, 3, 6).to(dtype), []
    with torch.autograd.graph.saved_tensors_hooks(lambda one: kept.append(one) or one, lambda one: one):
        ours = rms_norm(x, gamma, None, 1e-5)
    assert [one.shape for one in kept].count(x.shape) == 1
    theirs = nn.functional.rms_norm(x, (6,), gamma, 1e-5)
    assert torch.equal(ours, theirs)
    for mine, yours in zip(torch.autograd.grad(ours, (x, gamma), g), torch.autograd.grad(theirs, (x, gamma), g), strict=True):
        assert mine.dtype == yours.dtype
        torch.testing.assert_close(mine, yours)


def test_the_gradient_of_rms_norm_is_the_slope():
    x, gamma = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 3, 5), (5,)))
    assert torch.autograd.gradcheck(lambda x, gamma: rms_norm(x, gamma, None, 1e-3), (x, gamma))


@pytest.mark.parametrize("frozen", ["neither", "x", "gamma"])
def test_the_gradient_of_rms_norm_has_a_gradient(frozen):
    x, gamma = torch.randn(3, 6, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    x.requires_grad_(frozen != "x")
    gamma.requires_grad_(frozen != "gamma")
    assert torch.autograd.gradgradcheck(lambda x, gamma: rms_norm(x, gamma, None, 1e-3), (x, gamma))
