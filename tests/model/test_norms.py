"""Norms: agreement with torch, and the place given by the spec."""

import pytest
import torch
from model_cases import furthest
from torch import nn

from glassformer.model.boundary import start
from glassformer.model.boundary.names import views_of
from glassformer.model.norms import Norm, post_norm, pre_norm, unnormed
from glassformer.spec import ALL_BIASES, EncoderSpec


def norm(**fields) -> Norm:
    module = Norm(EncoderSpec(**fields), 6).double()
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def test_layer_norm_is_torchs():
    ours, theirs = norm(eps=1e-3), nn.LayerNorm(6, eps=1e-3, dtype=torch.float64)
    theirs.load_state_dict({"weight": ours.gamma, "bias": ours.beta})
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    assert furthest(ours(x), theirs(x)) < 1e-15


def test_rms_norm_is_torchs_and_has_no_beta():
    ours, theirs = norm(norm_kind="rms", eps=1e-3), nn.RMSNorm(6, eps=1e-3, dtype=torch.float64)
    theirs.load_state_dict({"weight": ours.gamma})
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    assert [name for name, _ in views_of(ours)] == ["gamma"]
    assert furthest(ours(x), theirs(x)) < 1e-15


def test_a_norm_without_bias_has_no_beta():
    assert [name for name, _ in views_of(norm(biases=tuple(place for place in ALL_BIASES if place != "norm")))] == ["gamma"]


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_a_large_offset_is_no_worse_than_in_torchs_layer_norm(offset):
    x = torch.randn(4, 6, dtype=torch.float64) + offset
    start.fill(ours := Norm(EncoderSpec(), 6))
    exact = nn.functional.layer_norm(x, (6,))
    assert furthest(ours(x.float()).double(), exact) <= furthest(nn.functional.layer_norm(x.float(), (6,)).double(), exact)


@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.5])
def test_eps_is_added_to_the_variance_and_a_constant_row_gives_beta(eps):
    module = norm(eps=eps)
    constant = torch.full((1, 6), 3.0, dtype=torch.float64)
    assert furthest(module(constant)[0], module.beta) < 1e-12
    x = torch.randn(1, 6, dtype=torch.float64)
    centred = x - x.mean()
    wanted = module.gamma * centred / (centred.square().mean() + eps).sqrt() + module.beta
    assert furthest(module(x), wanted) < 1e-12


def test_post_norm_normalises_the_sum_and_pre_norm_the_input():
    assert post_norm(3, lambda x: 10 * x, lambda x: x + 1) == 70
    assert pre_norm(3, lambda x: 10 * x, lambda x: x + 1) == 34
    assert pre_norm(3, unnormed, lambda x: x + 1) == 7
