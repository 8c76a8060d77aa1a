"""Untrusted run folders: only valid numbers and texts of limited length reach the page."""

import json

import pytest

from glassformer.lab.run_lines import best, figures, mapping, number, point, read_line, text, whole
from glassformer.lab.runs import RunsFolder, standing

GOOD = {"loss": 0.5, "accuracy": 0.25}


@pytest.mark.parametrize("value", ["<b>", "5", "", None, True, [], {}, [1], {"a": 1}, 10**400])
def test_invalid_numbers_become_none(value):
    assert number(value) is None
    assert whole(value) is None
    assert figures({"loss": value, "accuracy": 1.0}) is None
    assert best({**GOOD, "epoch": value}) is None
    for kind in ("step", "epoch", "nothing", value if isinstance(value, str) else ""):
        assert point({"kind": kind, "step": value, "epoch": 1, **GOOD, "train": GOOD, "validation": GOOD}) is None
        assert point({"kind": kind, "step": 1, "epoch": 1, "loss": value, "train": value, "validation": value}) is None
    assert point({"kind": "start", "steps": value, "measured": value}) == {"kind": "start", "steps": None, "parameters": None}
    assert point({"kind": "end", "test": {"accuracy": value}, "best": value})["test"] is None


def test_numbers_texts_and_lines_get_through():
    assert [number(one) for one in (1, 0.5, "NaN", "-Infinity")] == [1, 0.5, "NaN", "-Infinity"]
    assert [whole(one) for one in (0, 7, -1, 0.5, 2**60)] == [0, 7, None, None, None]
    assert (text("a\x1bb"), text(3), len(text("x" * 5000))) == ("a?b", None, 201)
    assert mapping([1]) == {}
    line = {
        "kind": "epoch",
        "epoch": 2,
        "step": 9,
        "train": GOOD,
        "validation": GOOD | {"more": "x"},
        "seconds": 1.5,
        "other": "x",
    }
    assert point(line) == {"kind": "epoch", "epoch": 2, "step": 9, "train": GOOD, "validation": GOOD, "seconds": 1.5}
    assert point({"kind": "end", "step": 9, "epochs": 2, "best": {**GOOD, "epoch": 2}, "test": {"accuracy": 0.5}}) == {
        "kind": "end",
        "step": 9,
        "epochs": 2,
        "best": {**GOOD, "epoch": 2},
        "test": 0.5,
    }
    for cut in (b"", b"{", b"[1]", b"3", b"[" * 100_000):
        assert read_line(cut) is None


@pytest.mark.parametrize("about", [[], "x", {"data": "x", "counts": [], "start": "x"}, {"data": {"name": {"a": "b"}, "task": 3}}])
def test_a_nonsensical_run_folder_still_has_a_row(tmp_path, about):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "run.json").write_text(json.dumps(about), encoding="utf-8")
    (tmp_path / "one" / "settings.json").write_text(json.dumps({"epochs": "<b>", "lr": [1]}), encoding="utf-8")
    lines = [{"kind": "start", "steps": "<b>"}, {"kind": "epoch", "epoch": "<b>"}, {"kind": "end", "test": "<b>", "best": 3}]
    (tmp_path / "one" / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    row = standing(RunsFolder(tmp_path), "one")
    assert (row["state"], row["data"], row["epochs"], row["lr"], row["steps"], row["best"]) == ("finished", *[None] * 5)
