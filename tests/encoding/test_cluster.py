"""A job on Ray: the same shards and manifest as without it, after any kill; and our encoder as a stage of a Ray Data pipeline."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import WORDS, add_tokenizer, bert_folder

import glassformer as gf
from glassformer import GlassformerError
from glassformer.encoding.cluster import connecting

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'glassformer[ray]'")
ROWS = 50
JOB = """
import json, sys, time
import ray
ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
import glassformer as gf
print("started", flush=True)
options = {"on": "ray", "workers": 2, "threads": 1, "shard_rows": int(sys.argv[4])}
found = gf.encode_files(sys.argv[1], sys.argv[2].split(","), sys.argv[3], **options)
print(json.dumps(found.to_dict()))
"""


@pytest.fixture
def given(tmp_path):
    rng = np.random.default_rng(1)
    lines = [json.dumps({"text": " ".join(rng.choice(WORDS, rng.integers(1, 9))), "id": n}) for n in range(ROWS)]
    lines[7] = "{broken"
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("the glass\n" * 9 + "glass " * 40 + "\n")
    return add_tokenizer(bert_folder(tmp_path / "m")), [tmp_path / "a.jsonl", tmp_path / "b.txt"]


def started(given, out, rows=4):
    """A driver in a separate session with its own Ray, whose processes end with it."""
    words = [sys.executable, "-W", "ignore", "-c", JOB, given[0], ",".join(map(str, given[1])), out, rows]
    job = subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    assert job.stdout.readline() == "started\n", job.stderr.read()
    return job


def ended(job):
    out, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    return json.loads(out)


def bytes_of(folder):
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != ".lock"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def actors_of(session):
    """The actors of a driver: processes of its session that Ray has named after our class."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if b"MapBatches(Maker)" in (entry / "cmdline").read_bytes() and os.getsid(int(entry.name)) == session:
                found.append(int(entry.name))
    return found


def wait_for(out, shards, job):
    until = time.monotonic() + 120
    while len(list(out.glob("shards/*.parquet"))) < shards and job.poll() is None and time.monotonic() < until:
        time.sleep(0.01)


def kill(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


@needs_ray
@pytest.mark.slow
def test_an_actor_and_the_driver_are_killed_and_the_files_are_those_of_a_job_without_ray(given, tmp_path, figure):
    whole = gf.encode_files(*given, tmp_path / "whole", shard_rows=1, workers=1, threads=1)
    job = started(given, tmp_path / "a", 1)
    wait_for(tmp_path / "a", 3, job)
    actor = random.Random(0).choice(actors_of(job.pid))
    assert kill(actor)
    wait_for(tmp_path / "a", 20, job)
    assert job.poll() is None
    job.kill()
    job.communicate()
    assert not (tmp_path / "a" / "manifest.json").exists()
    found = ended(started(given, tmp_path / "a", 1))
    assert (found["made"] + found["kept"], found["rows"]) == (whole.to_dict()["shards"], whole.rows)
    assert found["kept"] > 0
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "whole")
    figure("J6", f"an actor, then the driver killed: {found['kept']} shards kept, {found['made']} written, all files identical")


PIPELINE = """
import sys
import ray
ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
import glassformer as gf
texts = [{"id": n, "words": None if n == 3 else f"the glass number {n}"} for n in range(60)]
dataset = ray.data.from_items(texts, override_num_blocks=6)
vectors = gf.ray.encode(dataset, sys.argv[1], column="words", store="int8", batch_rows=7, workers=1)
vectors.write_parquet(sys.argv[2])
"""


