"""Groups of the optimizer: which parameters decay, and how fast each layer learns."""

import pytest

import glassformer as gf
from glassformer.training.optimizer import make_optimizer, set_rate
from glassformer.training.settings import Settings

SPEC = gf.spec("bert-tiny", vocab=50, layers=2, d_model=8, heads=2, head="classify", classes=3)


def rates(encoder, settings):
    """Parameter -> (learning rate, weight decay)."""
    optimizer = make_optimizer(encoder, settings)
    set_rate(optimizer, 1.0)
    names = {id(parameter): name for name, parameter in encoder.named_parameters()}
    return {
        names[id(parameter)]: (group["lr"], group["weight_decay"])
        for group in optimizer.param_groups
        for parameter in group["params"]
    }


def test_without_a_decay_by_layer_there_are_matrices_and_vectors():
    encoder = gf.Encoder(SPEC)
    optimizer = make_optimizer(encoder, Settings(weight_decay=0.1))
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.1, 0.0]
    assert sum(len(group["params"]) for group in optimizer.param_groups) == len(list(encoder.parameters()))


def test_each_layer_learns_slower_than_the_one_above_it():
    encoder = gf.Encoder(SPEC)
    found = rates(encoder, Settings(layer_decay=0.5, weight_decay=0.1))
    assert set(found) == {name for name, _ in encoder.named_parameters()}
    for name, (rate, decay) in found.items():
        depth = 3 if name.startswith(("head", "pooler")) else int(name.split(".")[1]) + 1 if name.startswith("layers") else 0
        assert rate == pytest.approx(0.5 ** (3 - depth)), name
        assert decay == (0.1 if encoder.get_parameter(name).ndim >= 2 else 0.0)
