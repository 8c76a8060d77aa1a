"""A sha256 for each tensor, stored in the metadata of a file: a single flipped bit is found and reported by tensor."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from glassformer.errors import GlassformerError, shown
from glassformer.files.weight_files import Located, WeightFiles

PIECE = 1 << 22  # bytes read at once


def check_sums(files: WeightFiles, names: Iterable[str] | None = None) -> None:
    """Compare tensors (those named, or all with a checksum) with their checksums, a few at a time in threads."""
    wanted = [name for name in (files.sums if names is None else names) if name in files.sums]
    if not wanted:
        return
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for name, found in zip(wanted, pool.map(lambda name: sha256_of(files.tensors[name]), wanted), strict=True):
            if found != files.sums[name]:
                raise GlassformerError(
                    f"{shown(files.tensors[name].path.name)}: tensor {shown(name, limit=100)} does not match its sha256: "
                    "at least one bit has changed. Download the file again."
                )


def sha256_of(located: Located) -> str:
    """Return the sha256 of a tensor's bytes in its file."""
    path, entry = located
    digest, left = hashlib.sha256(), entry.stop - entry.start
    buffer = memoryview(bytearray(min(PIECE, left)))
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(entry.start)
            while left and (size := file.readinto(buffer[: min(PIECE, left)])):
                digest.update(buffer[:size])
                left -= size
    except OSError as error:
        raise GlassformerError(f"{shown(path.name)} cannot be read: {error.strerror or type(error).__name__}.") from None
    return digest.hexdigest()
