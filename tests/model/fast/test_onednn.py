"""On a CPU: matrices that were laid out compute the same, are laid out again when they change, and leave the encoder alone."""

import pytest
import torch
from model_cases import BERT, MODERN, VIT

from glassformer.configs.reading import spec as spec_of
from glassformer.model import Decoder, Encoder, Seq2Seq
from glassformer.model.core import Padded
from glassformer.model.encoder import Inputs
from glassformer.model.fast import Inference, apply
from glassformer.model.fast.attention import FastAttention
from glassformer.model.fast.onednn import Product, laid_out, serves
from glassformer.spec import DecoderSpec

SPECS = {
    "bert": BERT,
    "relu": BERT.replace(activation="relu"),
    "tanh approximation": BERT.replace(activation="gelu_tanh"),
    "gated, no biases": MODERN,
    "keys without a bias": BERT.replace(biases=("q", "v", "output", "ffn", "norm")),
    "images": VIT.replace(pooler="attention"),
    "shared": BERT.replace(share_layers=1),
}
DECODER = DecoderSpec(vocab=50, d_model=16, heads=2, d_ff=24, layers=2, position="rotary", norm="pre", dropout=0.0)
ONE_DNN = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch has no oneDNN")


def inputs(spec) -> torch.Tensor:
    return torch.randn(3, spec.channels, *spec.image_size) if spec.reads == "image" else torch.randint(0, 50, (3, 9))


@ONE_DNN
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_copy_computes_the_same(spec):
    torch.manual_seed(0)
    encoder = apply(Encoder(spec)).eval()
    given = inputs(spec)
    with torch.inference_mode():
        one, other = encoder(given), laid_out(encoder)(given)
    assert (one.states - other.states).abs().max() < 1e-5
    assert (one.logits - other.logits).abs().max() < 1e-5
    assert not any(isinstance(module, Product) for module in encoder.modules())


@ONE_DNN
@pytest.mark.parametrize("changes", [{}, {"tie": False, "logit_cap": 3.0}, {"logit_offset": True}, {"embedding_size": 12}])
def test_a_decoder_has_its_table_converted_too(changes):
    torch.manual_seed(0)
    model = apply(Decoder(DECODER.replace(**changes), fresh=False)).eval()
    for view in (*model.parameters(), *model.buffers()):
        view.data.normal_(std=0.3)
    copy = laid_out(model)
    with torch.inference_mode():
        one, other = (made(torch.randint(0, 50, (3, 9), generator=torch.Generator().manual_seed(1))) for made in (model, copy))
    assert (one.logits - other.logits).abs().max() < 1e-5 * one.logits.abs().max()
    assert isinstance(copy.head.product, Product) and not hasattr(model.head, "product")


@ONE_DNN
def test_a_decoder_over_an_encoder_has_its_queries_converted_too():
    torch.manual_seed(0)
    model = apply(Seq2Seq(spec_of("transformer layers=2 d_model=16 heads=2 d_ff=24 vocab=50 decoder.kv_heads=1"))).eval()
    copy = laid_out(model.decoder)
    looking = copy.layers["1"].cross
    assert isinstance(looking.product, Product) and type(model.decoder.layers["1"].cross) is FastAttention
    x = torch.randn(3, 1, 16)
    with torch.inference_mode():
        assert (looking.asked(x) - model.decoder.layers["1"].cross.asked(x)).abs().max() < 1e-5
        assert looking.product.read[0].shape == (16, 16)  # keys and values are made once, from the source


@ONE_DNN
@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "relu", "silu"])
def test_the_activation_is_computed_inside_the_product(activation):
    copy = laid_out(apply(Encoder(BERT.replace(activation=activation))).eval())
    assert copy.layers["0"].ffn.wide.fused[0] == {"silu": "swish"}.get(activation, activation.removesuffix("_tanh"))
    x = torch.randn(5)
    assert copy.layers["0"].ffn.activate(x) is x


