"""The MCP server: lists and calls tools; standard output carries only the protocol."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any, TypeAlias

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from glassformer.errors import GlassformerError
from glassformer.mcp.calls import SECONDS, Calls
from glassformer.mcp.folders import Folders
from glassformer.mcp.teaching import instructions
from glassformer.mcp.tools import TOOLS

Call: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
Incoming: TypeAlias = SessionMessage | Exception
READ_ONLY = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ENVELOPE = types.PROTOCOL_VERSION_META_KEY  # sent with requests in protocol versions without a handshake


def server(call: Call) -> Server[Any]:
    """Create the server; `call` computes one call, and raises a `GlassformerError` for errors."""

    async def list_tools(_: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed())

    async def call_tool(_: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            document = await call(params.name, params.arguments or {})
        except GlassformerError as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=document)

    return Server(
        "glassformer",
        version=version("glassformer"),
        title="Glassformer",
        instructions=instructions(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def listed() -> list[types.Tool]:
    """Return the description of every tool for `tools/list`."""
    return [
        types.Tool(name=tool.name, title=tool.title, description=tool.about, input_schema=tool.schema, annotations=READ_ONLY)
        for tool in TOOLS.values()
    ]


async def serve(folders: Folders, seconds: float = SECONDS) -> None:
    """Serve standard input until it ends."""
    async with stdio_server() as (received, written), Calls(folders, seconds) as calls:
        made = server(calls)
        to_server, requests = anyio.create_memory_object_stream[Incoming]()
        answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
        lines = Lines(to_server, written, seconds)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lines.read, received)
            tasks.start_soon(lines.write, from_server)
            await made.run(requests, answers, made.create_initialization_options())


class Lines:
    """Passes lines between client and server, answers invalid lines with errors, and waits for open calls at the end.

    A client that starts with a call is served as if it had sent the handshake, and calls in progress when standard input
    ends are still answered.
    """

    def __init__(self, to_server: MemoryObjectSendStream[Incoming], written: Any, seconds: float) -> None:
        self.to_server, self.written, self.seconds = to_server, written, seconds
        self.opened = False
        self.waiting: set[types.RequestId] = set()
        self.answered = anyio.Event()

    async def read(self, received: Any) -> None:
        """Forward messages; an invalid line is answered with an error."""
        async with self.to_server:
            async for item in received:
                if isinstance(item, Exception):
                    await self.written.send(SessionMessage(error_of(item)))
                    continue
                await self._note(item.message)
                await self.to_server.send(item)
            with anyio.move_on_after(self.seconds + 5):
                while self.waiting:
                    await self.answered.wait()

    async def write(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Forward answers."""
        async with from_server, self.written:
            async for item in from_server:
                await self.written.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._settle(item.message.id)

    async def _note(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCRequest):
            if not self.opened and message.method != "initialize":
                self.opened = True
                if ENVELOPE not in ((message.params or {}).get("_meta") or {}):
                    ready = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")
                    await self.to_server.send(SessionMessage(ready))
            self.waiting.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, request: Any) -> None:
        self.waiting.discard(request)
        self.answered.set()
        self.answered = anyio.Event()


def error_of(found: Exception) -> types.JSONRPCError:
    """Return the error for a line that is not JSON (-32700) or not a JSON-RPC 2.0 message (-32600)."""
    code, said = types.INVALID_REQUEST, "not a JSON-RPC 2.0 message: send an object with jsonrpc, id, method and params."
    if isinstance(found, ValidationError) and any(error["type"] == "json_invalid" for error in found.errors()):
        code, said = types.PARSE_ERROR, "the line is not JSON: send one JSON object per line."
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=said))
