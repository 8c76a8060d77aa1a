"""The feed-forward block: each activation is its formula, and gated ones multiply two projections."""

import math
from typing import get_args

import pytest
import torch
from model_cases import furthest
from torch import nn

from glassformer.model.feed_forward import FUNCTIONS, FeedForward, pointwise
from glassformer.program.operations.pointwise import FUNCTIONS as FORMULAS
from glassformer.spec import GATES, EncoderSpec
from glassformer.spec.encoder_fields import Activation, HeadHidden


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_activation_is_its_formula(name):
    x = torch.linspace(-6, 6, 401, dtype=torch.float64)
    assert furthest(pointwise(name)(x), FORMULAS[name].evaluate(x.numpy())) < 1e-14


def test_quick_gelu_is_near_gelu_but_is_not_it():
    x = torch.linspace(-4, 4, 99)
    assert 0.01 < furthest(pointwise("quick_gelu")(x), pointwise("gelu")(x)) < 0.03


def test_every_activation_of_the_spec_has_its_function():
    names = {*get_args(Activation), *get_args(HeadHidden)} - {"none"}
    assert {GATES.get(name, name) for name in names} == set(FUNCTIONS)


@pytest.mark.parametrize("activation", ["gelu", "geglu", "swiglu", "reglu"])
@pytest.mark.parametrize("biases", [("ffn",), ()], ids=["biased", "bare"])
def test_a_block_is_its_equation(activation, biases):
    block = FeedForward(EncoderSpec(d_model=4, heads=1, d_ff=5, activation=activation, biases=biases)).double()
    for parameter in block.parameters():
        nn.init.normal_(parameter)
    views, x = dict(block.views()), torch.randn(2, 3, 4, dtype=torch.float64)
    hidden = pointwise(activation)(x @ views["W_1"] + views.get("b_1", 0))
    if activation in GATES:
        hidden = hidden * (x @ views["W_3"] + views.get("b_3", 0))
    assert furthest(block(x), hidden @ views["W_2"] + views.get("b_2", 0)) < 1e-12
    assert sum(math.prod(view.shape) for view in views.values()) == sum(p.numel() for p in block.parameters())
