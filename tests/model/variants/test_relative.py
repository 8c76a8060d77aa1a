"""Positions by distance: buckets and offsets are the program's, and those of the published formula."""

import math

import numpy as np
import pytest
import torch

from glassformer.model.boundary.start import fill_constants
from glassformer.model.variants.relative import ByDistance, by_offset
from glassformer.program import Axis
from glassformer.program.operations import PatchBias, RelativeBias
from glassformer.spec import EncoderSpec

CPU = torch.device("cpu")


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
