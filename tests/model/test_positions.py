"""Positions: waves, turns and buckets are the program's, and turning has the property it was made for."""

import math

import numpy as np
import pytest
import torch
from model_cases import furthest

from glassformer.model.boundary.start import fill_constants
from glassformer.model.positions import ByDistance, by_offset, rotary, rotated, sinusoid
from glassformer.program import Axis
from glassformer.program.operations import PatchBias, RelativeBias
from glassformer.program.operations.lookups import sinusoidal_table
from glassformer.spec import EncoderSpec

CPU = torch.device("cpu")


@pytest.mark.parametrize("width", [2, 7, 64])
def test_waves_are_those_of_the_program(width):
    assert furthest(sinusoid(torch.arange(5000), width), sinusoidal_table(5000, width)) < 1e-12


def buckets(rows: int, distance: int, queries: int, keys: int) -> np.ndarray:
    module = ByDistance(EncoderSpec(position="relative", relative_buckets=rows, relative_distance=distance))
    fill_constants(module)
    return module(queries, keys, CPU).numpy()


@pytest.mark.parametrize(("rows", "distance"), [(4, 2), (5, 4), (8, 16), (32, 128), (32, 256), (33, 128), (64, 800), (20, 11)])
def test_buckets_are_those_of_the_program(rows, distance):
    query, key = Axis("t", 700), Axis("s", 900)
    assert np.array_equal(buckets(rows, distance, 700, 900), RelativeBias(distance, query, key).buckets(rows))


@pytest.mark.parametrize("rows", [2, 3])
def test_two_buckets_tell_ahead_from_not_ahead(rows):
    assert buckets(rows, 4, 3, 3).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


def test_buckets_are_those_of_the_published_formula():
    """Raffel et al. 2020, as T5 and MPNet compute it: in float32, with torch's own logarithm."""
    relative = torch.arange(600)[None, :] - torch.arange(500)[:, None]
    away = relative.abs()
    far = 8 + (torch.log(away.float() / 8) / math.log(128 / 8) * (16 - 8)).clamp(min=-9).to(torch.long)
    wanted = (relative > 0).long() * 16 + torch.where(away < 8, away, torch.clamp(far, max=15))
    assert np.array_equal(buckets(32, 128, 500, 600), wanted.numpy())


@pytest.mark.parametrize("grid", [(1, 1), (2, 3), (5, 4)])
def test_offsets_between_patches_are_those_of_the_program(grid):
    size = grid[0] * grid[1] + 1
    rows = (2 * grid[0] - 1) * (2 * grid[1] - 1) + 3
    wanted = PatchBias(grid, Axis("t", size), Axis("s", size)).buckets(rows)
    assert np.array_equal(by_offset(size, size, CPU, grid=grid).numpy(), wanted)


def test_turned_queries_and_keys_meet_at_an_angle_that_only_their_distance_decides():
    q, k = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)

    def score(t: int, s: int) -> float:
        turn_q, turn_k = (rotary(torch.tensor([[place]]), 8, 10000.0, torch.float64) for place in (t, s))
        return float((turn_q(q) * turn_k(k)).sum())

    assert score(3, 1) == pytest.approx(score(1003, 1001), abs=1e-11)
    assert score(3, 1) != pytest.approx(score(3, 2), abs=1e-3)


def test_position_0_turns_nothing_and_no_turn_changes_a_length():
    x = torch.randn(1, 50, 3, 6, dtype=torch.float64)
    y = rotary(torch.arange(50)[None], 6, 100.0, torch.float64)(x)
    assert torch.equal(y[:, 0], x[:, 0])
    assert furthest(y.norm(dim=-1), x.norm(dim=-1)) < 1e-12


def test_angles_far_out_are_exact_in_float32():
    x = torch.tensor([1.0, 0.0]).reshape(1, 1, 1, 2)
    turn = rotary(torch.tensor([[8191]]), 2, 10000.0, torch.float32)
    assert turn(x).flatten().tolist() == pytest.approx([math.cos(8191), math.sin(8191)], abs=1e-7)
    assert abs(float(torch.tensor(8191.3)) - 8191.3) > 1e-5  # what float32 angles would lose


def test_a_rotation_keeps_the_type_of_what_it_rotates():
    x = torch.randn(1, 2, 1, 4, dtype=torch.bfloat16)
    cos, sin = torch.randn(2, 1, 2, 1, 2)
    assert rotated(x, cos=cos, sin=sin).dtype == torch.bfloat16
