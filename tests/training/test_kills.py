"""Processes that are killed, signalled or starved at random moments lose nothing, compared with uninterrupted runs."""

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import glassformer

from glassformer.training import state

TESTS = Path(__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": f"{TESTS.parent / 'src'}:{TESTS}", "OMP_NUM_THREADS": "1"}
COUNTS = [pytest.param(10, id="10"), pytest.param(200, id="200", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory):
    """The counts of disturbed.py; any other output is that of failed children. One process imports torch for all tests."""
    errors = tmp_path_factory.mktemp("disturbed") / "errors"
    command = [sys.executable, str(TESTS / "training" / "disturbed.py")]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with errors.open("w") as stderr:
        server = subprocess.Popen(command, env=ENVIRONMENT, stderr=stderr, **piped)

    def ask(way, place, count):
        before = errors.stat().st_size
        server.stdin.write(shlex.join([way, str(place), str(count)]) + "\n")
        answer, said = server.stdout.readline().strip(), errors.read_text()[before:]
        assert answer, said
        counts = json.loads(answer)
        return counts, {name for name, number in counts.pop("faults").items() if number}, said

    with server:
        yield ask
    assert server.returncode == 0


@pytest.mark.parametrize("count", COUNTS)
def test_a_kill_at_any_moment_changes_no_bit(disturbed, count, tmp_path, figure):
    counts, faults, said = disturbed("kills", tmp_path / "runs", count)
    assert not faults, (faults, said)
    assert counts["kills"] == count
    assert counts["inside_a_save"] >= count // 2
    figure(
        "T1",
        f"{count} kills, {counts['inside_a_save']} of them during a save: 0 unreadable checkpoints, every run resumed, at "
        f"most one interval of steps lost, 0 partial files after the next start; in all {counts['runs']} runs every loss, "
        "weight, moment and random number equals that of an uninterrupted run",
        cases=count,
    )


@pytest.mark.parametrize("task", ["translate", "causal"])
@pytest.mark.parametrize("count", [pytest.param(3, id="3"), pytest.param(20, id="20", marks=pytest.mark.slow)])
def test_a_kill_changes_no_bit_of_a_model_that_writes_or_of_its_mean_weights(disturbed, task, count, tmp_path):
    counts, faults, said = disturbed(f"kills-{task}", tmp_path / "runs", count)
    assert not faults, (faults, said)
    assert counts["kills"] == count


def test_a_save_that_is_not_whole_or_nothing_would_be_noticed(disturbed, tmp_path):
    assert "unreadable" in disturbed("careless", tmp_path / "runs", 24)[1]  # at the latest: it ends with the first


@pytest.mark.parametrize("count", [pytest.param(3, id="3"), pytest.param(100, id="100", marks=pytest.mark.slow)])
def test_a_signal_at_any_moment_saves_the_step(disturbed, count, tmp_path, figure):
    counts, faults, said = disturbed("signals", tmp_path / "runs", count)
    assert not faults, (faults, said)
    assert counts["signals"] == count
    code, seconds = counts["second"]
    assert (code, seconds < 10) == (-signal.SIGINT, True), "a second signal ends it at once"
    figure(
        "T7",
        f"{count} of {count} (SIGTERM, SIGINT, SIGUSR1 in turn): exit codes 143, 130, 138, the current step is saved, the "
        f"result is bit for bit that of an uninterrupted run; {counts['slowest']:.1f} s at most; a second signal exits at once",
        cases=count,
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the workers in /proc")
def test_one_of_two_processes_is_killed_twenty_times_and_torchrun_starts_both_again(disturbed, tmp_path, figure):
    counts, faults, said = disturbed("ranks", tmp_path / "runs", 20)
    assert not faults, (faults, said)
    assert counts["kills"] == counts["restarts"] == 20
    figure(
        "T11",
        f"torchrun, two processes, one of them killed 20 times at random: 20 restarts, both processes running again "
        f"within {counts['slowest']:.1f} s, 0 unreadable checkpoints, at most one interval of steps lost; every loss, weight and "
        f"moment at the end is bit for bit that of an uninterrupted run (runs: {counts['runs']})",
        cases=20,
    )


# The command line, run by a shell --------------------------------------------------------------------------------------

TINY = ["train", "digits", "d_model=16", "heads=2", "layers=1", "--batch-size", "64", "--save-every", "3"]


def test_ctrl_c_saves_and_the_exit_code_is_130(tmp_path):
    words = [sys.executable, "-m", "glassformer", *TINY, "--epochs", "1000", "--out", str(tmp_path / "run")]
    started = subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 200
    while not state.saved_steps(tmp_path / "run" / "checkpoints"):
        assert time.monotonic() < until and started.poll() is None
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    said = started.communicate(timeout=240)[1]
    assert "Traceback" not in said, said
    step = state.saved_steps(tmp_path / "run" / "checkpoints")[0]
    assert (
        said.splitlines()[-1]
        == f"glassformer: stopped at step {step} of 20000; everything is saved. To resume: glassformer resume {tmp_path / 'run'}"
    )
    assert started.returncode == 130


def test_a_nan_loss_exits_with_1(tmp_path):
    done = glassformer(*TINY, "--lr", "1e9", "--clip", "none", "--warmup", "0", "--out", tmp_path / "run")
    line = done.stderr.splitlines()[-1]
    assert line.startswith("glassformer: step ") and " Nothing was overwritten. To resume: glassformer resume " in line
    assert done.returncode == 1


@contextmanager
def no_file_over(size):
    """The largest file that this process may write, which is what a full disk looks like."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_takes_no_more_exits_with_1(tmp_path):
    with no_file_over(9000):
        done = glassformer(*TINY, "--epochs", "1", "--out", tmp_path / "run")
    line = done.stderr.splitlines()[-1]
    assert line.startswith("glassformer: step 3 cannot be saved in ") and line.endswith(
        ": File too large. Nothing was saved before."
    )
    assert done.returncode == 1
    assert not list((tmp_path / "run" / "checkpoints").iterdir())
