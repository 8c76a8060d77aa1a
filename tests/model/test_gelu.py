"""The quick GELU of compiled steps is GELU, and so is its derivative."""

import pytest
import torch
from model_cases import BERT, inputs_of
from torch.nn import functional

from glassformer.model import Encoder, gelu

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
EVERYWHERE = torch.cat((torch.linspace(-14, 14, 20_001), torch.tensor([0.0, -0.0, 1e-30, 1e4, -1e4])))


def test_the_distribution_and_its_density_are_within_3e_5_of_themselves():
    x = EVERYWHERE.double()
    below, density = gelu.normal(x)
    exact = torch.special.log_ndtr(x).exp()  # ndtr itself is 0 long before -14
    assert ((below - exact).abs() <= 3e-5 * exact).all()
    assert torch.allclose(density, torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_16_bits_it_is_as_near_as_pytorchs_own(dtype):
    given, coming = EVERYWHERE.to(dtype), torch.randn(len(EVERYWHERE)).to(dtype)
    x = given.double().requires_grad_()
    exact = functional.gelu(x)
    wanted = exact.detach(), torch.autograd.grad(exact, x, coming.double())[0]
    errors = []
    for function in (gelu.quick, lambda x: functional.gelu(x.float()).to(x.dtype)):
        x = given.clone().requires_grad_()
        y = function(x)
        found = y.detach(), torch.autograd.grad(y, x, coming)[0]
        errors.append([float((one.double() - other).norm() / other.norm()) for one, other in zip(found, wanted, strict=True)])
    quick, own = errors
    assert all(one <= 1.02 * other for one, other in zip(quick, own, strict=True))


def test_it_is_not_asked_outside_of_compiled_16_bit_steps_on_a_gpu(monkeypatch):
    monkeypatch.setattr(gelu, "quick", None)
    assert torch.equal(gelu.gelu(EVERYWHERE), functional.gelu(EVERYWHERE))


@CUDA
@pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")  # what torch.compile imports says so
def test_a_compiled_step_with_it_is_the_step_without(monkeypatch):
    found = []
    for compiled in (True, False):
        torch.manual_seed(0)
        encoder = Encoder(BERT.replace(dropout=0.0), device="cuda").train()
        call = torch.compile(encoder) if compiled else encoder
        with torch.autocast("cuda", torch.bfloat16):
            loss = call(inputs_of(BERT).cuda()).logits.float().square().sum()
        loss.backward()
        found.append([loss.detach(), *(parameter.grad for parameter in encoder.parameters() if parameter.grad is not None)])
    for one, other in zip(*found, strict=True):
        assert (one - other).abs().max() <= 0.03 * other.abs().max() + 1e-4
