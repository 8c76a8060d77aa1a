"""What is said of a path that is not there: why, and the way out."""

import os
from pathlib import Path

import pytest

from glassformer.spec.files import read_text
from glassformer.spec.paths import no_such, path_text


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
        ("zzzzzzzzz", "file", "no such file: zzzzzzzzz. In the current folder there is loop, lost, model.json, notes.txt, pipe."),
        ("runs/zzz", "file", "no such file: runs/zzz. In runs there is no file."),
        ("run", "folder", "no such folder: run. Did you mean 'runs'?"),
        ("runs/zzz", "folder", "no such folder: runs/zzz. In runs there is first."),
        ("zzz/a/b", "file", "no such file: zzz/a/b. There is no folder zzz."),
        ("notes.txt/a", "file", "no such file: notes.txt/a. notes.txt is a file, not a folder."),
        ("pipe", "file", "no such file: pipe. What is there is no ordinary file: copy what it gives into one."),
        ("-", "file", "no such file: -. Standard input is not read here: name a file."),
        ("lost", "file", "no such file: lost. It is a link to nowhere, which leads nowhere."),
        ("loop", "file or folder", "no such file or folder: loop. It is a link to loop, which leads nowhere."),
        ("a\0b", "file", "no such file: a?b. In the current folder there is loop, lost, model.json, notes.txt, pipe."),
        ("x" * 5000, "folder", f"no such folder: …{'x' * 99}. File name too long."),
    ],
)
def test_the_way_out_of_a_name_that_is_not_there(here, name, kind, line):
    assert str(no_such(Path(name), kind)) == line


def test_what_is_wanted_is_said_and_only_such_files_are_named(here):
    line = str(no_such(Path("zzz"), wanted="A problem is a TOML file.", endings=(".toml", ".json")))
    assert line == "no such file: zzz. In the current folder there is model.json. A problem is a TOML file."


def test_a_folder_that_is_full_gives_a_line_that_can_be_read(here):
    for number in range(2000):
        (here / "runs" / f"{number:04}").mkdir()
    line = str(no_such(here / "runs" / "zzz", "folder"))
    assert line.endswith("more.")
    assert len(line) < 400


def test_every_reader_says_it(here):
    with pytest.raises(ValueError, match=r"no such file: modell.json. Did you mean 'model.json'\?"):
        read_text(Path("modell.json"))


def test_of_a_long_path_the_end_is_shown():
    assert path_text(Path("a" * 200 + "/name.json")).endswith("/name.json")
