"""The kernel for `gelu(x + bias)` and its plain twin say the same, and so do their gradients; without a GPU it is interpreted."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from model_cases import BERT, inputs_of
from torch.nn import functional

from glassformer.model import Encoder, feed_forward

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
HERE = Path(__file__).parent
SHAPES = [(1, 8), (7, 24), (65, 1030), (130, 40), (2, 3, 2048)]
ROUNDED = {"bfloat16": 2**-7, "float16": 2**-10, "float32": 4e-5}  # the interpreter cuts off where a GPU rounds
INTERPRETED = """
import json, sys, torch
torch.library.wrap_triton = lambda kernel: kernel  # it takes compiled ones alone
from test_gelu_kernel import differences
from glassformer.model.gelu_kernel import biased_gelu
print(json.dumps([differences(biased_gelu, *case) for case in json.loads(sys.argv[1])]))
"""


def differences(biased_gelu, shape, dtype, device="cpu") -> list[float]:
    """Of the values, the gradient of x and that of the bias from float64's: the largest, as a share of the largest number."""
    generator = torch.Generator().manual_seed(sum(shape))
    x, coming = (torch.randn(*shape, generator=generator).mul(3).to(device, getattr(torch, dtype)) for _ in range(2))
    bias = torch.randn(shape[-1], generator=generator).to(device)
    ours = answer(biased_gelu, x, bias, coming)
    exact = answer(lambda x, bias: functional.gelu(x + bias), x.double(), bias.double(), coming.double())
    return [float((one.double() - other).abs().max() / other.abs().max()) for one, other in zip(ours, exact, strict=True)]


def answer(function, x, bias, coming) -> tuple[torch.Tensor, ...]:
    x, bias = x.clone().requires_grad_(), bias.clone().requires_grad_()
    y = function(x, bias)
    return y.detach(), *torch.autograd.grad(y, (x, bias), coming)


def agrees(found: list[float], dtype: str) -> bool:
    return max(found[:2]) < ROUNDED[dtype] and found[2] < 4e-5  # the bias's gradient is summed in float32


@pytest.mark.skipif(importlib.util.find_spec("triton") is None and "CI" not in os.environ, reason="needs triton")
def test_the_kernel_interpreted_on_a_cpu_is_its_plain_twin():
    cases = [(shape, dtype) for shape in SHAPES for dtype in ("bfloat16", "float32")]
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent)))}
    command = [sys.executable, "-c", INTERPRETED, json.dumps(cases)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    found = json.loads(done.stdout)
    assert [case for case, one in zip(cases, found, strict=True) if not agrees(one, case[1])] == []


def test_the_differences_would_show_another_gelu():
    approximate = differences(lambda x, bias: functional.gelu(x + bias, approximate="tanh"), (9, 99), "float32")
    assert not agrees(approximate, "float32")
    shifted = differences(lambda x, bias: functional.gelu(x + 1.05 * bias), (9, 99), "bfloat16")
    assert not agrees(shifted, "bfloat16")


@CUDA
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("shape", [*SHAPES, (4096, 3072), (1000, 4100)])
def test_the_kernel_on_a_gpu_is_its_plain_twin(shape, dtype):
    assert agrees(differences(feed_forward.biased_gelu, shape, dtype, "cuda"), dtype)


@CUDA
def test_sums_have_the_same_bits_each_time():
    from glassformer.model.gelu_kernel import biased_gelu_backward

    x, coming = (torch.randn(5000, 3072, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    one, other = (biased_gelu_backward(coming, x, torch.ones(3072, device="cuda")) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@CUDA
@pytest.mark.parametrize("compiled", [False, True])
def test_an_encoder_with_the_kernel_trains_as_one_without(monkeypatch, compiled):
    found = []
    for kernel in (True, False):
        monkeypatch.setattr(feed_forward, "HAS_KERNELS", kernel)
        torch.manual_seed(0)
        encoder = Encoder(BERT.replace(dropout=0.0, d_ff=40), device="cuda").train()
        call = torch.compile(encoder) if compiled else encoder
        with torch.autocast("cuda", torch.bfloat16):
            loss = call(inputs_of(BERT).cuda()).logits.float().square().sum()
        loss.backward()
        found.append([loss.detach(), *(parameter.grad for parameter in encoder.parameters() if parameter.grad is not None)])
    for one, other in zip(*found, strict=True):
        assert (one - other).abs().max() <= 0.02 * other.abs().max() + 1e-4
