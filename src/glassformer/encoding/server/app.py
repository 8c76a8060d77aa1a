"""The routes: /v1/embeddings and /v1/models, compatible with OpenAI clients, /health and /metrics."""

from __future__ import annotations

import asyncio
import base64
import hmac
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from glassformer.encoding.server.batches import Batches, BusyError
from glassformer.encoding.server.body import RefusedError, RowOptions, parsed, read_body
from glassformer.encoding.server.counts import Counts
from glassformer.errors import GlassformerError

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
KINDS = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error"}
CLOSING = (408, 413)  # the rest of the body is not read


@dataclass(frozen=True)
class Served:
    """A model that is served: its name, its key, and how texts are read and pooled."""

    model: LoadedModel
    name: str
    key: str
    batches: Batches
    reading: dict[str, Any] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    tokenizing: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "tokens"))

    def tokens_of(self, texts: list[str]) -> list[Any]:
        """Return the ids of each text; called in one thread only, since a tokenizer is changed while it truncates."""
        windows = self.model.windows(texts, **self.reading, name=lambda number: f"input[{number}]")
        return [ids for window in windows for ids in window.ids]


def app(served: Served) -> Starlette:
    """All routes; every one but /health needs the key."""
    routes = [
        Route("/v1/embeddings", embeddings, methods=["POST"]),
        Route("/v1/models", models),
        Route("/health", health),
        Route("/metrics", metrics),
    ]
    handlers: dict[Any, Any] = {HTTPException: _unknown, RefusedError: _refused, Exception: _our_fault}
    made = Starlette(routes=routes, exception_handlers=handlers)
    made.state.served = served
    return made


async def embeddings(request: Request) -> Response:
    """Answer with one vector for each text."""
    served: Served = request.app.state.served
    began, status, texts, tokens = time.monotonic(), 500, 0, 0
    try:
        _check_key(request, served)
        asked = parsed(await read_body(request), model=served.name, width=served.model.spec.d_model)
        ids, vectors = await _vectors(served, asked.texts)
        status, texts, tokens = 200, len(ids), sum(len(one) for one in ids)
        return _answer(served, asked, vectors, tokens)
    except RefusedError as refusal:
        status = refusal.status
        return await _refused(request, refusal)
    finally:
        served.counts.add(status, time.monotonic() - began, texts=texts, tokens=tokens)


async def _vectors(served: Served, texts: list[str]) -> tuple[list[Any], NDArray[Any]]:
    loop = asyncio.get_running_loop()
    try:
        ids = await loop.run_in_executor(served.tokenizing, served.tokens_of, texts)
    except GlassformerError as error:
        raise RefusedError(400, str(error), "input") from None
    try:
        vectors = await asyncio.wrap_future(served.batches.add(ids))
    except BusyError:
        raise RefusedError(503, "more texts are waiting than this server accepts. Try again in a moment.") from None
    if not np.isfinite(vectors).all():
        raise RefusedError(500, "a vector is not finite: the numbers overflowed. Serve the model with --dtype float32.")
    return ids, vectors


def _answer(served: Served, asked: RowOptions, vectors: NDArray[Any], tokens: int) -> Response:
    rows: list[Any]
    if asked.base64:
        rows = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
    else:
        rows = vectors.tolist()
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return JSONResponse({"object": "list", "data": data, "model": served.name, "usage": usage}, headers=HEADERS)


async def models(request: Request) -> Response:
    """List the model."""
    served: Served = request.app.state.served
    _check_key(request, served)
    one = {"id": served.name, "object": "model", "created": 0, "owned_by": "glassformer"}
    return JSONResponse({"object": "list", "data": [one]}, headers=HEADERS)


async def health(_: Request) -> Response:
    """Report that the server is running; needs no key and contains nothing else."""
    return JSONResponse({"status": "ok"}, headers=HEADERS)


async def metrics(request: Request) -> Response:
    """Return the counts for Prometheus."""
    served: Served = request.app.state.served
    _check_key(request, served)
    told = served.counts.text(waiting=served.batches.tokens, batches=served.batches.computed)
    return PlainTextResponse(told, headers=HEADERS)


def _check_key(request: Request, served: Served) -> None:
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not hmac.compare_digest(key.encode(), served.key.encode()):
        raise RefusedError(401, "the key is missing or wrong: send it as 'Authorization: Bearer KEY'.")


def _error(status: int, line: str, field: str | None = None) -> Response:
    about = {"message": line, "type": KINDS.get(status, "invalid_request_error"), "param": field, "code": None}
    more = {"connection": "close"} if status in CLOSING else {"retry-after": "1"} if status == 503 else {}
    return JSONResponse({"error": about}, status, headers=HEADERS | more)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return _error(error.status, str(error), error.field)


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(error.status_code, f"{request.method} {request.url.path[:60]}: {error.detail.lower()}.")


async def _our_fault(request: Request, _: Exception) -> Response:
    return _error(500, f"the server failed at {request.url.path[:60]}: this is a bug in Glassformer; see its log for details.")
