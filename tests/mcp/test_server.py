"""A real server process: with and without the handshake, bad lines, and nothing but JSON-RPC on standard output."""

import json
import resource
import subprocess
import sys

import pytest
from assistant import COMMAND, HELLO, READY, calling, in_own_loop, request, spoken
from mcp import Client, StdioServerParameters

MOST_OF_SDK = 2.0  # times the import of the SDK


def total(message):
    return message["result"]["structuredContent"]["total"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdk_client_talks_to_the_process(mode):
    async def main():
        async with Client(StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:])), mode=mode) as client:
            tools = await client.list_tools()
            return len(tools.tools), await client.call_tool("count", {"spec": "bert-base"})

    count, result = in_own_loop(main)
    assert (count, result.structured_content["total"]) == (9, 109_482_240)


def test_a_handshake_and_calls_are_answered_even_if_input_ends_at_once():
    answers, done = spoken(HELLO, READY, request(1, "tools/list"), calling(2, "count", spec="bert-base"), calling(3, "presets"))
    assert answers[0]["result"]["serverInfo"]["name"] == "glassformer"
    assert len(answers[1]["result"]["tools"]) == 9
    assert total(answers[2]) == 109_482_240
    assert "bert-base" in answers[3]["result"]["structuredContent"]
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "opening",
    [
        [],
        pytest.param([READY], marks=pytest.mark.slow),
        pytest.param([request(9, "ping")], marks=pytest.mark.slow),
        pytest.param([request(9, "initialize")], marks=pytest.mark.slow),
        [{"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": 3}],
    ],
    ids=["nothing", "notification", "ping", "empty handshake", "broken handshake"],
)
def test_tools_are_listed_and_called_before_a_handshake(opening):
    answers, _ = spoken(
        *opening, request(1, "tools/list"), calling(2, "count", spec="bert-tiny"), HELLO, calling(3, "count", spec="bert-tiny")
    )
    assert len(answers[1]["result"]["tools"]) == 9
    assert total(answers[2]) == total(answers[3]) == 4_385_920
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"


def test_requests_of_the_protocol_without_a_handshake_are_served():
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    meta["io.modelcontextprotocol/clientInfo"] = {"name": "test", "version": "1"}
    call = request(1, "tools/call", name="count", arguments={"spec": "bert-tiny"}, _meta=meta)
    answers, _ = spoken(call, HELLO, call | {"id": 2})
    assert total(answers[1]) == total(answers[2]) == 4_385_920
    assert "error" in answers[0]


BAD_LINES = [
    ("garbage", -32700),
    ("{", -32700),
    ("\x00", -32700),
    ("[1, 2]", -32600),
    ("{}", -32600),
    ('{"jsonrpc": "1.0", "id": 5, "method": "tools/list"}', -32600),
    ("3", -32600),
]


@pytest.mark.parametrize("opening", [[], [HELLO]], ids=["nothing", "handshake"])
def test_an_invalid_line_gets_an_error_and_the_server_continues(opening):
    lines = [line for line, _ in BAD_LINES]
    answers, done = spoken(*opening, *lines, calling(1, "count", spec="bert-tiny"))
    errors = [message["error"] for message in map(json.loads, done.stdout.splitlines()) if message["id"] is None]
    assert [error["code"] for error in errors] == [code for _, code in BAD_LINES]
    assert not [error for error in errors if "\n" in error["message"]]
    assert total(answers[1]) == 4_385_920


def test_a_bad_request_gets_a_json_rpc_error():
    bad = [request(1, "tools/nope"), request(2, "tools/call"), request(3, "tools/call", name=3)]
    bad.append(request(4, "tools/call", name="count", arguments=[1]))
    answers, _ = spoken(*bad, calling(5, "count", spec="bert-tiny"))
    assert [answers[number]["error"]["code"] for number in range(1, 5)] == [-32601, -32602, -32602, -32602]
    assert total(answers[5]) == 4_385_920


PRINTING = """
import os, sys
from glassformer.mcp import server, tools

def loud():
    print("stray")
    os.write(1, b"stray")
    return tools_listed()

tools_listed, server.listed = server.listed, loud
sys.argv = ["glassformer", "mcp"]
from glassformer.cli import main
main()
"""


def test_what_a_handler_prints_goes_to_standard_error():
    text = json.dumps(request(1, "tools/list")) + "\n"
    done = subprocess.run([sys.executable, "-c", PRINTING], input=text, capture_output=True, text=True, timeout=60)
    (line,) = done.stdout.splitlines()
    assert len(json.loads(line)["result"]["tools"]) == 9
    assert done.stderr.count("stray") == 2


@pytest.mark.slow
def test_a_start_costs_little_more_than_importing_the_sdk():
    """Processor time beside that of the import alone, so that a slow or a busy machine does not decide."""
    sdk = processor_seconds(lambda: subprocess.run([sys.executable, "-c", "import mcp.server"], check=True))
    answered = processor_seconds(lambda: spoken(HELLO, request(1, "tools/list")))
    assert answered < MOST_OF_SDK * sdk


def processor_seconds(run):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
