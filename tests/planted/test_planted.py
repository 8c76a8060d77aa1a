"""Bugs that are planted in a copy of the package are caught by the laws and witnesses as they stand."""

from __future__ import annotations

import pytest
from planted.bugs import BUGS, Bug
from planted.plant import PACKAGE, all_planted, planted, summary

SOME = ("softmax over the queries",)


def test_there_are_more_than_thirty_bugs_and_each_still_fits_its_line():
    assert len(BUGS) >= 30
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    for bug in BUGS:
        assert (PACKAGE / bug.file).read_text(encoding="utf-8").count(bug.right) == 1, f"{bug.name}: {bug.file} has changed"


def test_a_bug_whose_line_is_gone_is_an_error(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(LookupError, match=r"gone: a\.py has this 0 times, wanted once: x = 2"):
        Bug("gone", "a.py", "x = 2", "x = 3").plant(tmp_path)
    Bug("there", "a.py", "x = 1", "x = 3").plant(tmp_path)
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "x = 3\n"


@pytest.mark.parametrize(
    "bugs",
    [[bug for bug in BUGS if bug.name in SOME], pytest.param(BUGS, marks=pytest.mark.slow)],
    ids=["one", "all"],
)
def test_planted_bugs_are_caught(bugs, figure):
    """All but one at most. One alone: by the first law or witness that sees it; all: in one copy of the package, by every one."""
    if len(bugs) == len(SOME):
        found = {bug.name: planted(bug, first=True) for bug in bugs}
        assert all(found.values()), found
        said = f"{len(found)} of {len(found)} planted bugs caught"
    else:
        clean, found = all_planted(bugs)
        assert clean == []
        assert sum(not names for names in found.values()) <= 1, found
        said = summary(found)
    figure("P4", said, cases=len(found))
