"""Two processes train as one: equal losses, states that any number of processes reads, and an end that loses nothing."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from tiny_training import Quiet, logged, losses, tiny_run

from glassformer.errors import GlassformerError
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.training import loop, state
from glassformer.training.data import load_data
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.prepare import prepare
from glassformer.training.distributed import processes
from glassformer.training.pieces import Damaged, Piece, piece_key, plans, together
from glassformer.training.runs import Run

TESTS = str(Path(__file__).parents[1])
SAME = {"dropout": 0.0}  # with dropout, two processes draw other numbers than one
TEXTS = "".join(f"{'word ' * (i % 9)}number {i} comes after the number {i - 1}\n" for i in range(200))
MASKED = {"epochs": 1, "batch_size": 15, "vocab": 200, "max_length": 16}  # 15 rows: one process has 8 of them, the other 7

# What both processes do, one after the other. Each scenario is a line of the report: what it raised, in each process.
TWO = """
import errno, json, math, os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from tiny_training import Quiet, tiny_run
from test_distributed import MASKED, SAME
from glassformer.training.runs import made_by_first
from glassformer.errors import GlassformerError
from glassformer.training import loop, state
from glassformer.training.data import load_data
from glassformer.training.distributed.processes import first, joined, leave, texts
from glassformer.training.runs import Run
from glassformer.training.tasks import TASKS
from glassformer.training.tasks.task import Judged

place = Path(sys.argv[1])
digits, plain = load_data("digits"), load_data(str(place / "plain.txt"))
write, made = state.write, loop.training_judge
judge = TASKS["image"].judge
Run.draw_curves = lambda self: None  # pictures take longer than these runs

def make(name, data="digits", fields=None, **settings):
    return made_by_first(lambda: tiny_run(place / name, data, fields, **settings)[0])

def train(run, data=digits, at_step=None, **changed):
    run = made_by_first(lambda: run.with_settings(**changed))
    watch, why = Quiet(at_step), ""
    try:
        loop.train(run, data, watch)
    except GlassformerError as error:
        why = f"{type(error).__name__}: {error}"
    return texts(json.dumps([why, watch.said]))

def full(path, *pieces):
    raise OSError(errno.ENOSPC, "No space left on device")

def at(step, what):
    return lambda number: what() if number == step and not first() else None

def signalled():
    os.kill(os.getpid(), signal.SIGTERM)

def no_space():
    state.write = full

def wrong(encoder, batch):
    judged = judge(encoder, batch)
    wrong.calls += 1
    return Judged(judged.loss * math.nan, judged.right) if wrong.calls == 5 and not first() else judged

report = {}
with joined():
    for parallel in ("ddp", "fsdp"):
        report[parallel] = train(make(parallel, fields=SAME, accumulate=2, batch_size=64, parallel=parallel))
        run = make(f"mlm-{parallel}", place / "plain.txt", SAME, parallel=parallel, **MASKED)
        report[f"mlm-{parallel}"] = train(run, plain)
        report[f"whole-{parallel}"] = train(make(f"whole-{parallel}", parallel=parallel))
        broken = make(f"broken-{parallel}", parallel=parallel)
        report[f"stopped-{parallel}"] = train(broken, at_step=at(5, signalled))
        report[f"again-{parallel}"] = train(broken)
        two_one = make(f"two-one-{parallel}", fields=SAME, accumulate=2, batch_size=64, parallel=parallel)
        report[f"two-one-{parallel}"] = train(two_one, at_step=at(5, signalled))
        report[f"one-two-{parallel}"] = train(Run.open(place / f"one-two-{parallel}"), parallel=parallel)
        wrong.calls, loop.training_judge = 0, lambda *_: wrong
        report[f"nan-{parallel}"] = train(make(f"nan-{parallel}", parallel=parallel))
        loop.training_judge = made
    run = make("full")
    report["full"] = train(run, at_step=at(4, no_space))
    state.write = write
    report["more"] = train(run, at_step=at(5, signalled), save_every=1)
    if first():
        shard = run.checkpoints / "step-000005" / "shard-00001.safetensors"
        content = shard.read_bytes()
        shard.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    report["damaged"] = train(Run.open(run.path))
    report["few rows"] = train(make("few", batch_size=1))
    if first():
        (place / "report.json").write_text(json.dumps(report))
