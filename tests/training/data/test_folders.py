"""A folder a class: every file found in the same order, and no link followed out of it."""

import os
from pathlib import Path

import pytest

from glassformer.spec import GlassformerError
from glassformer.training.data.asked import Tally
from glassformer.training.data.folders import class_members, given_parts, read_texts


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
            assert not given_parts(home)
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
    assert {part: path.name for part, path in given_parts(tmp_path).items()} == {
        "train": "train.csv",
        "validation": "dev.csv",
        "test": "test.csv.gz",
    }
    (tmp_path / "val.csv").write_text("", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"has two candidates for validation: dev.csv and val.csv."):
        given_parts(tmp_path)


def test_class_folders_named_like_parts_need_a_training_part(tmp_path):
    for name in ("test", "quiz"):
        (tmp_path / name).mkdir()
    assert given_parts(tmp_path) == {}


def test_bad_folders_are_one_line(home, tmp_path):
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "a.txt").write_text("a", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"flat holds no folder: a folder a class is wanted"):
        class_members(tmp_path / "flat", Tally())
    (home / "empty").mkdir()
    with pytest.raises(GlassformerError, match=r"empty holds no .txt file and no image: a class without rows."):
        class_members(home, Tally())
    (home / "empty").rmdir()
    (home / "pos" / "p.png").write_bytes(b"")
    with pytest.raises(GlassformerError, match=r"mixes texts \(neg/deep/c.txt\) and images \(pos/p.png\): one of the two."):
        class_members(home, Tally())


def test_a_text_file_that_is_not_utf_8_is_named_with_the_byte(home):
    (home / "pos" / "a.txt").write_bytes(b"caf\xe9")
    _, members = class_members(home, Tally())
    with pytest.raises(GlassformerError, match=r"^pos/a.txt: byte 3 is not UTF-8. Save it as UTF-8.$"):
        list(read_texts(members))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_one_line(home):
    (home / "pos").chmod(0)
    try:
        with pytest.raises(GlassformerError, match=r"pos cannot be read: Permission denied."):
            class_members(home, Tally())
    finally:
        (home / "pos").chmod(0o755)
