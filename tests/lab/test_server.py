"""Starting the lab: what it opens, what it refuses, and what it does without."""

import json
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from starlette.testclient import TestClient

from glassformer.encoding.connections import open_files
from glassformer.errors import GlassformerError
from glassformer.lab import server
from glassformer.lab.start import start


def test_without_arguments_the_walk_opens():
    assert (start([], 1).address, start([], 1).folders.roots) == ("/walk", ())


def test_a_spec_opens_the_bench_with_its_fields():
    assert start(["vit-b16", "layers=6"], 1).address == "/bench?spec=vit-b16&layers=6"


def test_an_error_is_reported_before_anything_is_served():
    with pytest.raises(GlassformerError, match="heads=7 does not divide"):
        start(["bert-base", "heads=7"], 1)
    with pytest.raises(GlassformerError, match=r"unknown preset 'bert-bse'\. Did you mean 'bert-base'"):
        start(["bert-bse"], 1)


def test_a_file_a_checkpoint_and_a_run_open_their_pages_and_their_folders(tmp_path):
    for name in ("spec", "checkpoint", "run"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "spec.json").write_text('{"base": "bert-base"}')
    (tmp_path / "checkpoint/model.safetensors").touch()
    (tmp_path / "run/run.json").touch()
    places = {name: start([str(tmp_path / name)], 1) for name in ("spec", "checkpoint", "run")}
    assert [lab.address.partition("?")[0] for lab in places.values()] == ["/bench", "/trace", "/train"]
    assert [lab.folders.roots for lab in places.values()] == [((tmp_path / name).resolve(),) for name in places]
    for name in ("checkpoint", "run"):
        with pytest.raises(GlassformerError, match=rf"layers=3 cannot be changed in .*{name}: it has weights\. Leave it out\."):
            start([str(tmp_path / name), "layers=3"], 1)


def test_a_port_in_use_is_reported_in_one_line():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(GlassformerError, match=f"--port {port} cannot be used: Address already in use"):
            server.bound(port)


def test_it_serves_where_torch_cannot_be_imported_and_its_log_has_no_key(figure):
    code = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise AssertionError("torch was imported")
sys.meta_path.insert(0, NoTorch())
sys.argv = ["glassformer", "lab", "--no-browser"]
from glassformer.cli import main
main()
"""
    asked = []

    def ask(path: str, key: str = "", method: str = "GET") -> tuple[int, str]:
        asked.append(path)
        wanted = urllib.request.Request(address + path, headers={"x-glassformer-token": key}, method=method)
        try:
            with urllib.request.urlopen(wanted, timeout=20) as answer:
                return answer.status, f"{answer.headers}{answer.read().decode()}"
        except urllib.error.HTTPError as error:
            return error.code, f"{error.headers}{error.read().decode()}"

    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as lab:
        try:
            first = lab.stdout.readline()
            found = re.fullmatch(r"Glassformer lab: (http://127\.0\.0\.1:\d+)/walk#key=([\w-]{43})\n", first)
            assert found, first
            address, key = found.groups()
            assert len(json.loads(ask("/api/bench/fields", key)[1].partition("\n\n")[2])["presets"]) > 20
            assert '<script type="module" src="/static/app.js">' in ask("/bench")[1]
            said = [ask(path, given, method)[1] for path in PATHS for given in ("", "x", key) for method in ("GET", "POST")]
            assert not [text for text in said if key in text]
            with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as rude:
                rude.sendall(f"GET /api/lab\x00 x-glassformer-token: {key}\r\n\r\n".encode())
                rude.recv(1000)
        finally:
            lab.terminate()
            rest, log = lab.communicate(timeout=20)
    assert key not in log and key not in rest
    figure("W4", f"256 bits; {len(asked)} requests and a malformed one: in no log and no response", cases=len(asked))


PATHS = ["/", "/bench", "/nowhere", "/static/app.js", "/api/lab", "/api/nowhere", "/api/bench/derive"]


def test_the_page_does_not_reveal_what_the_lab_was_started_with(tmp_path):
    folder = tmp_path / 'a"><b>'
    folder.mkdir()
    (folder / "spec.json").write_text('{"base": "bert-base"}')
    lab = start([str(folder)], 8125)
    with TestClient(server.app(lab), base_url="http://127.0.0.1:8125", follow_redirects=False) as client:
        for address in ("/", "/bench", "/nowhere"):
            answer = client.get(address)
            assert tmp_path.name not in answer.text + str(answer.headers) and lab.token not in answer.text
        known = client.get("/api/lab", headers={"x-glassformer-token": lab.token}).json()
    assert known["folders"] == [str(folder.resolve())] and known["address"] == lab.address


def test_the_open_files_limit_is_raised_as_far_as_it_may(monkeypatch):
    resource = pytest.importorskip("resource")
    set_to = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: set_to.append(limits))
    for limits in ((1024, 4096), (1024, resource.RLIM_INFINITY), (20_000, 20_000)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        open_files()
    assert set_to == [(4096, 4096), (8192, resource.RLIM_INFINITY)]
