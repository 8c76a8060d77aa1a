"""docs/reliability.md is complete and current: every row has a test or a reason, and the page has every row."""

import re

import pytest
from faults.page import OPEN, PAGE, UNKNOWN, audited, figures_of, page, promise, recording_tests
from faults.rows import GROUPS, MESSAGES
from figures import write_down, written_down

ROWS = [row for group in GROUPS for row in group.rows]


def test_every_row_has_a_test_or_a_reason_or_says_that_it_is_open():
    tests = recording_tests()
    for row in ROWS:
        assert bool(row.not_ours) + (row.id in tests) < 2, f"{row.id}: a test with figure(…) or not_ours, not both"
        assert row.not_ours or row.open or row.id in tests, f"{row.id}: write a test with figure(…), or say not_ours"
    assert set(tests) <= {row.id for row in ROWS} | {"B*"}


def test_rows_are_named_once_and_numbered_without_a_gap():
    for group in GROUPS:
        (letter,) = {row.id[0] for row in group.rows}
        assert [row.id for row in group.rows] == [f"{letter}{number}" for number in range(1, len(group.rows) + 1)]
    assert list(MESSAGES) == list(range(1, 35))


def test_the_page_has_the_rows_of_today():
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| ([A-Z]\d+) \|", text, flags=re.M) == [row.id for row in ROWS] + [f"B{n}" for n in MESSAGES]
    for row in ROWS:
        assert f"| {row.id} | {row.threat} | {promise(row)} | {row.not_ours}" in text, "run `make reliability`"
    for number, fault in MESSAGES.items():
        assert f"| B{number} | {fault} | " in text, "run `make reliability`"


def test_the_page_has_a_figure_for_every_row_that_is_measured():
    lines = {line.split(" | ")[0][2:]: line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")}
    for row in ROWS:
        if not row.not_ours:
            assert OPEN not in lines[row.id] or row.open, "run `make reliability`"
    assert not [name for name, line in lines.items() if UNKNOWN in line], "run `make test`, `make test-slow`, `make reliability`"


@pytest.fixture
def records(tmp_path):
    for cases, measured in ((10, "10 of 10"), (1000, "1,000 of 1,000"), (10, "10 again")):
        write_down({"row": "F1", "measured": measured, "cases": cases, "file": "tests/a.py", "test": "test_a"}, tmp_path)
    write_down({"row": "F1", "measured": "gone", "cases": 5, "file": "tests/a.py", "test": "test_gone"}, tmp_path)
    write_down({"tally": {"tests": 4, "open": 7}, "wrong": 0, "run": "one"}, tmp_path)
    write_down({"tally": {"tests": 5, "open": 2}, "wrong": 0, "run": "one"}, tmp_path)
    write_down({"tally": {"tests": 8}, "wrong": 0, "run": "two"}, tmp_path)
    for run, tests in (("a", 3), ("a", 4), ("b", 6), ("slow", 2), ("slower", 1)):
        marks = "slow" if run.startswith("slow") else "not slow"
        write_down({"tally": {"tests": tests}, "wrong": 0, "run": run, "marks": marks}, tmp_path)
    return written_down(tmp_path)


def test_the_largest_count_of_a_test_that_still_records_is_shown(records):
    assert figures_of(records, {"F1": [("tests/a.py", "test_a")]}) == {"F1": [("tests/a.py", "1,000 of 1,000")]}


def test_the_processes_of_a_run_are_added_up(records):
    counts = audited(records)
    assert (counts["tests"], counts["processes"]) == (3 + 4 + 2, 2 + 1)
    counts = audited([record for record in records if "marks" not in record])
    assert (counts["tests"], counts["open"], counts["processes"]) == (9, 9, 2)


def test_a_row_without_a_figure_says_so(records):
    text = page(records, {"F1": [("tests/a.py", "test_a")]})
    assert "1,000 of 1,000 | `a.py`" in text
    assert re.search(rf"^\| F2 \|.*\| {UNKNOWN} \|", text, flags=re.M)


def test_a_recording_test_is_found(tmp_path):
    (tmp_path / "tests").mkdir()
    calls = {"test_a": "'F1'", "test_b": "f'B{n}'", "other": "'F2'"}
    code = "".join(f"def {name}(figure):\n    figure({row}, 'x')\n" for name, row in calls.items())
    (tmp_path / "tests" / "test_x.py").write_text(code, encoding="utf-8")
    assert recording_tests(tmp_path / "tests") == {"F1": [("tests/test_x.py", "test_a")], "B*": [("tests/test_x.py", "test_b")]}