@needs_ray
@pytest.mark.slow
def test_a_stage_of_a_pipeline_gives_the_vectors_of_encode(given, tmp_path):
    import pyarrow.parquet as parquet

    line = [sys.executable, "-W", "ignore", "-c", PIPELINE, given[0], tmp_path / "vectors"]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    table = parquet.read_table(tmp_path / "vectors").sort_by("id")
    assert table["id"].to_pylist() == list(range(60))
    assert [n for n, why in enumerate(table["error"].to_pylist()) if why is not None] == [3]
    assert table["error"][3].as_py() == "must be a string, found None"
    assert (table["embedding"][3].as_py(), table["scale"][3].as_py()) == (None, None)
    texts = [f"the glass number {n}" for n in range(60) if n != 3]
    pairs = zip(table["embedding"].to_pylist(), table["scale"].to_pylist(), strict=True)
    found = [np.array(one) * scale for one, scale in pairs if one is not None]
    np.testing.assert_allclose(found, gf.load(given[0]).encode(texts), atol=0.01)


@needs_ray
@pytest.mark.slow
def test_the_command_says_what_is_wrong_in_one_line(given, tmp_path):
    (tmp_path / "a").mkdir()
    line = [sys.executable, "-m", "glassformer", "encode", given[0], given[1][0], "--on", "ray", "--out", tmp_path / "a"]
    for words, address, told in (
        (["--workers", "250"], "", "glassformer: workers=250: the Ray cluster has "),
        (["--strict"], "", "glassformer: --strict: bad row in "),
        (
            [],
            "127.0.0.1:9",
            "glassformer: RAY_ADDRESS=127.0.0.1:9: no answer (Connection refused). Start the cluster with `ray start`",
        ),
    ):
        environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
        environment |= {"RAY_ADDRESS": address} if address else {}
        done = subprocess.run(
            [*map(str, line), *words], capture_output=True, text=True, check=False, env=environment, timeout=300
        )
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert done.stderr.startswith(told)
        assert len(done.stderr.splitlines()) == 1


def test_without_ray_or_a_dataset_it_says_what_is_missing(given, tmp_path, monkeypatch):
    with pytest.raises(
        GlassformerError, match=r"dataset must be a Ray dataset, such as ray\.data\.read_parquet\(…\), found list"
    ):
        monkeypatch.setattr(connecting, "find_spec", lambda _: True)
        gf.ray.encode([], given[0])
    monkeypatch.setattr(connecting, "find_spec", lambda name: None if name == "ray" else True)
    wanted = r"--on ray needs ray: pip install 'glassformer\[ray\]'\."
    with pytest.raises(GlassformerError, match=wanted):
        gf.encode_files(*given, tmp_path / "a", on="ray")
    with pytest.raises(GlassformerError, match=wanted):
        gf.ray.encode([], given[0])
    with pytest.raises(GlassformerError, match="on=dask"):
        gf.encode_files(*given, tmp_path / "a", on="dask")


def test_the_address_of_a_cluster_that_was_killed_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    assert connecting.address() == "local"
    (tmp_path / "ray").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as here:
        place = f"127.0.0.1:{here.getsockname()[1]}"
        (tmp_path / "ray" / "ray_current_cluster").write_text(place)
        assert connecting.address() == place
        monkeypatch.setenv("RAY_ADDRESS", place)
        assert connecting.address() == place
    with pytest.raises(GlassformerError, match=rf"RAY_ADDRESS={place}: no answer \(Connection refused\)"):
        connecting.address()
    monkeypatch.delenv("RAY_ADDRESS")
    assert connecting.address() == "local"


def test_a_group_that_ends_its_actor_three_times_is_named_and_not_tried_again(given, tmp_path):
    from glassformer.encoding.cluster.job import tried
    from glassformer.encoding.jobs.folder import JobFolder
    from glassformer.encoding.jobs.groups import Group
    from glassformer.encoding.jobs.readers import Row

    folder, group = JobFolder(tmp_path / "a"), Group("00000-000000", "in.txt", 5, [Row("the glass")] * 4)
    with folder.locked():
        with tried(folder, group):
            pass
        for _ in range(3):
            with suppress(KeyboardInterrupt), tried(folder, group):
                raise KeyboardInterrupt  # as if the process had ended here
        with pytest.raises(GlassformerError, match=r"in\.txt rows 5 to 8 ended 3 actors in a row\."), tried(folder, group):
            pytest.fail("tried again")
    with folder.locked(), tried(folder, group):  # a new start forgets them
        pass
