"""`glassformer train`, `resume` and `curves`, as a person uses them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from command_line import glassformer

from glassformer.cli.main import glassformer as command
from glassformer.errors import GlassformerError

SMALL = "d_model=16 heads=2 layers=1 --batch-size 128 --log-every 1".split()


def one_thread():
    return os.environ | {"OMP_NUM_THREADS": "1"}


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU")
def test_float8_without_a_gpu_is_refused_before_there_is_a_run(tmp_path):
    done = glassformer("train", "digits", "--precision", "fp8", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "precision=fp8 needs a GPU that multiplies float8 (H100 or newer), and there is none here. Try bf16." in done.stderr
    assert "Traceback" not in done.stderr and not list(tmp_path.glob("runs/*"))


def test_digits_are_learned_with_the_defaults(tmp_path):
    done = glassformer("train", "digits", "--epochs", "5", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["test"]["accuracy"] > 0.93
    assert found["parameters"] == {"parameters": 202_186, "trained": 202_186, "task_specific": 650}
    assert found["run"] == str(tmp_path / "runs" / "digits-1")
    assert "202,186 parameters, all trained, 650 task-specific; predicted for a step of 16 images: " in done.stderr
    assert "% of the peak of " in done.stderr
    assert "epoch 5/5  training loss " in done.stderr and "peak process memory" in done.stderr
    first = json.loads((tmp_path / "runs/digits-1/metrics.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["predicted"]["parameters"] == first["measured"]["parameters"]
    step = found["measured"]["step"]
    assert step["flops"] == pytest.approx(step["predicted_flops"], rel=0.01)
    assert step["bytes"] == pytest.approx(step["predicted_bytes"], rel=0.1)
    report = (tmp_path / "runs/digits-1/report.md").read_text(encoding="utf-8")
    assert "| licence | CC BY 4.0 (UCI) / BSD-3-Clause (scikit-learn) |" in report
    assert "| class | rows | precision | recall | F1 |" in report and "![loss and accuracy](curves.png)" in report


def test_several_numbers_of_epochs_are_compared(tmp_path):
    done = glassformer("train", "digits", *SMALL, "--epochs", "1,2", "--out", "both", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["epochs"] for one in found["comparison"]] == [1, 2] and len(found["runs"]) == 2
    assert found["comparison"] == json.loads((tmp_path / "both/comparison.json").read_text(encoding="utf-8"))
    page = (tmp_path / "both/comparison.md").read_text(encoding="utf-8")
    assert "| run | epochs | training loss |" in page and "![loss and accuracy](curves.png)" in page
    assert (tmp_path / "both" / "curves.png").is_file()
    fewer = glassformer("resume", "both/epochs-2", "--epochs", "1", cwd=tmp_path)
    assert fewer.returncode == 2 and "epochs=1 is not allowed: " in fewer.stderr
    assert "has completed 2 already. Give 2 or more." in fewer.stderr
    assert "It contains runs: give both/epochs-1 or another." in glassformer("resume", "both", cwd=tmp_path).stderr
    taken = glassformer("train", "digits", *SMALL, "--epochs", "5,2", "--out", "both", cwd=tmp_path)
    assert taken.returncode == 2 and "the folder both/epochs-2 is not empty" in taken.stderr
    assert not (tmp_path / "both/epochs-5").exists()
    together = glassformer("curves", "both", cwd=tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in together[2:4]] == ["epochs-1", "epochs-2"]
    drawn = glassformer("curves", "both/epochs-1", "both/epochs-2", "--out", "x.svg", cwd=tmp_path)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout.endswith("picture: x.svg\n") and (tmp_path / "x.svg").is_file()


def test_sigterm_saves_and_resume_continues(tmp_path):
    line = [sys.executable, "-m", "glassformer", "train", "digits", *SMALL, "--epochs", "2000", "--out", "run"]
    running = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=one_thread())
    until = time.monotonic() + 60
    while not list(tmp_path.glob("run/checkpoints/step-*")) and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 143, said
    assert "everything is saved. To resume: glassformer resume" in said.splitlines()[-1]
    rows = [json.loads(row) for row in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    over = sum(row["kind"] == "epoch" for row in rows)
    line = [sys.executable, "-m", "glassformer", "resume", "run", "--epochs", str(over + 1), "--json"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=one_thread())
    assert done.returncode == 0 and "resuming after step " in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train topics", "no such built-in dataset, file or folder: topics. Did you mean 'topic'?"),
        ("train digits --epochs 0", "--epochs 0 is not allowed"),
        ("train digits --lr fast", "lr=fast is not allowed: a number from 0"),
        ("train digits --keep 1", "keep=1 is not allowed: a whole number from 2 to 1,000"),
        ("train digits classes=3", "classes=3 does not fit digits: it needs classes=10. Leave classes out."),
        ("train digits batch=3", "batch= is not a field of a trained encoder: write --batch-size 3."),
        ("train digits bert-bse", "unknown preset 'bert-bse'. Did you mean 'bert-base'?"),
        (
            "train topic bert-base-uncased",
            "'bert-base-uncased' is a published checkpoint, which is not available here: give the folder",
        ),
        ("train topic google-bert/bert-base-uncased", "bert-base is the same encoder, trained from scratch."),
        (
            "train topic models/bert-base",
            "models/bert-base is neither a file nor a published name that is known: give the path of its config.json",
        ),
        ("train digits --train-only head", "train_only=head needs a checkpoint: give its folder"),
        ("train digits --augment hide", "augment=hide does not fit the task image: choose none or shift."),
        ("train topic --context word", "context=word is only for tagging, but the task is classify: leave it out."),
        ("train digits --threads 0", "threads=0 is not allowed: a whole number from 1 to 1,024"),
        (
            "resume nowhere",
            "no such folder: nowhere. The current folder contains no folder. 'glassformer train' creates a run.",
        ),
        ("resume .", ". is not a run folder: it has no run.json. 'glassformer train' creates one."),
        ("curves nowhere", "no such folder: nowhere. The current folder contains no folder. Give the folder of a run"),
        ("curves .", ". has no metrics.jsonl: is it the folder of a run?"),
        ("train digits --epochs 3,1,3", "--epochs 3,1,3 names 3 twice: each number of epochs is a separate run."),
        ("train digits bert-tiny", "digits contains images, but this spec reads texts (vocab=30522): choose another spec."),
        ("train digits --resize 16", "digits is a built-in dataset with fixed rows: leave resize out."),
        ("train topic --no-label", "topic is a built-in dataset with fixed rows: leave label out."),
        ("train digits --out /dev/null/run", "--out /dev/null/run: its parent folder cannot be created: "),
        ("train digits --epochs 1,2 --out /dev/null", "/dev/null cannot be created: File exists. Choose another --out."),
    ],
)
def test_a_users_mistake_is_reported(line, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GlassformerError, match=re.escape(message)):
        command.main(line.split(), standalone_mode=False)
    assert not list(tmp_path.rglob("run.json"))


def test_a_users_mistake_is_one_line_and_exit_code_2_of_a_separate_process(tmp_path):
    line = [sys.executable, "-m", "glassformer", "train", "topics"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_fine_tuning_resumes_after_the_checkpoint_is_deleted(tmp_path):
    examples = "".join(f'"the {word} number {i}",{label}\n' for i in range(30) for word, label in (("red", "a"), ("blue", "b")))
    (tmp_path / "rows.csv").write_text(f"text,label\n{examples}", encoding="utf-8")
    small = "d_model=16 heads=2 layers=1 --epochs 1 --max-length 16".split()
    assert glassformer("train", "rows.csv", *small, "--out", "first", cwd=tmp_path).returncode == 0
    shutil.copytree(tmp_path / "first/best", tmp_path / "model")
    done = glassformer(
        "train", "rows.csv", "model", "--train-only", "head", "--epochs", "2", "--out", "second", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)["parameters"]
    assert (counts["trained"], counts["task_specific"]) == (34, 34)  # 16 · 2 + 2
    assert " parameters from model, 34 trained, 34 task-specific" in done.stderr
    shutil.rmtree(tmp_path / "model")
    again = glassformer("resume", "second", "--epochs", "3", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["epochs"] == 3


def test_suspicious_data_is_noted_and_a_run_survives_moving_it(tmp_path):
    rows = "".join(
        f"{word} number {i};{label}\r\n" for i in range(30) for word, label in (("red", "a"), ("blue", "b"), ("sky", "B"))
    )
    (tmp_path / "my rows.csv").write_text(f"\ufeffText;Label\r\n{rows};a\r\n", encoding="utf-8")
    small = "d_model=16 heads=2 layers=1 --epochs 1 --max-length 16 --split 0.6,0.2,0.2".split()
    done = glassformer("train", "my rows.csv", *small, "--out", "a run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert notes == [
        "note: skipped: empty texts: 1 (first: my rows.csv line 92)",
        "note: labels that differ only in case, spaces or a trailing .0, and are treated as different: 'B' and 'b'",
    ]
    report = (tmp_path / "a run/report.md").read_text(encoding="utf-8")
    assert "| rows | train 54, validation 18, test 18 |" in report and "| note | skipped: empty texts: 1 (first" in report
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "my rows.csv").rename(tmp_path / "elsewhere/rows.csv")
    gone = glassformer("resume", "a run", "--epochs", "2", cwd=tmp_path)
    assert gone.returncode == 2
    assert "cannot resume, its data cannot be read: no such" in gone.stderr and "If it was moved: --data PATH." in gone.stderr
    again = glassformer("resume", "a run", "--epochs", "2", "--data", "elsewhere/rows.csv", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["epochs"] == 2


def test_changed_data_leaves_the_settings_of_a_run_unchanged(tmp_path):
    rows = "".join(f"{word} number {i},{label}\n" for i in range(20) for word, label in (("red", "a"), ("blue", "b")))
    (tmp_path / "rows.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    small = "d_model=16 heads=2 layers=1 --epochs 1 --max-length 16".split()
    assert glassformer("train", "rows.csv", *small, "--out", "run", cwd=tmp_path).returncode == 0
    (tmp_path / "rows.csv").write_text(f"text,label\n{rows}one more,a\n", encoding="utf-8")
    done = glassformer("resume", "run", "--epochs", "7", cwd=tmp_path)
    assert done.returncode == 2 and "cannot resume, the data has changed: rows was " in done.stderr
    assert json.loads((tmp_path / "run/settings.json").read_text(encoding="utf-8"))["epochs"] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="another OpenMP")
def test_threads_that_wait_for_others_sleep():
    code = "from glassformer.training.entry_points import _prepare_torch as sleep; sleep(); import torch"
    told = os.environ | {"OMP_DISPLAY_ENV": "TRUE"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, env=told)
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in done.stderr
