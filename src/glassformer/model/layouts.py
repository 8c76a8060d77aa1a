"""How sequences lie in a batch, a padded rectangle or one packed row, and how attention and pooling read them there."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.varlen import varlen_attn

from glassformer.model.joint_attention import MOST_DROPPED, attend_jointly, kernels_serve
from glassformer.model.precision import HALVES

# Which kernel attends in a rectangle while training: on a Hopper GPU cuDNN's is the fastest of those that PyTorch brings.
TRAINED_WITH = [
    SDPBackend.CUDNN_ATTENTION,
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
]
NEVER = -torch.inf  # what is added to the score of a key that may not be seen


class Rule(NamedTuple):
    """Who may see whom, padding aside: `causal` forbids later keys, `window` keys more than half of it away."""

    causal: bool = False
    window: int | None = None

    def visible(self, queries: int, keys: int, device: torch.device) -> Tensor | None:
        """True where a query may see a key; None where the rule forbids nothing."""
        if self == Rule():
            return None
        away_TS = torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None]
        visible_TS = away_TS <= 0 if self.causal else torch.ones_like(away_TS, dtype=torch.bool)
        return visible_TS if self.window is None else visible_TS & (away_TS.abs() <= self.window // 2)


class Sight(Protocol):
    """What one layer may see: it mixes values, and tells the weights that it mixes them by."""

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        """`softmax(scale · q kᵀ) v` through a fused kernel."""

    def mix_jointly(self, qkv_BT3HK: Tensor, *, scale: float, dropout: float) -> Tensor:
        """The same of queries, keys and values that lie in one tensor."""

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        """`softmax(scale · q kᵀ)`, written out; a query that sees no key has weights of zero."""

    def with_bias(self, bias_BHTS: Tensor) -> Sight:
        """The same sight, with a bias that depends on what the tokens say."""


class Layout(Protocol):
    """How sequences lie in a tensor of tokens."""

    def length(self, like: Tensor) -> int:
        """Positions that the longest sequence may have."""

    def sight(self, like: Tensor, rule: Rule, bias_HTS: Tensor | None = None) -> Sight:
        """What a layer with this rule and this relative bias may see; `like` has the batch and the positions in front."""

    def first(self, x_BTD: Tensor) -> Tensor:
        """The first token of each sequence."""

    def last(self, x_BTD: Tensor) -> Tensor:
        """The last real token of each sequence."""

    def mean(self, x_BTD: Tensor) -> Tensor:
        """The mean of each sequence's real tokens."""


class PaddedSight(NamedTuple):
    """Attention over a rectangle. `mask` is added to the scores, −∞ where a key may not be seen, and broadcasts to BHTS."""

    mask: Tensor | None
    causal: bool = False  # the causal rule and nothing else: the kernels know it by name and skip half of the work

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        q_BHTK, k_BHSK, v_BHSV = q_BTHK.transpose(1, 2), k_BSHK.transpose(1, 2), v_BSHV.transpose(1, 2)
        with chosen_kernel(q_BHTK, self.mask):
            mix_BHTV = functional.scaled_dot_product_attention(
                q_BHTK, k_BHSK, v_BHSV, attn_mask=self.mask, dropout_p=dropout, is_causal=self.causal, scale=scale
            )
        return mix_BHTV.transpose(1, 2)

    def mix_jointly(self, qkv_BT3HK: Tensor, *, scale: float, dropout: float) -> Tensor:
        batch, t = qkv_BT3HK.shape[:2]
        if self.mask is not None or self.causal or not trained_jointly(qkv_BT3HK, t, dropout):
            return self.mix(*qkv_BT3HK.unbind(2), scale=scale, dropout=dropout)
        mix_NHK = attend_jointly(qkv_BT3HK.flatten(0, 1), None, t, scale=scale, dropout=dropout)
        return mix_NHK.unflatten(0, (batch, t))

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        # In float32 at least, as the kernels do inside: scores overflow float16.
        precise = torch.promote_types(q_BTHK.dtype, torch.float32)
        scores_BHTS = (q_BTHK.to(precise) * scale).transpose(1, 2) @ k_BSHK.to(precise).permute(0, 2, 3, 1)
        queries, keys = scores_BHTS.shape[-2:]
        mask = added(Rule(causal=True).visible(queries, keys, q_BTHK.device), q_BTHK) if self.causal else self.mask
        if mask is None:
            return scores_BHTS.softmax(-1).to(q_BTHK.dtype)
        # A row without a visible key would be 0/0: the softmax sees it unmasked, and it is made zeros after, as kernels do.
        hidden = mask == NEVER
        blind = hidden.all(-1, keepdim=True)
        return (scores_BHTS + mask.masked_fill(blind, 0.0)).softmax(-1).masked_fill(hidden, 0.0).to(q_BTHK.dtype)

    def with_bias(self, bias_BHTS: Tensor) -> PaddedSight:
        queries, keys = bias_BHTS.shape[-2:]
        mask = Rule(causal=True).visible(queries, keys, bias_BHTS.device) if self.causal else self.mask
        if mask is None:
            return PaddedSight(bias_BHTS)
        return PaddedSight(torch.where(mask, bias_BHTS, NEVER) if mask.dtype == torch.bool else mask + bias_BHTS)


