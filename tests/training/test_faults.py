"""Failing disks, damaged files, resumed runs: nothing is lost. Small counts here, full counts in the slow tests."""

import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tiny_training import Quiet, logged, tiny_run

from glassformer.errors import GlassformerError
from glassformer.training import loop, state
from glassformer.training.runs import Run
from glassformer.training.saving import check_same_run
from glassformer.training.settings import FREE


def counts(few, many):
    return pytest.mark.parametrize("count", [pytest.param(few), pytest.param(many, marks=pytest.mark.slow)])


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    monkeypatch.setattr(Run, "draw_curves", lambda _: None)


def at(step, what):
    return Quiet(lambda number: what() if number == step else None)


def stopped():
    os.kill(os.getpid(), signal.SIGTERM)


def stopped_run(path, step, **settings):
    """A run that was stopped after a step."""
    run, data = tiny_run(path, **settings)
    with pytest.raises(loop.Interrupted):
        loop.train(run, data, at(step, stopped))
    return run, data


def files_in(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# T2: the power fails ----------------------------------------------------------------------------------------------------


def test_a_state_has_its_name_only_when_all_of_it_is_on_the_disk(tmp_path, monkeypatch, figure):
    run, data = stopped_run(tmp_path / "run", 5)
    done, fsync, rename, write = [], os.fsync, os.rename, state.write

    def syncing(handle):
        fsync(handle)
        done.append(("on the disk", Path(f"/proc/self/fd/{handle}").readlink().name))

    def renaming(source, target, **places):
        rename(source, target, **places)
        done.append((Path(source).name, Path(target).name))

    def writing(path, *pieces):
        done.append(("write", path.name))
        return write(path, *pieces)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "rename", renaming)
    monkeypatch.setattr(state, "write", writing)
    with pytest.raises(loop.Interrupted):
        loop.train(run, data, at(6, stopped))
    me = os.getpid()
    unfinished = f"step-000006.tmp-{me}"
    assert done == [
        ("on the disk", "metrics.jsonl"),
        *((what, name) for name in (state.TENSORS, state.NOTES, state.MANIFEST) for what in ("write", "on the disk")),
        ("on the disk", unfinished),
        (unfinished, "step-000006"),
        ("on the disk", "checkpoints"),
        ("step-000003", f"step-000003.old-{me}"),  # older ones go last
    ]
    figure("T2", "in this order: write, fsync of each file, the manifest last, fsync of the folder, rename, fsync of its parent")


ONE = """
import sys
from pathlib import Path
from tiny_training import Quiet
from glassformer.training import loop
from glassformer.training.data import load_data
from glassformer.training.runs import Run
Run.draw_curves = lambda _: None
loop.train(Run.open(Path(sys.argv[1])), load_data("digits"), Quiet())
"""
TESTS = Path(__file__).parents[1]
TRACED = re.compile(
    r"\d+ +(write|fsync|rename)[^(]*\((?:\d+<([^>]+)>|\"([^\"]+)\", \"([^\"]+)\").*(?: = \d+|<unfinished \.\.\.>)$"
)


