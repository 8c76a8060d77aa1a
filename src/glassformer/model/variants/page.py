"""The position of each token's box on a page: vectors of its sides, and a score bias by distance (LayoutLM)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.model.norms import Norm
from glassformer.spec import EncoderSpec

TABLES = ("x", "y", "x", "y", "h", "w")  # of the left, upper, right and lower side, the height and the width


def unplaced(tokens_BT: Tensor) -> Tensor:
    """Boxes of tokens that have none: zeros."""
    return tokens_BT.new_zeros((*tokens_BT.shape, 4))


class OnPage(nn.Module):
    """Adds vectors of a box's sides, its height and its width: each as wide as the token's, or side by side as wide as that."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        sides, spans = spec.page_parts or (spec.table_width, spec.table_width)
        self.joined = bool(spec.page_parts)
        for name, width in zip("xyhw", (sides, sides, spans, spans), strict=True):
            self.register_parameter(f"E_{name}", nn.Parameter(torch.empty(spec.page or 0, width)))

    def forward(self, x_BTE: Tensor, tokens_BT: Tensor, boxes_BT4: Tensor | None) -> Tensor:
        left, upper, right, lower = (unplaced(tokens_BT) if boxes_BT4 is None else boxes_BT4).unbind(-1)
        rows = (left, upper, right, lower, lower - upper, right - left)
        found = [functional.embedding(ids, getattr(self, f"E_{name}")) for name, ids in zip(TABLES, rows, strict=True)]
        return x_BTE + (torch.cat(found, dim=-1) if self.joined else sum(found))


class StoredPicture(nn.Module):
    """What a model of text and picture stores for the picture (LayoutLMv3): loaded and saved, and not read with text alone."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        image, patch, channels = spec.beside_picture
        width = spec.d_model
        self.c_patch = nn.Parameter(torch.empty(width, channels, patch, patch))
        self.b_patch = nn.Parameter(torch.empty(width))
        self.class_token = nn.Parameter(torch.empty(width))
        self.E_position = nn.Parameter(torch.empty((image // patch) ** 2 + 1, width))
        self.norm_picture, self.norm_both = Norm(spec, width), Norm(spec, width)
