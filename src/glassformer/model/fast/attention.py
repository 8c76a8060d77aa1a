"""Attention in training on a GPU: kernels for queries, keys and values in one tensor, and the fastest of PyTorch's kernels."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from glassformer.model.attention import Attention, Context, as_made, unrotated
from glassformer.model.core import Core, PaddedCore, Rule
from glassformer.model.fast.attention_dropout import MOST_DROPPED
from glassformer.model.fast.joint_attention import attend_jointly, kernels_serve
from glassformer.model.fast.packed import PackedCore
from glassformer.model.fast.precision import HALVES
from glassformer.model.fast.products import linear
from glassformer.model.variants.disentangled import ByDistances

# The attention kernel for unpacked training batches: on a Hopper GPU cuDNN's is the fastest that PyTorch has.
TRAINED_WITH = [
    SDPBackend.CUDNN_ATTENTION,
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
]


class FastAttention(Attention):
    """As the plain module, with our own kernels if they support one tensor of queries, keys and values.

    `places` are the flat indices of the only tokens whose result is needed; None: all tokens.
    """

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context, places: Tensor | None = None) -> Tensor:
        return self.out(at_places(self.mixed(x_BTD, memory_BSD, context).flatten(-2), places))

    def mixed(self, x_BTD: Tensor, memory_BSD: Tensor, context: Context) -> Tensor:
        if x_BTD is not memory_BSD or not self.read_as_made(context):
            return super().mixed(x_BTD, memory_BSD, context)
        qkv_BT3HK = self.joint(x_BTD).unflatten(-1, (3, *self.shapes[0]))
        dropout = self.dropout if self.training else 0.0
        if joined(context.core) and trained_jointly(qkv_BT3HK, longest_of(context.core, qkv_BT3HK), dropout):
            return mixed_jointly(qkv_BT3HK, context.core, scale=self.scale, dropout=dropout)
        q_BTHK, k_BSHK, v_BSHV = qkv_BT3HK.unbind(2)
        return self.attend(q_BTHK, k_BSHK, v_BSHV, context.core)

    def multiplied(self, x_BTD: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return linear(x_BTD, weight, bias)

    def read_as_made(self, context: Context) -> bool:
        """Whether queries, keys and values go from their product into attention unchanged."""
        plain = context.rotate is unrotated and context.remember is as_made
        plain = plain and context.distances is None and context.gated_HTS is None
        return plain and self.unchanged and len(set(self.shapes)) == 1

    def attend(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, core: Core) -> Tensor:
        with chosen_kernel(q_BTHK, core):
            return super().attend(q_BTHK, k_BSHK, v_BSHV, core)


def at_places(x: Tensor, places: Tensor | None) -> Tensor:
    """Select tokens of [batch, t, …] at flat indices (row · t + column), as one row; None selects all, unchanged."""
    return x if places is None else x.flatten(0, 1)[places][None]


def joined(core: Core) -> bool:
    """Whether every query attends to every key of its sequence, and nothing is added to the scores."""
    if isinstance(core, PackedCore):
        return core.bias_HTS is None and core.rule == Rule()
    return isinstance(core, PaddedCore) and core.mask is None and not core.causal


def longest_of(core: Core, qkv_BT3HK: Tensor) -> int:
    return core.longest if isinstance(core, PackedCore) else qkv_BT3HK.shape[1]


def trained_jointly(qkv: Tensor, longest: int, dropout: float) -> bool:
    """Whether a training step uses our own attention kernels: they are faster than cuDNN's, by a fifth with dropout."""
    return torch.is_grad_enabled() and dropout <= MOST_DROPPED and kernels_serve(qkv, longest)


def mixed_jointly(qkv_BT3HK: Tensor, core: Core, *, scale: float, dropout: float) -> Tensor:
    """`softmax(scale · q kᵀ) v` of queries, keys and values in one tensor."""
    if isinstance(core, PackedCore):
        return attend_jointly(qkv_BT3HK[0], core.bounds, core.longest, scale=scale, dropout=dropout)[None]
    batch, t = qkv_BT3HK.shape[:2]
    mix_NHK = attend_jointly(qkv_BT3HK.flatten(0, 1), None, t, scale=scale, dropout=dropout)
    return mix_NHK.unflatten(0, (batch, t))


def chosen_kernel(q_BTHK: Tensor, core: Core) -> AbstractContextManager[object]:
    """The priority order of PyTorch's attention kernels where the default order is not the fastest.

    cuDNN makes a plan for each new shape, which takes a moment: it is used only in training, and there only for even lengths.
    Its backward pass sums in no fixed order, so it is not used if results must be deterministic.
    """
    half = q_BTHK.dtype in HALVES and q_BTHK.is_cuda
    free = torch.is_grad_enabled() and not torch.are_deterministic_algorithms_enabled()
    unmasked = isinstance(core, PaddedCore) and core.mask is None
    if unmasked and half and free and q_BTHK.shape[1] % 64 == 0:
        return sdpa_kernel(TRAINED_WITH, set_priority=True)
    return nullcontext()


class FastByDistances(ByDistances):
    """Disentangled attention that stores less for the backward pass."""

    def gathered(self, every_HBTR: Tensor, rows_TS: Tensor) -> Tensor:
        gathered_HBTS: Tensor = Gather.apply(every_HBTR, rows_TS)
        return gathered_HBTS


class Gather(torch.autograd.Function):
    """`gather` along the last axis. PyTorch's version stores its input for the backward pass, which needs only the shape."""

    @staticmethod
    def forward(ctx: Any, every_HBTR: Tensor, rows_TS: Tensor) -> Tensor:
        ctx.save_for_backward(rows_TS)
        ctx.shape = every_HBTR.shape
        return every_HBTR.gather(-1, rows_TS.expand(*every_HBTR.shape[:2], -1, -1))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (rows_TS,), (g_HBTS,) = ctx.saved_tensors, gradients
        g_HBTR = g_HBTS.new_zeros(ctx.shape)
        return g_HBTR.scatter_add_(-1, rows_TS.expand(*ctx.shape[:2], -1, -1), g_HBTS), None
