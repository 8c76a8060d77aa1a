"""Files that are often found where weights should be: what each is, told by its first bytes, and the way out."""

from __future__ import annotations

import re

from glassformer.spec.errors import shown

SAFE_TWIN = "Use model.safetensors from the same repository."
NEVER_OPENED = f"it can run code, so it is never opened. {SAFE_TWIN}"
UNPACK = "is packed with {0}, not weights. Unpack it first: {1}"

# First bytes -> what to say. Longer ones come before those that they begin with.
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
    (b"GGUF", f"is a GGUF file, whose weights are laid out for llama.cpp. {SAFE_TWIN}"),
    (b"\x89HDF\r\n\x1a\n", f"is an HDF5 file, as Keras writes it. {SAFE_TWIN}"),
    (b"\x93NUMPY", f"is a single NumPy array, not a set of named tensors. {SAFE_TWIN}"),
)

PAGE = re.compile(rb"\s*(<!doctype\s+html|<html|<head|<body|<!--)", re.IGNORECASE)
TITLE = re.compile(rb"<(?:title|h1)[^>]*>([^<]{1,80})", re.IGNORECASE)


def look_alike(first: bytes, size: int) -> str | None:
    """What a file is, by its first bytes, and what to do; None where it is none of the usual ones."""
    if not size:
        return "is empty (0 bytes): the download failed. Download it again."
    for beginning, said in BEGINNINGS:
        if first.startswith(beginning):
            return said.format(size=size) if "{size}" in said else said
    if PAGE.match(first):
        title = TITLE.search(first)
        words = f' ("{shown(title[1].decode("utf-8", "replace").strip())}")' if title else ""
        return f"is an HTML page{words}: the download failed. Download the file itself, not the page about it."
    if re.match(rb"\s*<\?xml", first):
        return "is an XML document, a server's answer rather than the file: the download failed. Download it again."
    if re.match(rb'\s*[{\[]\s*["}\]]', first):
        return "is a JSON document, not weights: an index, a config, or a server's answer. Download the weights themselves."
    if len(set(first)) == 1 and not first[0]:
        return "begins with nothing but zeros: the download was interrupted. Download it again."
    if first[257:262] == b"ustar":
        return UNPACK.format("tar", "tar xf")
    return None
