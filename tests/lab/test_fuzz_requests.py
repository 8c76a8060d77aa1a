"""Mutants of valid requests, with the key: a response, a one-line error or a closed connection, and the lab keeps running."""

import json
import random
import re
import socket
import time
from contextlib import closing
from http.client import HTTPConnection

import pytest
from faults.mutants import damaged, mutant_of_json, no_hang
from lab.test_by_hand import flying

from glassformer.lab import server

counts = pytest.mark.parametrize("count", [75, pytest.param(5_000, marks=pytest.mark.slow)])
SPEC = {"name": "bert-tiny", "fields": {"t": "8"}}
CONFIG = json.dumps({"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1})
WEIGHTS = "layers.0.attention.weights"

# One generous body for each page: every route takes what it knows, and refuses the rest.
BODIES = {
    "bench": {
        "spec": SPEC,
        "left": SPEC,
        "right": SPEC,
        "against": SPEC,
        "text": CONFIG,
        "view": "parameters",
        "form": "markdown",
    },
    "trace": {"model": "random", "spec": "bert-tiny layers=1", "seed": 1, "text": "the glass", "layer": 0, "head": 0, "edits": []}
    | {"name": WEIGHTS, "tensor": WEIGHTS, "cell": f"{WEIGHTS}[h=0,t=0,s=0]"},
    "hand": {**flying(), "cell": "weights[s=0]", "form": "markdown", "claim": "weights = 0.88 0.12", "text": "softmax = [1, 2]"},
    "check": {"text": "$3 \\times 4 = 13$", "claim": "params @ bert-base = 110M", "set": "parameters", "seed": 7, "used": 0}
    | {"answers": {"a": "b"}, "hints": {}, "question": "a", "kind": "md"},
    "train": {"data": "digits", "name": "run", "run": "run"},
}
STARTS = ("/api/train/start", "/api/train/resume")  # these start processes: bytes are sent to them, good bodies are not
ENDLESS = "/api/train/stream"


@pytest.fixture
def alone(lab_with, tmp_path, monkeypatch):
    """A lab in a separate folder."""
    monkeypatch.chdir(tmp_path)
    with lab_with() as found:
        yield found


def routes(lab):
    return [route for route in server.app(lab.lab).app.routes if route.path != ENDLESS]


def one_line(document):
    said = document["error"]
    assert "\n" not in said and len(said) < 500 and "Traceback" not in said


@counts
def test_a_changed_body_is_answered_or_refused_in_one_line(alone, count, figure):
    chance, slowest, refused = random.Random(5), 0.0, 0
    posts = [route.path for route in routes(alone) if "POST" in route.methods and route.path not in STARTS]
    with closing(HTTPConnection("127.0.0.1", alone.lab.port, timeout=60)) as connection:
        for number in range(count):
            path = posts[number % len(posts)]
            body = mutant_of_json(BODIES[path.split("/")[2]], chance)
            began = time.process_time()
            connection.request("POST", path, body, {**alone.key, "content-type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
            slowest = max(slowest, time.process_time() - began)
            assert answer.status < 500, (path, body, content[:500])
            if answer.status != 200:
                refused += 1
                one_line(json.loads(content))
    assert 0 < refused < count
    figure(
        "W11",
        f"{count:,} mutated bodies on {len(posts)} routes: {refused:,} refused in one line, the others answered, the slowest "
        f"after {slowest:.1f} s of processor time",
        cases=count,
    )


@pytest.mark.parametrize("count", [50, pytest.param(1_000, marks=pytest.mark.slow)])
def test_damaged_bytes_never_break_the_lab(alone, count, figure):
    chance, silent = random.Random(6), 0
    goods = []
    for route in routes(alone):
        body = json.dumps({} if route.path in STARTS else BODIES.get(route.path.split("/")[2], {})).encode()
        post = "POST" in route.methods
        head = f"{'POST' if post else 'GET'} {route.path} HTTP/1.1\r\nhost: 127.0.0.1:{alone.lab.port}\r\n"
        head += f"x-glassformer-token: {alone.lab.token}\r\nconnection: close\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if post else ""
        goods.append(head.encode() + b"\r\n" + (body if post else b""))
    with no_hang(600):
        for number in range(count):
            first = sent(alone.lab.port, bytes(damaged(goods[number % len(goods)], chance)), patience=0.2)
            silent += not first
            assert not first or re.match(rb"HTTP/1\.[01] [1-4]\d\d ", first), first
            if number % 25 == 0:
                assert sent(alone.lab.port, goods[0]).startswith(b"HTTP/1.1 200 ")
    figure(
        "W11",
        f"{count:,} requests with damaged bytes: {silent:,} closed or left waiting for more, the others answered or refused, "
        "none with a server error; valid requests in between are answered",
        cases=count,
    )


def sent(port, request, patience=60.0):
    """The first line of an answer; nothing where the connection is closed, or the lab still waits for the rest of a request."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as wire:
        try:
            wire.sendall(request)
            with wire.makefile("rb") as answer:
                return answer.readline()
        except (ConnectionError, TimeoutError):
            return b""
