"""Many simultaneous, slow and silent requests: each gets a response or an error, and the lab keeps running."""

import asyncio
import json
import socket
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing as closing_after
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from glassformer.encoding import connections
from glassformer.lab import guard

needs_proc = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc, which Linux has")
WITHIN = 120  # seconds; a machine that is busy is slow, and still ends


def request_bytes(lab, path: str, body: dict | None = None, **headers: str) -> bytes:
    text = b"" if body is None else json.dumps(body).encode()
    given = {"host": f"127.0.0.1:{lab.lab.port}", **lab.key, **headers}
    if body is not None:
        given |= {"content-type": "application/json", "content-length": str(len(text))}
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in given.items()
    )
    return head.encode() + b"\r\n" + text


async def status_of(lab, request: bytes) -> int:
    """The status that a connection of its own gets; 0 where it is cut off."""
    reader, writer = await asyncio.open_connection("127.0.0.1", lab.lab.port)
    try:
        writer.write(request)
        await writer.drain()
        line = await reader.readline()
        return int(line.split()[1]) if line else 0
    finally:
        writer.close()


def run_beside(work: Coroutine[Any, Any, Any]) -> Any:
    """In a separate thread: this one may already have an event loop, that of a browser in other tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def crowd(lab, requests: list[bytes]) -> dict[int, int]:
    async def all_of_them() -> list[int]:
        return await asyncio.wait_for(asyncio.gather(*[status_of(lab, one) for one in requests]), WITHIN)

    found = run_beside(all_of_them())
    return {status: found.count(status) for status in sorted(set(found))}


def memory() -> int:
    """Bytes that this process holds, the lab's included."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def closing(lab, path: str, body: dict | None = None) -> bytes:
    return request_bytes(lab, path, body, connection="close")


