"""The error for a path that does not exist: why, and the way out."""

import os
from pathlib import Path

import pytest

from glassformer.files.documents import read_text
from glassformer.files.paths import no_such, path_text


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("model.json", "notes.txt", ".hidden.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / "runs" / "first").mkdir(parents=True)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "lost").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "kind", "line"),
    [
        ("modle.json", "file", "no such file: modle.json. Did you mean 'model.json'?"),
        ("zzzzzzzzz", "file", "no such file: zzzzzzzzz. The current folder contains loop, lost, model.json, notes.txt, pipe."),
        ("runs/zzz", "file", "no such file: runs/zzz. runs contains no file."),
        ("run", "folder", "no such folder: run. Did you mean 'runs'?"),
        ("runs/zzz", "folder", "no such folder: runs/zzz. runs contains first."),
        ("zzz/a/b", "file", "no such file: zzz/a/b. There is no folder zzz."),
        ("notes.txt/a", "file", "no such file: notes.txt/a. notes.txt is a file, not a folder."),
        ("pipe", "file", "no such file: pipe. It is not a regular file: copy its content into one."),
        ("-", "file", "no such file: -. Standard input is not read here: name a file."),
        ("lost", "file", "no such file: lost. It is a broken link to nowhere."),
        ("loop", "file or folder", "no such file or folder: loop. It is a broken link to loop."),
        ("a\0b", "file", "no such file: a?b. The current folder contains loop, lost, model.json, notes.txt, pipe."),
        ("x" * 5000, "folder", f"no such folder: …{'x' * 99}. File name too long."),
    ],
)
def test_the_error_for_a_missing_path(here, name, kind, line):
    assert str(no_such(Path(name), kind)) == line


def test_only_files_with_the_given_endings_are_listed(here):
    line = str(no_such(Path("zzz"), wanted="A problem is a TOML file.", endings=(".toml", ".json")))
    assert line == "no such file: zzz. The current folder contains model.json. A problem is a TOML file."


def test_the_list_of_a_large_folder_is_cut(here):
    for number in range(2000):
        (here / "runs" / f"{number:04}").mkdir()
    line = str(no_such(here / "runs" / "zzz", "folder"))
    assert line.endswith("more.")
    assert len(line) < 400


def test_readers_use_the_same_error(here):
    with pytest.raises(ValueError, match=r"no such file: modell.json. Did you mean 'model.json'\?"):
        read_text(Path("modell.json"))


def test_a_long_path_is_cut_to_its_end():
    assert path_text(Path("a" * 200 + "/name.json")).endswith("/name.json")
