"""The body of a request for embeddings: read with limits on size and time, parsed and checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import anyio
from starlette.requests import Request

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json

MOST_BODY = 4_000_000  # bytes
MOST_DISCARDED = 64_000_000  # read and not kept, so that a client that is still sending gets the answer
MOST_TEXTS = 2_048  # of one request, as in OpenAI's service
SLOWEST_BODY = 20.0  # seconds until all of it must be there
KNOWN = ("input", "model", "encoding_format", "dimensions", "user")


class RefusedError(Exception):
    """A refused request: its status, one line, and the field that is wrong."""

    def __init__(self, status: int, line: str, field: str | None = None) -> None:
        super().__init__(line)
        self.status, self.field = status, field


class RowOptions(NamedTuple):
    """What a request asks for."""

    texts: list[str]
    base64: bool  # whether vectors are returned as base64 of their float32 bytes


async def read_body(request: Request) -> str:
    """Read a body as text; `content-length` may be missing or wrong. Data beyond the limit is discarded."""
    body, seen = bytearray(), 0
    try:
        with anyio.fail_after(SLOWEST_BODY):
            async for piece in request.stream():
                seen += len(piece)
                if seen <= MOST_BODY:
                    body += piece
                elif seen > MOST_DISCARDED:
                    break
    except TimeoutError:
        raise RefusedError(408, f"the request did not arrive within {SLOWEST_BODY:g} seconds.") from None
    if seen > MOST_BODY:
        raise _too_large()
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(400, f"the request is not UTF-8 at byte {error.start + 1}.") from None


def _too_large() -> RefusedError:
    return RefusedError(413, f"the request is too large: at most {MOST_BODY:,} bytes. Send fewer texts at once.")


def parsed(body: str, *, model: str, width: int) -> RowOptions:
    """Check the fields of a request."""
    try:
        document = parse_json(body, "the request")
    except GlassformerError as error:
        raise RefusedError(400, str(error)) from None
    for name in document:
        if name not in KNOWN:
            raise RefusedError(400, f"unknown field '{shown(name)}': known are {', '.join(KNOWN)}.", shown(name))
    if document.get("model") != model:
        raise RefusedError(404, f"model={shown(document.get('model'))} is not served here. Use model={model}.", "model")
    form = document.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise RefusedError(400, f"encoding_format={shown(form)} is not known: float or base64.", "encoding_format")
    if document.get("dimensions", width) != width:
        raise RefusedError(400, f"dimensions={shown(document['dimensions'])}: this model has {width}.", "dimensions")
    return RowOptions(_texts(document.get("input")), form == "base64")


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts:
        raise RefusedError(400, f"input must be a text or a list of texts, found {shown(given)}.", "input")
    if len(texts) > MOST_TEXTS:
        raise RefusedError(400, f"input has {len(texts):,} texts: at most {MOST_TEXTS:,} at once.", "input")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise RefusedError(400, f"input[{number}] must be a text, found {shown(text)}. Token ids are not accepted.", "input")
    return texts
