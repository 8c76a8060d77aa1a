"""The header of an untrusted .safetensors file: every size is checked before any weights are read."""

from __future__ import annotations

import gc
import io
import math
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json_object
from glassformer.files.look_alikes import look_alike

MOST_HEADER_BYTES = 16_000_000
MOST_TENSORS = 34_000  # 2,000 layers, the most that a spec may have, need 32,000
MOST_AXES = 8
MOST_NAME_BYTES = 512
LARGEST_SIZE = 2**63 - 1

LENGTH_BYTES = 8  # the file starts with the length of its header, little-endian
PEEK_BYTES = 512  # enough to recognise other kinds of files

# How often each character may occur in the entry of one tensor. Counting characters is fast; parsing a million objects is not.
CHARACTERS = {b"{": 1, b"[": 2, b",": MOST_AXES + 4, b'"': 12}

CHECKSUM = "sha256:"  # key of a tensor's checksum in the metadata: this prefix and the tensor's name
CHECKSUM_DIGITS = re.compile(r"[0-9a-f]{64}")

ENTRY_KEYS = {"dtype", "shape", "data_offsets"}

# Bits per number; tensors of types below 8 bits still fill whole bytes.
BITS = {
    **{"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6},
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
}


class Entry(NamedTuple):
    """One tensor: its type, its shape, and its byte range in the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


class Header(NamedTuple):
    """The tensors of a file, by name, and its metadata."""

    tensors: dict[str, Entry]
    metadata: dict[str, str]


def read_header(path: Path) -> Header:
    """Read and check the header of a file, and nothing else; its size is limited."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            return _read(file, size, shown(path.name))
    except OSError as error:
        raise GlassformerError(f"{shown(path.name)} cannot be read: {error.strerror or type(error).__name__}.") from None


def parse_header(data: bytes, *, name: str = "the file") -> Header:
    """Like `read_header`, from the bytes of a whole file."""
    return _read(io.BytesIO(data), len(data), name)


def _read(file: BinaryIO, size: int, name: str) -> Header:
    first = file.read(PEEK_BYTES)
    length = int.from_bytes(first[:LENGTH_BYTES], "little")
    opens = first[LENGTH_BYTES : LENGTH_BYTES + 1]
    if size < LENGTH_BYTES or opens != b"{" or length > min(size, MOST_HEADER_BYTES):
        _refuse_opening(first, length, size, name)
    file.seek(LENGTH_BYTES)
    header = file.read(length)
    if len(header) < length:
        raise _cut_short(name, LENGTH_BYTES + length, size)
    return _checked(header, LENGTH_BYTES + length, size, name)


def _refuse_opening(first: bytes, length: int, size: int, name: str) -> None:
    """Refuse a file with an invalid start: say what kind of file it is, or what is wrong with the start."""
    other = look_alike(first, size)
    if other is not None:
        raise GlassformerError(f"{name} {other}")
    if size < LENGTH_BYTES:
        raise GlassformerError(f"{name} has {size} bytes, too few for a safetensors file. Download it again.")
    opens = first[LENGTH_BYTES : LENGTH_BYTES + 1]
    if opens == b"{" and length <= MOST_HEADER_BYTES:
        raise _cut_short(name, LENGTH_BYTES + length, size)
    if opens == b"{":
        raise GlassformerError(
            f"{name}: its header claims to be {length:,} bytes long; at most {MOST_HEADER_BYTES:,} are allowed. "
            "The file is damaged or malicious."
        )
    found = f'byte {LENGTH_BYTES} is "{shown(opens.decode("latin-1"))}"' if opens else "the file ends there"
    raise GlassformerError(
        f'{name}: the header is not valid ({found}, must be "{{"). The file is damaged, or not a safetensors file.'
    )


def _cut_short(name: str, promised: int, size: int) -> GlassformerError:
    share = f" ({100 * size // promised} %)" if promised else ""
    return GlassformerError(
        f"{name} is incomplete: its header describes {promised:,} bytes, the file has {size:,}{share}. Download it again."
    )


def _checked(header: bytes, data_start: int, size: int, name: str) -> Header:
    if any(header.count(character) > most * MOST_TENSORS + 2 for character, most in CHARACTERS.items()):
        raise GlassformerError(f"{name}: its header describes more than {MOST_TENSORS:,} tensors, which is the limit.")
    try:
        text = header.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GlassformerError(
            f"{name}: its header is not text: byte {error.start + LENGTH_BYTES} is not UTF-8. The file is damaged."
        ) from None
    with _no_collector():
        document = parse_json_object(text, f"the header of {name}")
        metadata = document.pop("__metadata__", {})
        texts = [*metadata, *metadata.values()] if isinstance(metadata, dict) else [None]
        if not all(isinstance(text, str) and _whole(text) for text in texts):
            raise GlassformerError(f"{name}: __metadata__ must map strings to strings. The file is damaged.")
        tensors = {key: _entry(key, value, data_start, name) for key, value in document.items()}
        _check_contiguous(tensors, data_start, size, name)
    return Header(tensors, metadata)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Disable the garbage collector, which would otherwise take most of the time by scanning the new objects repeatedly."""
    ran = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ran:
            gc.enable()


def _entry(key: str, value: Any, data_start: int, name: str) -> Entry:
    fault = _fault(key, value)
    if fault is not None:
        raise GlassformerError(f"{name}: tensor {shown(key)} {fault}")
    start, stop = value["data_offsets"]
    return Entry(value["dtype"], tuple(value["shape"]), data_start + start, data_start + stop)


def _fault(key: str, value: Any) -> str | None:
    """Return what is wrong with the entry of a tensor, or None."""
    if len(key) > MOST_NAME_BYTES or len(key.encode("utf-8", "surrogatepass")) > MOST_NAME_BYTES:
        return f"has a name of more than {MOST_NAME_BYTES} bytes."
    if not _whole(key):
        return "has an invalid character in its name. The file is damaged."
    if not isinstance(value, dict) or value.keys() != ENTRY_KEYS:
        found = ", ".join(shown(word, limit=20) for word in list(value)[:4]) if isinstance(value, dict) else type(value).__name__
        return f"must have dtype, shape and data_offsets, found {found or 'nothing'}."
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        return f"has dtype {shown(dtype, limit=20)}, which is unknown. Known: {', '.join(BITS)}."
    if not _sizes(shape) or len(shape) > MOST_AXES:
        return f"has shape {shown(shape, limit=40)}: it must be at most {MOST_AXES} whole numbers, 0 or more."
    if not _sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        return f"has data_offsets {shown(offsets, limit=40)}: they must be a start and an end after it."
    bits, spans = math.prod(shape) * BITS[dtype], offsets[1] - offsets[0]
    if bits != 8 * spans:
        product = " × ".join(f"{axis}" for axis in shape) or "one number"
        return f"has {shown(product)} {dtype} = {_bytes(bits)}, but its data_offsets span {spans:,}."
    return None


def _whole(text: str) -> bool:
    """Whether a string contains no lone surrogates, which file names and terminals cannot represent."""
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


def _sizes(value: Any) -> bool:
    """Whether a value is a list of whole numbers in range; booleans are refused."""
    if not isinstance(value, list):
        return False
    for item in value:  # noqa: SIM110  a generator would be slower than the comparison
        if type(item) is not int or not 0 <= item <= LARGEST_SIZE:
            return False
    return True


def _bytes(bits: int) -> str:
    whole, rest = divmod(bits, 8)
    if whole > LARGEST_SIZE:
        return "more bytes than any file can have"
    return f"{whole:,} bytes" if not rest else f"{whole:,} bytes and {rest} bits"


def _check_contiguous(tensors: dict[str, Entry], data_start: int, size: int, name: str) -> None:
    """Check that each tensor starts where the previous one ends, and the last ends with the file: no gaps, no overlaps."""
    end, before = data_start, None
    for key, entry in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if entry.start != end:
            what = "overlaps" if entry.start < end else f"leaves a gap of {entry.start - end:,} bytes after"
            neighbour = "the header" if before is None else f"tensor {shown(before)}"
            raise GlassformerError(f"{name}: tensor {shown(key)} {what} {neighbour}. The file is damaged or malicious.")
        end, before = entry.stop, key
    if end > size:
        raise _cut_short(name, end, size)
    if end < size:
        raise GlassformerError(f"{name} has {size:,} bytes, {size - end:,} more than its header describes. The file is damaged.")


def sums_in(metadata: Mapping[str, str], tensors: Collection[str], label: str) -> dict[str, str]:
    """Return the checksums in the metadata of a file; empty if it has none."""
    found = {key.removeprefix(CHECKSUM): value for key, value in metadata.items() if key.startswith(CHECKSUM)}
    for name, value in found.items():
        if name not in tensors or not CHECKSUM_DIGITS.fullmatch(value):
            what = "is not a checksum" if name in tensors else "names no tensor of the file"
            raise GlassformerError(f"{shown(label)}: its metadata entry {CHECKSUM}{shown(name)} {what}. The file is damaged.")
    return found