def asked_of_the_kernel(run, trace):
    """The system calls of a training run for its checkpoints, in order: (write or fsync, file) and (rename, from, to).

    Writes to one file in a row are one. "Unfinished" is a call during which another thread, which computes the checksum, called.
    """
    words = ["strace", "-f", "-y", "-e", "trace=/^(p?writev?[0-9]*|f(data)?sync|rename.*)$", "-o", str(trace), sys.executable]
    environment = os.environ | {"PYTHONPATH": f"{TESTS.parent / 'src'}:{TESTS}", "OMP_NUM_THREADS": "1"}
    command = [*words, "-c", ONE, str(run.path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if "ptrace" in done.stderr.lower():
        pytest.skip("nobody may be traced here")
    assert done.returncode == 0, done.stderr
    before = None
    for line in trace.read_text(errors="replace").splitlines():
        if f"{run.checkpoints}" in line:
            call, *names = TRACED.match(line).groups()
            paths = [Path(name).relative_to(run.checkpoints).as_posix() for name in names if name]
            asked = (call, *(re.sub(r"\.(tmp|old)-\d+", r".\1", path) for path in paths))
            if call != "write" or asked != before:
                yield asked
            before = asked


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace shows what the kernel is asked for")
def test_system_calls_are_in_the_order_that_survives_a_power_failure(tmp_path, figure):
    run, _ = tiny_run(tmp_path / "run", epochs=1)
    wanted, names = [], [f"step-{step:06d}" for step in (3, 6, 9, 10)]

    def saved(name, folder):
        files = [f"{name}.tmp/{file}" for file in (state.TENSORS, state.NOTES, state.MANIFEST)]
        yield from ((call, file) for file in files for call in ("write", "fsync"))
        yield from (("fsync", f"{name}.tmp"), ("rename", f"{name}.tmp", name), ("fsync", folder))

    for number, name in enumerate(names):
        wanted += saved(name, ".")
        if number == 3:  # the end of the epoch, the best so far
            wanted += [("fsync", "."), *saved(f"best/{name}", "best")]
        wanted += [("rename", names[number - 2], f"{names[number - 2]}.old")] if number >= 2 else []  # older ones go last
    assert list(asked_of_the_kernel(run, tmp_path / "trace")) == wanted
    figure("T2", f"strace confirms these system calls in {len(names)} of {len(names)} saves", cases=len(names))


# T3: the disk is full ---------------------------------------------------------------------------------------------------


@counts(5, 100)
def test_a_disk_that_is_full_after_any_byte_leaves_the_state_before(count, tmp_path, monkeypatch, figure):
    run, data = stopped_run(tmp_path / "run", 3)
    before, real, chance = files_in(run.checkpoints), state.write, random.Random(count)
    size = sum(map(len, before.values()))
    for case in range(count):
        left = [chance.randrange(size - 100)]

        def write(path, *pieces, left=left):
            content = b"".join(map(bytes, pieces))
            if len(content) <= left[0]:
                left[0] -= len(content)
                return real(path, *pieces)
            path.write_bytes(content[: left[0]])
            raise OSError(random.Random(left[0]).choice([errno.ENOSPC, errno.EDQUOT]), "No space left on device")

        monkeypatch.setattr(state, "write", write)
        with pytest.raises(state.CannotSave) as refused:
            loop.train(Run.open(run.path), data, at(4 + case % 2, stopped))
        assert refused.value.code == 1
        line = str(refused.value)
        assert line.startswith(f"disk full saving step {4 + case % 2} (needs ")
        assert line.endswith(" free). Step 3 is intact: free space and run resume.")
        assert files_in(run.checkpoints) == before
    monkeypatch.setattr(state, "write", real)
    watch = at(4, stopped)
    with pytest.raises(loop.Interrupted):
        loop.train(Run.open(run.path), data, watch)
    assert watch.said == ["resuming after step 3 of 20."]
    figure(
        "T3",
        f"{count} byte offsets: the previous checkpoint is untouched, no partial files remain, one line with the space needed "
        "and the space available, exit code 1",
        cases=count,
    )


@pytest.mark.parametrize("what", ["best/", "curves", "report", "metrics.jsonl"])
def test_a_disk_that_is_full_at_another_moment_is_one_line_too(what, tmp_path, monkeypatch):
    run, data = tiny_run(tmp_path / "run", epochs=1)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    if what == "best/":
        run_save = Run.export
        monkeypatch.setattr("glassformer.training.published.save", full)
        monkeypatch.setattr(Run, "export", lambda self, _, *rest: run_save(self, "best", *rest))
    elif what == "metrics.jsonl":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.undo()
        writes = {"curves": "show_curves.save_pictures", "report": "report_of"}
        monkeypatch.setattr(f"glassformer.training.runs.{writes[what]}", full)
    with pytest.raises(state.CannotSave, match=f"^{what} cannot be written: No space left on device. Checkpoints are intact"):
        loop.train(run, data, Quiet())


# T4: a damaged checkpoint -----------------------------------------------------------------------------------------------


def flip(path, chance):
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def edit(path, change):
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))


