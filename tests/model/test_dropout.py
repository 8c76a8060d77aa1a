"""Dropout: the hashed one drops the share that was asked for, anew each time, and what stays is scaled up."""

import pytest
import torch

from glassformer.model.dropout import Dropout, hashed, mixed

ONES = torch.ones(512, 384)


def kept(share: float) -> torch.Tensor:
    return (hashed(ONES, share) != 0).double()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_the_share_that_is_dropped_is_the_one_asked_for(share):
    torch.manual_seed(0)
    spread = (share * (1 - share) / ONES.numel()) ** 0.5
    assert abs(1 - kept(share).mean() - share) <= 5 * spread


def test_what_stays_is_scaled_up_and_the_rest_is_zero():
    torch.manual_seed(0)
    assert set(hashed(ONES, 0.2).unique().tolist()) == {0.0, 1.25}


def test_masks_are_independent_of_their_neighbours_and_of_the_mask_before():
    torch.manual_seed(0)
    one, other = (kept(0.1) - 0.9 for _ in range(2))
    pairs = {"rows": one[1:] * one[:-1], "columns": one[:, 1:] * one[:, :-1], "calls": one * other}
    for product in pairs.values():
        assert abs(product.mean() / 0.09) < 5 / ONES.numel() ** 0.5
    # Neither rows nor columns have a share of their own: their means spread as chance says.
    for axis, count in ((1, 384), (0, 512)):
        assert 0.8 < float(kept(0.1).mean(axis).var() * count / 0.09) < 1.2


def test_the_seed_decides_the_mask():
    torch.manual_seed(3)
    first = hashed(ONES, 0.3)
    torch.manual_seed(3)
    assert torch.equal(hashed(ONES, 0.3), first)
    assert not torch.equal(hashed(ONES, 0.3), first)


def test_the_gradient_falls_where_the_mask_let_through():
    torch.manual_seed(0)
    x = ONES.clone().requires_grad_()
    y = hashed(x, 0.4)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_one_flipped_bit_flips_half_of_the_result():
    x = torch.arange(20_000, dtype=torch.int32)
    for bit in range(31):
        changed = mixed(x) ^ mixed(x ^ (1 << bit))
        flips = sum(((changed >> place) & 1).double().mean() for place in range(32)) / 32
        assert 0.48 < flips < 0.52


def test_outside_of_a_compiled_graph_it_is_pytorchs_own():
    torch.manual_seed(1)
    ours = Dropout(0.3).train()(ONES)
    torch.manual_seed(1)
    assert torch.equal(ours, torch.nn.Dropout(0.3).train()(ONES))
    assert torch.equal(Dropout(0.3).eval()(ONES), ONES)


def test_inside_of_a_compiled_graph_it_is_hashed():
    compiled = torch.compile(Dropout(0.25).train(), backend="eager", fullgraph=True)
    torch.manual_seed(5)
    found = compiled(ONES)
    torch.manual_seed(5)
    assert torch.equal(found, hashed(ONES, 0.25))