@ONE_DNN
@pytest.mark.parametrize("where", ["ffn.wide", "ffn.narrow", "attention.out"])
def test_a_product_other_than_a_plain_matrix_is_unchanged(where):
    class Adapted(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner, self.weight, self.bias = inner, inner.weight, inner.bias

        def forward(self, x):
            return 2 * self.inner(x)

    encoder, given = apply(Encoder(BERT)).eval(), inputs(BERT)
    part, name = where.split(".")
    setattr(encoder.layers["0"].get_submodule(part), name, Adapted(encoder.layers["0"].get_submodule(where)))
    with torch.inference_mode():
        assert (encoder(given).states - laid_out(encoder)(given).states).abs().max() < 1e-5


@ONE_DNN
def test_a_product_with_hooks_is_unchanged():
    encoder, seen = apply(Encoder(BERT)).eval(), []
    encoder.layers["0"].ffn.wide.register_forward_hook(lambda *_: seen.append(1))
    with torch.inference_mode():
        laid_out(encoder)(inputs(BERT))
    assert seen == [1]


WRITTEN = {
    "in place": lambda weight: torch.no_grad()(weight.mul_)(2),
    "through data": lambda weight: weight.data.mul_(2),
    "a copy through data": lambda weight: weight.data.copy_(weight.data * 1.5),
    "an adapter merged through data": lambda weight: weight.data.add_(
        torch.randn(weight.shape[0], 2) @ torch.randn(2, weight.shape[1])
    ),
    "other data": lambda weight: setattr(weight, "data", weight.data * 2),
    "a head through data": lambda weight: weight.data[:32].zero_(),
    "a column through data": lambda weight: weight.data[:, 5].zero_(),
}


@ONE_DNN
@pytest.mark.parametrize("where", ["ffn.wide", "ffn.narrow", "attention.out", "attention.qkv"])
@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_a_weight_that_is_written_to_is_seen(write, where):
    torch.manual_seed(0)
    encoder = apply(Encoder(BERT)).eval()
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    ready, given = Inference(encoder), Inputs(inputs(BERT))
    with torch.inference_mode():
        before, copy = ready.run(given, Padded()).states, ready.copied
    write(encoder.layers["0"].get_submodule(where).weight)
    with torch.inference_mode():
        after = ready.run(given, Padded()).states
        assert ready.copied is copy
        assert (after - encoder.run(given).states).abs().max() < 1e-4
        assert (after - before).abs().max() > 1e-3


@ONE_DNN
@pytest.mark.parametrize("biases", [("q", "v", "output", "ffn", "norm"), ("q", "k", "v", "output", "ffn", "norm")], ids=str)
def test_a_bias_that_is_written_to_is_seen(biases):
    encoder = apply(Encoder(BERT.replace(biases=biases))).eval()
    ready, given = Inference(encoder), Inputs(inputs(BERT))
    with torch.inference_mode():
        ready.run(given, Padded())
    for name, parameter in encoder.named_parameters():
        if "bias" in name:
            parameter.data.normal_()
    with torch.inference_mode():
        assert (ready.run(given, Padded()).states - encoder.run(given).states).abs().max() < 1e-5


@ONE_DNN
def test_a_part_that_is_exchanged_is_seen():
    encoder = apply(Encoder(BERT)).eval()
    ready, given = Inference(encoder), Inputs(inputs(BERT))
    with torch.inference_mode():
        ready.run(given, Padded())
        before = ready.copied
        ready.run(given, Padded())
        assert ready.copied is before
    encoder.layers["0"].attention.out = torch.nn.Linear(16, 16)
    with torch.inference_mode():
        assert (ready.run(given, Padded()).states - encoder.run(given).states).abs().max() < 1e-5
        assert ready.copied is not before


def test_only_float32_on_a_cpu_is_laid_out():
    assert serves(Encoder(BERT)) == torch.backends.mkldnn.is_available()
    assert not serves(Encoder(BERT, dtype=torch.float64))
    with torch.autocast("cpu", torch.bfloat16):
        assert not serves(Encoder(BERT))
