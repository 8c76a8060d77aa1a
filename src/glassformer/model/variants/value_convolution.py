"""A convolution over the values of neighbours, added to what attention reads (Nyströmformer, Xiong et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.spec import EncoderSpec


class ValueConvolution(nn.Module):
    """A weight for each head and distance; no mask hides the values of padding."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.c_values = nn.Parameter(torch.empty(spec.heads, spec.value_kernel or 1))

    def forward(self, v_BSHV: Tensor) -> Tensor:
        heads, kernel = self.c_values.shape
        kernels = self.c_values[:, None, :, None]  # along the positions of each head, one feature at a time
        read_BHSV = functional.conv2d(v_BSHV.transpose(1, 2), kernels, padding=(kernel // 2, 0), groups=heads)
        return read_BHSV.transpose(1, 2)