leave(0)
"""


def torchrun(*words, **options):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{TESTS}/../src:{TESTS}:{TESTS}/training"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder in which one process trained, and two trained and went on with what it left."""
    place = tmp_path_factory.mktemp("two")
    (place / "plain.txt").write_text(TEXTS, encoding="utf-8")
    large = {"accumulate": 2, "batch_size": 64}
    one, data = tiny_run(place / "one", fields=SAME, **large)
    loop.train(one, data, Quiet())
    masked, rows = tiny_run(place / "mlm-one", place / "plain.txt", SAME, **MASKED)
    loop.train(masked, rows, Quiet())
    for parallel in ("ddp", "fsdp"):
        run, _ = tiny_run(place / f"one-two-{parallel}", fields=SAME, **large)
        with pytest.raises(loop.Interrupted):
            loop.train(run, data, Quiet(lambda step: os.kill(os.getpid(), signal.SIGTERM) if step == 5 else None))
    script = place / "two.py"
    script.write_text(TWO, encoding="utf-8")
    started = torchrun(str(script), str(place))
    said = started.communicate(timeout=300)[0]
    assert started.returncode == 0, said
    return place


def told(place, name):
    """What each of the two processes raised and said."""
    both = json.loads((place / "report.json").read_text())[name]
    return [tuple(json.loads(one)) for one in both]


def assert_same_curve(ours, theirs):
    """The largest difference of two losses, which is rounding."""
    worst = 0.0
    for kind in ("step", "epoch"):
        mine, other = logged(ours, kind), logged(theirs, kind)
        assert [line["step"] for line in mine] == [line["step"] for line in other]
        for line, twin in zip(mine, other, strict=True):
            figures, twins = (one if kind == "step" else one["validation"] for one in (line, twin))
            assert figures["loss"] == pytest.approx(twins["loss"], abs=3e-6)
            worst = max(worst, abs(figures["loss"] - twins["loss"]))
            assert figures["accuracy"] == pytest.approx(twins["accuracy"], abs=0.01)
            if kind == "step":
                assert line["gradient"] == pytest.approx(twin["gradient"], rel=1e-4)
    return worst


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_two_processes_have_the_losses_of_one(place, parallel, figure):
    assert told(place, parallel) == [("", []), ("", [])]
    worst = assert_same_curve(Run.open(place / parallel), Run.open(place / "one"))
    assert len(logged(Run.open(place / parallel))) == 20
    figure(
        "T11", f"{parallel}: losses of two processes within {worst:.0e} of those of one process with accumulation", part=parallel
    )


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_masked_tokens_count_equally_regardless_of_their_number_per_process(place, parallel):
    assert_same_curve(Run.open(place / f"mlm-{parallel}"), Run.open(place / "mlm-one"))


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_weights_at_the_end_are_whole(place, parallel):
    ours, theirs = (dict(load_encoder(place / name / "last").encoder.ledger()) for name in (parallel, "one"))
    assert list(ours) == list(theirs)
    for name, value in ours.items():
        # Nothing depends on a bias of the keys: its gradient is rounding alone, which AdamW blows up to the length of a step.
        assert name.endswith("b_K") or torch.allclose(value, theirs[name], atol=2e-5), name


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_a_signal_to_one_process_stops_both_at_the_same_step_and_they_continue_bit_for_bit(place, parallel):
    (first, _), (second, _) = told(place, f"stopped-{parallel}")
    assert first == second
    assert first.startswith("Interrupted: stopped at step 5 of 20; everything is saved. To resume: glassformer resume")
    assert told(place, f"again-{parallel}")[0] == ("", ["resuming after step 5 of 20."])
    broken, whole = Run.open(place / f"broken-{parallel}"), Run.open(place / f"whole-{parallel}")
    assert len(losses(whole)) == 22
    assert losses(broken) == losses(whole)


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_one_process_continues_where_two_stopped(place, parallel):
    run, watch = Run.open(place / f"two-one-{parallel}"), Quiet()
    assert len(list((run.checkpoints / "step-000005").glob("shard-*.safetensors"))) == 2
    loop.train(run, load_data("digits"), watch)
    assert watch.said == ["resuming after step 5 of 20."]
    assert_same_curve(run, Run.open(place / "one"))


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_two_processes_continue_where_one_stopped(place, parallel):
    assert told(place, f"one-two-{parallel}")[1] == ("", ["resuming after step 5 of 20."])
    assert_same_curve(Run.open(place / f"one-two-{parallel}"), Run.open(place / "one"))


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_a_nan_loss_in_one_process_stops_both(place, parallel):
    (first, _), (second, _) = told(place, f"nan-{parallel}")
    assert first == second
    assert first.startswith("NotFinite: step 5: loss is nan. First non-finite gradient: ")
    assert "Last good checkpoint: step 3. Nothing was overwritten." in first
    listed = first.partition("Training rows of the batch: ")[2].partition(", …")[0]
    # The rows are those of the second process: every other one of the step.
    run = Run.open(place / f"nan-{parallel}")
    data = load_data("digits")
    rows = prepare(data.train, None, max_length=None, augment="none")
    step = BatchStream(rows, batch_size=128, seed=0).plan(0)[4]
    assert listed == ", ".join(map(str, step[1::2][:8]))
    assert state.saved_steps(run.checkpoints)[0] == 3


