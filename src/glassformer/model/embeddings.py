"""From tokens, an image, sound or vectors to what enters the first layer."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.feed_forward import Linear
from glassformer.model.norms import Norm
from glassformer.model.positions import half_sinusoid, sinusoid
from glassformer.model.sound import ConvolvedPositions, Sound
from glassformer.spec import EncoderSpec, token_names


class Tokens(nn.Module):
    """A row of the token table for each id, and one of the segment table."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        width = spec.table_width
        self.E_token = nn.Parameter(torch.empty(spec.vocab or 0, width))
        self.E_segment = nn.Parameter(torch.empty(spec.segments, width)) if spec.segments is not None else None
        self.E_task = nn.Parameter(torch.empty(spec.tasks, width)) if spec.tasks is not None else None
        self.scale = math.sqrt(spec.d_model) if spec.embedding_scale == "sqrt_d_model" else 1.0
        self.token_norm = Norm(spec, width) if spec.token_norm else nn.Identity()

    def forward(self, tokens_BT: Tensor, segments_BT: Tensor | None) -> Tensor:
        x_BTE = functional.embedding(tokens_BT, self.E_token)
        if self.scale != 1.0:
            x_BTE = x_BTE * self.scale
        if self.E_segment is not None:
            x_BTE = x_BTE + (self.E_segment[0] if segments_BT is None else functional.embedding(segments_BT, self.E_segment))
        return self.token_norm(x_BTE if self.E_task is None else x_BTE + self.E_task[0])


class TokenDropout(nn.Module):
    """Masked tokens become zeros, and the other tokens of their text are scaled up (ESM-2): `0.88 · n / (n − m)`."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.masked = spec.token_dropout

    def forward(self, x_BTE: Tensor, inputs: Tensor, attend_BT: Tensor | None) -> Tensor:
        if self.masked is None:
            return x_BTE
        hidden_BT = inputs == self.masked
        real_BT = torch.ones_like(hidden_BT) if attend_BT is None else attend_BT
        whole_B1, hidden_B1 = real_BT.sum(1, keepdim=True), (hidden_BT & real_BT).sum(1, keepdim=True)
        precise = torch.promote_types(x_BTE.dtype, torch.float32)
        factor_BT = 0.88 * whole_B1.to(precise) / (whole_B1 - hidden_B1).clamp(min=1)
        return x_BTE * factor_BT.masked_fill(hidden_BT, 0.0)[:, :, None].to(x_BTE.dtype)


class Patches(nn.Module):
    """An image cut into patches, each mapped to a vector; learned tokens stand before them."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.sides = tuple(zip((*spec.patch_depth, *spec.patch_size), (*spec.patch_depth, *spec.patch_steps), strict=True))
        self.patch = nn.Linear(spec.patch_length, spec.d_model, bias=spec.bias("patch"))
        self.class_tokens = nn.Parameter(torch.empty(spec.class_tokens, spec.d_model)) if spec.class_tokens else None
        self.mask_token = nn.Parameter(torch.empty(spec.d_model)) if spec.mask_token else None

    def forward(self, image: Tensor, segments_BT: None) -> Tensor:
        pixels_BTP = self.cut(image)
        x_BTD: Tensor = self.patch(pixels_BTP)
        if self.class_tokens is None:
            return x_BTD
        return torch.cat((self.class_tokens.expand(x_BTD.shape[0], -1, -1), x_BTD), dim=1)

    def cut(self, image: Tensor) -> Tensor:
        """Each patch as a row of pixels (channel, frame, row, column); what does not fill a patch is left out."""
        many = len(self.sides)  # two, and one for the time of a video
        x = image.transpose(1, 2) if many > 2 else image
        for side, (size, step) in enumerate(self.sides, start=2):
            x = x.unfold(side, size, step)
        patches = range(2, 2 + many)  # then the inside of each patch
        return x.permute(0, *patches, 1, *range(2 + many, 2 + 2 * many)).flatten(1 + many).flatten(1, many)

    def views(self) -> Iterator[tuple[str, Tensor]]:
        yield "W_patch", self.patch.weight.t()
        if self.patch.bias is not None:
            yield "b_patch", self.patch.bias
        if self.mask_token is not None:
            yield "mask_token", self.mask_token
        if self.class_tokens is not None:
            yield from zip(token_names(len(self.class_tokens)), self.class_tokens, strict=True)


