"""Norms: torch's own agree, and where they stand is what the spec says."""

import pytest
import torch
from model_cases import furthest
from torch import nn

from glassformer.model import start
from glassformer.model.norms import Halved, LayerScale, Norm, post_norm, pre_norm, rms_norm, unnormed
from glassformer.spec import ALL_BIASES, EncoderSpec


def norm(**fields) -> Norm:
    module = Norm(EncoderSpec(**fields), 6).double()
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def test_layer_norm_is_torchs():
    ours, theirs = norm(eps=1e-3), nn.LayerNorm(6, eps=1e-3, dtype=torch.float64)
    theirs.load_state_dict({"weight": ours.gamma, "bias": ours.beta})
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    assert furthest(ours(x), theirs(x)) < 1e-15


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


def test_rms_norm_is_torchs_and_has_no_beta():
    ours, theirs = norm(norm_kind="rms", eps=1e-3), nn.RMSNorm(6, eps=1e-3, dtype=torch.float64)
    theirs.load_state_dict({"weight": ours.gamma})
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    assert [name for name, _ in ours.views()] == ["gamma"]
    assert furthest(ours(x), theirs(x)) < 1e-15


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


def test_a_norm_without_bias_has_no_beta():
    assert [name for name, _ in norm(biases=tuple(place for place in ALL_BIASES if place != "norm")).views()] == ["gamma"]


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_a_large_offset_is_no_worse_than_in_torchs_layer_norm(offset):
    x = torch.randn(4, 6, dtype=torch.float64) + offset
    start.fill(ours := Norm(EncoderSpec(), 6))
    exact = nn.functional.layer_norm(x, (6,))
    assert furthest(ours(x.float()).double(), exact) <= furthest(nn.functional.layer_norm(x.float(), (6,)).double(), exact)


@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.5])
def test_eps_is_added_to_the_variance_and_a_constant_row_gives_beta(eps):
    module = norm(eps=eps)
    constant = torch.full((1, 6), 3.0, dtype=torch.float64)
    assert furthest(module(constant)[0], module.beta) < 1e-12
    x = torch.randn(1, 6, dtype=torch.float64)
    centred = x - x.mean()
    wanted = module.gamma * centred / (centred.square().mean() + eps).sqrt() + module.beta
    assert furthest(module(x), wanted) < 1e-12


def test_post_norm_normalises_the_sum_and_pre_norm_what_is_read():
    assert post_norm(3, lambda x: 10 * x, lambda x: x + 1) == 70
    assert pre_norm(3, lambda x: 10 * x, lambda x: x + 1) == 34
    assert pre_norm(3, unnormed, lambda x: x + 1) == 7


def test_layer_scale_multiplies_each_feature():
    module = LayerScale(EncoderSpec(d_model=3, heads=1), 2)
    with torch.no_grad():
        module.factor.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert module(torch.ones(1, 1, 3)).flatten().tolist() == [1, 2, 3]
    assert [name for name, _ in module.views()] == ["lambda_2"]
