"""Dropout: the one for compiled graphs drops the share that was asked for, anew each time, and what stays is scaled up."""

import pytest
import torch

from glassformer.model.fast.dropout import FastDropout, multiplied_out

ONES = torch.ones(512, 384)


def kept(share: float) -> torch.Tensor:
    return (multiplied_out(ONES, share) != 0).double()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_the_share_that_is_dropped_is_the_one_requested(share):
    torch.manual_seed(0)
    spread = (share * (1 - share) / ONES.numel()) ** 0.5
    assert abs(1 - kept(share).mean() - share) <= 5 * spread


def test_kept_elements_are_scaled_up_and_the_rest_are_zero():
    torch.manual_seed(0)
    assert set(multiplied_out(ONES, 0.2).unique().tolist()) == {0.0, 1.25}


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
    first = multiplied_out(ONES, 0.3)
    torch.manual_seed(3)
    assert torch.equal(multiplied_out(ONES, 0.3), first)
    assert not torch.equal(multiplied_out(ONES, 0.3), first)


def test_the_gradient_falls_where_the_mask_let_through():
    torch.manual_seed(0)
    x = ONES.clone().requires_grad_()
    y = multiplied_out(x, 0.4)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


@pytest.mark.parametrize("shape", [(512,), (1, 512), (3, 5, 512)], ids=str)
def test_any_shape_is_dropped(shape):
    torch.manual_seed(0)
    found = multiplied_out(torch.ones(shape), 0.5)
    assert found.shape == shape and 0.4 < float(found.mean()) < 1.6
    assert all(0 < int((row == 0).sum()) < 512 for row in found.view(-1, 512))


def test_elements_are_dropped_without_a_pattern():
    """A pattern of any kind would be a large singular value; of random numbers all are below (√rows + √columns) · spread."""
    for seed in range(8):
        torch.manual_seed(seed)
        assert torch.linalg.svdvals(kept(0.1) - 0.9)[0] < 1.03 * (512**0.5 + 384**0.5) * 0.3


def test_outside_of_a_compiled_graph_it_is_pytorchs_own():
    torch.manual_seed(1)
    ours = FastDropout(0.3).train()(ONES)
    torch.manual_seed(1)
    assert torch.equal(ours, torch.nn.Dropout(0.3).train()(ONES))
    assert torch.equal(FastDropout(0.3).eval()(ONES), ONES)


def test_inside_of_a_compiled_graph_it_is_our_own():
    compiled = torch.compile(FastDropout(0.25).train(), backend="eager", fullgraph=True)
    torch.manual_seed(5)
    found = compiled(ONES)
    torch.manual_seed(5)
    assert torch.equal(found, multiplied_out(ONES, 0.25))


def test_the_backward_pass_of_a_compiled_graph_drops_the_same():
    x = torch.ones(64, 48, requires_grad=True)
    y = torch.compile(FastDropout(0.25).train(), backend="aot_eager", fullgraph=True)(x)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach()) and 0 < int((y == 0).sum()) < y.numel()
