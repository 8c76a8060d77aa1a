"""docs/reliability.md, made from the rows and from what tests wrote down. `python tests/faults/page.py` writes it."""

import ast
import platform
import re
import sys
import textwrap
from collections import Counter
from importlib.metadata import version
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reliability.md"
if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))

from faults.rows import GROUPS, MESSAGES  # noqa: E402
from figures import written_down  # noqa: E402

OPEN = "not measured yet"
UNKNOWN = "no figure was written down"
INTRO = """# Reliability

What can go wrong, what is promised, and what was measured. This page is made, not written: tests write their figures
down while they run, and `make reliability` puts those of the last `make test` and `make test-slow` here. A row that
nobody has measured says so. The rows stand in `tests/faults/rows.py`, the threat model in
[SECURITY.md](../SECURITY.md).

Refusals are one class, `GlassformerError`, and one line. Fuzzing has fixed seeds; `make test` runs small counts and
`make test-slow` the full ones, and the figures below say which counts they come from.
"""
WATCHED = """## What the audit hook saw

Python tells a hook (`sys.addaudithook`, in `tests/audit.py`) of every file that it opens, every module that it imports,
all code that it compiles or runs, every process and every connection. A test during which the package does what it
should not fails. In the largest run of `make test` and the largest of `make test-slow` that were written down, all
processes together:
"""
SAID = """## What is said

One line each: the field, the value, the rule, and the way out. These are the messages as the tests got them.
"""


def recording_tests(tests=TESTS):
    """Row -> `file::test` of the tests that call figure with it; of a number that is filled in, `B*`."""
    found = {}
    for path in sorted(tests.rglob("test_*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.name.startswith("test"):
                for row in _rows_in(function):
                    found.setdefault(row, []).append((path.relative_to(tests.parent).as_posix(), function.name))
    return found


def _rows_in(function):
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "figure" and call.args:
            row = call.args[0]
            if isinstance(row, ast.Constant):
                yield row.value
            elif isinstance(row, ast.JoinedStr) and isinstance(row.values[0], ast.Constant):
                yield f"{row.values[0].value}*"


def figures_of(records, tests):
    """Row -> [(file, what was measured)], one for each test that still records the row: that with the most cases, or the last."""
    best = {}
    for record in records:
        if "row" not in record:
            continue
        row, test = record["row"], (record["file"], record["test"])
        key = (*test, record.get("part", ""))
        if test in tests.get(row, []) or test in tests.get(f"{row[0]}*", []):
            kept = best.setdefault(row, {}).get(key)
            if kept is None or record["cases"] >= kept["cases"]:
                best[row][key] = record
    return {row: [(file, one["measured"]) for (file, *_), one in sorted(kept.items())] for row, kept in best.items()}


def audited(records):
    """What the hook saw in the largest run of ordinary tests and the largest of slow ones, all of their processes together."""
    runs = {}
    for record in records:
        if "tally" in record:
            run = runs.setdefault(record.get("marks", ""), {}).setdefault(record["run"], Counter())
            run.update({**record["tally"], "processes": 1, "wrong": record["wrong"]})
    largest = {marks: max(some.values(), key=lambda counts: counts["tests"]) for marks, some in runs.items()}
    return largest.get("not slow", Counter()) + largest.get("slow", Counter()) or largest.get("", Counter())


def page(records, tests):
    """The whole page as text."""
    figures = figures_of(records, tests)
    blocks = [INTRO]
    for group in GROUPS:
        lines = [f"## {group.title}", "", "| | what goes wrong | what is promised | measured | test |", "|---|---|---|---|---|"]
        lines += [f"| {row.id} | {row.threat} | {promise(row)} | {measured(row, figures)} |" for row in group.rows]
        blocks.append("\n".join(lines) + "\n")
    blocks += [WATCHED + "\n" + _audit_table(audited(records)), SAID + "\n" + _messages(figures)]
    return "\n".join([*blocks, _where()])


def promise(row):
    """What is promised, and the reason where it is another promise than the usual one."""
    return row.promise + (f" ({row.note})" if row.note else "")


def measured(row, figures):
    """The last two cells of a row: what was measured, and where."""
    if row.not_ours:
        return f"{row.not_ours} | "
    if row.id not in figures:
        return f"{OPEN if row.open else UNKNOWN} | "
    told = "; ".join(_cell(text) for _, text in figures[row.id])
    files = ", ".join(dict.fromkeys(f"`{file.removeprefix('tests/')}`" for file, _ in figures[row.id]))
    return f"{told} | {files}"


def _messages(figures):
    lines = ["| | what somebody did | what is said |", "|---|---|---|"]
    for number, fault in MESSAGES.items():
        said = figures.get(f"B{number}")
        lines.append(f"| B{number} | {fault} | {_cell(said[0][1]) if said else UNKNOWN} |")
    return "\n".join(lines) + "\n"


def _audit_table(counts):
    rows = {
        "tests": "tests watched",
        "open": "files opened by the package, all of them in the tree, the temporary folder or an installed package",
        "import": "modules imported by a function of the package, all of them its own, the standard library's or a dependency's",
        "code": "pieces of code compiled or run for the package, all of them modules on import, records and named tuples",
        "start": "processes started by the package, all of them itself",
        "sockets": "connections and look-ups by anybody, all of them on this machine",
        "pickle.find_class": "classes looked up by a pickle for the package",
        "wrong": "anything else",
    }
    lines = ["| count | of what |", "|---:|---|"]
    return "\n".join([*lines, *(f"| {counts[key]:,} | {words} |" for key, words in rows.items())]) + "\n"


def _cell(text):
    return re.sub(r"([|<>*_`])", r"\\\1", text)


def _where():
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "safetensors", "tokenizers"))
    said = f"Measured with Python {platform.python_version()} on {platform.system()}, {packages}; times are processor times."
    return textwrap.fill(said, 120, break_on_hyphens=False) + "\n"


def main():
    records, tests = written_down(), recording_tests()
    PAGE.write_text(page(records, tests), encoding="utf-8")
    figures = figures_of(records, tests)
    rows = [row for group in GROUPS for row in group.rows]
    lost = [row.id for row in rows if not (row.not_ours or row.open) and row.id not in figures]
    lost += [f"B{number}" for number in MESSAGES if f"B{number}" not in figures]
    still = [row.id for row in rows if row.open and row.id not in figures]
    sys.stdout.write(f"{PAGE.name}: {len(figures)} rows with figures, {len(still)} open.\n")
    if lost:
        sys.exit(f"no figure for {', '.join(lost)}: run `make test` and `make test-slow` first.")


if __name__ == "__main__":
    main()
