"""Access control: which requests are accepted, their size and rate limits, and the security headers of responses.

The front end is the same for everybody and says nothing; it is handed out here. Whatever else there is needs the key, which is
new at every start and stands in the address that the lab prints, after the `#`, where a browser keeps it to itself. It comes
back in a header and never in a cookie: a cookie is sent to every port of this machine, and so to the servers of other accounts.

A page of some other site can make a browser send requests here. It has no key; and it is stopped, too, by the name it used to
get here (`Host`, against DNS rebinding), by where it comes from (`Origin`, `Sec-Fetch-Site`), and by what it may send (JSON).
"""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from glassformer.lab.front import Front
from glassformer.lab.wire import answer

MOST_BODY = 4_000_000  # bytes of a request's body
MOST_QUERY = 16_000  # bytes of an address
SLOWEST_BODY = 20.0  # seconds until all of it must be there
MOST_AT_ONCE = 64  # requests being answered; those that come after wait for their turn
MOST_WAITING = 1_024
MOST_STREAMS = 64  # event streams held open, which wait more than they work
TOKEN = "x-glassformer-token"
SAFE = ("GET", "HEAD")

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
MORE_HEADERS = {401: {"www-authenticate": "Glassformer"}, 405: {"allow": "GET, HEAD, POST"}, 429: {"retry-after": "1"}}
UNREAD = (408, 413, 415, 429)  # what is left of the body is not read


class RefusedError(Exception):
    """A refused request, with its status and a one-line reason."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status

    def answer(self) -> Response:
        close = {"connection": "close"} if self.status in UNREAD else {}
        return answer({"error": str(self)}, self.status, {**MORE_HEADERS.get(self.status, {}), **close})


def hosts(port: int) -> tuple[str, ...]:
    """The host names of the local machine."""
    return (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}")


class Turns:
    """Run at most `at_once` requests and queue at most `waiting`, in order of arrival; refuse any more."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self.at_once = at_once
        self.waiting = waiting
        self.here = 0
        self.limiter: anyio.Semaphore | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        if self.here >= self.at_once + self.waiting:
            raise RefusedError(
                429, f"the lab is already handling {self.at_once + self.waiting:,} requests. Try again in a moment."
            )
        self.limiter = self.limiter or anyio.Semaphore(self.at_once)  # belongs to the running event loop
        self.here += 1
        try:
            async with self.limiter:
                yield
        finally:
            self.here -= 1


class Guard:
    """ASGI middleware around the app: serves the front end, checks the key and sets the headers of every response."""

    def __init__(self, app: ASGIApp, front: Front, *, token: str, port: int) -> None:
        self.app = app
        self.front = front
        self.token = token
        self.hosts = hosts(port)
        self.requests = Turns(MOST_AT_ONCE, MOST_WAITING)
        self.streams = Turns(MOST_STREAMS, 0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        send = _with_headers(send)
        try:
            self._check_sender(scope, headers)
            if scope["method"] in SAFE and not scope["path"].startswith("/api/"):
                await self.front.at(scope["path"])(scope, receive, send)
                return
            self._check_key(headers)
            self._check_body(scope, headers)
            turns = self.streams if "text/event-stream" in headers.get("accept", "") else self.requests
            async with turns.turn():
                await self.app(scope, _Limited(receive), send)
        except RefusedError as refusal:
            await refusal.answer()(scope, receive, send)

    def _check_sender(self, scope: Scope, headers: Headers) -> None:
        if headers.getlist("host") not in [[name] for name in self.hosts]:
            raise RefusedError(403, f"this is not the lab's address: open http://{self.hosts[0]}/.")
        asks_data = scope["path"].startswith("/api/") or scope["method"] not in SAFE
        origins, site = headers.getlist("origin"), headers.get("sec-fetch-site", "none")
        foreign = any(origin not in [f"http://{name}" for name in self.hosts] for origin in origins)
        if foreign or (asks_data and site not in ("same-origin", "none")):
            raise RefusedError(403, "this request comes from another site; the lab answers only its own pages.")
        if len(scope.get("query_string", b"")) + len(scope.get("raw_path") or b"") > MOST_QUERY:
            raise RefusedError(414, f"the address is too long: at most {MOST_QUERY:,} bytes.")

    def _check_key(self, headers: Headers) -> None:
        given = headers.getlist(TOKEN)
        if len(given) != 1 or not hmac.compare_digest(given[0].encode(), self.token.encode()):
            raise RefusedError(401, "the key is missing or belongs to an earlier start: open the address that the lab printed.")

    def _check_body(self, scope: Scope, headers: Headers) -> None:
        if scope["method"] not in (*SAFE, "POST"):
            raise RefusedError(405, "the lab accepts only GET and POST.")
        if scope["method"] == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise RefusedError(415, "the lab accepts only JSON: set content-type to application/json.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 15 or int(length) > MOST_BODY:
            raise RefusedError(413, _too_large())


class _Limited:
    """Read a request body with a size limit and a timeout: `content-length` may be missing or wrong."""

    def __init__(self, receive: Receive) -> None:
        self.receive = receive
        self.seen = 0
        self.complete = False
        self.until = 0.0

    async def __call__(self) -> Message:
        if self.complete:
            return await self.receive()  # waits until the browser has gone
        self.until = self.until or anyio.current_time() + SLOWEST_BODY
        try:
            with anyio.fail_after(max(0.0, self.until - anyio.current_time())):
                message = await self.receive()
        except TimeoutError:
            raise RefusedError(408, f"the request did not arrive within {SLOWEST_BODY:g} seconds.") from None
        self.seen += len(message.get("body", b""))
        self.complete = not message.get("more_body", False)
        if self.seen > MOST_BODY:
            raise RefusedError(413, _too_large())
        return message


def _too_large() -> str:
    return f"the request is too large: at most {MOST_BODY:,} bytes."


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return sending
