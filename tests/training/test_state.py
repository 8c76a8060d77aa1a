"""States on the disk: whole or not there, checked before use."""

import errno

import pytest
import torch

from glassformer.training import state
from glassformer.training.state import CannotSave, Damaged, Saved, load_newest, load_state, prune, save_state, saved_steps, sweep


def made(step):
    return Saved(step, {"weights/a": torch.arange(4.0) + step, "random/cpu": torch.get_rng_state()}, {"n": 0.1 + step})


def test_a_state_comes_back_to_the_last_bit(tmp_path):
    before = made(3)
    save_state(tmp_path, before)
    after = load_newest(tmp_path, print)
    assert (after.step, after.notes) == (3, before.notes)
    assert all(torch.equal(after.tensors[name], value) for name, value in before.tensors.items())


def test_a_full_disk_leaves_the_state_before_as_it_was(tmp_path, monkeypatch):
    folder = tmp_path / "checkpoints"
    save_state(folder, made(100))

    def full(path, *pieces):
        path.write_bytes(pieces[0][:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(state, "write", full)
    with pytest.raises(CannotSave, match=r"disk full saving step 120 \(needs .* free\)\. Step 100 is intact: free space"):
        save_state(folder, made(120))
    assert [path.name for path in folder.iterdir()] == ["step-000100"]
    assert load_newest(folder, print).step == 100


@pytest.mark.parametrize("name", [state.TENSORS, state.NOTES, state.MANIFEST])
@pytest.mark.parametrize("fault", ["flipped", "cut", "gone"])
def test_whatever_is_damaged_is_found(tmp_path, name, fault):
    save_state(tmp_path, made(1))
    save_state(tmp_path, made(2))
    path = tmp_path / "step-000002" / name
    content = path.read_bytes()
    if fault == "gone":
        path.unlink()
    else:
        path.write_bytes(content[: len(content) // 2] if fault == "cut" else b"\x00" + content[1:])
    with pytest.raises(Damaged):
        load_state(tmp_path, 2)
    said = []
    assert load_newest(tmp_path, said.append).step == 1
    assert len(said) == 1 and said[0].startswith("step-000002 is damaged (") and said[0].endswith(", using step-000001.")


def test_the_last_few_and_the_best_are_kept(tmp_path):
    for step in range(1, 7):
        save_state(tmp_path, made(step))
    prune(tmp_path, 2, best=3)
    assert saved_steps(tmp_path) == [6, 5, 3]


def test_files_left_by_a_killed_process_are_removed(tmp_path):
    save_state(tmp_path, made(1))
    (tmp_path / "step-000002.tmp-4711").mkdir()
    (tmp_path / "mine.tmp-1").mkdir()
    assert sweep(tmp_path) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.tmp-1", "step-000001"]


def test_without_any_state_there_is_none(tmp_path):
    assert load_newest(tmp_path / "checkpoints", print) is None
