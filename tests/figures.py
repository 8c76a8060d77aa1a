"""The fixture `figure`: a test records what it measured for a row of docs/reliability.md, in any process.

    def test_a_broken_header_is_one_line(figure):
        ...
        figure("F1", f"{count:,} mutants: 0 deaths", cases=count)

The row is the first argument, as a literal, so that it can be found without running anything (faults/rows.py lists the
rows). `make reliability` writes the page from these records; of the figures of one test for a row (and a part of it), the
one with the most cases is used.
"""

import json
import os
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "build" / "figures"


def write_down(record, folder=FOLDER):
    """Append a line to the file of this process; each process has its own file."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**record, "when": time.time()}, ensure_ascii=False) + "\n")


def written_down(folder=FOLDER):
    """All figures recorded by any process, oldest first."""
    records = []
    for path in sorted(folder.glob("*.jsonl")):
        records += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(records, key=lambda record: record["when"])


@pytest.fixture
def figure(request):
    """Record what was measured for a row, with the number of cases; `part` distinguishes several figures for one row."""

    def write(row, measured, *, cases=1, part=""):
        file = request.path.relative_to(Path(__file__).parents[1]).as_posix()
        test = request.node.originalname
        write_down({"row": row, "measured": measured, "cases": cases, "file": file, "test": test, "part": part})

    return write
