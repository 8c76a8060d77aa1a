"""Plants bugs in a copy of the package, one at a time, and runs the laws: `python tests/planted/plant.py` prints the table.

The laws and witnesses are those of tests/laws as they stand; nothing here was written to match a bug. Where a bug stops the code,
the law that met it says `stops`: the bug is seen, but not by a difference.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "src" / "glassformer"
if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))

from planted.bugs import BUGS, Bug  # noqa: E402

STOPS = ": stops"
SPECS, CASES = 80, 8  # specs, and at how many of those that it speaks of a law looks, unless it looks at every one
SECONDS = 600
TOLD = (  # the fields that say which code runs
    "activation", "attend", "block", "embedding_norm", "embedding_scale", "first_norm", "head", "head_reads", "layer_scale",
    "layers", "norm", "norm_kind", "pool", "pooler", "position", "position_offset", "registers", "scale", "segments",
    "share_layers", "tie", "vocab", "window",
)  # fmt: skip


def copied(folder: Path, package: Path = PACKAGE) -> Path:
    """The package in another folder, without what no law reads."""
    return Path(shutil.copytree(package, folder / "glassformer", ignore=shutil.ignore_patterns("__pycache__", "static", "sets")))


@lru_cache(maxsize=1)
def chosen() -> list[dict[str, Any]]:
    """Random specs, chosen one by one so that as many pairs of choices as possible come up: few, but of every kind."""
    from laws.cases import drawn

    left = {spec: set(combinations(sorted((f, str(v)) for f, v in asdict(spec).items() if f in TOLD), 2)) for spec in drawn(400)}
    found, seen = [], set[Any]()
    for _ in range(SPECS):
        best = max(left, key=lambda spec: len(left[spec] - seen))
        seen |= left.pop(best)
        found.append(best.to_dict())
    return found


def caught(bug: Bug | None, folder: Path, package: Path, *, first: bool) -> list[str]:
    """The laws and witnesses that break in a copy with this bug (None: as it is); `first`: stop at the first."""
    package = copied(folder, package)
    if bug is not None:
        bug.plant(package)
    path = os.pathsep.join([str(folder), str(TESTS)])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    specs = folder / "specs.json"
    specs.write_text(json.dumps(chosen()), encoding="utf-8")
    command = [sys.executable, "-W", "ignore", str(Path(__file__)), "--judge", str(package), str(specs), str(int(first))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        return [f"import: {done.stderr.strip().splitlines()[-1]}"]
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def planted(bug: Bug | None, *, package: Path = PACKAGE, first: bool = False) -> list[str]:
    """What catches a bug, tried in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        return caught(bug, Path(folder), package, first=first)


def judge(package: Path, specs: Path, *, first: bool) -> list[str]:
    """In the child: every law and witness, on the package that was planted."""
    import torch

    import glassformer

    assert Path(glassformer.__file__).parent == package, glassformer.__file__
    torch.set_num_threads(1)
    from laws import book

    from glassformer.spec import EncoderSpec

    drawn = [EncoderSpec(**fields) for fields in json.loads(specs.read_text(encoding="utf-8"))]
    laws = [*book.WITNESSES.values(), *(law for law in book.LAWS.values() if law.name != "threads do not count")]
    broken = []
    for law in laws:
        seen = None if first and broken else _breaks(law, drawn, SPECS if law.every else CASES)
        if seen is not None:
            broken.append(law.name + seen)
    return broken


def _breaks(law, specs, cases: int) -> str | None:
    """None where the law holds; otherwise how it was seen to break."""
    for way in law.ways:
        seen = 0
        for spec in specs:
            try:
                found = law.found(way, spec)
            except Exception:  # whatever a bug raises, it shows
                return STOPS
            if found is not None:
                seen += 1
                if not law.holds(way, found):
                    return ""
            if seen == cases:
                break
    return None


def table(bug: Bug, found: list[str]) -> str:
    """A bug, where it was planted, and what caught it: laws, then witnesses."""
    from laws.book import WITNESSES

    lines = [f"{'caught' if found else 'MISSED'}  {bug.name} ({bug.file})"]
    for kind in (False, True):
        lines += [
            f"          {'witness' if kind else 'law':8} {name}"
            for name in found
            if (name.removesuffix(STOPS) in WITNESSES) is kind
        ]
    return "\n".join(lines)


def summary(results: dict[str, list[str]]) -> str:
    """How many bugs were caught, and how many of them the laws see without a witness."""
    from laws.book import LAWS

    count = sum(bool(found) for found in results.values())
    by_laws = sum(any(name in LAWS for name in found) for found in results.values())  # by a difference
    missed = [name for name, found in results.items() if not found]
    said = f"{count} of {len(results)} planted bugs caught, {by_laws} of them by the laws alone"
    return f"{said}; missed: {', '.join(missed) or 'none'}"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def all_planted(bugs: Sequence[Bug], told: Callable[[str], None] = lambda _: None) -> tuple[list[str], dict[str, list[str]]]:
    """What breaks without a bug, and what catches each; all are planted in the same text, whoever edits the tree meanwhile."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        package = copied(Path(folder))
        clean = planted(None, package=package)
        told(f"without a bug: {', '.join(clean) or 'nothing breaks'}")
        for bug in bugs:
            results[bug.name] = planted(bug, package=package)
            told(table(bug, results[bug.name]))
    return clean, results


def main(names: list[str]) -> int:
    """Every bug, or those that are named; the exit code is 1 where two go unseen, or something breaks without a bug."""
    clean, results = all_planted([bug for bug in BUGS if not names or bug.name in names], _say)
    _say(summary(results))
    return 1 if clean or sum(not found for found in results.values()) > 1 else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--judge"]:
        told = judge(Path(sys.argv[2]), Path(sys.argv[3]), first=sys.argv[4] == "1")
        sys.stdout.write("\n" + json.dumps(told) + "\n")
    else:
        sys.exit(main(sys.argv[1:]))
