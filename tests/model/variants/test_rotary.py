"""Rotary positions: turning has the properties it was made for."""

import math

import pytest
import torch
from model_cases import furthest

from glassformer.model.variants.rotary import rotary, rotated
from glassformer.spec import EncoderSpec


def test_turned_queries_and_keys_meet_at_an_angle_that_only_their_distance_decides():
    q, k = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)

    def score(t: int, s: int) -> float:
        turn_q, turn_k = (rotary(EncoderSpec(d_k=8), torch.tensor([[place]]), 10000.0, torch.float64) for place in (t, s))
        return float((turn_q(q) * turn_k(k)).sum())

    assert score(3, 1) == pytest.approx(score(1003, 1001), abs=1e-11)
    assert score(3, 1) != pytest.approx(score(3, 2), abs=1e-3)


def test_position_0_turns_nothing_and_no_turn_changes_a_length():
    x = torch.randn(1, 50, 3, 6, dtype=torch.float64)
    y = rotary(EncoderSpec(d_k=6), torch.arange(50)[None], 100.0, torch.float64)(x)
    assert torch.equal(y[:, 0], x[:, 0])
    assert furthest(y.norm(dim=-1), x.norm(dim=-1)) < 1e-12


def test_angles_far_out_are_exact_in_float32():
    x = torch.tensor([1.0, 0.0]).reshape(1, 1, 1, 2)
    turn = rotary(EncoderSpec(d_k=2), torch.tensor([[8191]]), 10000.0, torch.float32)
    assert turn(x).flatten().tolist() == pytest.approx([math.cos(8191), math.sin(8191)], abs=1e-7)
    assert abs(float(torch.tensor(8191.3)) - 8191.3) > 1e-5  # what float32 angles would lose


def test_a_rotation_keeps_the_type_of_what_it_rotates():
    x = torch.randn(1, 2, 1, 4, dtype=torch.bfloat16)
    cos, sin = torch.randn(2, 1, 2, 1, 2)
    assert rotated(x, cos=cos, sin=sin).dtype == torch.bfloat16
