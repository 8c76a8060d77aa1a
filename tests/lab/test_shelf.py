"""Titles of runs and the archive: stored next to the runs, and refused if invalid."""

import json
import shutil

import pytest

from glassformer.errors import GlassformerError
from glassformer.lab.pages.train_stream import Table
from glassformer.lab.runs import EXAMPLE, EXAMPLE_HOME, RunsFolder
from glassformer.lab.shelf import Shelved, put, shelf


@pytest.fixture
def runs(tmp_path):
    for name in ("one", "two"):
        shutil.copytree(EXAMPLE_HOME, tmp_path / name)
    return RunsFolder(tmp_path)


def test_title_and_archive_are_in_the_table_and_change_no_file_of_the_run(runs):
    before = {path.name: path.read_bytes() for path in (runs.root / "one").iterdir()}
    put(runs, "one", title="  small   rate ")
    put(runs, "one", archived=True)
    rows = Table(runs).now()
    assert (rows["one"]["title"], rows["one"]["archived"]) == ("small rate", True)
    assert (rows["two"]["title"], rows["two"]["archived"]) == ("", False)
    assert {path.name: path.read_bytes() for path in (runs.root / "one").iterdir()} == before
    put(runs, "one", title="", archived=False)
    assert shelf(runs) == {}


@pytest.mark.parametrize(
    ("name", "title", "said"),
    [
        ("three", "x", "there is no run three"),
        ("../one", "x", "there is no run ../one"),
        (EXAMPLE, "x", "the example cannot be renamed or archived"),
        ("one", "x" * 81, "at most 80 printable characters"),
        ("one", "a\x07b", "at most 80 printable characters"),
    ],
)
def test_an_invalid_run_or_title_is_refused(runs, name, title, said):
    with pytest.raises(GlassformerError, match=said):
        put(runs, name, title=title)
    assert shelf(runs) == {}


@pytest.mark.parametrize("text", ["[1]", "{", "null", '{"one": 3}', '{"one": {"title": 5, "archived": "yes"}}', "[" * 100_000])
def test_an_invalid_file_is_ignored(runs, text):
    (runs.root / ".lab").mkdir()
    (runs.root / ".lab/shelf.json").write_text(text)
    assert set(shelf(runs).values()) <= {Shelved()}
    put(runs, "two", title="mine")
    assert json.loads((runs.root / ".lab/shelf.json").read_text()) == {"two": {"title": "mine", "archived": False}}
