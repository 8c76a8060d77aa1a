"""Which attention weights our kernels drop: a product of two random numbers decides, one of the query and one of the key."""

from __future__ import annotations

import torch
from torch import Tensor

from glassformer.model.fast.dropout import odd_numbers

SPARE = 128  # numbers that lie behind those of the tokens: kernels read whole blocks, and look away from the rest
MOST_DROPPED = 0.48  # of the weights: see `kept`


def drawn(qkv_N3HK: Tensor) -> Tensor:
    """A random odd number for each token, as a query and as a key, in every head: see `kept`."""
    tokens, _, heads, _ = qkv_N3HK.shape
    return odd_numbers((2, heads, tokens + SPARE), qkv_N3HK.device)


def kept(lots_2HT: Tensor, dropout: float) -> Tensor:
    """Which pairs of a sequence's tokens stay, [head, query, key].

    As in `dropout.multiplied_out` a product of two numbers decides, but for two keys at once: the lower half of its bits for one,
    the upper half for its neighbour. A half is read as a float16, for which a GPU compares two at a time, and dropped among the
    lowest of those numbers. What is no number stays, so that hardly half of all can be dropped.
    """
    queries_HT, keys_HT = lots_2HT
    products_HTP = queries_HT[:, :, None] * keys_HT[:, None, ::2]
    lowest = torch.tensor(lowest_kept(dropout), dtype=torch.int16, device=lots_2HT.device).view(torch.float16)
    return ~(products_HTP.view(torch.float16)[:, :, : keys_HT.shape[1]] < lowest)


def lowest_kept(dropout: float) -> int:
    """The bits of the lowest float16 that stays, as a whole number: so many are below, minus infinity being one of them."""
    return -0x400 - 2 * round(dropout * 2**15)  # -0x400 is minus infinity; lower halves are odd, so an even number is dropped
