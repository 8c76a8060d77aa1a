"""Messages between the lab and the browser: JSON without bare NaN, float arrays as bytes, and events.

A number that JSON cannot represent is written as a string ("NaN", "Infinity", "-Infinity"), as the command line does;
the front end reads it back with `toNumber` in web/src/shared/wire.ts, where a number is expected and nowhere else.

Arrays are one message: the four bytes `GLF1`, the length of the header (uint32), the header (JSON: any fields, and
`arrays`, a list of name, dtype, shape, offset), spaces up to a multiple of 8, then the arrays, little endian, each
starting at a multiple of 8 bytes from the end of the header.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json

if TYPE_CHECKING:  # live views in a notebook speak this language, too, and have no server
    from starlette.requests import Request
    from starlette.responses import Response

MAGIC = b"GLF1"
MOST_WHOLE = 10**12  # of a number in a request: a place, a seed, a count
MOST_EXACT = 2**53  # the browser's numbers are doubles: a larger whole number travels as its digits, in quotes
STEP = 8  # where an array may start: what any typed array of the browser can read in place
Precision = Literal["float32", "float16"]


def plain(value: Any) -> Any:
    """Convert values for JSON: NumPy to Python, records to objects, tuples to lists, no bare NaN or infinity."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, int) and abs(value) > MOST_EXACT:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value


def to_json(document: Any) -> str:
    """One line of standard JSON."""
    return json.dumps(plain(document), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response."""
    from starlette.responses import Response

    return Response(to_json(document), status, media_type="application/json", headers=headers)


def pack(header: Mapping[str, Any], arrays: Mapping[str, Any], precision: Precision = "float32") -> bytes:
    """Arrays and their metadata as one message."""
    listed, blocks, offset = [], [], 0
    for name, array in arrays.items():
        with np.errstate(over="ignore"):
            block = np.ascontiguousarray(array, dtype=np.dtype(precision).newbyteorder("<"))
        listed.append({"name": name, "dtype": precision, "shape": list(np.shape(array)), "offset": offset})
        padding = -block.nbytes % STEP
        blocks.append(block.tobytes() + b"\0" * padding)
        offset += block.nbytes + padding
    head = to_json({**header, "arrays": listed}).encode()
    head += b" " * (-(len(MAGIC) + 4 + len(head)) % STEP)
    return b"".join([MAGIC, len(head).to_bytes(4, "little"), head, *blocks])


def arrays_answer(header: Mapping[str, Any], arrays: Mapping[str, Any], precision: Precision = "float32") -> Response:
    """Arrays as a binary response."""
    from starlette.responses import Response

    return Response(pack(header, arrays, precision), media_type="application/octet-stream")


def events_answer(events: AsyncIterator[tuple[str, Any, str]]) -> Response:
    """A stream of named events (Server-Sent Events); the browser side is `listen` in web/src/shared/api.ts.

    An event is its name, its document and a mark. A browser that lost the connection comes back by itself and sends the last
    mark as `Last-Event-ID`; an empty one leaves the mark as it was.
    """

    async def lines() -> AsyncIterator[str]:
        yield "retry: 1000\n\n"
        async for name, document, mark in events:
            yield (f"id: {mark}\n" if mark else "") + f"event: {name}\ndata: {to_json(document)}\n\n"

    from starlette.responses import StreamingResponse

    return StreamingResponse(lines(), media_type="text/event-stream")


async def asked(request: Request) -> dict[str, Any]:
    """Parse the JSON object in a request body as untrusted input."""
    try:
        text = (await request.body()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise GlassformerError(f"the request is not text: byte {error.start} is not UTF-8.") from None
    return parse_json(text, "the request")


def text_in(document: Mapping[str, Any], key: str, otherwise: str | None = None, *, most: int | None = None) -> str:
    """A text field of a request, limited in length; `otherwise` is its default."""
    found = document.get(key, otherwise)
    if not isinstance(found, str):
        raise GlassformerError(f"the request must have {key} as a string, found {shown(found)}.")
    if most is not None and len(found) > most:
        raise GlassformerError(f"{key} has {len(found):,} characters: at most {most:,} are allowed.")
    return found


def whole_in(document: Mapping[str, Any], key: str, otherwise: int = 0) -> int:
    """An integer field of a request; `otherwise` is its default."""
    found = document.get(key, otherwise)
    if type(found) is not int or not 0 <= found <= MOST_WHOLE:
        raise GlassformerError(f"{key}={shown(found)} is not allowed: give a whole number from 0.")
    return found
