"""Training while the lab runs: many requests, a killed browser and a killed lab change no bit of a run."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPConnection

import pytest
from command_line import glassformer

from glassformer.lab import guard
from glassformer.lab.runs import RunsFolder, standing

pytest.importorskip("torch")
WITHIN = 240.0  # seconds; a machine that is busy is slow, and still ends
FIELDS = {"layers": "1", "d_model": "16"}
SETTINGS = {"threads": "1", "log_every": "1"}


@dataclass(frozen=True)
class Door:
    """Where a lab is reached."""

    port: int
    token: str

    def head(self, method, path, **more):
        given = {"host": f"127.0.0.1:{self.port}", "x-glassformer-token": self.token, **more}
        return f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in given.items()) + "\r\n"

    def get(self, path, **more):
        return self.head("GET", path, **more).encode()

    def post(self, path, body, **more):
        text = json.dumps(body).encode()
        head = self.head("POST", path, **{"content-type": "application/json", "content-length": str(len(text))}, **more)
        return head.encode() + text


@contextmanager
def lab_process(runs):
    """`glassformer lab` as a user starts it; remaining processes are killed."""
    command = [sys.executable, "-m", "glassformer", "lab", "--no-browser", "--runs", str(runs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline()
        yield Door(int(address.split(":")[3].partition("/")[0]), address.partition("#key=")[2].strip()), process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ask(door, path, body=None):
    connection = HTTPConnection("127.0.0.1", door.port, timeout=60)
    headers = {"x-glassformer-token": door.token, "content-type": "application/json"}
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    assert answer.status == 200, found
    return found


def start(door, name, epochs):
    """A run from the train page."""
    body = {"key": f"a key for {name}", "data": "digits", "epochs": str(epochs), "name": name}
    assert ask(door, "/api/train/start", body | {"fields": FIELDS, "settings": SETTINGS})["run"] == name


def state(runs, name):
    return standing(RunsFolder(runs), name)["state"]


def step(runs, name):
    return standing(RunsFolder(runs), name).get("step", 0)


def wait(holds):
    deadline = time.monotonic() + WITHIN
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def finished(runs, name):
    wait(lambda: state(runs, name) not in ("starting", "running"))
    return standing(RunsFolder(runs), name)


def bits(run):
    """The sha256 of all weights and states that a run wrote, and every loss of its log to the last bit."""
    files = {path.relative_to(run).as_posix(): sha256(path.read_bytes()).hexdigest() for path in run.rglob("*.safetensors")}
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert {"best/model.safetensors", "last/model.safetensors"} < set(files)
    return files, [(line["kind"], line["step"], line["hex"]) for line in lines if "hex" in line]


def seconds(run):
    return json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["seconds"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """`alone(EPOCHS)`: the folder of the same run, made by the command line where no lab is."""
    made = {}

    def run(epochs):
        if epochs not in made:
            made[epochs] = tmp_path_factory.mktemp("alone") / "run"
            words = [*(f"{name}={value}" for name, value in FIELDS.items()), f"--epochs={epochs}"]
            words += [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
            assert glassformer("train", "digits", *words, f"--out={made[epochs]}").returncode == 0
        return made[epochs]

    return run


def run_beside(work):
    """In a separate thread: this one may already have an event loop, that of a browser in other tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def status_of(door, request):
    """The status that a connection of its own gets, 0 where it is cut off, and after how many seconds all was there."""
    begin = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    try:
        writer.write(request)
        await writer.drain()
        answer = await reader.read()
        return int(answer.split(maxsplit=2)[1]) if answer else 0, time.monotonic() - begin
    finally:
        writer.close()


