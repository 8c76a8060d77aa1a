"""Gradient checkpointing (Chen et al. 2016): a layer keeps its input alone, and runs again in the backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from glassformer.model.boundary.encoder import Encoder


class Checkpointed(nn.Module):
    """A layer that keeps its input alone. Dropout draws the same numbers again, so that no result changes by a bit."""

    recomputes = True

    def __call__(self, *inputs: Any) -> Any:  # around hooks and compiled code, which run again as well
        if not (self.recomputes and torch.is_grad_enabled()):
            return super().__call__(*inputs)
        return checkpoint(super().__call__, *inputs, use_reentrant=False)


def checkpoint_layers(encoder: Encoder) -> Encoder:
    """Recompute the layers of an encoder in the backward pass, in place; names, weights and results do not change."""
    for block in encoder.blocks():
        kind = type(block)
        block.__class__ = type(f"Checkpointed{kind.__name__}", (Checkpointed, kind), {})
    return encoder


@contextmanager
def kept(encoder: Encoder) -> Iterator[list[nn.Module]]:
    """Keep everything for now, to see what a layer needs; gives the layers that would be recomputed."""
    blocks = [block for block in encoder.blocks() if isinstance(block, Checkpointed)]
    for block in blocks:
        block.recomputes = False
    try:
        yield list(blocks)
    finally:
        for block in blocks:
            del block.recomputes
