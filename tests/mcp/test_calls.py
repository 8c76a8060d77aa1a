"""Calls are computed elsewhere: one that takes too long is stopped, and the next one is answered."""

import anyio
import pytest
from assistant import in_own_loop

from glassformer.errors import GlassformerError
from glassformer.mcp import worker
from glassformer.mcp.calls import Calls
from glassformer.mcp.folders import Folders

SLOW = {"spec": "bert-large layers=2000", "names": "attention"}  # tens of thousands of tensors


def in_calls(work, *folders, seconds=30.0):
    async def main():
        async with Calls(Folders.of(folders), seconds) as calls:
            return await work(calls)

    return in_own_loop(main)


def test_a_call_that_takes_too_long_is_stopped_and_the_next_is_answered():
    async def work(calls):
        await calls("count", {"spec": "bert-tiny"})
        calls.seconds = 0.05
        with pytest.raises(GlassformerError, match=r"shapes took longer than 0.05 seconds and was stopped: ask for less at once"):
            await calls("shapes", SLOW)
        calls.seconds = 30
        return await calls("count", {"spec": "bert-tiny"})

    assert in_calls(work)["total"] == 4_385_920


def test_a_cancelled_call_does_not_answer_the_next_one():
    async def work(calls):
        with anyio.move_on_after(0.05):
            await calls("shapes", SLOW)
        return await calls("count", {"spec": "bert-tiny"})

    assert in_calls(work)["total"] == 4_385_920


def test_concurrent_calls_each_get_their_own_answer():
    async def work(calls):
        found = {}

        async def one(name):
            found[name] = (await calls("count", {"spec": name}))["label"]

        async with anyio.create_task_group() as tasks:
            for name in ("bert-tiny", "bert-mini", "bert-small"):
                tasks.start_soon(one, name)
        return found

    assert all(name == label for name, label in in_calls(work).items())


def test_a_worker_that_dies_is_replaced():
    async def work(calls):
        calls.process.kill()
        await calls.process.wait()
        first = await calls("count", {"spec": "bert-tiny"})
        return first, await calls("count", {"spec": "bert-tiny"})

    first, second = in_calls(work)
    assert first == second


def test_expressions_may_name_files_of_the_folder_and_no_others(tmp_path):
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "small.toml").write_text('base = "bert-tiny"\n')
    (tmp_path / "outside.toml").write_text('base = "bert-tiny"\n')

    async def work(calls):
        inside = await calls("ask", {"expression": "params @ ./small.toml"})
        with pytest.raises(GlassformerError, match="is not in the folders of this server"):
            await calls("ask", {"expression": "params @ ../outside.toml"})
        return inside

    assert in_calls(work, folder)["value"] == 4_385_920


@pytest.mark.parametrize("event", [("socket.connect", (None, ("example.org", 80))), ("subprocess.Popen", ("ls", [], None, None))])
def test_the_guard_refuses_connections_and_programs(event):
    with pytest.raises(GlassformerError, match="tools cannot open connections or start programs"):
        worker.Guard(Folders()).see(*event)


def test_the_guard_allows_reading_folders_and_packages_and_no_writing(tmp_path):
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    guard = worker.Guard(Folders.of([folder]))
    for path, flags in ((worker.__file__, 0), (str(folder / "x.toml"), 0), (bytes(folder / "x.toml"), 0)):
        guard.see("open", (path, "r", flags))
    for path, flags in (
        ("/etc/passwd", 0),
        (str(folder / "link" / "x"), 0),
        (str(tmp_path / "course2"), 0),
        (str(folder / "x"), 1),
    ):
        with pytest.raises(GlassformerError, match="not in the folders"):
            guard.see("open", (path, "r", flags))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "this needs more than 6 GiB of memory"),
        (RecursionError(), "this is nested too deeply"),
        (OSError(13, "Permission denied", "/secret/place/a.toml"), "a.toml cannot be read: Permission denied."),
        (KeyError("x"), "the calculation failed (KeyError): this is a bug"),
    ],
)
def test_a_failure_is_one_line(monkeypatch, capsys, error, line):
    def failing(*_):
        raise error

    monkeypatch.setattr(worker, "call", failing)
    assert worker.answer("count", {}, Folders())["error"].startswith(line)