def chosen_kernel(q_BHTK: Tensor, mask: Tensor | None) -> AbstractContextManager[object]:
    """The order in which kernels are asked whether they serve, where PyTorch's own order is not the fastest.

    cuDNN plans anew for each shape, which takes a moment: it is asked in training alone, and there for even lengths. Its backward
    pass sums in any order, so it is not asked where equal bits are wanted.
    """
    half = q_BHTK.dtype in HALVES and q_BHTK.is_cuda
    free = torch.is_grad_enabled() and not torch.are_deterministic_algorithms_enabled()
    if mask is None and half and free and q_BHTK.shape[2] % 64 == 0:
        return sdpa_kernel(TRAINED_WITH, set_priority=True)
    return nullcontext()


def added(visible: Tensor | None, like: Tensor, bias_HTS: Tensor | None = None) -> Tensor | None:
    """The one place where a boolean mask becomes numbers to add to the scores: −∞ where a key may not be seen.

    Handed to the kernels as it is, every layer would convert it again, and cuDNN does so with a finite number: a query that
    sees no key would get the mean of all values instead of zeros.
    """
    if visible is None:
        return bias_HTS
    return torch.where(visible, like.new_zeros(()) if bias_HTS is None else bias_HTS, NEVER)


class Padded(NamedTuple):
    """A rectangle of sequences; `attend` is True at real tokens, None where every token is real."""

    attend_BS: Tensor | None = None

    def length(self, like: Tensor) -> int:
        return like.shape[1]

    def sight(self, like: Tensor, rule: Rule, bias_HTS: Tensor | None = None) -> PaddedSight:
        if rule == Rule(causal=True) and self.attend_BS is None and bias_HTS is None:
            return PaddedSight(None, causal=True)
        visible = rule.visible(like.shape[1], like.shape[1], like.device)
        if self.attend_BS is not None:
            real_B11S = self.attend_BS[:, None, None, :]
            visible = real_B11S if visible is None else visible & real_B11S
        return PaddedSight(added(visible, like, bias_HTS))

    def first(self, x_BTD: Tensor) -> Tensor:
        if self.attend_BS is None:
            return x_BTD[:, 0]
        return _picked(x_BTD, self.attend_BS.int().argmax(dim=1))

    def last(self, x_BTD: Tensor) -> Tensor:
        if self.attend_BS is None:
            return x_BTD[:, -1]
        return _picked(x_BTD, x_BTD.shape[1] - 1 - self.attend_BS.flip(1).int().argmax(dim=1))

    def mean(self, x_BTD: Tensor) -> Tensor:
        if self.attend_BS is None:
            return x_BTD.mean(1)
        real_BT1 = self.attend_BS[:, :, None]
        return x_BTD.masked_fill(~real_BT1, 0.0).sum(1) / real_BT1.sum(1).clamp(min=1)


def at_places(x: Tensor, places: Tensor | None) -> Tensor:
    """Of tokens [batch, t, …] those at flat places (row · t + column), as one row; None leaves all of them as they lie."""
    return x if places is None else x.flatten(0, 1)[places][None]


def _picked(x_BTD: Tensor, place_B: Tensor) -> Tensor:
    # shape[0], here and elsewhere in this room: len() would freeze the size of the batch in an exported graph.
    return x_BTD[torch.arange(place_B.shape[0], device=x_BTD.device), place_B]


