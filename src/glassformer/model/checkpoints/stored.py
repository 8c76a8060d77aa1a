"""Copying weights from a file into a model: a few megabytes at a time, with every number checked once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import BinaryIO

import torch
from torch import Tensor

from glassformer.errors import GlassformerError, shown
from glassformer.files.layout import Place, from_file, to_file
from glassformer.files.weight_files import Located, not_one_tensor, unknown_dtype

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
PIECE_BYTES = 1 << 22


@torch.no_grad()
def read_into(parameter: Tensor, located: Located, place: Place, *, allow_nonfinite: bool = False) -> None:
    """Fill a parameter (a view with the ledger's axes) from its place in a file.

    The model stores its matrices as files do, so that each piece can be read in place; anything else is read into a copy.
    """
    target = to_file(parameter, place).reshape(-1)
    for start, piece in pieces(located, place):
        if not allow_nonfinite and not torch.isfinite(_sum(piece)):
            _refuse_nonfinite(located, place)
        target[start : start + len(piece)].copy_(piece)
    if target.untyped_storage().data_ptr() != parameter.untyped_storage().data_ptr():
        parameter.copy_(from_file(target.reshape(place.part_shape), place, tuple(parameter.shape)))


def require_equal(located: Located, place: Place, other: Located, copy: Place) -> None:
    """Refuse a second copy of a tied tensor that contains other numbers."""
    for (_, ours), (_, theirs) in zip(pieces(located, place), pieces(other, copy), strict=True):
        if not torch.equal(ours.double().nan_to_num(), theirs.double().nan_to_num()):
            raise not_one_tensor(copy.name, place.name)


def pieces(located: Located, place: Place) -> Iterator[tuple[int, Tensor]]:
    """The numbers of a place in order: the start of each piece, and the piece, whose memory is reused for the next."""
    path, entry = located
    dtype = DTYPES.get(entry.dtype)
    if dtype is None:
        raise unknown_dtype(place.name, entry.dtype, DTYPES)
    runs, length = place.runs
    together = max(min(PIECE_BYTES // 8, length * len(runs)) // max(length, 1), 1)  # short runs are combined
    buffer = torch.empty(min(together * length, max(PIECE_BYTES // 8, 1)), dtype=dtype)
    raw = buffer.view(torch.uint8).numpy().data
    held, done = 0, 0
    try:
        with path.open("rb", buffering=0) as file:
            for first in runs:
                file.seek(entry.start + first * dtype.itemsize)
                for start in range(0, length, max(len(buffer), 1)):
                    size = min(len(buffer), length - start)
                    if not _filled(file, raw[held * dtype.itemsize : (held + size) * dtype.itemsize]):
                        raise GlassformerError(
                            f"{shown(path.name)} became shorter while it was open: {shown(place.name)} is cut off."
                        )
                    held += size
                    if held + min(length, len(buffer)) > len(buffer):
                        yield done, buffer[:held]
                        held, done = 0, done + held
            if held:
                yield done, buffer[:held]
    except OSError as error:
        raise GlassformerError(f"{shown(path.name)} cannot be read: {error.strerror or type(error).__name__}.") from None


def _filled(file: BinaryIO, raw: memoryview) -> bool:
    """Whether the file had enough bytes to fill `raw`."""
    while raw.nbytes:
        size = file.readinto(raw)  # type: ignore[attr-defined]  # a file without buffer has it
        if not size:
            return False
        raw = raw[size:]
    return True


def _sum(piece: Tensor) -> Tensor:
    """A number that is finite only if all numbers of the piece are; an overflow is checked again."""
    return piece.sum(dtype=torch.promote_types(piece.dtype, torch.float32))


def _refuse_nonfinite(located: Located, place: Place) -> None:
    """Name the first number that is not finite, and count them; return if only the sum was too large."""
    wrong, first, value = 0, 0, 0.0
    for start, piece in pieces(located, place):
        found = (~piece.isfinite()).nonzero()
        if len(found) and not wrong:
            first, value = start + int(found[0]), float(piece[found[0]])
        wrong += len(found)
    if not wrong:
        return
    index = [int(i) for i in torch.unravel_index(torch.tensor(first), place.part_shape)]
    where = ", ".join(map(str, place.stored_index(index)))
    word = "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    raise GlassformerError(
        f"{shown(place.name, limit=100)}[{where}] is {word} ({wrong:,} of {math.prod(place.part_shape):,} "
        "values are not finite). allow_nonfinite=True reads them anyway."
    )
