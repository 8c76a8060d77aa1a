"""From tokens, an image, audio or vectors to the input of the first layer."""

from __future__ import annotations

import math
from collections import OrderedDict

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.feed_forward import Linear, Unchanged
from glassformer.model.norms import Norm
from glassformer.model.variants.neighbours import token_projection
from glassformer.model.variants.page import OnPage, StoredPicture
from glassformer.model.variants.patches import Patches, Registers
from glassformer.model.variants.sound import Blanked, ConvolvedPositions, Sound
from glassformer.model.variants.token_dropout import TokenDropout
from glassformer.spec import EncoderSpec


class Tokens(nn.Module):
    """A row of the token table for each id, and one of the segment table."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.E_token = nn.Parameter(torch.empty(spec.vocab or 0, spec.table_width))
        self.projected = token_projection(spec)
        width = spec.summed_width
        self.E_segment = nn.Parameter(torch.empty(spec.segments, width)) if spec.segments and not spec.funnel else None
        self.E_task = nn.Parameter(torch.empty(spec.tasks, width)) if spec.tasks is not None else None
        self.E_language = nn.Parameter(torch.empty(spec.languages, width)) if spec.languages is not None else None  # not read
        self.scale = math.sqrt(spec.d_model) if spec.embedding_scale == "sqrt_d_model" else 1.0
        self.token_norm = Norm(spec, width) if spec.token_norm else nn.Identity()

    def forward(self, tokens_BT: Tensor, segments_BT: Tensor | None) -> Tensor:
        x_BTE = functional.embedding(tokens_BT, self.E_token)
        if self.scale != 1.0:
            x_BTE = x_BTE * self.scale
        x_BTE = self.projected(x_BTE)
        if self.E_segment is not None:
            x_BTE = x_BTE + (self.E_segment[0] if segments_BT is None else functional.embedding(segments_BT, self.E_segment))
        return self.token_norm(x_BTE if self.E_task is None else x_BTE + self.E_task[0])


class LearnedPositions(nn.Module):
    """A row of a table for each position; the rows before `offset` are unused (RoBERTa, BART)."""

    def __init__(self, spec: EncoderSpec, width: int) -> None:
        super().__init__()
        self.spec = spec
        self.E_position = nn.Parameter(torch.empty(spec.position_rows, width), requires_grad=not spec.stores_waves)
        self.offset = spec.position_offset

    def forward(self, x_BTE: Tensor, positions_BT: Tensor | None) -> Tensor:
        if positions_BT is None:
            return x_BTE + self.E_position[self.offset : self.offset + x_BTE.shape[1]]
        return x_BTE + functional.embedding(positions_BT + self.offset, self.E_position)


def angle_type(device: torch.device) -> torch.dtype:
    """Angles are taken in float64: in float32 the sine of position 8,000 is off in the fourth digit."""
    return torch.float32 if device.type == "mps" else torch.float64


def sinusoid(positions: Tensor, width: int) -> Tensor:
    """`sin(t / 10000^(2i/width))` in even features, the cosine in odd ones (Vaswani et al. 2017, section 3.5)."""
    features_E = torch.arange(width, device=positions.device)
    exponents_E = (features_E - features_E % 2).to(angle_type(positions.device)) / width
    angles = positions[..., None] / 10000.0**exponents_E
    return torch.where(features_E % 2 == 0, angles.sin(), angles.cos())


def half_sinusoid(positions: Tensor, width: int) -> Tensor:
    """The same with other frequencies, sines in the first half of the features and cosines in the second (tensor2tensor)."""
    exponents_E = torch.arange(width // 2, device=positions.device).to(angle_type(positions.device)) / max(width // 2 - 1, 1)
    angles = positions[..., None] / 10000.0**exponents_E
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


class Sinusoids(nn.Module):
    """Fixed sines and cosines without a stored table: those of the 2017 paper or of tensor2tensor, counted from an offset."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        halves = spec.position == "sinusoidal_halves"
        self.wave, self.offset = (half_sinusoid, spec.position_offset) if halves else (sinusoid, 0)

    def forward(self, x_BTE: Tensor, positions_BT: Tensor | None) -> Tensor:
        positions = torch.arange(x_BTE.shape[1], device=x_BTE.device) if positions_BT is None else positions_BT
        return x_BTE + self.wave(positions + self.offset, x_BTE.shape[-1]).to(x_BTE.dtype)


SOURCES = {"tokens": Tokens, "image": Patches, "frames": Sound, "vectors": Unchanged}


def positions_for(spec: EncoderSpec, width: int) -> nn.Module:
    """How positions are added before the first layer."""
    if spec.learns_positions:
        return LearnedPositions(spec, width)
    if spec.convolves_positions:
        return ConvolvedPositions(spec)
    return Sinusoids(spec) if spec.computes_positions else Unchanged()


def adjustment_of(spec: EncoderSpec) -> nn.Module:
    """The effect of masked tokens and padding on the vectors of the source: none in most models."""
    if spec.token_dropout is not None:
        return TokenDropout(spec.token_dropout)
    return Blanked() if spec.raw_sound else Unchanged()


class Embeddings(nn.Module):
    """Source, positions, registers, norm, dropout, projection; parts that the spec lacks are identities."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        narrow = spec.reads == "tokens" and spec.embedding_size is not None and spec.token_kernel is None
        width = spec.table_width if narrow else spec.d_model
        self.source = SOURCES[spec.reads](spec)
        self.adjusted = adjustment_of(spec)
        self.page = OnPage(spec) if spec.page is not None else Unchanged()
        self.picture = StoredPicture(spec) if spec.beside_picture else None
        placed = spec.placed_width if narrow else spec.d_model
        self.positions = positions_for(spec, placed)
        self.registers = Registers(spec) if spec.registers else nn.Identity()
        self.norm = Norm(spec, placed) if spec.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(spec.dropout)
        # The tables may be narrower than d_model (ALBERT, ELECTRA). States of training runs name it `projection.linear`.
        self.projection: nn.Module = nn.Identity()
        self.project_first = spec.project_first
        if narrow:
            self.projection = nn.Sequential(OrderedDict(linear=Linear("E", width, spec.d_model, bias=spec.bias("embedding"))))

    def forward(
        self,
        inputs: Tensor,
        segments_BT: Tensor | None,
        positions_BT: Tensor | None,
        attend_BT: Tensor | None = None,
        boxes_BT4: Tensor | None = None,
    ) -> Tensor:
        x_BTE = self.page(self.adjusted(self.source(inputs, segments_BT), inputs, attend_BT), inputs, boxes_BT4)
        if self.project_first:
            return self.dropout(self.norm(self.positions(self.projection(x_BTE), positions_BT)))
        x_BTE = self.norm(self.registers(self.positions(x_BTE, positions_BT)))
        return self.projection(self.dropout(x_BTE))

    @property
    def token_table(self) -> Tensor | None:
        """The table that a masked-token head may be tied to."""
        return self.source.E_token if isinstance(self.source, Tokens) else None
