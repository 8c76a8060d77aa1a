"""An assistant in tests: tools called through the SDK's own client in this process, and lines sent to a real server process."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import anyio
from mcp import Client

from glassformer.errors import GlassformerError
from glassformer.mcp.folders import Folders
from glassformer.mcp.server import server
from glassformer.mcp.worker import answer

COMMAND = (sys.executable, "-m", "glassformer", "mcp")


def in_own_loop(main):
    """The result of a coroutine, run in a separate thread: browser tests leave a loop running in the main one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, main).result()


def in_this_process(*folders):
    """Computes calls without a worker, which takes a second to start."""
    readable = Folders.of(folders)

    async def call(tool, arguments):
        said = answer(tool, arguments, readable)
        if "error" in said:
            raise GlassformerError(said["error"])
        return said["document"]

    return call


def through_client(*calls, folders=(), mode="auto"):
    """The results of some calls `(tool, arguments)`, as the SDK's client has them."""

    async def main():
        async with Client(server(in_this_process(*folders)), mode=mode) as client:
            return [await client.call_tool(tool, arguments) for tool, arguments in calls]

    return in_own_loop(main)


def told(tool, folders=(), **arguments):
    """The document of one call."""
    (result,) = through_client((tool, arguments), folders=folders)
    assert not result.is_error, result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


def refused(tool, folders=(), **arguments):
    """The one line of a call that is refused."""
    (result,) = through_client((tool, arguments), folders=folders)
    assert result.is_error, result.content[0].text
    assert result.structured_content is None
    (block,) = result.content
    return block.text


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def calling(number, tool, **arguments):
    return request(number, "tools/call", name=tool, arguments=arguments)


HELLO = request(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def spoken(*lines, words=(), seconds=60, **options):
    """What a server process answers to lines: the messages by their id, each line of standard output being one; and errors."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run([*COMMAND, *words], input=text, capture_output=True, text=True, timeout=seconds, **options)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return {message["id"]: message for message in messages}, done