class Vectors(nn.Module):
    """Vectors as they are given."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()

    def forward(self, x_BTD: Tensor, segments_BT: None) -> Tensor:
        return x_BTD


class LearnedPositions(nn.Module):
    """A row of a table for each position; the rows before `offset` belong to none (RoBERTa, BART)."""

    def __init__(self, spec: EncoderSpec, width: int) -> None:
        super().__init__()
        self.spec = spec
        self.E_position = nn.Parameter(torch.empty(spec.position_rows, width), requires_grad=not spec.stores_waves)
        self.offset = spec.position_offset

    def forward(self, x_BTE: Tensor, positions_BT: Tensor | None) -> Tensor:
        if positions_BT is None:
            return x_BTE + self.E_position[self.offset : self.offset + x_BTE.shape[1]]
        return x_BTE + functional.embedding(positions_BT + self.offset, self.E_position)


class Sinusoids(nn.Module):
    """Fixed waves, which no table stores: the 2017 paper's, or those of tensor2tensor, counted from an offset."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        halves = spec.position == "sinusoidal_halves"
        self.wave, self.offset = (half_sinusoid, spec.position_offset) if halves else (sinusoid, 0)

    def forward(self, x_BTE: Tensor, positions_BT: Tensor | None) -> Tensor:
        positions = torch.arange(x_BTE.shape[1], device=x_BTE.device) if positions_BT is None else positions_BT
        return x_BTE + self.wave(positions + self.offset, x_BTE.shape[-1]).to(x_BTE.dtype)


class Unplaced(nn.Module):
    """No positions here: they enter in the attention, or not at all."""

    def forward(self, x_BTE: Tensor, positions_BT: Tensor | None) -> Tensor:
        return x_BTE


class Registers(nn.Module):
    """Learned tokens without a position, put between the class tokens and the patches (Darcet et al. 2023)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.registers = nn.Parameter(torch.empty(spec.registers, spec.d_model))
        self.after = spec.class_tokens

    def forward(self, x_BTD: Tensor) -> Tensor:
        registers = self.registers.expand(x_BTD.shape[0], -1, -1)
        return torch.cat((x_BTD[:, : self.after], registers, x_BTD[:, self.after :]), dim=1)


SOURCES = {"tokens": Tokens, "image": Patches, "frames": Sound, "vectors": Vectors}


def positions_for(spec: EncoderSpec, width: int) -> nn.Module:
    """How positions enter before the first layer."""
    if spec.learns_positions:
        return LearnedPositions(spec, width)
    if spec.convolves_positions:
        return ConvolvedPositions(spec)
    return Sinusoids(spec) if spec.computes_positions else Unplaced()


class Embeddings(nn.Module):
    """Source, positions, registers, norm, dropout, projection; parts that the spec lacks are identities."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        narrow = spec.reads == "tokens" and spec.embedding_size is not None
        width = spec.table_width if narrow else spec.d_model
        self.source, self.blanks = SOURCES[spec.reads](spec), spec.raw_sound
        self.token_dropout = TokenDropout(spec)
        self.positions = positions_for(spec, width)
        self.registers = Registers(spec) if spec.registers else nn.Identity()
        self.norm = Norm(spec, width) if spec.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(spec.dropout)
        # The tables may be narrower than d_model (ALBERT, ELECTRA). States of training runs name it `projection.linear`.
        self.projection: nn.Module = nn.Identity()
        if narrow:
            self.projection = nn.Sequential(OrderedDict(linear=Linear("E", width, spec.d_model, bias=spec.bias("embedding"))))

    def forward(
        self, inputs: Tensor, segments_BT: Tensor | None, positions_BT: Tensor | None, attend_BT: Tensor | None = None
    ) -> Tensor:
        x_BTE = self.token_dropout(self.source(inputs, segments_BT), inputs, attend_BT)
        if self.blanks and attend_BT is not None:  # neighbours of padding see zeros there
            x_BTE = x_BTE.masked_fill(~attend_BT[:, :, None], 0.0)
        x_BTE = self.positions(x_BTE, positions_BT)
        x_BTE = self.norm(self.registers(x_BTE))
        return self.projection(self.dropout(x_BTE))

    @property
    def token_table(self) -> Tensor | None:
        """The table that a masked-token head may be tied to."""
        return self.source.E_token if isinstance(self.source, Tokens) else None
