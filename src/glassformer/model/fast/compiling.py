"""Compiling an encoder layer by layer: takes seconds instead of a minute, for any lengths, and changes no results."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

from glassformer.model.boundary.encoder import Encoder
from glassformer.model.fast.replacing import apply

GRAPHS = 32  # with and without padding, last layer and others, one row and many: PyTorch gives up after 8 by default


def compile_layers(encoder: Encoder, *, varied: bool = True) -> Encoder:
    """Call `apply`, then compile the layers in place: names, weights and results do not change.

    `varied` allows inputs of any length. All layers share one compiled graph, as their code is the same. Code outside of them
    (removing padding, which reads lengths back from the device) is not compiled; `torch.compile(encoder)` would not allow that.
    """
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, GRAPHS)
    for block in apply(encoder).blocks():
        block.compile(dynamic=True if varied else None)
    return encoder


def as_written(encoder: Encoder) -> AbstractContextManager[object]:
    """Run compiled layers without compiling: for a few unusual batches, compiling takes longer than it saves."""
    compiled = any(block._compiled_call_impl is not None for block in encoder.blocks())
    return torch.compiler.set_stance("force_eager") if compiled else nullcontext()
