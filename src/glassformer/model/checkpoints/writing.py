"""Writing .safetensors as a stream: a header of known length, each tensor once, and its sha256 in the header's metadata."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import torch
from torch import Tensor

from glassformer.errors import GlassformerError
from glassformer.files.layout import Place, put_part, to_file
from glassformer.files.safetensors_header import CHECKSUM, LENGTH_BYTES, MOST_HEADER_BYTES
from glassformer.model.checkpoints.stored import DTYPES

NAMES = {dtype: name for name, dtype in DTYPES.items()}
NO_SUM = "0" * 64  # in the header until the tensor is written
ALIGNED = 8


class Part(NamedTuple):
    """A parameter and its destination: a whole tensor, or some of the rows of one."""

    place: Place
    value: Tensor


@torch.no_grad()
def write_safetensors(file: BinaryIO, parts: Sequence[Part]) -> None:
    """Write parameters under the names of their places, one tensor after the other; the file must be seekable."""
    tensors: dict[str, list[Part]] = {}
    for part in parts:
        tensors.setdefault(part.place.name, []).append(part)
    entries = dict(_entries(tensors))
    sums = dict.fromkeys(tensors, NO_SUM)
    file.write(_header(entries, sums))
    for name, group in tensors.items():
        digest = hashlib.sha256()
        raw = _whole(group).contiguous().reshape(-1).cpu().view(torch.uint8).numpy()
        digest.update(raw.data)
        file.write(raw.data)
        sums[name] = digest.hexdigest()
    file.seek(0)
    file.write(_header(entries, sums))


def _whole(group: Sequence[Part]) -> Tensor:
    """A tensor as the file stores it, assembled from the parameters in it."""
    place, value = group[0]
    if place.rows is None:
        stored: Tensor = to_file(value, place)
        return stored
    whole = value.new_empty(place.shape)
    for part in group:
        put_part(whole, part.place, to_file(part.value, part.place))
    return whole


def _entries(tensors: dict[str, list[Part]]) -> Iterator[tuple[str, dict[str, Any]]]:
    start = 0
    for name, group in tensors.items():
        place, value = group[0]
        filled, size = (sum(part.value.numel() for part in group), math.prod(place.shape))
        if filled != size:
            raise GlassformerError(f"{name} holds {size:,} numbers, and the model fills {filled:,} of them.")
        size *= value.element_size()
        yield name, {"dtype": NAMES[value.dtype], "shape": list(place.shape), "data_offsets": [start, start + size]}
        start += size


def _header(entries: dict[str, dict[str, Any]], sums: dict[str, str]) -> bytes:
    notes = {"format": "pt", **{f"{CHECKSUM}{name}": value for name, value in sums.items()}}
    text = json.dumps({"__metadata__": notes, **entries}, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % ALIGNED)
    if len(text) > MOST_HEADER_BYTES:
        raise GlassformerError(
            f"{len(entries):,} tensors need a header of {len(text):,} bytes: at most {MOST_HEADER_BYTES:,} are allowed."
        )
    return len(text).to_bytes(LENGTH_BYTES, "little") + text
