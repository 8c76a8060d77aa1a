"""Calls with a time limit: they run in a worker process, which is stopped and replaced if one takes too long."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from glassformer.errors import GlassformerError
from glassformer.mcp.folders import Folders

SECONDS = 20.0
MOST_BYTES = 8_000_000  # in one answer


class Calls:
    """One worker process, started early so that it is ready for the first call; calls run one at a time."""

    def __init__(self, folders: Folders, seconds: float = SECONDS) -> None:
        self.folders, self.seconds = folders, seconds
        self.turn = anyio.Lock()
        self.process: Process | None = None
        self.lines: BufferedByteReceiveStream | None = None

    async def __aenter__(self) -> Calls:
        await self._start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        await self._stop()

    async def __call__(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document of a call; errors, failures and timeouts raise a `GlassformerError`."""
        async with self.turn:
            said: dict[str, Any] | None = None
            try:
                with anyio.move_on_after(self.seconds):
                    said = await self._answer({"tool": tool, "arguments": arguments})
            finally:
                if said is None:  # timeout or cancelled: a late answer would be read as that of the next call
                    await self._stop()
        if said is None:
            raise GlassformerError(
                f"{tool} took longer than {self.seconds:g} seconds and was stopped: ask for less at once, such as one "
                "expression, a smaller t or fewer layers."
            )
        if "error" in said:
            raise GlassformerError(said["error"])
        document: dict[str, Any] = said["document"]
        return document

    async def _answer(self, call: dict[str, Any]) -> dict[str, Any]:
        await self._start()
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.lines is not None
        try:
            await self.process.stdin.send(json.dumps(call).encode() + b"\n")
            said: dict[str, Any] = json.loads(await self.lines.receive_until(b"\n", MOST_BYTES))
        except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound):
            await self._stop()
            return {"error": "the calculation ended unexpectedly: ask for less at once, or rephrase the call."}
        return said

    async def _start(self) -> None:
        if self.process is None or self.process.returncode is not None:
            roots = [str(root) for root in self.folders.roots]
            self.process = await anyio.open_process([sys.executable, "-m", "glassformer.mcp.worker", *roots], stderr=None)
            assert self.process.stdout is not None
            self.lines = BufferedByteReceiveStream(self.process.stdout)

    async def _stop(self) -> None:
        process, self.process, self.lines = self.process, None, None
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()
