"""Products by oneDNN: the same as PyTorch's, forward and backward, and its own where oneDNN does not serve."""

import pytest
import torch
from torch import nn
from torch.nn import functional

import glassformer as gf
from glassformer.model import fast
from glassformer.model.fast import products
from glassformer.model.fast.products import FastLinear, Product, linear, onednn_serves, without_onednn

SHAPES = [(2048, 96, 384), (700, 513, 129), (4096, 64, 32)]


def drawn(rows, width, into, *, bias=True, dtype=torch.float32):
    torch.manual_seed(0)
    shapes = [(rows // 4, 4, width), (into, width), (into,)]
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes[: 2 + bias]]


def outcome(multiply, given):
    product = multiply(*given)
    gradient = torch.randn(product.shape, generator=torch.Generator().manual_seed(1))
    return [product, *torch.autograd.grad(product, given, gradient.to(product.dtype))]


@pytest.mark.skipif(not products.available(), reason="PyTorch without oneDNN")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_product_and_its_gradients_are_those_of_float64(shape, bias):
    given = drawn(*shape, bias=bias)
    assert onednn_serves(*given, *([] if bias else [None]))
    exact = outcome(functional.linear, [one.detach().double().requires_grad_() for one in given])
    for ours, wanted in zip(outcome(linear, given), exact, strict=True):
        assert ours.shape == wanted.shape
        assert (ours - wanted).abs().max() <= 2e-6 * wanted.abs().max() * shape[0] ** 0.5


def test_only_gradients_that_are_needed_are_computed():
    x, weight, bias = drawn(*SHAPES[0])
    frozen = weight.detach()
    assert torch.autograd.grad(linear(x, frozen, bias).sum(), [x, bias])[0].shape == x.shape
    product = linear(x.detach(), frozen, None)
    assert not product.requires_grad


def test_other_products_are_pytorchs(monkeypatch):
    x, weight, bias = drawn(*SHAPES[0])
    monkeypatch.setattr(Product, "apply", lambda *_: pytest.fail("oneDNN was called"))
    few, wide = drawn(8, 16, 16)[:2]
    assert torch.equal(linear(few, wide), functional.linear(few, wide))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert linear(x, weight, bias).dtype == torch.bfloat16
    with without_onednn():
        assert torch.equal(linear(x, weight, bias), functional.linear(x, weight, bias))
    double = [one.double() for one in (x, weight, bias)]
    assert torch.equal(linear(*double), functional.linear(*double))
    with pytest.raises(pytest.fail.Exception):
        linear(x, weight, bias)


def test_a_fast_encoder_multiplies_so(monkeypatch):
    calls = []
    monkeypatch.setattr(products, "of_rows", lambda x, w, b=None: calls.append(1) or functional.linear(x, w, b))
    encoder = fast.apply(gf.Encoder(gf.spec("bert-tiny", vocab=1000, positions=64)))
    assert not any(type(one) is nn.Linear for one in encoder.layers.modules())
    assert any(type(one) is FastLinear for one in encoder.layers.modules())
    encoder(torch.zeros(16, 64, dtype=torch.long)).states.sum().backward()
    assert len(calls) == encoder.spec.layers * 4 * 3  # q k v in one, output, two of the feed-forward block; each three times
