"""`glassformer train`, `resume` and `curves`, as a person uses them."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from glassformer.cli.main import glassformer as command
from glassformer.spec import GlassformerError

SMALL = "d_model=16 heads=2 layers=1 --batch-size 128 --log-every 1".split()


def glassformer(*words, cwd):
    line = [sys.executable, "-m", "glassformer", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, cwd=cwd, env=one_thread())


def one_thread():
    return os.environ | {"OMP_NUM_THREADS": "1"}


def test_digits_are_learned_with_the_defaults(tmp_path):
    done = glassformer("train", "digits", "--epochs", "5", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["test"]["accuracy"] > 0.9
    assert found["run"] == str(tmp_path / "runs" / "digits-1")
    assert "parameters; predicted for a step of 16 × " in done.stderr
    assert "epoch 5/5  training loss " in done.stderr and "peak memory of the process" in done.stderr
    first = json.loads((tmp_path / "runs/digits-1/metrics.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["predicted"]["parameters"] == first["measured"]["parameters"]


def test_several_numbers_of_epochs_are_compared(tmp_path):
    done = glassformer("train", "digits", *SMALL, "--epochs", "1,2", "--out", "both", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "epochs-1       1 " in done.stdout and "epochs-2       2 " in done.stdout
    assert (tmp_path / "both" / "curves.png").is_file()
    drawn = glassformer("curves", "both/epochs-1", "both/epochs-2", "--out", "x.svg", cwd=tmp_path)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout.endswith("picture: x.svg\n") and (tmp_path / "x.svg").is_file()


def test_sigterm_saves_and_resume_goes_on(tmp_path):
    line = [sys.executable, "-m", "glassformer", "train", "digits", *SMALL, "--epochs", "2000", "--out", "run"]
    running = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=one_thread())
    until = time.monotonic() + 60
    while not list(tmp_path.glob("run/checkpoints/step-*")) and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 143, said
    assert "which is saved. Go on: glassformer resume" in said.splitlines()[-1]
    done = glassformer("resume", "run", "--epochs", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0 and "resuming after step " in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train topics", "no such built-in set, file or folder: topics. Did you mean 'topic'?"),
        ("train digits --epochs 0", "--epochs 0 is not allowed"),
        ("train digits --lr fast", "lr=fast is not allowed: a number from 0"),
        ("train digits --keep 1", "keep=1 is not allowed: a whole number from 2 to 1000"),
        ("train digits classes=3", "classes=3 does not fit digits: it needs classes=10. Leave classes out."),
        ("train digits batch=3", "batch= is no field of what is trained: write --batch-size 3."),
        ("train digits bert-bse", "unknown preset 'bert-bse'. Did you mean 'bert-base'?"),
        ("resume nowhere", "nowhere is no run folder: it has no run.json."),
        ("curves nowhere", "nowhere has no metrics.jsonl"),
    ],
)
def test_a_users_mistake_is_said(line, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GlassformerError, match=re.escape(message)):
        command.main(line.split(), standalone_mode=False)
    assert not list(tmp_path.rglob("run.json"))


def test_a_users_mistake_is_one_line_and_exit_2(tmp_path):
    done = glassformer("train", "topics", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
