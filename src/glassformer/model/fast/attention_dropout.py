"""Dropout of attention weights in our kernels: the product of two random numbers, one per query and one per key, decides."""

from __future__ import annotations

import torch
from torch import Tensor

from glassformer.model.fast.dropout import odd_numbers

SPARE = 128  # random numbers behind those of the tokens: kernels read whole blocks and ignore the rest
MOST_DROPPED = 0.48  # of the weights: see `kept`


def drawn(qkv_N3HK: Tensor) -> Tensor:
    """A random odd number for each token, as a query and as a key, in every head: see `kept`."""
    tokens, _, heads, _ = qkv_N3HK.shape
    return odd_numbers((2, heads, tokens + SPARE), qkv_N3HK.device)


def kept(lots_2HT: Tensor, dropout: float) -> Tensor:
    """Which pairs of a sequence's tokens are kept, [head, query, key].

    As in `dropout.multiplied_out`, a product of two numbers decides, but for two keys at once: its lower half for one, its
    upper half for the neighbour. A half is read as a float16, of which a GPU compares two at a time; the lowest of these numbers
    are dropped. NaNs are kept, so not much more than half of all weights can be dropped.
    """
    queries_HT, keys_HT = lots_2HT
    products_HTP = queries_HT[:, :, None] * keys_HT[:, None, ::2]
    lowest = torch.tensor(lowest_kept(dropout), dtype=torch.int16, device=lots_2HT.device).view(torch.float16)
    return ~(products_HTP.view(torch.float16)[:, :, : keys_HT.shape[1]] < lowest)


def lowest_kept(dropout: float) -> int:
    """The bits of the lowest float16 that is kept, as an integer: the number of values below it, with minus infinity."""
    return -0x400 - 2 * round(dropout * 2**15)  # -0x400 is minus infinity; lower halves are odd, so an even number is dropped