async def followed(door, name, connected):
    """The epochs that a live stream reported, read to the end of the run; a closed stream ends early."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port, limit=2**24)
    writer.write(door.get(f"/api/train/stream?run={name}", accept="text/event-stream"))
    epochs, ended = [], False
    try:
        while not ended and (line := await reader.readline()):
            if line.startswith(b"event: "):
                connected.add(id(reader))
            if line.startswith(b"data: ") and b'"points"' in line:
                points = json.loads(line[6:])["points"]
                epochs += [point["epoch"] for point in points if point["kind"] == "epoch"]
                ended = any(point["kind"] == "end" for point in points)
        return epochs if ended else None
    finally:
        writer.close()


def requests(door, many):
    """What pages ask for, each in a connection of its own."""
    tiny = {"spec": {"name": "layer", "fields": {"d_model": "8", "heads": "2"}}}
    asked = [
        door.get("/train", connection="close"),
        door.get("/api/train/runs", connection="close"),
        door.post("/api/bench/derive", tiny, connection="close"),
        door.get("/api/lab", connection="close"),
        door.post("/api/trace/open", {}, connection="close"),
    ]
    return [asked[place % len(asked)] for place in range(many)]


async def crowd(door, runs, name, sizes):
    """So many streams, then so many requests at once while the run trains; who got what, and how far the run came meanwhile."""
    many, streams = sizes
    connected = set()
    following = [asyncio.create_task(followed(door, name, connected)) for _ in range(streams)]
    while len(connected) < streams or await asyncio.to_thread(step, runs, name) < 1:
        await asyncio.sleep(0.02)
    before = await asyncio.to_thread(step, runs, name)
    found = await asyncio.gather(*[status_of(door, request) for request in requests(door, many)])
    after = await asyncio.to_thread(state, runs, name), await asyncio.to_thread(step, runs, name)
    return found, before, after, await asyncio.gather(*following)


SMALL = {"many": 100, "streams": 10, "epochs": 12}
FULL = {"many": 1000, "streams": 50, "epochs": 150}


@pytest.mark.parametrize("sizes", [SMALL, pytest.param(FULL, marks=pytest.mark.slow)], ids=["small", "full"])
def test_a_crowd_is_answered_while_a_run_trains_and_changes_no_bit_of_it(tmp_path, alone, sizes, figure):
    many, streams, epochs = sizes["many"], sizes["streams"], sizes["epochs"]
    runs = tmp_path / "runs"
    expected = alone(epochs)
    with lab_process(runs) as (door, _):
        start(door, "crowded", epochs)
        work = asyncio.wait_for(crowd(door, runs, "crowded", (many, streams)), WITHIN)
        found, before, (then, after), told = run_beside(work)
        assert [status for status, _ in found] == [200] * many
        assert (then, after > before) == ("running", True)  # it trained all the while
        assert told == [list(range(1, epochs + 1))] * streams
        assert finished(runs, "crowded")["state"] == "finished"
    assert bits(runs / "crowded") == bits(expected)
    times = sorted(took for _, took in found)
    figure(
        "W10",
        f"{many:,} requests at once and {streams} live streams during a run: all answered, half of them within "
        f"{times[many // 2]:.1f} s and the last after {times[-1]:.1f} s, every stream with all {epochs} epochs; weights, "
        f"optimizer states and {len(bits(expected)[1]):,} losses bit for bit as without a lab (the run took "
        f"{seconds(runs / 'crowded'):.1f} s, without a lab {seconds(expected):.1f} s, on {os.cpu_count()} cores)",
        cases=many,
    )


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_run_continues_to_the_same_end_when_the_lab_is_killed(tmp_path, alone, lab_with, kills, figure):
    runs, epochs = tmp_path / "runs", SMALL["epochs"]
    expected = bits(alone(epochs))
    total = expected[1][-1][1]
    caught = []
    for number in range(kills):
        name, least = f"run-{number}", (number * total) // (2 * kills)
        with lab_process(runs) as (door, process):
            start(door, name, epochs)
            if number % 4:  # of four kills one falls before the first step
                wait(lambda: step(runs, name) >= least)  # noqa: B023
            process.send_signal(signal.SIGKILL)
            process.wait()
        caught.append(state(runs, name))
        assert finished(runs, name)["state"] == "finished"
        assert bits(runs / name) == expected
    assert set(caught) <= {"starting", "running"}
    with lab_with(runs=runs) as found:
        rows = ask(Door(found.lab.port, found.lab.token), "/api/train/runs")["rows"]
        assert {row["name"]: row["state"] for row in rows} == {f"run-{number}": "finished" for number in range(kills)}
    figure(
        "W12",
        f"kill -9 of the lab during a run, {kills} of {kills}: the run finished with bit for bit the same result; the next "
        "lab showed it",
        cases=kills,
        part="lab",
    )


@contextmanager
def a_browser(executable, address, home):
    """A separate browser with one page, killed when the block ends."""
    command = [executable, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    process = subprocess.Popen([*command, f"--user-data-dir={home}", address], **quiet)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_run_continues_to_the_same_end_when_the_browser_is_killed(tmp_path, alone, lab_with, chromium, monkeypatch, figure):
    doors = []
    made = guard.Guard.__init__
    monkeypatch.setattr(guard.Guard, "__init__", lambda self, *given, **rest: (made(self, *given, **rest), doors.append(self))[0])
    runs, epochs = tmp_path / "runs", SMALL["epochs"]
    with lab_with(runs=runs) as found:
        start(Door(found.lab.port, found.lab.token), "watched", epochs)
        with a_browser(chromium, found.at("/train?run=watched"), tmp_path / "home"):
            wait(lambda: doors[0].streams.here == 1 and step(runs, "watched") > 0)
        assert state(runs, "watched") == "running"
        wait(lambda: doors[0].streams.here == 0)  # the lab lets go of the page
        assert finished(runs, "watched")["state"] == "finished"
    assert bits(runs / "watched") == bits(alone(epochs))
    figure("W12", "kill -9 of the browser that showed it: the run finished with bit for bit the same result", part="browser")