DAMAGE = {
    "a bit": flip,
    "cut": lambda path, chance: os.truncate(path, chance.randrange(path.stat().st_size)),
    "longer": lambda path, chance: path.write_bytes(path.read_bytes() + chance.randbytes(chance.randint(1, 99))),
    "gone": lambda path, _: path.unlink(),
    "empty": lambda path, _: path.write_bytes(b""),
    "noise": lambda path, chance: path.write_bytes(chance.randbytes(path.stat().st_size)),
    "a folder": lambda path, _: (path.unlink(), path.mkdir()),
}
MANIFESTS = {
    "not JSON": lambda path, _: path.write_text("{"),
    "a list": lambda path, _: path.write_text("[]"),
    "deep": lambda path, _: path.write_text("[" * 100_000),
    "another sum": lambda path, _: edit(path, lambda found: found["files"][state.TENSORS].update(sha256="0" * 64)),
    "no files": lambda path, _: edit(path, lambda found: found.update(files={})),
    "a file elsewhere": lambda path, _: edit(path, lambda found: found["files"].update({"../../run.json": {}})),
}


@counts(50, 1000)
def test_a_damaged_checkpoint_gives_way_to_the_one_before(count, tmp_path, figure):
    run, _ = stopped_run(tmp_path / "run", 6)
    newest, pristine = state.folder_of(run.checkpoints, 6), tmp_path / "pristine"
    shutil.copytree(newest, pristine)
    good, chance, harmless, same = state.load_state(run.checkpoints, 3), random.Random(count), 0, files_in(newest)
    case = -1
    while (case := case + 1) < count + harmless:
        kinds = MANIFESTS if case % 5 == 4 else DAMAGE
        kind = list(kinds)[case % len(kinds)]
        name = state.MANIFEST if kinds is MANIFESTS else chance.choice([state.TENSORS, state.NOTES, state.MANIFEST])
        kinds[kind](newest / name, chance)
        said = []
        found = state.load_newest(run.checkpoints, said.append)
        if found.step == 6:  # white space changed or cut off, or the name of an entry that older manifests do not have
            harmless += 1
            assert (name, said) == (state.MANIFEST, []) and kind in ("a bit", "cut")
            assert kind == "a bit" or json.loads((newest / name).read_bytes()) == json.loads((pristine / name).read_bytes())
            assert files_in(newest) | {name: b""} == same | {name: b""}
        else:
            assert found.step == 3 and len(said) == 1, (kind, name, said)
            assert said[0].startswith("step-000006 is damaged (") and said[0].endswith("), using step-000003.")
            assert "\n" not in said[0] and len(said[0]) < 300
            assert all(torch.equal(value, good.tensors[key]) for key, value in found.tensors.items())
        shutil.rmtree(newest)
        shutil.copytree(pristine, newest)
    assert harmless <= 0.02 * count + 1
    figure(
        "T4",
        f"{count:,} of {count:,} damaged checkpoints: the previous one is used, and one line says so "
        f"({harmless} more had a flipped bit that has no meaning)",
        cases=count,
    )


def test_a_damaged_checkpoint_does_not_push_out_a_good_one(tmp_path):
    run, data = stopped_run(tmp_path / "run", 6)
    flip(run.checkpoints / "step-000006" / state.TENSORS, random.Random(0))
    with pytest.raises(loop.Interrupted):
        loop.train(run, data, at(4, stopped))
    assert state.saved_steps(run.checkpoints) == [6, 4, 3]


# T5, T6: resume ---------------------------------------------------------------------------------------------------------

WAYS = {
    "dropout": {},
    "accumulated": {"accumulate": 2, "batch_size": 64},
    "bf16": {"precision": "bf16"},
    "linear, unclipped": {"decay": "linear", "clip": None},
}


