"""The fixture `figure`: a test writes down what it measured for a row of docs/reliability.md, whichever process it runs in.

    def test_a_broken_header_is_one_line(figure):
        ...
        figure("F1", f"{count:,} mutants: 0 deaths", cases=count)

The row comes first and is written out, so that it can be found without running anything (faults/rows.py lists the rows).
`make reliability` turns what was written down into the page; of one test's figures for a row (and
a part of it), that with the most cases counts.
"""

import json
import os
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "build" / "figures"


def write_down(record, folder=FOLDER):
    """One line in the file of this process; several processes never write into one file."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**record, "when": time.time()}, ensure_ascii=False) + "\n")


def written_down(folder=FOLDER):
    """Every figure that any process wrote, the oldest first."""
    records = []
    for path in sorted(folder.glob("*.jsonl")):
        records += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(records, key=lambda record: record["when"])


@pytest.fixture
def figure(request):
    """Write down what was measured for a row; `cases` says how many cases that was, and `part` which of several figures it is."""

    def write(row, measured, *, cases=1, part=""):
        file = request.path.relative_to(Path(__file__).parents[1]).as_posix()
        test = request.node.originalname
        write_down({"row": row, "measured": measured, "cases": cases, "file": file, "test": test, "part": part})

    return write
