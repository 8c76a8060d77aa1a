"""Titles of runs and the archive, as the user sets them on the page; stored next to the runs, whose own files are unchanged."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError, shown
from glassformer.lab.run_lines import mapping
from glassformer.lab.runs import EXAMPLE, JOBS, RunsFolder

FILE = "shelf.json"
LONGEST_TITLE = 80
MOST_BYTES = 1_000_000
MUTEX = Lock()


class Shelved(NamedTuple):
    """What the user says of a run."""

    title: str = ""  # shown instead of its name; empty: its name
    archived: bool = False  # left out of the table unless the archive is shown


def shelf(runs: RunsFolder) -> dict[str, Shelved]:
    """The entries for each run; other entries of the file are ignored."""
    path = runs.root / JOBS / FILE
    try:
        found = json.loads(path.read_bytes()) if path.stat().st_size <= MOST_BYTES else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return {name: _read(mapping(said)) for name, said in found.items()} if isinstance(found, dict) else {}


def _read(said: dict[str, Any]) -> Shelved:
    title = said.get("title")
    known = isinstance(title, str) and title.isprintable() and len(title) <= LONGEST_TITLE
    return Shelved(title if isinstance(title, str) and known else "", said.get("archived") is True)


def put(runs: RunsFolder, name: str, *, title: str | None = None, archived: bool | None = None) -> None:
    """Set the title of a run, or whether it is in the archive; the file is written whole or not at all."""
    runs.path(name)
    if name == EXAMPLE:
        raise GlassformerError("the example cannot be renamed or archived: it is not a run in this folder.")
    title = title if title is None else " ".join(title.split())
    if title is not None and (len(title) > LONGEST_TITLE or not title.isprintable()):
        raise GlassformerError(f"title={shown(title)} is not allowed: at most {LONGEST_TITLE} printable characters.")
    with MUTEX:
        found = shelf(runs)
        before = found.get(name, Shelved())
        found[name] = Shelved(before.title if title is None else title, before.archived if archived is None else archived)
        kept = {run: said._asdict() for run, said in found.items() if said != Shelved()}
        path = runs.root / JOBS / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")
        draft.replace(path)