def test_a_disk_that_is_full_for_one_process_stops_both_and_the_state_before_is_intact(place):
    (first, _), (second, _) = told(place, "full")
    assert first == second
    assert first.startswith("CannotSave: disk full saving step 6 (needs ")
    assert first.endswith("Step 3 is intact: free space and run resume.")
    assert told(place, "more")[0][1] == ["resuming after step 3 of 20."]


def test_a_damaged_shard_is_passed_over_by_both(place):
    for _, said in told(place, "damaged"):
        assert said == [
            "step-000005 is damaged (the sha256 of shard-00001.safetensors does not match the manifest), using step-000004.",
            "resuming after step 4 of 20.",
        ]
    run = Run.open(place / "full")
    assert losses(run) == losses(Run.open(place / "whole-ddp"))
    assert not list(run.checkpoints.glob("*.tmp-*"))


def test_a_batch_needs_a_row_for_each_process(place):
    line = "GlassformerError: batch_size=1 is too small for 2 processes: each needs a row. Start fewer processes."
    assert told(place, "few rows") == [(line, []), (line, [])]


def test_nothing_of_a_state_is_a_pickle(place):
    files = [path for path in (place / "ddp").rglob("checkpoints/**/*") if path.is_file()]
    assert files
    for path in files:
        assert path.suffix in (".json", ".safetensors")
        assert not path.read_bytes().startswith((b"\x80", b"PK"))


TRAIN = ["-m", "glassformer", "train", "digits", "d_model=16", "heads=2", "layers=1", "--batch-size", "32"]


def workers(started):
    """The processes that torchrun started, in their order."""
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    return [int(child) for child in children if b"glassformer" in Path(f"/proc/{child}/cmdline").read_bytes()]


def wait_for_step(run, step):
    until = time.monotonic() + 120
    while not any(saved >= step for saved in state.saved_steps(run / "checkpoints")):
        assert time.monotonic() < until, "nothing was saved"
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the workers in /proc")
@pytest.mark.parametrize("victim", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_killed_worker_ends_the_run_in_one_line_and_it_continues(victim, tmp_path):
    run = tmp_path / "run"
    started = torchrun(*TRAIN, "--epochs", "500", "--save-every", "5", "--out", str(run))
    wait_for_step(run, 5)
    os.kill(workers(started)[victim], signal.SIGKILL)
    said = started.communicate(timeout=120)[0]
    assert started.returncode == 1
    lines = [line for line in said.splitlines() if line.startswith("glassformer: ")]
    assert len(lines) == 1, said
    begins = (
        "glassformer: another process of this run ended or cannot be reached: all processes stop. Last good checkpoint: step "
    )
    assert lines[0].startswith(begins)
    assert lines[0].endswith(f"To resume, with any number of processes: glassformer resume {run}")
    step = state.saved_steps(run / "checkpoints")[0]
    watch = Quiet()
    with pytest.raises(loop.Interrupted):
        loop.train(Run.open(run), load_data("digits"), Quiet(lambda _: os.kill(os.getpid(), signal.SIGTERM)))
    loop.train(Run.open(run).with_settings(epochs=1), load_data("digits"), watch)
    assert watch.said == [f"resuming after step {step + 1} of 40."]


def test_a_signal_to_torchrun_stops_all_and_prints_one_line(tmp_path):
    run = tmp_path / "run"
    started = torchrun(*TRAIN, "--epochs", "500", "--out", str(run), start_new_session=True)
    wait_for_step(run, 1)
    os.killpg(started.pid, signal.SIGINT)  # as Ctrl-C does: to torchrun, which passes it on, and to all workers
    said = started.communicate(timeout=120)[0]
    lines = [line for line in said.splitlines() if line.startswith("glassformer: ")]
    assert len(lines) == 1, said
    step = state.saved_steps(run / "checkpoints")[0]
    assert lines[0].startswith(
        f"glassformer: stopped at step {step} of 20000; everything is saved. To resume: glassformer resume "
    )
    assert not list((run / "checkpoints").glob("*.tmp-*"))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        pytest.param(["--batchsize", "3"], "glassformer: No such option '--batchsize'.", marks=pytest.mark.slow),
        (["heads=7"], "glassformer: heads=7 "),
    ],
)
def test_an_error_is_printed_once(words, line, tmp_path):
    started = torchrun("-m", "glassformer", "train", "digits", *words, cwd=tmp_path)
    said = started.communicate(timeout=120)[0]
    lines = [one for one in said.splitlines() if one.startswith("glassformer: ")]
    assert len(lines) == 1, said
    assert lines[0].startswith(line)
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_alone_everything_is_its_own():
    assert processes.first()
    assert processes.from_first(lambda: 3) == 3
    assert processes.gathered(1.0, 2.0) == [(1.0, 2.0)]
    assert processes.added_up(1.0, 2.0) == (1.0, 2.0)
    with pytest.raises(RuntimeError, match="gloo"), processes.noticing("nothing"):
        raise RuntimeError("gloo: no group, so no process can be lost")


