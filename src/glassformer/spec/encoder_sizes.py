"""The sizes that follow from the fields of a spec, computed only here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

from glassformer.spec.encoder_fields import GATES, GROUPED, TOKEN_HEADS, UNPOOLED_HEADS, BiasPlace, EncoderFields, FinalNorm
from glassformer.spec.no_decoder import NoDecoder
from glassformer.spec.position_kinds import PositionKinds
from glassformer.spec.sound_sizes import SoundSizes


@dataclass(frozen=True, kw_only=True, repr=False)
class EncoderSizes(EncoderFields, PositionKinds, SoundSizes, NoDecoder):
    """The fields, and what follows from them."""

    @cached_property
    def head_k(self) -> int:
        """d_k, given or derived."""
        return self.d_k if self.d_k is not None else self.inner_width // self.heads

    @cached_property
    def inner_width(self) -> int:
        """Width of what attention and feed-forward blocks add to: d_model, or that of the bottleneck."""
        return self.d_model if self.bottleneck is None else self.bottleneck

    @cached_property
    def head_v(self) -> int:
        """d_v, given or derived."""
        return self.d_v if self.d_v is not None else self.head_k

    @cached_property
    def key_heads(self) -> int:
        """kv_heads, given or derived."""
        return self.kv_heads if self.kv_heads is not None else self.heads

    @property
    def group(self) -> int:
        """Number of query heads per key/value head."""
        return self.heads // self.key_heads

    @cached_property
    def ffn_width(self) -> int:
        """d_ff, given or derived."""
        return self.d_ff if self.d_ff is not None else 4 * self.d_model

    @cached_property
    def table_width(self) -> int:
        """Width of the embedding tables, or of what the convolutions make of raw audio."""
        if self.conv_widths:
            return self.conv_widths[-1]
        return self.embedding_size if self.embedding_size is not None else self.d_model

    @property
    def summed_width(self) -> int:
        """Width of token embeddings where segments are added to them: that of the tables, unless neighbours are projected."""
        return self.table_width if self.token_kernel is None else self.d_model

    @property
    def placed_width(self) -> int:
        """Width of token embeddings where positions are added to them: before the projection, or after it."""
        return self.d_model if self.project_first else self.summed_width

    @property
    def padding_reader(self) -> str:
        """The field by which padding reaches other tokens, as a transform of all positions or a neighbour; empty: none does."""
        kernels = [
            f"{name}={size}" for name in ("token_kernel", "value_kernel") if (size := getattr(self, name)) not in (None, 1)
        ]
        if self.funnel:
            return f"funnel={','.join(map(str, self.funnel))}"
        return f"mixing={self.mixing}" if not self.attends else kernels[0] if kernels else ""

    @property
    def vocab_width(self) -> int:
        """Width of the vectors that a masked-token head multiplies with its output matrix."""
        if self.wide_output:
            return self.d_model
        return self.head_width if self.head_width is not None else self.table_width if self.head_dense else self.d_model

    @cached_property
    def norm_after_last(self) -> FinalNorm:
        """final_norm, given or derived."""
        if self.final_norm is not None:
            return self.final_norm
        return "all" if self.norm == "pre" and self.block == "layer" else "none"

    @property
    def attends(self) -> bool:
        """Whether layers mix positions by attention."""
        return self.mixing == "attention"

    @property
    def has_pooler(self) -> bool:
        """Whether the input is pooled into one vector."""
        if (self.head in TOKEN_HEADS and not self.spare_pooler) or self.head in UNPOOLED_HEADS:
            return False
        return self.head not in ("none", *TOKEN_HEADS) or self.pooler != "none" or self.norm_after_last == "pooled"

    @cached_property
    def image_size(self) -> tuple[int, int]:
        """Height and width of the image; zeros without an image."""
        height = self.image or 0
        return height, self.image_width or height

    @cached_property
    def patch_size(self) -> tuple[int, int]:
        """Height and width of a patch; ones without an image."""
        height = self.patch or 1
        return height, self.patch_width or height

    @cached_property
    def patch_steps(self) -> tuple[int, int]:
        """Pixels from one patch to the next, down and across; patches overlap where these are smaller than a patch."""
        down = self.patch_stride
        return down or self.patch_size[0], self.patch_stride_width or down or self.patch_size[1]

    @cached_property
    def patch_grid(self) -> tuple[int, int]:
        """Number of whole patches vertically and horizontally; incomplete patches are cut off."""
        sides = zip(self.image_size, self.patch_size, self.patch_steps, strict=True)
        down, across = (max(0, (image - patch) // step + 1) for image, patch, step in sides)
        return down, across

    @property
    def cut_off(self) -> str:
        """The pixels below and right of the last whole patch, in words after a comma; empty if there are none."""
        sides = zip(self.image_size, self.patch_size, self.patch_steps, strict=True)
        down, across = (max(0, image - patch) % step for image, patch, step in sides)
        pixels = str(down) if down == across else f"{down} and {across}"
        return f", the last {pixels} pixels down and across cut off" if down or across else ""

    @property
    def patch_depth(self) -> tuple[int, ...]:
        """Frames of a patch of a video, in a tuple; an image has none."""
        return () if self.video_frames is None else (self.tube,)

    @property
    def patch_length(self) -> int:
        """Numbers in one patch, in all channels."""
        return math.prod((self.channels, *self.patch_depth, *self.patch_size))

    @property
    def picture_shape(self) -> tuple[int, ...]:
        """Frames of a video, channels, height and width of an input."""
        return (*(() if self.video_frames is None else (self.video_frames,)), self.channels, *self.image_size)

    @cached_property
    def tubes(self) -> int:
        """Number of whole patches of a video along time; 1 for an image."""
        return 1 if self.video_frames is None else self.video_frames // self.tube

    @cached_property
    def patches(self) -> int:
        """Number of whole patches in the image or in the video."""
        return self.tubes * self.patch_grid[0] * self.patch_grid[1]

    @cached_property
    def patches_kept(self) -> int:
        """Number of patches that enter the first layer; the others are left out at random."""
        return int(self.patches * (1 - self.mask_ratio))

    @cached_property
    def restorer(self) -> Self:
        """The layers of the decoder that restores left-out patches."""
        width, layers, heads, inner = self.restore
        return self.replace(d_model=width, layers=layers, heads=heads, d_ff=inner, restore=(), head="none", mask_ratio=0.0)

    @cached_property
    def funnel_owners(self) -> tuple[int, ...]:
        """With a funnel: the first pass through the layer that each pass of the blocks goes through."""
        owners: list[int] = []
        for size, times in zip(self.funnel, self.funnel_repeats, strict=True):
            for _ in range(size):
                owners += [len(owners)] * times
        return tuple(owners)

    @cached_property
    def distinct_layers(self) -> int:
        """Number of layers with their own weights."""
        return self.share_layers if self.share_layers is not None else self.layers

    @property
    def gated(self) -> bool:
        """Whether the feed-forward block multiplies two projections."""
        return self.activation in GATES

    @property
    def reads(self) -> Literal["tokens", "image", "frames", "vectors"]:
        """The kind of input."""
        if self.patch is not None:
            return "image"
        if self.mels is not None:
            return "frames"
        return "tokens" if self.vocab is not None else "vectors"

    @property
    def reads_one_token(self) -> bool:
        """Whether the head reads one token of each input, the first or the last, and nothing else."""
        pooled = self.head == "project" or (self.head == "classify" and self.head_reads == "pooled")
        return pooled and self.pooler != "attention" and self.pool in ("first", "last")

    @property
    def one_length(self) -> bool:
        """Whether all inputs have the same length: images of one size, audio of one duration."""
        return self.reads in ("image", "frames")

    @cached_property
    def position_rows(self) -> int:
        """Rows of the position table."""
        if self.patch is not None:
            return self.patches + self.class_tokens
        return (self.positions or 0) + self.position_offset

    @cached_property
    def longest(self) -> int | None:
        """The most tokens the encoder can take; None where nothing limits it."""
        if self.patch is not None:
            return self.patches_kept + self.class_tokens + self.registers
        if self.raw_sound:
            return self.positions_of(self.frames)
        placed = self.positions if self.learns_positions or self.stores_rotation or self.mels is not None else None
        return min((limit for limit in (placed, self.complete_up_to) if limit is not None), default=None)

    def bias(self, place: BiasPlace) -> bool:
        """Whether `place` has a bias."""
        return place in self.biases

    def groups_of(self, place: BiasPlace) -> int:
        """Number of groups of features that a projection of a layer keeps apart."""
        return self.groups[GROUPED.index(place)] if self.groups else 1

    def layer_weights(self, layer: int) -> int:
        """Return the first layer that uses the weights of layer `layer`; they are counted under its name."""
        if self.funnel:
            return self.funnel_owners[layer] if layer < len(self.funnel_owners) else layer
        turn, place = divmod(layer, self.layer_cycle)
        groups, turns = self.distinct_layers // self.layer_cycle, self.layers // self.layer_cycle
        group = turn * groups // turns
        return -(-group * turns // groups) * self.layer_cycle + place

    def layer_window(self, layer: int) -> int | None:
        """Return the attention window of a layer; None for global attention."""
        if self.window is None or (self.global_every is not None and layer % self.global_every == 0):
            return None
        return self.window


def token_names(count: int) -> list[str]:
    """Return the names of the learned tokens before the patches: class, distillation, then by number."""
    return ["class_token", "distillation_token", *(f"token_{i}" for i in range(2, count))][:count]