class PackedSight(NamedTuple):
    """Attention inside each sequence of one packed row."""

    bounds: Tensor
    longest: int
    rule: Rule
    bias_HTS: Tensor | None = None

    def mix(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        q_NHK, k_NHK, v_NHV = q_BTHK[0], k_BSHK[0], v_BSHV[0]
        if self.bias_HTS is not None or not flash_serves(q_NHK, v_NHV):
            return self._one_by_one(q_BTHK, k_BSHK, v_BSHV, scale=scale, dropout=dropout)
        if dropout == 0.0 and self.rule == Rule() and not torch.is_grad_enabled() and kernels_serve(q_NHK, self.longest):
            from glassformer.model.attention_kernels import attend

            return attend(q_NHK, k_NHK, v_NHV, self.bounds, self.longest, scale, 0.0, None)[0][None]
        return self._flash(q_NHK, k_NHK, v_NHV, scale=scale, dropout=dropout)[None]

    def mix_jointly(self, qkv_BT3HK: Tensor, *, scale: float, dropout: float) -> Tensor:
        if self.bias_HTS is not None or self.rule != Rule() or not trained_jointly(qkv_BT3HK, self.longest, dropout):
            return self.mix(*qkv_BT3HK.unbind(2), scale=scale, dropout=dropout)
        return attend_jointly(qkv_BT3HK[0], self.bounds, self.longest, scale=scale, dropout=dropout)[None]

    def _flash(self, q_NHK: Tensor, k_NHK: Tensor, v_NHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        reach = -1 if self.rule.window is None else self.rule.window // 2
        window = (reach, 0 if self.rule.causal else reach)
        ends, longest = self.bounds, self.longest
        if dropout == 0.0:
            mix_NHV = varlen_attn(q_NHK, k_NHK, v_NHV, ends, ends, longest, longest, scale=scale, window_size=window)
            assert isinstance(mix_NHV, Tensor)  # a pair only where more is asked for
            return mix_NHV
        # varlen_attn has no dropout; the kernel that it calls has.
        causal, written_out = window == (-1, 0), False
        mix_NHV, *_ = torch.ops.aten._flash_attention_forward(
            q_NHK, k_NHK, v_NHV, ends, ends, longest, longest, dropout, causal, written_out,
            scale=scale, window_size_left=window[0], window_size_right=window[1],
        )  # fmt: skip
        return mix_NHV

    def _one_by_one(self, q_BTHK: Tensor, k_BSHK: Tensor, v_BSHV: Tensor, *, scale: float, dropout: float) -> Tensor:
        """The kernel's plain twin: cut the row and attend inside each piece."""
        pieces = []
        for start, stop in pairwise(self.bounds.tolist()):
            bias = None if self.bias_HTS is None else self.bias_HTS[:, : stop - start, : stop - start]
            sight = Padded().sight(q_BTHK[:, start:stop], self.rule, bias)
            q, k, v = (x[:, start:stop] for x in (q_BTHK, k_BSHK, v_BSHV))
            pieces.append(sight.mix(q, k, v, scale=scale, dropout=dropout))
        return torch.cat(pieces, dim=1)

    def weights(self, q_BTHK: Tensor, k_BSHK: Tensor, *, scale: float) -> Tensor:
        raise NotImplementedError("a packed row has no rectangle of weights: ask one sequence at a time")

    def with_bias(self, bias_BHTS: Tensor) -> Sight:
        raise NotImplementedError("a packed row has no rectangle of scores for a bias by content: `packing_suits` says so")


class Packed(NamedTuple):
    """Sequences one after the other in a single row; `bounds` says where each begins, and where the last ends."""

    bounds: Tensor  # int32, one more than there are sequences
    longest: int

    def length(self, like: Tensor) -> int:
        return self.longest

    def sight(self, like: Tensor, rule: Rule, bias_HTS: Tensor | None = None) -> PackedSight:
        return PackedSight(self.bounds, self.longest, rule, bias_HTS)

    def first(self, x_BTD: Tensor) -> Tensor:
        return x_BTD[0, self.bounds[:-1]]

    def last(self, x_BTD: Tensor) -> Tensor:
        return x_BTD[0, self.bounds[1:] - 1]

    def mean(self, x_BTD: Tensor) -> Tensor:
        # In float32 at least: a sum of a thousand bfloat16 numbers loses the small ones. Unsafe: lengths are not read back.
        x_ND = x_BTD[0] if x_BTD.dtype == torch.float64 else x_BTD[0].float()
        mean_BD = torch.segment_reduce(x_ND, "mean", lengths=self.bounds.diff().long(), axis=0, unsafe=True)
        return mean_BD.to(x_BTD.dtype)


def flash_serves(q_NHK: Tensor, v_NHV: Tensor) -> bool:
    """Whether the variable-length kernel takes these: half precision on a GPU, d_k = d_v, a multiple of 8 up to 256."""
    width = q_NHK.shape[-1]
    return q_NHK.is_cuda and q_NHK.dtype in HALVES and width == v_NHV.shape[-1] and width % 8 == 0 and width <= 256


def trained_jointly(qkv: Tensor, longest: int, dropout: float) -> bool:
    """Whether our own kernels attend in a training step: there they are faster than cuDNN's, and with dropout by a fifth."""
    return torch.is_grad_enabled() and dropout <= MOST_DROPPED and kernels_serve(qkv, longest)