def resumed_everywhere(place, epochs, data="digits", **settings):
    """The number of steps after each of which a copy of the run resumed bit for bit."""
    place.mkdir()
    whole, data = tiny_run(place / "whole", data=data, epochs=epochs, save_every=1, keep=1000, **settings)
    best = {loop.train(whole, data, Quiet())["best"]["step"]}
    every = [line["hex"] for line in logged(whole)]
    for step in range(1, len(every)):
        copy = place / "copy"
        shutil.copytree(whole.path, copy, ignore=lambda folder, names: names if folder.endswith("checkpoints") else [])
        for needed in {step} | (best - {len(every)} if step + 1 == len(every) else set()):  # the end of a run exports the best
            shutil.copytree(state.folder_of(whole.checkpoints, needed), copy / "checkpoints" / f"step-{needed:06d}")
        run = Run.open(copy).with_settings(log_every=1 if step % 2 else 1000)  # which changes nothing but the log
        watch = at(step + 1, stopped)
        try:
            loop.train(run, data, watch)
        except loop.Interrupted:
            assert step + 1 < len(every)
        assert watch.said == [f"resuming after step {step} of {len(every)}."]
        ours, theirs = (one / f"step-{step + 1:06d}" / state.TENSORS for one in (run.checkpoints, whole.checkpoints))
        assert ours.read_bytes() == theirs.read_bytes(), step
        if step % 2:
            assert [line["hex"] for line in logged(run)] == every[: step + 1]
        shutil.rmtree(copy)
    return len(every)


@pytest.mark.parametrize(
    ("epochs", "ways"), [(2, ["dropout"]), pytest.param(20, list(WAYS), marks=pytest.mark.slow)], ids=["20 steps", "200 steps"]
)
def test_a_run_continues_bit_for_bit_from_every_step(epochs, ways, tmp_path, figure):
    done = 0
    for number, way in enumerate(ways):
        done += resumed_everywhere(tmp_path / str(number), epochs if way == "dropout" else 2, **WAYS[way])
    figure(
        "T5",
        f"from {done - len(ways)} of {done - len(ways)} steps: the next loss, weights, moments and random numbers are bit for "
        f"bit identical ({', '.join(ways)}; the log interval changed on resume)",
        cases=done,
    )


def test_every_change_is_named(tmp_path, figure):
    run, _ = tiny_run(tmp_path / "run")
    before, refused = run.identity(), 0
    for part in ("spec", "settings"):
        for name in before[part]:
            now = before | {part: before[part] | {name: "another"}}
            if part == "settings" and name in FREE:
                check_same_run(before, now)
                continue
            with pytest.raises(
                GlassformerError, match=rf"^cannot resume, the run was changed: {name} was .* and is another now\.$"
            ):
                check_same_run(before, now)
            refused += 1
    with pytest.raises(GlassformerError, match=r"changed: the tokenizer is different\.$"):
        check_same_run(before, before | {"tokenizer": "another"})
    figure(
        "T6",
        f"{refused} of {refused} fields of spec and settings, the tokenizer and the data: changes refused by name; "
        f"{len(FREE)} settings may change, and so may the number of processes",
        cases=refused,
    )


# T12: two processes -----------------------------------------------------------------------------------------------------


def test_a_second_process_is_refused_while_the_first_is_running(tmp_path, figure):
    run, data = tiny_run(tmp_path / "run", epochs=1)
    refused = []

    def again():
        with pytest.raises(GlassformerError, match=rf"is being trained by process {os.getpid()}: wait until it ends\.$") as line:
            loop.train(Run.open(run.path), data, Quiet())
        refused.append(str(line.value))

    assert loop.train(run, data, Quiet(lambda _: again()))["step"] == 10 == len(refused)
    figure("T12", "10 of 10 refused in one line with the process id; the lock of a killed process is released")


def test_partially_written_weights_are_removed(tmp_path):
    run, data = stopped_run(tmp_path / "run", 3)
    for name in (".best.new.0123abcd", "last.new", "best.old"):
        (run.path / name).mkdir()
    with pytest.raises(loop.Interrupted):
        loop.train(run, data, at(4, stopped))
    assert {path.name for path in run.path.iterdir() if path.is_dir()} == {"checkpoints"}
