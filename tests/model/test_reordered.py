"""On a CPU: reordered matrices compute the same, are made again when weights change, and leave the encoder alone."""

import pytest
import torch
from model_cases import BERT, MODERN, VIT

from glassformer.model import Encoder
from glassformer.model.ready import Ready
from glassformer.model.reordered import Product, reordered, serves

SPECS = {
    "bert": BERT,
    "relu": BERT.replace(activation="relu"),
    "tanh approximation": BERT.replace(activation="gelu_tanh"),
    "gated, no biases": MODERN,
    "keys without a bias": BERT.replace(biases=("q", "v", "output", "ffn", "norm")),
    "images": VIT.replace(pooler="attention"),
    "shared": BERT.replace(share_layers=1),
}
ONE_DNN = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch has no oneDNN")


def inputs(spec) -> torch.Tensor:
    return torch.randn(3, spec.channels, *spec.image_size) if spec.reads == "image" else torch.randint(0, 50, (3, 9))


@ONE_DNN
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_copy_computes_the_same(spec):
    torch.manual_seed(0)
    encoder = Encoder(spec).eval()
    given = inputs(spec)
    with torch.inference_mode():
        one, other = encoder(given), reordered(encoder)(given)
    assert (one.states - other.states).abs().max() < 1e-5
    assert (one.logits - other.logits).abs().max() < 1e-5
    assert not any(isinstance(value, Product) for module in encoder.modules() for value in vars(module).values())


@ONE_DNN
@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "relu"])
def test_what_is_bent_is_bent_inside_the_product(activation, monkeypatch):
    copy = reordered(Encoder(BERT.replace(activation=activation)).eval())
    assert copy.layers["0"].ffn.wide.fused[0] == activation.removesuffix("_tanh")
    bent = copy.layers["0"].ffn.bend
    x = torch.randn(5)
    assert bent(x) is x


@ONE_DNN
@pytest.mark.parametrize("where", ["ffn.wide", "ffn.narrow", "attention.out"])
def test_a_product_that_does_more_than_its_matrix_is_left_as_it_is(where):
    class Adapted(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner, self.weight, self.bias = inner, inner.weight, inner.bias

        def forward(self, x):
            return 2 * self.inner(x)

    encoder, given = Encoder(BERT).eval(), inputs(BERT)
    part, name = where.split(".")
    setattr(encoder.layers["0"].get_submodule(part), name, Adapted(encoder.layers["0"].get_submodule(where)))
    with torch.inference_mode():
        assert (encoder(given).states - reordered(encoder)(given).states).abs().max() < 1e-5


@ONE_DNN
def test_a_weight_that_is_written_to_is_seen():
    encoder = Encoder(BERT).eval()
    ready, given = Ready(encoder), inputs(BERT)
    with torch.inference_mode():
        before = ready.on_cpu()
        assert ready.on_cpu() is before
    with torch.no_grad():
        encoder.layers["0"].ffn.wide.weight.mul_(2)
    with torch.inference_mode():
        assert ready.on_cpu() is not before
        assert (ready.on_cpu()(given).states - encoder(given).states).abs().max() < 1e-5


def test_only_float32_on_a_cpu_is_reordered():
    assert serves(Encoder(BERT)) == torch.backends.mkldnn.is_available()
    assert not serves(Encoder(BERT, dtype=torch.float64))
    with torch.autocast("cpu", torch.bfloat16):
        assert not serves(Encoder(BERT))


def test_an_encoder_in_training_runs_as_it_is():
    encoder = Encoder(BERT).train()
    assert Ready(encoder).run().func == encoder.run
