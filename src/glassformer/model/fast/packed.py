"""Sequences concatenated in a single row: attention within each of them, and pooling."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from glassformer.model.core import Core, Padded, Rule, repeated
from glassformer.model.fast.joint_attention import kernels_serve
from glassformer.model.fast.precision import HALVES


class PackedCore(NamedTuple):
    """Attention within each sequence of one packed row, or from each to the sequence at its place in another row."""

    bounds: Tensor
    longest: int
    rule: Rule
    bias_HTS: Tensor | None = None
    memory: Packed | None = None  # the row of the keys; None: that of the queries

    @property
    def keys(self) -> Packed:
        """The positions of the sequences of keys."""
        return Packed(self.bounds, self.longest) if self.memory is None else self.memory

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        q_NHK, k_NHK, v_NHV = q_BTHK[0], k_BSHK[0], v_BSHV[0]
        if self.bias_HTS is not None or not flash_serves(q_NHK.shape[-1], v_NHV.shape[-1], q_NHK.dtype, q_NHK.device):
            return self._by_length(q_BTHK, k_BSHK, v_BSHV, scale=scale, dropout=dropout)
        plain = dropout == 0.0 and self.rule == Rule() and self.memory is None
        if plain and not torch.is_grad_enabled() and kernels_serve(q_NHK, self.longest):
            from glassformer.model.fast.attention_kernels import attend

            return attend(q_NHK, k_NHK, v_NHV, self.bounds, self.longest, scale, 0.0, None)[0][None]
        return self._flash(q_NHK, k_NHK, v_NHV, scale=scale, dropout=dropout)[None]

    def _flash(self, q_NHK: Tensor, k_NHK: Tensor, v_NHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        reach = -1 if self.rule.window is None else self.rule.window // 2
        window = (reach, 0 if self.rule.causal else reach)
        ends, longest, key_ends, longest_keys = self.bounds, self.longest, self.keys.bounds, self.keys.longest
        if dropout == 0.0 and torch.compiler.is_compiling():
            from torch.nn.attention.varlen import varlen_attn  # imports the compiler, which takes seconds

            mix_NHV = varlen_attn(q_NHK, k_NHK, v_NHV, ends, key_ends, longest, longest_keys, scale=scale, window_size=window)
            assert isinstance(mix_NHV, Tensor)  # returns a tuple only if more outputs are requested
            return mix_NHV
        # The kernel that varlen_attn calls; it has dropout, too.
        causal, written_out = window == (-1, 0), False
        mix_NHV, *_ = torch.ops.aten._flash_attention_forward(
            q_NHK, k_NHK, v_NHV, ends, key_ends, longest, longest_keys, dropout, causal, written_out,
            scale=scale, window_size_left=window[0], window_size_right=window[1],
        )  # fmt: skip
        return mix_NHV

    def _by_length(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        """Without a kernel: consecutive sequences of one length form a batch, which is a view of the row."""
        pieces, start, first = [], 0, 0
        lengths = zip(*(bounds.diff().tolist() for bounds in (self.bounds, self.keys.bounds)), strict=True)
        for (t, s), equal in groupby(lengths):
            batch = sum(1 for _ in equal)
            bias = None if self.bias_HTS is None else self.bias_HTS[:, :t, :t]
            core = Padded().core(self.rule, bias, t=t, dtype=q_BTHK.dtype, device=q_BTHK.device)
            q = q_BTHK[0, start : start + batch * t].unflatten(0, (batch, t))
            k, v = (x[0, first : first + batch * s].unflatten(0, (batch, s)) for x in (k_BSHK, v_BSHV))
            pieces.append(core.mix(q, k, v, scale=scale, dropout=dropout).flatten(0, 1))
            start, first = start + batch * t, first + batch * s
        return torch.cat(pieces)[None]

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        raise NotImplementedError("a packed row has no rectangle of weights: ask one sequence at a time")

    def with_bias(self, bias_BHTS: Tensor) -> Core:
        raise NotImplementedError("a packed row has no rectangle of scores for a bias by content: `packing_suits` says so")

    def shared(self, x: Tensor, group: int) -> Tensor:
        return repeated(x, group)

    def capped(self, cap: float) -> Core:
        raise NotImplementedError("no kernel of packed rows caps scores: `packing_suits` says so")


class Packed(NamedTuple):
    """Sequences concatenated in a single row; `bounds` holds the start of each, and the end of the last."""

    bounds: Tensor  # int32, one more than there are sequences
    longest: int
    reader: Packed | None = None  # the row whose sequences read those of this one; None: this row

    def length(self, t: int) -> int:
        return self.longest

    def core(self, rule: Rule, bias_HTS: Tensor | None, *, t: int, dtype: torch.dtype, device: torch.device) -> PackedCore:
        if self.reader is not None:
            return PackedCore(self.reader.bounds, self.reader.longest, rule, bias_HTS, self)
        return PackedCore(self.bounds, self.longest, rule, bias_HTS)

    def first(self, x_BTD: Tensor) -> Tensor:
        return x_BTD[0, self.bounds[:-1]]

    def last(self, x_BTD: Tensor) -> Tensor:
        return x_BTD[0, self.bounds[1:] - 1]

    def mean(self, x_BTD: Tensor) -> Tensor:
        # In float32 at least: a sum of a thousand bfloat16 numbers loses the small ones. Unsafe: lengths are not read back.
        x_ND = x_BTD[0].to(torch.promote_types(x_BTD.dtype, torch.float32))
        mean_BD = torch.segment_reduce(x_ND, "mean", lengths=self.bounds.diff().long(), axis=0, unsafe=True)
        return mean_BD.to(x_BTD.dtype)


def flash_serves(d_k: int, d_v: int, dtype: torch.dtype, device: torch.device) -> bool:
    """Whether the variable-length kernel supports these: half precision on a GPU, d_k = d_v, a multiple of 8 up to 256."""
    return device.type == "cuda" and dtype in HALVES and d_k == d_v and d_k % 8 == 0 and d_k <= 256
