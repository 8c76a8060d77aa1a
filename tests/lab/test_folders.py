"""Files only below the folders of the start."""

import pytest

from glassformer.errors import GlassformerError
from glassformer.lab.folders import Folders


def test_a_file_below_is_found(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/config.json").write_text("{}")
    assert Folders.of([tmp_path]).inside(str(tmp_path / "run/config.json")) == (tmp_path / "run/config.json").resolve()


def test_all_paths_elsewhere_get_the_same_response(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside.json"
    inside.mkdir()
    outside.write_text("{}")
    (inside / "link.json").symlink_to(outside)
    (inside / "loop").symlink_to(inside / "loop")
    names = [
        str(outside),
        f"{inside}/../outside.json",
        f"{inside}/link.json",
        f"{inside}/loop",
        f"{inside}/no",
        "/etc/passwd",
        "a\0b",
    ]
    for name in names:
        with pytest.raises(GlassformerError, match="is not in the folders that the lab was started with"):
            Folders.of([inside]).inside(name)


def test_a_folder_whose_name_only_begins_the_same_is_elsewhere(tmp_path):
    for name in ("run", "run-2"):
        (tmp_path / name).mkdir()
    with pytest.raises(GlassformerError):
        Folders.of([tmp_path / "run"]).inside(str(tmp_path / "run-2"))


def test_no_folders_no_files():
    with pytest.raises(GlassformerError, match=r"\(none\)"):
        Folders().inside("/")
