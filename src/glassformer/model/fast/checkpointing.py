"""Gradient checkpointing (Chen et al. 2016): a layer stores only its input and is recomputed in the backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from glassformer.model.boundary.encoder import Encoder


class Checkpointed(nn.Module):
    """A layer that stores only its input. Dropout draws the same numbers again, so that results are identical bit for bit."""

    recomputes = True

    def __call__(self, *inputs: Any) -> Any:  # around hooks and compiled code, which are run again as well
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
    """Store everything temporarily, to measure what a layer needs; yields the layers that would be recomputed."""
    blocks = [block for block in encoder.blocks() if isinstance(block, Checkpointed)]
    for block in blocks:
        block.recomputes = False
    try:
        yield list(blocks)
    finally:
        for block in blocks:
            del block.recomputes
