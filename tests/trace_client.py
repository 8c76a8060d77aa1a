"""The lab, asked what the page Trace asks."""

import json

import numpy as np
from starlette.testclient import TestClient

from glassformer.lab import server
from glassformer.lab.start import start
from glassformer.lab.wire import MAGIC


def unpacked(content):
    """Header and arrays of a binary answer."""
    assert content[:4] == MAGIC
    length = int.from_bytes(content[4:8], "little")
    header = json.loads(content[8 : 8 + length])
    arrays = {}
    for item in header["arrays"]:
        size = int(np.prod(item["shape"], dtype=int))
        arrays[item["name"]] = np.frombuffer(content, item["dtype"], size, 8 + length + item["offset"]).reshape(item["shape"])
    return header, arrays


class Client:
    """The lab, asked as the page asks it."""

    def __init__(self, *words):
        self.lab = start(words, 8000)
        self.client = TestClient(server.app(self.lab), base_url="http://127.0.0.1:8000")

    def ask(self, what, **fields):
        return self.client.post(f"/api/trace/{what}", json=fields, headers={"x-glassformer-token": self.lab.token})

    def found(self, what, **fields):
        answer = self.ask(what, **fields)
        assert answer.status_code == 200, answer.text
        return answer.json() if what in ("open", "cell") else unpacked(answer.content)

    def refused(self, what, **fields):
        answer = self.ask(what, **fields)
        assert answer.status_code == 400, answer.text
        return answer.json()["error"]
