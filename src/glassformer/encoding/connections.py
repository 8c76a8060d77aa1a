"""HTTP connections of the lab and of `serve`: the listening socket, and idle connections, which are closed."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from glassformer.errors import GlassformerError

BACKLOG = 2_048
SLOWEST_HEAD = 10.0  # seconds from the first byte, or the connection, to the end of a request's head
MOST_OPEN_FILES = 8_192


class Connection(H11Protocol):
    """uvicorn's HTTP protocol with a timeout that runs while no request is in progress.

    A browser sends its request at once, so an idle connection only occupies a slot.
    """

    clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self.clock is None:
            self.clock = self.loop.call_later(SLOWEST_HEAD, self._late)

    def _stop(self) -> None:
        if self.clock is not None:
            self.clock.cancel()
            self.clock = None

    def _late(self) -> None:
        self.clock = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def listen(host: str, port: int, *, options: str, way_out: str) -> socket.socket:
    """Return a listening socket; port 0 picks a free port. `options` and `way_out` are for the error message.

    Connections that arrive before the server is ready wait in the backlog.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or error
        raise GlassformerError(f"{options} cannot be used: {reason}. {way_out}") from None
    return made


def settings(app: Any, *, drain: int) -> uvicorn.Config:
    """uvicorn's configuration: no access log; requests in progress have `drain` seconds to be answered at the end."""
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False, "ws": "none"}
    return uvicorn.Config(app, http=Connection, timeout_graceful_shutdown=drain, timeout_keep_alive=15, backlog=BACKLOG, **quiet)


def open_files() -> None:
    """Raise the open-file limit to its maximum: many systems default to 1,024 files, including sockets."""
    try:
        import resource
    except ModuleNotFoundError:  # no such limit on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MOST_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
