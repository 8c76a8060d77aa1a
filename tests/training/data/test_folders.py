"""A folder a class: every file found in the same order, and no link followed out of it."""

import os
from pathlib import Path

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data.folders import class_members, given_parts, read_texts
from glassformer.training.data.row_options import Tally


@pytest.fixture
def home(tmp_path):
    for place in ("pos/b.txt", "pos/a.txt", "neg/deep/c.txt", "neg/.hidden.txt", "__MACOSX/x.txt", "neg/notes.doc"):
        path = tmp_path / "data" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {place}", encoding="utf-8")
    return tmp_path / "data"


def test_files_are_found_sorted_and_others_are_counted(home):
    tally = Tally()
    kind, members = class_members(home, tally)
    assert kind == "text"
    assert [(member.place, member.label) for member in members] == [
        ("neg/deep/c.txt", "neg"),
        ("pos/a.txt", "pos"),
        ("pos/b.txt", "pos"),
    ]
    assert tally.notes() == ("left out: files that are neither .txt nor an image: 1 (first: neg/notes.doc)",)
    assert next(read_texts(members)).text == "text of neg/deep/c.txt"


def test_the_order_of_the_file_system_is_of_no_importance(home, monkeypatch):
    before = class_members(home, Tally())
    plain = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda self: sorted(plain(self), reverse=True))
    assert class_members(home, Tally()) == before


def test_links_out_of_the_folder_are_refused(home, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "s.txt").write_text("secret", encoding="utf-8")
    for place, target in (("pos/s.txt", secret / "s.txt"), ("pos/more", secret), ("third", secret), ("train", secret)):
        link = home / place
        link.symlink_to(target)
        with pytest.raises(GlassformerError) as error:
            assert not given_parts(home, Tally())
            class_members(home, Tally())
        assert str(error.value).startswith(f"{place} is a link out of ")
        assert "Refused: copy it there." in str(error.value)
        link.unlink()


def test_a_link_inside_is_fine_and_a_circle_ends(home):
    (home / "pos" / "same.txt").symlink_to(home / "pos" / "a.txt")
    (home / "pos" / "round").symlink_to(home)
    _, members = class_members(home, Tally())
    assert [member.place for member in members if member.label == "pos"] == ["pos/a.txt", "pos/b.txt", "pos/same.txt"]


def test_parts_that_are_given_are_found(tmp_path):
    for name in ("train.csv", "dev.csv", "test.csv.gz", "README.md", "training-notes.txt"):
        (tmp_path / name).write_text("", encoding="utf-8")
    tally = Tally()
    assert {part: [path.name for path in paths] for part, paths in given_parts(tmp_path, tally).items()} == {
        "train": ["train.csv"],
        "validation": ["dev.csv"],
        "test": ["test.csv.gz"],
    }
    assert tally.notes() == ("left out: files and folders that are not a split: 1 (first: training-notes.txt)",)
    (tmp_path / "val.csv").write_text("", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"has two candidates for validation: dev.csv and val.csv. Move one elsewhere."):
        given_parts(tmp_path, Tally())


@pytest.mark.parametrize("names", [("training", "eval", "testing"), ("Train", "Validation", "TEST"), ("train", "val", "test")])
def test_parts_have_many_names(tmp_path, names):
    for name in names:
        (tmp_path / name / "a").mkdir(parents=True)
    found = given_parts(tmp_path, Tally())
    assert [found[part][0].name for part in ("train", "validation", "test")] == list(names)


def test_files_of_one_part_are_read_together_and_none_may_be_missing(tmp_path):
    for name in ("train-00000-of-00002.csv", "train-00001-of-00002.csv", "test-00000-of-00001.csv"):
        (tmp_path / name).write_text("text,label\n", encoding="utf-8")
    found = given_parts(tmp_path, Tally())
    assert [path.name for path in found["train"]] == ["train-00000-of-00002.csv", "train-00001-of-00002.csv"]
    (tmp_path / "train-00000-of-00002.csv").unlink()
    with pytest.raises(
        GlassformerError, match=r"holds 1 of the 2 files of train: train-00001-of-00002.csv and so on. Add the missing files."
    ):
        given_parts(tmp_path, Tally())


def test_a_class_called_train_is_a_class(tmp_path):
    for name in ("train", "plane", "car"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name, encoding="utf-8")
    assert given_parts(tmp_path, Tally()) == {}
    assert {member.label for member in class_members(tmp_path, Tally())[1]} == {"train", "plane", "car"}


def test_class_folders_named_like_parts_need_a_training_part(tmp_path):
    for name in ("test", "quiz"):
        (tmp_path / name).mkdir()
    assert given_parts(tmp_path, Tally()) == {}


def test_bad_folders_are_one_line(home, tmp_path):
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "a.txt").write_text("a", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"flat contains no folder: expected one folder per class"):
        class_members(tmp_path / "flat", Tally())
    (home / "empty").mkdir()
    with pytest.raises(GlassformerError, match=r"empty holds no .txt file and no image: a class without rows."):
        class_members(home, Tally())
    (home / "empty" / "a.md").write_text("a", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"a class without rows. Texts must be named .txt; the first file is a.md.$"):
        class_members(home, Tally())
    (home / "empty" / "a.md").rename(home / "empty" / "a.csv")
    with pytest.raises(GlassformerError, match=r"It holds a.csv: name one file, or call them train, validation and test.$"):
        class_members(home, Tally())
    with pytest.raises(GlassformerError, match=r"empty contains no folder: .* It holds a.csv: name one file"):
        class_members(home / "empty", Tally())
    (home / "empty" / "a.csv").unlink()
    (home / "empty").rmdir()
    (home / "pos" / "p.png").write_bytes(b"")
    with pytest.raises(GlassformerError, match=r"mixes texts \(neg/deep/c.txt\) and images \(pos/p.png\): use only one kind."):
        class_members(home, Tally())


def test_a_folder_around_the_folder_is_named(home):
    with pytest.raises(GlassformerError, match=r"contains one folder with subfolders \(neg, pos\): give .*data.$"):
        class_members(home.parent, Tally())


def test_files_of_other_systems_are_ignored(home):
    for name in ("Thumbs.db", "desktop.ini", "._a.txt", ".DS_Store"):
        (home / "pos" / name).write_bytes(b"\0")
    (home / "__pycache__").mkdir()
    tally = Tally()
    assert len(class_members(home, tally)[1]) == 3
    assert tally.notes() == ("left out: files that are neither .txt nor an image: 1 (first: neg/notes.doc)",)


def test_a_text_file_that_is_not_utf_8_is_named_with_the_byte(home):
    (home / "pos" / "a.txt").write_bytes(b"caf\xe9")
    _, members = class_members(home, Tally())
    assert [raw.fault for raw in read_texts(members) if raw.fault] == ["pos/a.txt: byte 3 is not UTF-8. Save it as UTF-8."]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_one_line(home):
    (home / "pos").chmod(0)
    try:
        with pytest.raises(GlassformerError, match=r"pos cannot be read: Permission denied."):
            class_members(home, Tally())
    finally:
        (home / "pos").chmod(0o755)
