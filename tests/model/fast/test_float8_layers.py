"""Training in float8: near the exact one, forth and back, and only in training."""

import pytest
import torch
from model_cases import BERT, inputs_of
from torch import nn
from torch.nn import functional

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.fast import apply, float8, float8_layers

CUDA = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0), reason="needs a GPU that multiplies float8"
)
HERE = pytest.param("cpu"), pytest.param("cuda", marks=CUDA)


def error(found, exact):
    return float((found.double() - exact.double()).norm() / exact.double().norm())


@CUDA
@pytest.mark.parametrize("shape", [(5, 16), (33, 64), (7, 48), (1000, 1544), (512, 3072), (300, 4096)])
def test_the_kernels_equal_their_plain_counterparts(shape):
    wide, bias = torch.randn(shape, device="cuda").mul(3).bfloat16(), torch.randn(shape[1], device="cuda")
    g = torch.randn(shape, device="cuda").mul(1e-6).bfloat16()
    found, plain = float8_layers.gelu(wide, bias), float8.plain_gelu(wide, bias)
    assert torch.allclose(found.scale, plain.scale)
    # The distribution is an approximation there: a few numbers fall on the other side of a rounding.
    assert error(found.values.float() * found.scale, plain.values.float() * plain.scale) < 5e-3
    back, twin = float8_layers.gelu_backward(g, wide, bias), float8.plain_gelu_backward(g, wide, bias)
    assert error(back.wide, twin.wide) < 1e-4 and error(back.active, twin.active) < 1e-4 and error(back.bias, twin.bias) < 1e-5
    ours, theirs = (one.rounded.values.float() * one.rounded.scale for one in (back, twin))
    assert error(ours, theirs) < 1e-3


def gradients(function, x, wide, narrow):
    """The result, and the gradients of the input and of every weight, for a sum that weighs features differently."""
    for part in (wide, narrow):
        part.zero_grad()
    x = x.clone().requires_grad_()
    with torch.autocast(x.device.type, torch.bfloat16):
        y = function(x)
    (y.float() * torch.linspace(-1, 1, y.shape[-1], device=x.device)).sum().backward()
    return [y.detach(), x.grad, *(weight.grad.clone() for part in (wide, narrow) for weight in part.parameters())]


@pytest.mark.parametrize("device", HERE)
@pytest.mark.parametrize("bias", [True, False])
def test_a_feed_forward_block_is_near_the_exact_one_forth_and_back(device, bias):
    torch.manual_seed(0)
    x = torch.randn(4, 30, 64, device=device)
    wide, narrow = nn.Linear(64, 208, bias=bias, device=device), nn.Linear(208, 64, bias=bias, device=device)
    found = gradients(lambda x: float8_layers.feed_forward(x, wide, narrow), x, wide, narrow)
    exact = gradients(lambda x: narrow(functional.gelu(wide(x))), x, wide, narrow)
    assert [one.shape for one in found] == [one.shape for one in exact]
    assert all(error(one, other) < 0.08 for one, other in zip(found, exact, strict=True))


@pytest.mark.parametrize("device", HERE)
def test_queries_keys_and_values_are_near_the_exact_ones(device):
    torch.manual_seed(0)
    x, layer = torch.randn(4, 30, 64, device=device), nn.Linear(64, 96, device=device)
    found = gradients(lambda x: float8_layers.linear(x, layer.weight, layer.bias), x, layer, nn.Identity())
    exact = gradients(layer, x, layer, nn.Identity())
    assert error(found[0], exact[0]) < 0.08
    assert all(error(one, other) < 5e-3 for one, other in zip(found[1:], exact[1:], strict=True))  # not rounded on the way back


@pytest.mark.parametrize("device", HERE)
def test_an_encoder_rounds_while_it_is_trained_and_at_no_other_time(device):
    encoder = apply(Encoder(BERT.replace(dropout=0.0), device=device))
    tokens = inputs_of(BERT).to(device)

    def logits():
        with torch.autocast(device, torch.bfloat16):
            return encoder(tokens).logits.detach()

    plain = encoder.train() and logits()
    apply(encoder, float8=True)
    assert 1e-3 < error(logits(), plain) < 0.1
    encoder.eval()
    assert torch.equal(logits(), plain)


def test_float8_training_learns_like_exact_training():
    """The same 60 steps: the loss falls by the same, to a fiftieth."""
    losses = []
    for rounds in (False, True):
        torch.manual_seed(0)
        encoder = apply(Encoder(BERT.replace(dropout=0.0, head="classify", classes=3)), float8=rounds).train()
        tokens, labels = inputs_of(encoder.spec), torch.arange(len(inputs_of(encoder.spec))) % 3
        optimizer = torch.optim.AdamW(encoder.parameters(), lr=3e-3)
        seen = []
        for _ in range(60):
            with torch.autocast("cpu", torch.bfloat16):
                loss = functional.cross_entropy(encoder(tokens).logits.float(), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(float(loss.detach()))
        losses.append(seen)
    plain, found = losses
    assert plain[-1] < 0.3 * plain[0]
    assert all(abs(one - other) < 0.02 * plain[0] for one, other in zip(found, plain, strict=True))


def test_it_keeps_less_for_the_way_back_as_cost_says():
    """GELU's results are not kept: the difference, counted and predicted."""
    kept, said = [], []
    for kernel in ("fused", "compiled"):
        encoder = apply(Encoder(BERT.replace(dropout=0.0, head="none", d_ff=512)), float8=kernel == "compiled").train()
        found, own = {}, {parameter.untyped_storage().data_ptr() for parameter in encoder.parameters()}

        def keep(tensor, found=found):
            found[tensor.untyped_storage().data_ptr()] = tensor.numel() * tensor.element_size()
            return tensor

        tokens = torch.randint(5, 50, (64, 16))
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor), torch.autocast("cpu", torch.bfloat16):
            states = encoder(tokens).states
        kept.append(sum(size for pointer, size in found.items() if pointer not in own))
        cost = gf.cost(encoder.spec, batch=64, t=16, train=True, kernel=kernel, dtype="bfloat16")
        said.append(cost.memory.activations)
        assert states.requires_grad  # the graph lives until here: what it keeps was not freed
    assert said[0] - said[1] == encoder.spec.layers * 64 * 16 * 512 * 2
    assert kept[0] - kept[1] == pytest.approx(said[0] - said[1], rel=0.1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_such_a_gpu_it_is_refused():
    with pytest.raises(GlassformerError, match=r"precision=fp8 needs a GPU that multiplies float8 .* Try bf16"):
        float8_layers.check_float8(BERT, torch.device("cpu"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"activation": "swiglu"}, "not activation=swiglu"),
        ({"d_ff": 72}, "d_ff to be a multiple of 16, found 72"),
    ],
)
def test_unsupported_encoders_are_refused(monkeypatch, changes, said):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    float8_layers.check_float8(BERT, torch.device("cuda"))
    with pytest.raises(GlassformerError, match=said):
        float8_layers.check_float8(BERT.replace(**changes), torch.device("cuda"))
