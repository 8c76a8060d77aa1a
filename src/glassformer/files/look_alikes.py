"""Files often found instead of weights, recognised by their first bytes, and the way out for each."""

from __future__ import annotations

import re

from glassformer.errors import shown

USE_SAFETENSORS = "Use model.safetensors from the same repository."
NEVER_OPENED = f"it can run code, so it is never opened. {USE_SAFETENSORS}"
UNPACK = "is compressed with {0}, not weights. Unpack it first: {1}"

# First bytes -> message. Longer patterns come before their own prefixes.
BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "is a Git LFS pointer ({size} bytes), not weights. Run: git lfs pull"),
    (b"PK\x03\x04", f"is a zip archive, as torch.save writes it, with a pickle inside: {NEVER_OPENED}"),
    (b"PK\x05\x06", "is an empty zip archive, not weights. Download it again."),
    *((bytes((0x80, protocol)), f"is a pickle: {NEVER_OPENED}") for protocol in range(2, 6)),
    (b"\x1f\x8b", UNPACK.format("gzip", "gunzip")),
    (b"BZh", UNPACK.format("bzip2", "bunzip2")),
    (b"\xfd7zXZ\x00", UNPACK.format("xz", "unxz")),
    (b"\x28\xb5\x2f\xfd", UNPACK.format("zstandard", "unzstd")),
    (b"7z\xbc\xaf\x27\x1c", UNPACK.format("7-Zip", "7z x")),
    (b"GGUF", f"is a GGUF file, whose weights are laid out for llama.cpp. {USE_SAFETENSORS}"),
    (b"\x89HDF\r\n\x1a\n", f"is an HDF5 file, as Keras writes it. {USE_SAFETENSORS}"),
    (b"\x93NUMPY", f"is a single NumPy array, not a set of named tensors. {USE_SAFETENSORS}"),
)

PAGE = re.compile(rb"\s*(<!doctype\s+html|<html|<head|<body|<!--)", re.IGNORECASE)
TITLE = re.compile(rb"<(?:title|h1)[^>]*>([^<]{1,80})", re.IGNORECASE)


def look_alike(first: bytes, size: int) -> str | None:
    """Say what a file is, by its first bytes, and what to do; return None for other files."""
    if not size:
        return "is empty (0 bytes): the download failed. Download it again."
    for beginning, message in BEGINNINGS:
        if first.startswith(beginning):
            return message.format(size=size) if "{size}" in message else message
    if PAGE.match(first):
        title = TITLE.search(first)
        words = f' ("{shown(title[1].decode("utf-8", "replace").strip())}")' if title else ""
        return f"is an HTML page{words}: the download failed. Download the file itself, not its page."
    if re.match(rb"\s*<\?xml", first):
        return "is an XML document, probably an error from the server: the download failed. Download it again."
    if re.match(rb'\s*[{\[]\s*["}\]]', first):
        return (
            "is a JSON document, not weights: an index, a config, or an error from the server. Download the weights themselves."
        )
    if len(set(first)) == 1 and not first[0]:
        return "starts with zeros only: the download was interrupted. Download it again."
    if first[257:262] == b"ustar":
        return UNPACK.format("tar", "tar xf")
    return None
