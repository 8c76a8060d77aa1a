"""Messages between a job and its worker processes: a JSON header and raw bytes, so that nothing is unpickled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, BinaryIO


def send(file: BinaryIO, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """Write a message: the length of the header, the header with the lengths of the blobs, the blobs."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    file.write(len(text).to_bytes(8, "little"))
    for part in (text, *blobs):
        file.write(part)
    file.flush()


def receive(file: BinaryIO) -> tuple[dict[str, Any], list[bytes]]:
    """Read a message; EOFError if the other side has ended."""
    header: dict[str, Any] = json.loads(_exactly(file, int.from_bytes(_exactly(file, 8), "little")))
    return header, [_exactly(file, size) for size in header["blobs"]]


def _exactly(file: BinaryIO, size: int) -> bytes:
    found = file.read(size)
    if len(found) < size:
        raise EOFError
    return found


def packed(texts: Sequence[str]) -> tuple[dict[str, Any], list[bytes]]:
    """Return texts as a message: their lengths, and one piece of bytes."""
    return {"lengths": [len(text) for text in texts]}, ["".join(texts).encode("utf-8", "surrogatepass")]


def unpacked(header: dict[str, Any], blobs: Sequence[bytes]) -> list[str]:
    """Restore what `packed` made."""
    whole, ends = blobs[0].decode("utf-8", "surrogatepass"), [0, *accumulate(header["lengths"])]
    return [whole[start:end] for start, end in pairwise(ends)]
