"""Close idle connections: a browser sends its request at once, so an idle connection only occupies a slot."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

SLOWEST_HEAD = 10.0  # seconds from the first byte, or the connection, to the end of a request's head
MOST_OPEN_FILES = 8_192


class Connection(H11Protocol):
    """uvicorn's HTTP protocol with a timeout that runs while no request is in progress."""

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
