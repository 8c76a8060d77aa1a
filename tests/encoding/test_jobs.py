"""A job from files to a folder: complete, resumable after any kill, refused for another job; bad rows are listed."""

import gzip
import json
import re
import resource
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from checkpoint_files import WORDS, add_tokenizer, bert_folder
from command_line import glassformer as command

import glassformer as gf
from glassformer import GlassformerError
from glassformer.encoding.jobs.measuring import forward_flops

ROWS = 50


@pytest.fixture
def given(tmp_path):
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 9))) for _ in range(ROWS)]
    lines = [json.dumps({"text": text, "id": n}) for n, text in enumerate(texts)]
    lines[7] = "{broken"
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return add_tokenizer(bert_folder(tmp_path / "m")), tmp_path / "in.jsonl", texts


def encode(given, out, **options):
    return gf.encode_files(given[0], given[1], out, **{"shard_rows": 16, "workers": 1, **options})


def bytes_of(folder):
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != ".lock"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_rows_keep_their_order_place_and_columns_and_a_bad_row_is_listed(given, tmp_path):
    model, _, texts = given
    found = encode(given, tmp_path / "a")
    assert found.to_dict() == {
        "out": str(tmp_path / "a"), "rows": 49, "bad": 1, "left_out": 0, "cut": 0, "tokens": found.manifest["tokens"],
        "shards": 4, "made": 4, "kept": 0,
    }  # fmt: skip
    table = arrow.concat_tables([parquet.read_table(file) for file in sorted((tmp_path / "a" / "shards").glob("*.parquet"))])
    kept = [n for n in range(ROWS) if n != 7]
    assert table["row"].to_pylist() == [n + 1 for n in kept]
    assert table["id"].to_pylist() == [str(n) for n in kept]
    assert set(table["file"].to_pylist()) == {given[1].as_posix()}
    wanted = gf.load(model).encode([texts[n] for n in kept])
    np.testing.assert_allclose(np.array(table["embedding"].to_pylist()), wanted, atol=1e-5)
    bad = json.loads((tmp_path / "a" / "bad_rows.jsonl").read_text())
    assert (bad["row"], bad["reason"][:9]) == (8, "not JSON:")
    with pytest.raises(GlassformerError, match=r"--strict: bad row in .* row 8: not JSON"):
        encode(given, tmp_path / "b", strict=True)
    with pytest.raises(GlassformerError, match="--strict: bad row"):
        encode(given, tmp_path / "a", strict=True)


def test_the_same_call_again_verifies_and_a_flipped_bit_is_mended(given, tmp_path, figure):
    encode(given, tmp_path / "a", form="npy")
    whole = bytes_of(tmp_path / "a")
    assert encode(given, tmp_path / "a", form="npy").to_dict()["kept"] == 4
    shard = tmp_path / "a" / "shards" / "00000-000001.npy"
    shard.write_bytes(whole["shards/00000-000001.npy"][:-1] + bytes([shard.read_bytes()[-1] ^ 1]))
    (tmp_path / "a" / "shards" / "mine.txt").write_text("not a shard")
    again = encode(given, tmp_path / "a", form="npy")
    assert (again.made, again.kept) == (1, 3)
    assert bytes_of(tmp_path / "a") == whole | {"shards/mine.txt": b"not a shard"}
    figure("J3", "1 of 4 shards with a flipped bit: that one rewritten, the others kept; other files are not touched")


def test_a_changed_input_is_done_again_and_rows_that_are_gone_leave_no_shard(given, tmp_path):
    encode(given, tmp_path / "a")
    lines = given[1].read_text().splitlines()
    given[1].write_text("\n".join([*lines[:20], '{"text": "glass walls", "id": 0}', *lines[21:30]]) + "\n")
    again = encode(given, tmp_path / "a")
    assert (again.rows, again.made, again.kept) == (29, 1, 1)
    encode(given, tmp_path / "b")
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")


