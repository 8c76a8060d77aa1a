"""Compiling an encoder layer by layer: seconds instead of a minute, any lengths, and nothing else about it changes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn

from glassformer.model.boundary.encoder import Encoder
from glassformer.model.fast.replacing import apply

GRAPHS = 32  # with and without padding, of the last layer and of the others, of one row and of many: PyTorch gives up after 8


def compile_layers(encoder: Encoder, *, varied: bool = True) -> Encoder:
    """`apply`, then compile the layers in place: names, weights and results stay. `varied` prepares for inputs of any length.

    All layers share one compiled graph, as their code is the same. What is outside of them (leaving out padding, which reads
    lengths back from the device) runs as it is, so it need not be compiled; `torch.compile(encoder)` would give that up.
    """
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, GRAPHS)
    for block in apply(encoder).layers.values():
        assert isinstance(block, nn.Module)
        block.compile(dynamic=True if varied else None)
    return encoder


def as_written(encoder: Encoder) -> AbstractContextManager[object]:
    """Compiled layers run as they are written: of a few batches of another kind, the graphs would take longer than they save."""
    compiled = any(block._compiled_call_impl is not None for block in encoder.layers.values())
    return torch.compiler.set_stance("force_eager") if compiled else nullcontext()
