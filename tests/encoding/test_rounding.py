"""`--precision int8`: compared with float32 on the texts of the job, refused where it is too far or not computed."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as parquet
import pytest
from checkpoint_files import WORDS, add_tokenizer, bert_folder
from command_line import glassformer as command

import glassformer as gf
from glassformer import GlassformerError
from glassformer.encoding.engines.rounding import Rounding

TEXTS = [" ".join(WORDS[i % 7 : i % 7 + 1 + i % 5]) for i in range(40)]


@pytest.fixture
def given(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS) + "\n")
    (tmp_path / "b.txt").write_text("the glass\n\n" + "glass " * 40 + "\n")
    return add_tokenizer(bert_folder(tmp_path / "m")), [tmp_path / "a.txt", tmp_path / "b.txt"]


def test_a_job_in_int8_is_near_float32_and_says_how_near_on_its_own_texts(given, tmp_path):
    job = {"workers": 1, "shard_rows": 16}
    found = gf.encode_files(*given, tmp_path / "a", precision="int8", **job)
    gf.encode_files(*given, tmp_path / "b", **job)
    tables = (parquet.read_table(tmp_path / name / "shards" / "00000-000000.parquet") for name in "ab")
    ours, exact = (np.array(table["embedding"].to_pylist()) for table in tables)
    assert 0.99 < (ours * exact).sum(1).min() < 1
    (certificate,) = found.manifest["certificates"]
    assert certificate["texts"] == 42  # the empty one has no vector
    assert 0.99 < certificate["smallest_cosine"] <= certificate["mean_cosine"] <= 1
    assert found.manifest["job"]["precision"] == "int8"
    (tmp_path / "a" / "shards" / "00000-000001.parquet").unlink()
    assert gf.encode_files(*given, tmp_path / "a", precision="int8", **job).made == 1
    with pytest.raises(GlassformerError, match="contains another job: its precision is int8"):
        gf.encode_files(*given, tmp_path / "a", **job)


def test_what_int8_cannot_do_is_one_line(given, tmp_path):
    for call, options, told in (
        (gf.encode_files, {"engine": "onnx"}, "--precision int8 requires --engine torch, not onnx"),
        (gf.encode_files, {"dtype": "bfloat16"}, "--precision int8 requires --dtype float32, not bfloat16"),
        (gf.predict_files, {}, "--precision int8 is for vectors: use it with encode"),
    ):
        with pytest.raises(GlassformerError, match=told):
            call(*given, tmp_path / "a", precision="int8", **options)
    said = command("encode", given[0], "--text", "a", "--precision", "int8")
    assert (said.returncode, said.stderr) == (
        2, "glassformer: --precision needs input files: name them after the checkpoint, and give --out FOLDER.\n",
    )  # fmt: skip


def test_too_small_a_cosine_is_refused_and_saturation_is_named():
    good = Rounding("torch", "int8", 256, 0.98, 0.996, 0.99, False, 180.0, 100.0)
    good.require()
    assert good.note() == "cosine to float32: mean 0.9960, smallest 0.9800, of 256 texts; 1.80 times as fast"
    assert json.loads(json.dumps(good.to_dict()))["note"] == good.note()
    for mean in (0.98, float("nan")):
        with pytest.raises(GlassformerError, match=r"less than 0\.99 \(this processor has no VNNI .* may saturate\)\. Leave out"):
            replace(good, mean_cosine=mean, saturates=True).require()
