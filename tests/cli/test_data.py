"""`glassformer data`, as a person uses it."""

import json
import re
import subprocess
import sys

import pytest
from command_line import glassformer

from glassformer.training.data import SETS


def test_without_a_name_the_sets_are_listed():
    done = glassformer("data")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"\n{name} " in done.stdout for name in SETS)
    assert re.search(r"\ntopic +classify +3,420 +487 +974 +5 +94\.4  CC BY-SA 4\.0\n", done.stdout)
    document = json.loads(glassformer("data", "--json").stdout)
    assert [one["name"] for one in document] == list(SETS)
    assert document[0]["rows"] == {"train": 1252, "validation": 181, "test": 364}


@pytest.mark.parametrize("name", ["fashion-mnist-small", "topic", "lid-words-romanised", "mlm"])
def test_a_set_of_each_task_is_described(name):
    done = glassformer("data", name, "--rows", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{name}: ")
    assert "licence: " in done.stdout and "fingerprint: " in done.stdout


def test_json_says_what_the_tables_say():
    found = json.loads(glassformer("data", "lid-words", "--rows", "1", "--json").stdout)
    assert found["rows"] == {"train": 894, "validation": 127, "test": 255}
    assert found["labels"] == list(found["counts"]["train"]) == ["en", "hi", "other"]
    assert len(found["sample"][0]["input"]) == len(found["sample"][0]["label"])
    assert [one["unit"] for one in found["lengths"]["train"]] == ["words", "characters"]
    image = json.loads(glassformer("data", "digits", "--rows", "1", "--json").stdout)["sample"][0]
    assert (len(image["input"][0]), image["label"]) == (8, "3")


def test_a_file_of_ones_own(tmp_path):
    rows = "".join(f"film {i} was {'good' if i % 2 else 'bad'},{i % 2}\n" for i in range(50)) + ",1\nno label,\n"
    (tmp_path / "reviews.csv").write_text("review,stars\n" + rows, encoding="utf-8")
    done = glassformer("data", "reviews.csv", "--text", "review", "--label", "stars", "--skip-bad", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rows      40           5     5" in done.stdout
    assert "note: skipped: empty texts: 1 (first: reviews.csv line 52)" in done.stdout
    plain = glassformer("data", "reviews.csv", "--text", "review", "--no-label", "--json", cwd=tmp_path)
    assert json.loads(plain.stdout)["task"] == "mlm"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("data topics", "no such built-in dataset, file or folder: topics. Did you mean 'topic'?"),
        ("data reviews.csv", "reviews.csv has no column 'text' and no column 'label'. Its columns: review, stars."),
        ("data topic --text review", "topic is a built-in dataset with fixed rows: leave text out."),
        ("data topic --no-label", "topic is a built-in dataset with fixed rows: leave label out."),
        ("data digits --resize 16", "digits is a built-in dataset with fixed rows: leave resize out."),
        ("data reviews.csv --split 0.5,0.5", "split=(0.5, 0.5) is not allowed: give three positive shares"),
        ("data reviews.csv --split half", "--split half is not allowed: give three shares, as in 0.7,0.1,0.2."),
        ("data https://example.org/a.csv", "Nothing is downloaded: save it first, and give the file."),
        ("data topic --rows x", "Invalid value for '--rows'"),
        ("data topic --resize 0", "resize=(0, 0) is not allowed"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(line, message, tmp_path):
    (tmp_path / "reviews.csv").write_text("review,stars\na,1\n", encoding="utf-8")
    done = glassformer(*line.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_command_needs_neither_torch_nor_any_optional_package():
    code = """
import runpy, sys
class Barred:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "tokenizers", "pyarrow", "datasets", "PIL", "matplotlib"):
            raise AssertionError(name)
sys.meta_path.insert(0, Barred())
sys.argv = ["glassformer", "data", "topic"]
runpy.run_module("glassformer", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
