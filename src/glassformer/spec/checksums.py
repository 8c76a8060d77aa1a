"""A sha256 for each tensor, kept in the notes of a file: one flipped bit is found, and named by its tensor."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from glassformer.spec.errors import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.spec.weight_files import Located, WeightFiles

MARK = "sha256:"  # before a tensor's name, it is the key of that tensor's checksum
DIGITS = re.compile(r"[0-9a-f]{64}")
PIECE = 1 << 22  # bytes read at once


def sums_in(metadata: Mapping[str, str], tensors: Collection[str], label: str) -> dict[str, str]:
    """The checksums among the notes of a file; none where its writer left none."""
    found = {key.removeprefix(MARK): value for key, value in metadata.items() if key.startswith(MARK)}
    for name, value in found.items():
        if name not in tensors or not DIGITS.fullmatch(value):
            what = "is no checksum" if name in tensors else "belongs to no tensor of the file"
            raise GlassformerError(f"{shown(label)}: its note {MARK}{shown(name)} {what}. The file is damaged.")
    return found


def check_sums(files: WeightFiles, names: Iterable[str] | None = None) -> None:
    """Compare tensors (all that have a checksum, or those named) with their checksums; a few at a time, in threads."""
    wanted = [name for name in (files.sums if names is None else names) if name in files.sums]
    if not wanted:
        return
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for name, found in zip(wanted, pool.map(lambda name: sha256_of(files.tensors[name]), wanted), strict=True):
            if found != files.sums[name]:
                raise GlassformerError(
                    f"{shown(files.tensors[name].path.name)}: tensor {shown(name, limit=100)} does not have the sha256 that was "
                    "written with it: at least one bit has changed. Get the file again."
                )


def sha256_of(located: Located) -> str:
    """The sha256 of a tensor's bytes in its file."""
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