def test_another_model_or_setting_is_refused(given, tmp_path):
    encode(given, tmp_path / "a")
    with pytest.raises(GlassformerError, match="contains another job: its store is float32, and now int8"):
        encode(given, tmp_path / "a", store="int8")
    weights = given[0] / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    with pytest.raises(GlassformerError, match="contains another job: its checkpoint_sha256"):
        encode(given, tmp_path / "a")


@pytest.mark.parametrize("text", ["{", "[]", '{"job": 3}', "\0", '{"job": {}, "shards": [{"name": "../x"}]}'])
def test_a_strange_manifest_is_refused_in_one_line(given, tmp_path, text):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "manifest.json").write_text(text)
    with pytest.raises(GlassformerError, match=r"not the manifest of a job|contains another job"):
        encode(given, tmp_path / "a")


def test_a_forged_journal_names_no_file_outside_and_is_not_believed(given, tmp_path):
    encode(given, tmp_path / "a")
    whole = bytes_of(tmp_path / "a")
    manifest = json.loads(whole["manifest.json"])
    manifest["shards"][0]["files"] = {"../../m/config.json": {"bytes": 1, "sha256": "0" * 64}}
    manifest["shards"][1] = 3
    manifest["shards"][2]["rows"] = -1
    (tmp_path / "a" / "manifest.json").write_text(json.dumps(manifest))
    assert encode(given, tmp_path / "a").made == 3
    assert bytes_of(tmp_path / "a") == whole


def test_a_folder_with_other_files_is_refused(given, tmp_path):
    with pytest.raises(GlassformerError, match="contains files that do not belong to a job, such as config"):
        encode(given, given[0])
    assert not (given[0] / "shards").exists()


def test_formats_of_input_and_number_formats_of_output(given, tmp_path):
    model, _, texts = given
    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(texts[:5]) + "\n\n" + "x \udcff".encode("utf-8", "surrogateescape").decode("latin-1"))
    with gzip.open(folder / "b.txt.gz", "wt") as file:
        file.write("\n".join(texts[5:10]))
    zstd = arrow.CompressedOutputStream(str(folder / "c.txt.zst"), "zstd")
    zstd.write("\n".join(texts[10:15]).encode())
    zstd.close()
    found = gf.encode_files(model, folder, tmp_path / "a", form="npy", store="int8", workers=1)
    assert (found.rows, found.manifest["bad"]) == (16, 1)
    rows = [
        json.loads(line)
        for file in sorted((tmp_path / "a" / "shards").glob("*[0-9].jsonl"))
        for line in file.read_text().splitlines()
    ]
    arrays = np.concatenate([np.load(file) for file in sorted((tmp_path / "a" / "shards").glob("*.npy"))])
    restored = arrays * np.array([row["scale"] for row in rows], dtype=np.float32)[:, None]
    np.testing.assert_allclose(np.delete(restored, 5, 0), gf.load(model).encode(texts[:15]), atol=0.01)
    (tmp_path / "t.csv").write_text('id,review\n1,"the glass, walls"\n2\n3,every number\n')
    parquet.write_table(
        arrow.table({"review": ["the glass, walls", None, "every number"], "id": [1, 2, 3]}), tmp_path / "t.parquet"
    )
    for name in ("t.csv", "t.parquet"):
        found = gf.encode_files(model, tmp_path / name, tmp_path / name[2:], column="review", store="float16", workers=1)
        assert (found.rows, found.manifest["bad"]) == (2, 1)
        table = parquet.read_table(next((tmp_path / name[2:] / "shards").glob("*.parquet")))
        assert (table["row"].to_pylist(), [int(one) for one in table["id"].to_pylist()]) == ([1, 3], [1, 3])
    with pytest.raises(GlassformerError, match="has no column 'text': it has id, review"):
        gf.encode_files(model, tmp_path / "t.csv", tmp_path / "x")


def test_results_inside_an_input_folder_are_not_read_as_input(given, tmp_path):
    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / "a.txt").write_text("the glass\nwalls\n")
    first = gf.encode_files(given[0], folder, folder / "out", form="jsonl", workers=1)
    again = gf.encode_files(given[0], folder / "*", folder / "out", form="jsonl", workers=1)
    assert (first.rows, again.rows, again.kept) == (2, 2, 1)


