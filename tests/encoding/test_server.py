"""The server: vectors as `encode` gives them, in common batches; limits, the key, a slow client, and an orderly end."""

import base64
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import WORDS, add_tokenizer, bert_folder
from command_line import glassformer

import glassformer as gf
from glassformer.encoding.server.batches import Batches, BusyError

KEY = "a key of our own, long enough"
TEXTS = [" ".join(WORDS[i % 9 : i % 9 + 1 + i % 6]) for i in range(30)]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server in a separate process: its folder and its port."""
    folder = add_tokenizer(bert_folder(tmp_path_factory.mktemp("served") / "m"))
    process, port = started(folder)
    yield folder, port
    process.terminate()
    assert process.wait(60) in (0, -signal.SIGTERM)
    process.stdout.close()


def started(folder, *words):
    line = [sys.executable, "-m", "glassformer", "serve", str(folder), "--port", "0", *words]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env={**os.environ, "GLASSFORMER_API_KEY": KEY})
    address = re.fullmatch(r"Serving m at http://127\.0\.0\.1:(\d+)/v1\n", process.stdout.readline())
    assert process.stdout.readline() == "key: the value of GLASSFORMER_API_KEY\n"
    return process, int(address[1])


def asked(port, body, *, path="/v1/embeddings", key=KEY, method="POST"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, {"authorization": f"Bearer {key}"} if key else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, json.loads(text) if text.startswith("{") else text


def vectors_of(answer):
    return np.array([one["embedding"] for one in answer["data"]])


def test_vectors_are_those_of_encode_regardless_of_other_requests(served):
    folder, port = served
    wanted = gf.load(folder).encode(TEXTS)
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda i: asked(port, {"model": "m", "input": TEXTS[i : i + 1 + i % 4]}), range(len(TEXTS))))
    for i, (status, answer) in enumerate(answers):
        assert status == 200
        np.testing.assert_allclose(vectors_of(answer), wanted[i : i + 1 + i % 4], atol=1e-5)
    status, answer = asked(port, {"model": "m", "input": TEXTS[0], "encoding_format": "base64"})
    (one,) = answer["data"]
    np.testing.assert_allclose(np.frombuffer(base64.b64decode(one["embedding"]), "<f4"), wanted[0], atol=1e-5)
    assert answer["usage"] == {"prompt_tokens": 3, "total_tokens": 3}


def test_mistakes_are_one_line_in_the_form_of_openai(served):
    _, port = served
    good = {"model": "m", "input": "the glass"}
    for body, status, field, told in (
        (b"{", 400, None, "the request"),
        ([], 400, None, "the request must be an object {…}"),
        ({**good, "model": "gpt"}, 404, "model", "model=gpt is not served here. Use model=m."),
        ({**good, "input": []}, 400, "input", "input must be a text or a list of texts"),
        ({**good, "input": [1, 2]}, 400, "input", "input[0] must be a text, found 1. Token ids are not accepted."),
        ({**good, "input": ["the"] * 2049}, 400, "input", "input has 2,049 texts: at most 2,048 at once."),
        ({**good, "input": ["the", "glass " * 40]}, 400, "input", "input[1] has 42 tokens, this model takes 16."),
        ({**good, "input": ["the", ""]}, 400, "input", "input[1] is empty"),
        ({**good, "encoding_format": "hex"}, 400, "encoding_format", "float or base64"),
        ({**good, "dimensions": 3}, 400, "dimensions", "dimensions=3: this model has 8."),
        ({**good, "inputs": 3}, 400, "inputs", "unknown field 'inputs'"),
        (b" " * 10_000_000, 413, None, "the request is too large: at most 4,000,000 bytes."),
    ):
        found, answer = asked(port, body)
        assert (found, answer["error"]["param"]) == (status, field), answer
        assert told in answer["error"]["message"]
        assert "\n" not in answer["error"]["message"]
    for path, key, method, status in (
        ("/v1/embeddings", None, "POST", 401),
        ("/v1/embeddings", "wrong", "POST", 401),
        ("/metrics", None, "GET", 401),
        ("/health", None, "GET", 200),
        ("/v1/embeddings", KEY, "GET", 405),
        ("/nowhere", KEY, "GET", 404),
    ):
        assert asked(port, good, path=path, key=key, method=method)[0] == status
    assert asked(port, good)[0] == 200


def test_a_slow_client_blocks_nobody_and_what_was_answered_is_counted(served):
    _, port = served
    slow = []
    for _ in range(50):
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(b"POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer " + KEY.encode())
        one.sendall(b"\r\ncontent-length: 1000\r\n\r\n{")
        slow.append(one)
    before = asked(port, b"", path="/metrics", method="GET")[1]
    assert asked(port, {"model": "m", "input": "the glass"})[0] == 200
    after = asked(port, b"", path="/metrics", method="GET")[1]
    count = [int(re.search(r'requests_total\{status="200"\} (\d+)', text)[1]) for text in (before, after)]
    assert count[1] == count[0] + 1
    assert "glassformer_waiting_tokens 0" in after
    for one in slow:
        one.close()


def test_the_client_of_openai_is_answered(served):
    openai = pytest.importorskip("openai")
    folder, port = served
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY, max_retries=0)
    found = client.embeddings.create(model="m", input=TEXTS)
    np.testing.assert_allclose([one.embedding for one in found.data], gf.load(folder).encode(TEXTS), atol=1e-5)
    assert [one.id for one in client.models.list()] == ["m"]
    with pytest.raises(openai.BadRequestError, match="has 42 tokens"):
        client.embeddings.create(model="m", input="glass " * 40)
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="other", max_retries=0).models.list()


def test_a_short_request_does_not_wait_for_a_long_one():
    sizes, order, gate = [], [], threading.Event()

    def compute(ids):
        gate.wait(10)
        sizes.append(len(ids))
        order.extend(map(len, ids))
        return np.array([[len(one)] for one in ids])

    batches = Batches(compute, tokens_at_once=10, most_waiting=1000)
    first, long = batches.add([[0]]), batches.add([[0]] * 100)
    short = batches.add([[0, 0]])
    with pytest.raises(BusyError):
        batches.add([[0] * 1000])
    gate.set()
    assert (first.result(10).tolist(), short.result(10).tolist()) == ([[1]], [[2]])
    batches.close()
    assert (long.result().shape, sum(sizes), batches.tokens) == ((100, 1), 102, 0)
    assert order.index(2) < 20  # of 102 texts
    with pytest.raises(BusyError):
        batches.add([[0]])


def test_an_error_of_a_batch_reaches_its_requests_and_the_next_is_computed():
    def compute(ids):
        if len(ids[0]) == 3:
            raise ValueError("three")
        return np.zeros((len(ids), 1))

    batches = Batches(compute, tokens_at_once=2, most_waiting=100)
    bad, good = batches.add([[0] * 3, [0]]), batches.add([[0]])
    with pytest.raises(ValueError, match="three"):
        bad.result(10)
    assert good.result(10).shape == (1, 1)
    batches.close()


def test_after_sigterm_accepted_requests_are_answered(served):
    process, port = started(served[0])
    body = json.dumps({"model": "m", "input": TEXTS}).encode()
    with socket.create_connection(("127.0.0.1", port)) as one:
        one.sendall(b"POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer " + KEY.encode())
        one.sendall(f"\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body[:10])
        time.sleep(0.3)
        process.terminate()
        time.sleep(0.3)
        one.sendall(body[10:])
        answer = b"".join(iter(lambda: one.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert len(json.loads(answer.partition(b"\r\n\r\n")[2])["data"]) == len(TEXTS)
    assert process.wait(60) in (0, -signal.SIGTERM)
    process.stdout.close()


def test_a_port_in_use_and_a_short_key_are_one_line(served, monkeypatch):
    folder, port = served
    for words, key, told in (
        (("--port", str(port)), KEY, "cannot be used: Address already in use. Try another --port."),
        (("--port", "0"), "short", "GLASSFORMER_API_KEY must have at least 16 characters, all ASCII."),
    ):
        monkeypatch.setenv("GLASSFORMER_API_KEY", key)
        said = glassformer("serve", folder, *words)
        assert (said.returncode, said.stdout) == (2, "")
        assert told in said.stderr
        assert len(said.stderr.splitlines()) == 1
    assert Path(folder).is_dir()
