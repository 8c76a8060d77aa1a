"""The fast feed-forward block is the plain one, and its activations take the place of what was wide."""

import pytest
import torch
from model_cases import furthest
from torch import nn

from glassformer.model.fast.feed_forward import IN_PLACE, FastFeedForward
from glassformer.model.fast.gelu import gelu
from glassformer.model.feed_forward import FUNCTIONS, FeedForward
from glassformer.spec import EncoderSpec
from glassformer.spec.encoder_fields import Activation


def blocks(activation: str) -> tuple[FeedForward, FastFeedForward]:
    """A plain block and the fast one with the same weights."""
    torch.manual_seed(0)
    spec = EncoderSpec(d_model=4, heads=1, d_ff=5, activation=activation)
    plain, fast = FeedForward(spec), FastFeedForward(spec)
    for parameter in plain.parameters():
        nn.init.normal_(parameter)
    fast.load_state_dict(plain.state_dict())
    fast.function = gelu if plain.function is FUNCTIONS["gelu"] else plain.function
    return plain, fast


@pytest.mark.parametrize("training", [True, False], ids=["training", "eval"])
@pytest.mark.parametrize("activation", Activation.__args__)
def test_outputs_and_gradients_equal_those_of_the_plain_counterpart(activation, training):
    (plain, fast), x = blocks(activation), torch.randn(2, 3, 4)
    plain.train(training), fast.train(training)
    with torch.inference_mode():
        assert torch.equal(plain(x), fast(x))
    for one in (plain, fast):
        one(x).square().sum().backward()
    for one, other in zip(plain.parameters(), fast.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad)


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of itself on its way through a checkpoint
@pytest.mark.parametrize("training", [True, False], ids=["training", "eval"])
@pytest.mark.parametrize("activation", ["gelu", "relu", "swiglu"])
def test_compiled_it_equals_its_plain_counterpart(activation, training):
    torch._dynamo.reset()
    (plain, fast), x = blocks(activation), torch.randn(2, 3, 4)
    plain.train(training), fast.train(training)
    caught = torch.compile(fast, backend="aot_eager", fullgraph=True)
    with torch.no_grad():
        assert furthest(caught(x), plain(x)) < 1e-6
    caught(x).square().sum().backward()
    plain(x).square().sum().backward()
    for one, other in zip(plain.parameters(), fast.parameters(), strict=True):
        assert furthest(one.grad, other.grad) < 1e-5


FAST = {name: gelu if name == "gelu" else function for name, function in FUNCTIONS.items()}
OVERWRITES = [name for name, function in FAST.items() if function in IN_PLACE]  # a new activation need not


def test_activations_of_published_models_have_a_form_in_place():
    assert {"relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "tanh"} <= {*OVERWRITES}


@pytest.mark.parametrize("name", OVERWRITES)
def test_in_place_an_activation_is_the_same(name):
    function = FAST[name]
    x = torch.linspace(-6, 6, 401)
    wanted = function(x)
    assert furthest(IN_PLACE[function](x), wanted) < 1e-6
    assert furthest(x, wanted) < 1e-6


def test_a_hook_on_the_wide_tensor_gets_the_pre_activations():
    block, seen, x = blocks("gelu")[1], [], torch.randn(2, 3, 4)
    block.wide.register_forward_hook(lambda *call: seen.append(call[-1]))
    with torch.inference_mode():
        block(x)
        assert torch.equal(seen[0], torch.nn.functional.linear(x, block.wide.weight, block.wide.bias))