def test_a_file_by_two_names_is_refused(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GlassformerError, match=r"in\.jsonl is given twice"):
        gf.encode_files(given[0], ["in.jsonl", given[1]], tmp_path / "a")


def test_progress_says_rates_the_share_of_the_peak_and_the_time_left(given, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("glassformer.encoding.jobs.progress.EVERY", 0)
    encode(given, tmp_path / "a", progress=True)
    said = capfd.readouterr().err.splitlines()[0]
    rates = r"16 rows, [\d,]+ rows/s, [\d,]+ tokens/s, \d+% of the peak of [\d,]+ GFLOP/s"
    wanted = rf"glassformer: {rates}, \d+% of the input(, [\d.]+ \w+ left)?\."
    assert re.fullmatch(wanted, said), said


QUICK = """
import sys
import glassformer as gf
slow = ("torch", "sympy", "torch._dynamo")
gf.encode_files(*sys.argv[1:4], shard_rows=30, workers=2)
print([name for name in slow if name in sys.modules])
gf.encode_files(*sys.argv[1:3], sys.argv[4], shard_rows=30, workers=1)
print([name for name in slow if name in sys.modules])
"""


def test_the_parent_of_workers_imports_no_pytorch_and_a_pass_neither_sympy_nor_the_compiler(given, tmp_path):
    line = [sys.executable, "-c", QUICK, given[0], given[1], tmp_path / "a", tmp_path / "b"]
    said = subprocess.run([str(word) for word in line], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n['torch']\n"
    assert bytes_of(tmp_path / "a" / "shards") == bytes_of(tmp_path / "b" / "shards")


def test_forward_flops_are_those_of_the_algebra():
    spec = gf.spec("bert-base")
    each = forward_flops(spec)
    wanted = gf.cost("bert-base", t=333).matrix_flops
    assert each[0] + 333 * each[1] + 333**2 * each[2] == pytest.approx(wanted, rel=1e-9)


def test_a_text_that_is_too_long_is_a_bad_row(given, tmp_path):
    (tmp_path / "long.txt").write_text("the glass\n" + "glass " * 40 + "\nwalls\n")
    found = gf.encode_files(given[0], tmp_path / "long.txt", tmp_path / "a", workers=1)
    assert (found.rows, found.manifest["bad"]) == (2, 1)
    assert "has 42 tokens, this model takes 16" in (tmp_path / "a" / "bad_rows.jsonl").read_text()


def test_a_full_disk_is_one_line_and_the_job_continues_later(given, tmp_path, figure):
    encode(given, tmp_path / "whole")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(GlassformerError, match=r"cannot be written: File too large\. Finished shards are kept"):
            encode(given, tmp_path / "a")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list((tmp_path / "a").rglob(".unfinished-*"))
    encode(given, tmp_path / "a")
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "whole")
    figure("J2", "no room for the first shard: one line, no partial files; with free space the same files as without the fault")


SMALL_DISK = """
mount -t tmpfs -o size=200k none "$1" || exit 77
shift
"$@"
echo "status $?"
mount -o remount,size=4m "$0"
"$@"
"""


def test_a_job_on_a_disk_that_fills_up_continues_when_there_is_room(given, tmp_path, figure):
    (tmp_path / "small").mkdir()
    out = tmp_path / "small" / "a"
    job = [sys.executable, "-m", "glassformer", "encode", given[0], given[1], "--out", out, "--shard-rows", "1", "--workers", "1"]
    alone = ["unshare", "--mount", "sh", "-c", SMALL_DISK, tmp_path / "small", tmp_path / "small", *job]
    if shutil.which("unshare") is None or (said := subprocess.run([*map(str, alone)], capture_output=True, text=True)).returncode:
        pytest.skip("this process may not mount a small disk")
    (line,) = said.stderr.splitlines()
    assert line.endswith(
        "cannot be written: No space left on device. Finished shards are kept: run the same command again to continue."
    )
    first, last = said.stdout.splitlines()
    kept = int(re.search(r"\(([\d,]+) finished before\)", last)[1])
    assert (first, last.partition(":")[2][:24]) == ("status 2", " 49 vectors in 50 shards")
    assert 0 < kept < 50
    figure(
        "J2", f"a 200 kB disk, full after {kept} of 50 shards: one line; with more space the job continues from there", cases=2
    )


def test_a_vanished_folder_is_one_line(given, tmp_path, monkeypatch):
    from glassformer.encoding.jobs.folder import JobFolder

    write = JobFolder.write

    def vanish(self, *about):
        shutil.rmtree(self.path)
        return write(self, *about)

    monkeypatch.setattr(JobFolder, "write", vanish)
    with pytest.raises(GlassformerError, match="The folder is no longer there"):
        encode(given, tmp_path / "a")


def test_two_jobs_on_one_folder_are_refused(given, tmp_path, figure):
    import fcntl

    encode(given, tmp_path / "a")
    with (tmp_path / "a" / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(GlassformerError, match="in use by another job"):
            encode(given, tmp_path / "a")
    figure("J4", "a folder whose lock is held, another model, other settings: refused in one line")


def test_the_command_prints_the_counts_and_refuses_what_does_not_go_together(given, tmp_path):
    model, file, _ = given
    said = command("encode", model, file, "--out", tmp_path / "a", "--workers", "1", "--carry", "id")
    assert (said.returncode, said.stdout) == (0, f"{tmp_path / 'a'}: 49 vectors in 1 shard, 1 bad, see bad_rows.jsonl.\n")
    for words, told in (
        ((file,), "no output folder: the results are written as shards, so give --out FOLDER."),
        ((file, "--text", "a", "--out", "x"), "INPUT and --text or --file are both given: choose one."),
        (
            ("--text", "a", "--workers", "2"),
            "--workers needs input files: name them after the checkpoint, and give --out FOLDER.",
        ),
        ((file, "--out", tmp_path / "b", "--workers", "many"), "workers=many is not allowed: workers must be auto or 1 to 256."),
        ((file, "--out", file), f"--out {file} is a file: name a folder."),
    ):
        said = command("encode", model, *words)
        assert (said.returncode, said.stdout, said.stderr) == (2, "", f"glassformer: {told}\n")


def test_labels_that_are_missing_in_a_whole_shard_have_the_type_of_the_others(given, tmp_path):
    from checkpoint_files import CONFIG, tensors_of

    config = {**CONFIG, "architectures": ["BertForSequenceClassification"], "problem_type": "multi_label_classification"}
    weights = tensors_of({**config, "id2label": {"0": "bad", "1": "good"}})
    low = {name: value - 100 * (name == "classifier.bias") for name, value in weights.items()}
    model = add_tokenizer(bert_folder(tmp_path / "c", tensors=low, **config, id2label={"0": "bad", "1": "good"}))
    gf.predict_files(model, given[1], tmp_path / "a", workers=1)
    table = parquet.read_table(next((tmp_path / "a" / "shards").glob("*.parquet")))
    assert (set(map(len, table["labels"].to_pylist())), table["labels"].type.value_type) == ({0}, arrow.string())


def test_predictions_of_files_are_those_of_predict(given, tmp_path):
    from checkpoint_files import CONFIG, tensors_of

    config = {**CONFIG, "architectures": ["BertForSequenceClassification"], "id2label": {"0": "bad", "1": "good"}}
    model = add_tokenizer(bert_folder(tmp_path / "c", tensors=tensors_of(config), **config))
    found = gf.predict_files(model, given[1], tmp_path / "a", form="jsonl", workers=1)
    assert found.rows == 49
    rows = [json.loads(line) for line in (tmp_path / "a" / "shards" / "00000-000000.jsonl").read_text().splitlines()]
    wanted = gf.load(model).predict([text for n, text in enumerate(given[2]) if n != 7])
    assert [row["label"] for row in rows] == [one.label for one in wanted]
    np.testing.assert_allclose([row["probability"] for row in rows], [one.probability for one in wanted], atol=1e-6)
