"""Checkpointed layers: loss and gradients identical bit for bit, including dropout, and far fewer stored tensors."""

import pytest
import torch

from glassformer.configs.presets import preset
from glassformer.model import Encoder, fast
from glassformer.model.fast.checkpointing import checkpoint_layers

SMALL = {"d_model": 16, "heads": 2, "layers": 3, "d_ff": 32, "vocab": 30, "dropout": 0.1}
FAMILIES = {
    "bert-base": {},
    "modernbert-base": {},
    "deberta-v3-base": {},
    "t5-small": {},
    "albert-base": {"embedding_size": 8},
}
TOKENS = torch.arange(12).reshape(2, 6)
ATTEND = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])


def step(encoder):
    """The loss and every gradient of a step."""
    torch.manual_seed(4)
    loss = encoder(TOKENS, ATTEND).states[ATTEND].square().sum()
    loss.backward()
    return [loss.detach(), *(one.grad for one in encoder.parameters() if one.grad is not None)]


@pytest.mark.parametrize("apply", [lambda encoder: encoder, fast.apply], ids=["plain", "fast"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_is_identical_bit_for_bit(family, apply):
    made = []
    for change in (lambda encoder: encoder, checkpoint_layers):
        torch.manual_seed(2)
        made.append(step(change(apply(Encoder(preset(family).replace(**SMALL | FAMILIES[family])))).train()))
    plain, again = made
    assert len(plain) == len(again) > 10
    assert all(torch.equal(one, other) for one, other in zip(plain, again, strict=True))


def test_layers_run_twice_in_a_step_and_once_in_an_evaluation():
    encoder = checkpoint_layers(Encoder(preset("bert-base").replace(**SMALL))).train()
    calls = []
    encoder.layers["1"].register_forward_pre_hook(lambda *_: calls.append(1))
    step(encoder)
    assert len(calls) == 2
    with torch.no_grad():
        encoder(TOKENS, ATTEND)
    assert len(calls) == 3


def test_names_and_weights_stay():
    encoder = Encoder(preset("bert-base").replace(**SMALL))
    before = {name: value.data_ptr() for name, value in encoder.named_parameters()}
    assert {name: value.data_ptr() for name, value in checkpoint_layers(encoder).named_parameters()} == before
