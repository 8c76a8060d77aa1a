"""Recorded losses do not change: a code change that affects one is detected, and has to be intended."""

import json

import pytest
from tiny_training import SETTINGS
from training.golden import FILE, RUNS, STEPS, losses_of, machine

# Sums are rounded otherwise on other processors: with the kernels for AVX2, and with those for any processor, these runs had
# losses up to 1e-6 away from those for AVX-512. So bits are counted, and ten times that is what fails.
ROUNDING = 1e-5
GOLDEN = json.loads(FILE.read_text(encoding="utf-8"))


def furthest(ours, theirs):
    return max(abs(float.fromhex(one) - float.fromhex(other)) for one, other in zip(ours, theirs, strict=True))


def test_fifty_losses_of_each_task_are_those_that_were_written_down(tmp_path, figure):
    same = furthest_of_all = 0
    for name in RUNS:
        (tmp_path / name).mkdir()
        ours, theirs = losses_of(name, tmp_path / name), GOLDEN["losses"][name]
        assert len(ours) == STEPS
        moved = furthest(ours, theirs)
        assert moved <= ROUNDING, f"{name}: a loss moved by {moved:.3g}. If that is meant: python tests/training/golden.py"
        same += sum(one == other for one, other in zip(ours, theirs, strict=True))
        furthest_of_all = max(furthest_of_all, moved)
    place = "the same kind of machine" if machine() == GOLDEN["machine"] else "another kind of machine than the recorded ones"
    figure(
        "T13",
        f"{STEPS} losses of {len(RUNS)} tasks: {same} of {STEPS * len(RUNS)} bit for bit identical on {place}, "
        f"largest difference {furthest_of_all:.1g}",
        cases=STEPS * len(RUNS),
    )


def test_a_small_change_would_be_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(SETTINGS, "lr", 1.001 * SETTINGS["lr"])
    assert furthest(losses_of("lid-words", tmp_path), GOLDEN["losses"]["lid-words"]) > ROUNDING
    with pytest.raises(ValueError, match="zip"):
        furthest(["0x0p+0"], [])
