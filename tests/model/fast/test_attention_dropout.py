"""Dropout of attention weights: the share that was asked for, without a pattern."""

import pytest
import torch

from glassformer.model.fast.attention_dropout import MOST_DROPPED, drawn, kept


def lots(heads, tokens, number=0, device="cpu"):
    torch.manual_seed(number)
    return drawn(torch.empty(tokens, 3, heads, 1)).to(device)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, MOST_DROPPED])
def test_a_share_of_all_pairs_is_dropped_in_each_row_column_and_head(share):
    mask = kept(lots(12, 512)[..., :512], share).double()
    assert mask.mean().item() == pytest.approx(1 - share, abs=0.002)
    spread = (share * (1 - share) / 512) ** 0.5
    for means in (mask.mean(1), mask.mean(2)):
        assert means.std().item() == pytest.approx(spread, rel=0.05, abs=1e-9)
    assert mask.mean((1, 2)).std().item() < 4 * spread / 512**0.5 + 1e-9


def test_pairs_are_dropped_without_a_pattern():
    """As many coincidences between two rows, two columns, two heads or two draws as independent draws would have, and no more."""
    share, t = 0.1, 512
    masks = [kept(lots(4, t, number)[..., :t], share).double() - (1 - share) for number in (1, 2)]
    noise = share * (1 - share) / t**0.5  # of a mean of t products of two draws
    for one, other in ((masks[0].mT, masks[0]), (masks[0], masks[0].mT)):
        between = (one @ other / t)[:, *torch.triu_indices(t, t, 1)]
        assert between.mean().abs().item() < 5 * noise / between.numel() ** 0.5 * t**0.5
        assert between.std().item() == pytest.approx(noise, rel=0.02)
    for one, other in ((masks[0][0], masks[0][1]), (masks[0], masks[1])):
        assert (one * other).mean().abs().item() < 5 * noise * t**0.5 / one.numel() ** 0.5
    # A pattern of any kind would be a large singular value; of random numbers all are below 2 √(t · share · (1 − share)).
    assert torch.linalg.svdvals(masks[0])[:, 0].max().item() < 1.03 * 2 * (t * share * (1 - share)) ** 0.5