def test_restarted_processes_on_the_same_store_agree_and_ignore_dead_ones(monkeypatch):
    store, names = torch.distributed.HashStore(), []
    with ThreadPoolExecutor(3) as pool:
        for _ in range(5):
            store.set("here/1", "one that died before it was answered")
            ranks = [pool.submit(processes.round_of, store, rank, 3) for rank in (2, 0, 1)]
            names.append({rank.result(timeout=60) for rank in ranks})
    assert [len(agreed) for agreed in names] == [1] * 5
    assert len(set.union(*names)) == 5
    monkeypatch.setattr(processes, "WAIT", timedelta(seconds=0.1))
    with pytest.raises(RuntimeError, match="timed out waiting for 1 of 2 processes"):
        processes.round_of(torch.distributed.HashStore(), 0, 2)


def test_a_process_without_peers_gives_a_one_line_error(monkeypatch):
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(processes, "rendezvous", lambda *_, **__: iter([(torch.distributed.HashStore(), 0, 2)]))
    monkeypatch.setattr(processes, "WAIT", timedelta(seconds=0.1))
    line = "the processes of this run cannot reach each other: one of them ended. Start all of them again."
    with pytest.raises(processes.ProcessLost, match=f"^{line}$"), processes.joined():
        pass


def test_pieces_come_together_and_gaps_are_found():
    whole = torch.arange(12.0).reshape(4, 3)
    keys = [piece_key("a/b", (at, 0), (size, 3), whole.shape) for at, size in ((0, 1), (1, 3), (4, 0))]
    assert keys == ["a/b@0,0", "a/b@1,0", "a/b@4,0"]
    assert piece_key("a/b", (0, 0), (4, 3), whole.shape) == "a/b"
    tensors = {("f", keys[0]): whole[:1], ("g", keys[1]): whole[1:], ("h", keys[2]): whole[4:]}
    pieces = [Piece(file, key, tuple(part.shape)) for (file, key), part in tensors.items()]
    assert torch.equal(together(plans(pieces)["a/b"], tensors), whole)
    with pytest.raises(Damaged, match=r"the pieces of a/b do not fit together"):
        plans(pieces[1:2])
    with pytest.raises(Damaged):
        plans([Piece("f", "a@999999999999999", (1,))])


def test_a_gpu_for_each_process(monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "2")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(GlassformerError, match=r"process 3 on this machine has no GPU: there are only 2\. Use torchrun"):
        processes.own_gpu()


def test_an_exiting_process_has_sent_everything_and_stops_no_other():
    code = """
        import atexit, sys
        from glassformer.training.distributed.processes import leave
        atexit.register(print, "taken down")
        sys.stdout.write("said")
        sys.stderr.write("complained")
        leave(3)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "said", "complained")
