"""What is installed, and whom it talks to: every file has its hash, and nothing leaves this machine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from audit import in_place, local
from lock import LEFT_OUT, LOCK, ROOT, hashes, locked, pins, wanted


def test_the_lock_has_every_package_with_its_version_and_hashes(figure):
    pinned = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    found = locked(LOCK.read_text(encoding="utf-8"))
    assert sorted(found) == wanted(pinned), "run `python tests/lock.py`"
    assert {name: version for name, (version, _) in found.items()} == {name: pinned[name] for name in found}
    assert all(digests and all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in digests) for _, digests in found.values())
    assert not set(LEFT_OUT) & set(found)
    total = sum(len(digests) for _, digests in found.values())
    figure("S1", f"{len(found)} packages, {total:,} files, each with its sha256", cases=len(found))


def test_hashes_are_those_of_the_wheels_of_one_version():
    digest = "0" * 64
    page = "".join(
        f'<a href="https://x/{file}#sha256={digest}">{file}</a>'
        for file in (
            "a_b-1.0-py3-none-any.whl",
            "a_b-1.0.tar.gz",
            "a_b-2.0-py3-none-any.whl",
            "a_b-0.1-py36+-none-any.whl",
            "c-1.0-py3-none-any.whl",
        )
    )
    assert hashes(page, "a-b", "1.0") == [digest]
    assert hashes(page, "a-b", "3.0") == []


ALONE = """
import runpy, sys
def alone(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        raise SystemExit(f"{event} {arguments}")
sys.addaudithook(alone)
sys.argv = ["glassformer", *sys.argv[1:]]
runpy.run_module("glassformer", run_name="__main__")
"""
COMMANDS = [
    "count bert-base",
    "shapes vit-s16",
    "check params bert-base --claim 5",
    "work examples/flying.toml",
    "quiz list",
]


def test_commands_work_where_every_connection_ends_the_process(figure):
    for line in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-c", ALONE, *line.split()], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
        )
        assert done.returncode in (0, 1), (line, done.stderr)
        assert "socket" not in done.stderr
    figure(
        "S4",
        f"{len(COMMANDS)} commands where a connection ends the process: all completed; for the whole suite, see "
        "the audit hook below",
    )


def test_a_connection_ends_such_a_process():
    code = "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)\n"
    hook = ALONE.split("sys.argv")[0]
    done = subprocess.run([sys.executable, "-c", hook + code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "socket.getaddrinfo" in done.stderr


@pytest.mark.parametrize(
    ("event", "arguments", "stays"),
    [
        ("socket.connect", (None, ("127.0.0.1", 80)), True),
        ("socket.connect", (None, ("::1", 80, 0, 0)), True),
        ("socket.connect", (None, "/run/socket"), True),
        ("socket.connect", (None, ("192.0.2.1", 80)), False),
        ("socket.connect", (None, ("packages.example", 443)), False),
        ("socket.getaddrinfo", ("localhost", 80, 0, 0, 0), True),
        ("socket.getaddrinfo", ("huggingface.co", 443, 0, 0, 0), False),
        ("socket.sendto", (None, ("8.8.8.8", 53)), False),
    ],
)
def test_the_hook_tells_this_machine_from_others(event, arguments, stays):
    assert local(event, arguments) is stays


def test_the_hook_tells_our_places_from_others(tmp_path):
    assert in_place(tmp_path / "x")
    assert in_place(Path(__file__))
    assert not in_place("/etc/passwd")
