"""The bytes of a safetensors file, piece by piece: a header, then the memory of each tensor, which is not copied."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor

from glassformer.files.safetensors_header import LENGTH_BYTES

Bytes: TypeAlias = bytes | memoryview

ALIGNED = 8
NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def safetensors_bytes(tensors: Mapping[str, Tensor]) -> list[Bytes]:
    """Return the pieces of the file: wide numbers first, so that each tensor begins at a multiple of its element size."""
    entries: dict[str, dict[str, Any]] = {}
    pieces: list[Bytes] = []
    start = 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].element_size(), name)):
        tensor = tensors[name].detach().cpu().contiguous()
        entries[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, start + tensor.nbytes],
        }
        pieces.append(tensor.reshape(-1).view(torch.uint8).numpy().data)
        start += tensor.nbytes
    header = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    header += b" " * (-len(header) % ALIGNED)
    return [len(header).to_bytes(LENGTH_BYTES, "little") + header, *pieces]
