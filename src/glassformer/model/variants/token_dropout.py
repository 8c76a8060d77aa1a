"""Token dropout: masked tokens become zeros (ESM-2, Lin et al. 2023)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TokenDropout(nn.Module):
    """Masked tokens become zeros, and the other tokens of their text are scaled up (ESM-2): `0.88 · n / (n − m)`."""

    def __init__(self, masked: int) -> None:
        """`masked`: the id of the mask token."""
        super().__init__()
        self.masked = masked

    def forward(self, x_BTE: Tensor, inputs: Tensor, attend_BT: Tensor | None) -> Tensor:
        hidden_BT = inputs == self.masked
        real_BT = torch.ones_like(hidden_BT) if attend_BT is None else attend_BT
        whole_B1, hidden_B1 = real_BT.sum(1, keepdim=True), (hidden_BT & real_BT).sum(1, keepdim=True)
        precise = torch.promote_types(x_BTE.dtype, torch.float32)
        factor_BT = 0.88 * whole_B1.to(precise) / (whole_B1 - hidden_B1).clamp(min=1)
        return x_BTE * factor_BT.masked_fill(hidden_BT, 0.0)[:, :, None].to(x_BTE.dtype)
