"""A job that is killed at any moment, at every point of a write, and with a million rows: it continues with the same result."""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import WORDS, add_tokenizer, bert_folder

import glassformer as gf

ROWS = 50


@pytest.fixture
def given(tmp_path):
    rng = np.random.default_rng(1)
    lines = [json.dumps({"text": " ".join(rng.choice(WORDS, rng.integers(1, 9))), "id": n}) for n in range(ROWS)]
    lines[7] = "{broken"
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return add_tokenizer(bert_folder(tmp_path / "m")), tmp_path / "in.jsonl"


def bytes_of(folder):
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != ".lock"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def started(given, out, *words):
    line = [sys.executable, "-m", "glassformer", "encode", given[0], given[1], "--out", out, "--shard-rows", "4", *words]
    return subprocess.Popen([str(word) for word in line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def children_of(pid):
    """The processes that any thread of a process has started."""
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            found += [int(word) for word in file.read_text().split()]
    return found


def killed_until_done(given, out, kills, workers, rng):
    """Start the job again and again; each time kill the parent or a worker once there are so many shards, or while it starts."""
    done = Counter()
    while done.total() < kills:
        job = started(given, out, "--workers", workers)
        wanted, until = rng.randrange(13), time.monotonic() + rng.uniform(1, 30)
        while job.poll() is None and time.monotonic() < until and len(list(out.glob("shards/*.parquet"))) < wanted:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.05))
        if job.poll() is None:
            victim = rng.choice([job.pid, *children_of(job.pid)])
            with suppress(ProcessLookupError):
                os.kill(victim, 9)
            done["parent" if victim == job.pid else "worker"] += 1
            if victim != job.pid and rng.random() < 0.5:
                time.sleep(rng.uniform(0, 1))
                job.kill()
                done["parent"] += 1
            elif victim != job.pid:
                assert job.wait(300) == 0
        job.communicate()
        if (out / "manifest.json").exists():  # begin anew with a folder that lacks some shards
            for shard in sorted((out / "shards").iterdir())[rng.randrange(9) :]:
                shard.unlink()
    job = started(given, out, "--workers", workers)
    assert (job.wait(300), job.communicate()[1].decode()) == (0, "")
    return done


@pytest.mark.parametrize(
    ("kills", "workers"), [(2, 2), pytest.param(100, 2, marks=pytest.mark.slow), pytest.param(100, 4, marks=pytest.mark.slow)]
)
def test_after_any_kill_the_shards_are_those_of_an_undisturbed_run(given, tmp_path, kills, workers, figure):
    gf.encode_files(*given, tmp_path / "whole", shard_rows=4, workers=1)
    done = killed_until_done(given, tmp_path / "a", kills, workers, random.Random(kills + workers))
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "whole")
    said = f"{workers} workers: {done['parent']} kills of the parent and {done['worker']} of workers"
    figure("J1", f"{said}: 0 rows lost, 0 duplicated, every file bit for bit as without kills", cases=kills, part=str(workers))


@pytest.mark.parametrize("rows", [50, pytest.param(4, marks=pytest.mark.slow)])
def test_a_kill_at_any_point_of_a_write_loses_nothing(given, tmp_path, rows, figure):
    gf.encode_files(*given, tmp_path / "whole", shard_rows=rows, workers=1, threads=1)
    line = [sys.executable, Path(__file__).with_name("kill_points.py"), *given, tmp_path / "work", rows]
    said = subprocess.run([str(word) for word in line], capture_output=True, text=True, check=True)
    found = json.loads(said.stdout)
    assert set(found["manifests"]) == {json.loads((tmp_path / "whole" / "manifest.json").read_text())["rows"]}
    assert bytes_of(tmp_path / "work") == bytes_of(tmp_path / "whole")
    assert found["kills"] > 15
    assert found["different"] == 0
    figure(
        "J1", f"killed before, during and after each of its {found['kills']} writes and renames: the same", cases=found["kills"]
    )


MILLION = """
import resource, sys
import glassformer as gf
found = gf.encode_files(*sys.argv[1:4], store="int8", workers=2)
usage = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(found.rows, found.manifest["bad"], found.made, found.kept, *usage)
"""


@pytest.mark.slow
def test_a_million_texts_in_bounded_memory_killed_in_the_middle(tmp_path, figure):
    model = add_tokenizer(bert_folder(tmp_path / "m"))
    rng = np.random.default_rng(2)
    with (tmp_path / "in.txt").open("w", encoding="utf-8") as file:
        for _ in range(1000):
            words = rng.choice([*WORDS, "Straße", "глаз", "硝子"], (1000, 13))
            lengths = rng.integers(1, 14, 1000)
            file.write("".join(" ".join(row[:length]) + "\n" for row, length in zip(words, lengths, strict=True)))
    line = [sys.executable, "-c", MILLION, str(model), str(tmp_path / "in.txt"), str(tmp_path / "out")]
    began = time.monotonic()
    job = subprocess.Popen(line, stderr=subprocess.DEVNULL)
    while len(list((tmp_path / "out" / "shards").glob("*.parquet"))) < 61 and job.poll() is None:
        time.sleep(0.2)
    assert job.poll() is None
    job.kill()
    job.wait()
    said = subprocess.run(line, capture_output=True, text=True, check=True)
    rows, bad, made, kept, parent, worker = map(int, said.stdout.split())
    assert (rows, bad) == (1_000_000, 0)
    assert kept >= 60
    assert made + kept == len(list((tmp_path / "out" / "shards").glob("*.parquet"))) == 123
    assert max(parent, worker) < 800_000  # kB: PyTorch is half of it
    seconds = time.monotonic() - began
    told = f"parent {parent / 1000:,.0f} MB, each worker {worker / 1000:,.0f} MB; {kept} shards kept, {made} written after it"
    figure("J5", f"1,000,000 texts with two workers in {seconds:,.0f} s: {told}")
