"""From images and videos to vectors: patches, class tokens and registers."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from glassformer.spec import EncoderSpec, token_names


class Patches(nn.Module):
    """An image cut into patches, each mapped to a vector, after the learned tokens."""

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
        """Each patch as a row of pixels (channel, frame, row, column); pixels beyond the last complete patch are left out."""
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


class Registers(nn.Module):
    """Learned tokens without a position, put between the class tokens and the patches (Darcet et al. 2023)."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.registers = nn.Parameter(torch.empty(spec.registers, spec.d_model))
        self.after = spec.class_tokens

    def forward(self, x_BTD: Tensor) -> Tensor:
        registers = self.registers.expand(x_BTD.shape[0], -1, -1)
        return torch.cat((x_BTD[:, : self.after], registers, x_BTD[:, self.after :]), dim=1)