@needs_proc
@pytest.mark.parametrize("many", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_all_who_come_at_once_are_served_in_turn(lab_with, many, figure):
    tiny = {"spec": {"name": "layer", "fields": {"d_model": "8", "heads": "2"}}}
    with lab_with() as lab:
        crowd(lab, [closing(lab, "/api/bench/derive", tiny)] * 20)
        before, begin = memory(), time.monotonic()
        found = crowd(lab, [closing(lab, "/api/bench/derive", tiny), closing(lab, "/bench")] * (many // 2))
        took, grown = time.monotonic() - begin, memory() - before
        assert found == {200: many}
        assert grown < 150e6
        assert crowd(lab, [closing(lab, "/api/lab")]) == {200: 1}
    figure("W11", f"{many:,} requests at once: all answered in {took:.0f} s, +{grown / 1e6:.0f} MB of memory", cases=many)


def test_requests_beyond_the_queue_get_an_error_and_none_is_cut_off(lab_with, monkeypatch):
    monkeypatch.setattr(guard, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(guard, "MOST_WAITING", 5)
    with lab_with() as lab:
        found = crowd(lab, [closing(lab, "/api/bench/derive", {"spec": {"name": "bert-large", "fields": {}}})] * 60)
        assert set(found) == {200, 429} and found[200] >= 7
        assert crowd(lab, [closing(lab, "/api/lab")]) == {200: 1}


class Streaming:
    """An endpoint that streams for as long as it is listened to, in the place of a page's."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def __call__(self, _scope, receive, send) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
            await send({"type": "http.response.body", "body": b"event: on\ndata: 1\n\n", "more_body": True})
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self.now -= 1


def test_fifty_streams_stay_open_while_others_are_answered(lab_with, figure, monkeypatch):
    streaming = Streaming()
    made = guard.Guard.__init__

    def with_a_stream(self, app, front, **rest):
        next(route for route in app.routes if route.path == "/api/lab").app = streaming
        made(self, app, front, **rest)

    monkeypatch.setattr(guard.Guard, "__init__", with_a_stream)

    async def listen(lab) -> tuple[list[int], int, int]:
        held = [await asyncio.open_connection("127.0.0.1", lab.lab.port) for _ in range(guard.MOST_STREAMS + 6)]
        lines = []
        for reader, writer in held:
            writer.write(request_bytes(lab, "/api/lab", accept="text/event-stream"))
            lines.append(int((await asyncio.wait_for(reader.readline(), 20)).split()[1]))
        other = await asyncio.wait_for(status_of(lab, closing(lab, "/api/bench/fields")), 20)
        for _, writer in held:
            writer.close()
        deadline = time.monotonic() + 10
        while streaming.now and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        return lines, other, streaming.now

    with lab_with() as lab:
        lines, other, left = run_beside(listen(lab))
    assert guard.MOST_STREAMS >= 50
    assert lines == [200] * guard.MOST_STREAMS + [429] * 6
    assert (other, left, streaming.most) == (200, 0, guard.MOST_STREAMS)
    figure(
        "W11",
        f"{guard.MOST_STREAMS} streams held open: other requests answered, all streams released",
        cases=guard.MOST_STREAMS,
        part="streams",
    )


@pytest.mark.parametrize("sent", [b"", b"GET /bench HT", b"GET /bench HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "])
def test_half_open_connections_block_nobody_and_are_closed(lab_with, monkeypatch, sent, figure):
    monkeypatch.setattr(connections, "SLOWEST_HEAD", 0.5)
    with lab_with() as lab:
        held = [socket.create_connection(("127.0.0.1", lab.lab.port)) for _ in range(200)]
        for one in held:
            one.sendall(sent)
        assert crowd(lab, [closing(lab, "/api/lab")] * 5) == {200: 5}
        for one in held:
            one.settimeout(20)
            assert one.recv(1) == b""
            one.close()
    figure(
        "W11",
        "200 half-open connections: other requests answered, each connection closed after its timeout",
        cases=200,
        part="half-open",
    )


def test_a_connection_that_sends_slowly_is_closed(lab_with, monkeypatch):
    monkeypatch.setattr(connections, "SLOWEST_HEAD", 0.6)
    with lab_with() as lab, socket.create_connection(("127.0.0.1", lab.lab.port)) as one:
        one.sendall(closing(lab, "/bench").split(b"\r\n")[0] + b"\r\n")
        begin = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - begin < 20:
                one.sendall(b"x-a: b\r\n")
                time.sleep(0.1)
        assert time.monotonic() - begin < 15


def test_a_quick_request_on_a_connection_that_is_kept_is_not_closed(lab_with, monkeypatch):
    monkeypatch.setattr(connections, "SLOWEST_HEAD", 1.0)
    with lab_with() as lab, closing_after(HTTPConnection("127.0.0.1", lab.lab.port, timeout=20)) as one:
        for _ in range(3):
            one.request("GET", "/api/lab", headers=lab.key)
            answer = one.getresponse()
            assert (answer.status, json.loads(answer.read())["given"]) == (200, "")
            assert answer.getheader("connection") is None


def test_a_body_that_does_not_come_is_given_up(lab_with, monkeypatch):
    monkeypatch.setattr(guard, "SLOWEST_BODY", 0.5)
    with lab_with() as lab, socket.create_connection(("127.0.0.1", lab.lab.port)) as one:
        one.settimeout(20)
        one.sendall(request_bytes(lab, "/api/bench/derive", {"spec": {}}).rstrip(b"}"))
        answer = b"".join(iter(lambda: one.recv(100_000), b""))  # to the end of the connection: head and body come apart
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"the request did not arrive within 0.5 seconds" in answer


@needs_proc
def test_it_listens_on_this_machine_alone(lab, figure):
    others = {"127.0.0.2", *socket.gethostbyname_ex(socket.gethostname())[2]} - {"127.0.0.1"}
    for address in others:
        with pytest.raises(OSError), socket.create_connection((address, lab.lab.port), timeout=2):
            pass
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    listening = {words[1] for words in lines if words[3] == "0A" and words[1].endswith(f":{lab.lab.port:04X}")}
    assert listening == {f"0100007F:{lab.lab.port:04X}"}
    figure(
        "W8",
        f"bound to 127.0.0.1 alone; {len(others)} other addresses of this machine: connections refused; no option changes it",
    )
