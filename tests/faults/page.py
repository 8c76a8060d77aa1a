"""Writes docs/reliability.md from the rows and from the figures that tests recorded: `python tests/faults/page.py`."""

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
UNKNOWN = "no figure recorded"
INTRO = """# Reliability

What can go wrong, what is guaranteed, and what was measured. This page is generated: tests record their figures while
they run, and `make reliability` writes those of the last `make test` and `make test-slow` here. A row without a
measurement says so. The rows are defined in `tests/faults/rows.py`; the threat model is in
[SECURITY.md](../SECURITY.md).

"Refused" means a `GlassformerError` with a one-line message. Fuzzing uses fixed seeds; `make test` runs a small number
of cases and `make test-slow` the full number, and the figures below include the number of cases.
"""
WATCHED = """## What the audit hook saw

Python notifies an audit hook (`sys.addaudithook`, in `tests/audit.py`) of every file that is opened, every module that
is imported, all code that is compiled or run, every process and every connection. A test fails if the package does
anything unexpected. Totals over all processes of the largest recorded run of `make test` and the largest of
`make test-slow`:
"""
SAID = """## Error messages

Each is one line with the field, the value, the rule and the way out, as recorded by the tests.
"""


def recording_tests(tests=TESTS):
    """Row -> `file::test` of the tests that record it; `B*` for rows whose number is an f-string expression."""
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
    """Row -> [(file, what was measured)], one per test that still records the row: the one with the most cases, or the last."""
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
    """Totals of the audit hook over all processes of the largest run of ordinary tests and the largest of slow ones."""
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
        lines = [f"## {group.title}", "", "| | what can go wrong | guarantee | measured | test |", "|---|---|---|---|---|"]
        lines += [f"| {row.id} | {row.threat} | {promise(row)} | {measured(row, figures)} |" for row in group.rows]
        blocks.append("\n".join(lines) + "\n")
    blocks += [WATCHED + "\n" + _audit_table(audited(records)), SAID + "\n" + _messages(figures)]
    return "\n".join([*blocks, _where()])


def promise(row):
    """The guarantee, and the reason where it differs from the usual one."""
    return row.promise + (f" ({row.note})" if row.note else "")


def measured(row, figures):
    """The last two cells of a row: what was measured, and where."""
    if row.not_ours:
        return f"{row.not_ours} | "
    if row.id not in figures:
        return f"{OPEN if row.open else UNKNOWN} | "
    found = "; ".join(_cell(text) for _, text in figures[row.id])
    files = ", ".join(dict.fromkeys(f"`{file.removeprefix('tests/')}`" for file, _ in figures[row.id]))
    return f"{found} | {files}"


def _messages(figures):
    lines = ["| | what the user did | message |", "|---|---|---|"]
    for number, fault in MESSAGES.items():
        said = figures.get(f"B{number}")
        lines.append(f"| B{number} | {fault} | {_cell(said[0][1]) if said else UNKNOWN} |")
    return "\n".join(lines) + "\n"


def _audit_table(counts):
    rows = {
        "tests": "tests watched",
        "open": "files opened by the package, all in the source tree, the temporary folder or an installed package",
        "import": "modules imported by functions of the package, all its own or from the standard library or a dependency",
        "code": "code objects compiled or run for the package, all for module imports, records and named tuples",
        "start": "processes started by the package, all running the package itself",
        "sockets": "connections and name look-ups by any code, all on this machine",
        "pickle.find_class": "classes looked up while unpickling, by the package",
        "wrong": "anything else",
    }
    lines = ["| count | of what |", "|---:|---|"]
    return "\n".join([*lines, *(f"| {counts[key]:,} | {words} |" for key, words in rows.items())]) + "\n"


def _cell(text):
    return re.sub(r"([|<>*_`])", r"\\\1", text)


def _where():
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "safetensors", "tokenizers"))
    text = f"Measured with Python {platform.python_version()} on {platform.system()}, {packages}; times are processor times."
    return textwrap.fill(text, 120, break_on_hyphens=False) + "\n"


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
