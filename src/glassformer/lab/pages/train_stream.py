"""The live side of training: the table of runs and the tails of their logs, as events.

A mark (`Last-Event-ID`) says how far each log was read, as `name=bytes.check`, so that a page that lost the connection, or the
lab itself, goes on where it was. A resumed run cuts its log and writes on; `check`, a sum over the last bytes before the mark,
tells a log that is no longer the one that was read, which is then sent anew.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import Any
from urllib.parse import quote, unquote

import anyio
from anyio import to_thread

from glassformer.errors import GlassformerError
from glassformer.lab.documents import train as documents
from glassformer.lab.run_lines import point, read_line
from glassformer.lab.runs import GOING, RunsFolder, signature, standing
from glassformer.lab.shelf import Shelved, shelf
from glassformer.show.curves import Row, curve_of, curves_table, epoch_row
from glassformer.show.metric import metric_of

EVERY = 0.5  # seconds between two looks
QUIET = 15.0  # seconds after which a word is sent all the same, so that a connection that is gone is noticed
AT_ONCE = 1_000_000  # bytes of a log that are read at once
POINTS = 1500  # of a curve that are sent of the steps
BEFORE = 64  # bytes before a mark that are summed
NOWHERE = Path(os.devnull)
MOST_JUDGES = 256
MOST_SHOWN = 12  # runs whose curves one page may follow


class Table:
    """How all runs stand, looked up at most twice a second, however many pages look."""

    def __init__(self, runs: RunsFolder) -> None:
        self.runs = runs
        self.read_at = -EVERY
        self.rows: dict[str, documents.Row] = {}
        self.kept: dict[str, tuple[Any, documents.Row]] = {}
        self.mutex = Lock()
        self.judges: dict[Path, Judge] = {}

    def judge(self, metrics: Path) -> Judge:
        """Whoever follows the same log asks the same judge; the last few are kept."""
        found = self.judges.pop(metrics, None) or Judge(metrics)
        self.judges = dict([*self.judges.items(), (metrics, found)][-MOST_JUDGES:])
        return found

    def now(self, *, fresh: bool = False) -> dict[str, documents.Row]:
        with self.mutex:  # who comes while somebody looks gets what that one sees
            if fresh or time.monotonic() - self.read_at >= EVERY * 0.9:
                said = shelf(self.runs)
                self.rows = {name: _titled(self._row(name), said.get(name)) for name in self.runs.names()}
                self.read_at = time.monotonic()
            return self.rows

    def _row(self, name: str) -> documents.Row:
        """How a run stands; one that nobody works on is read again only when one of its files has changed."""
        seen = signature(self.runs, name)
        kept = self.kept.get(name)
        if kept is None or kept[0] != seen or kept[1]["state"] in GOING:
            kept = self.kept[name] = (seen, standing(self.runs, name))
        return kept[1]


def _titled(row: documents.Row, said: Shelved | None) -> documents.Row:
    """A row with what the user says of the run."""
    return row if said is None else {**row, "title": said.title, "archived": said.archived}


@dataclass
class Tail:
    """A log that is read as it grows."""

    path: Path
    offset: int = 0
    check: int = 0
    every: int = 1  # steps between two points that are sent
    sent: int = -1  # the last point's number

    def read(self) -> tuple[bool, list[documents.Point]]:
        """What is new: whether all that came before is void, and the points since."""
        try:
            with self.path.open("rb") as file:
                void = self.offset > 0 and self._sum(file, self.offset) != self.check
                if void:
                    self.offset, self.sent = 0, -1
                file.seek(self.offset)
                block = file.read(AT_ONCE)
                whole = block[: block.rfind(b"\n") + 1]
                self.offset += len(whole)
                if whole:
                    self.check = self._sum(file, self.offset)
        except OSError:
            void, whole, self.offset = self.offset > 0, b"", 0
        return void, [found for line in whole.splitlines() if (found := self._point(read_line(line)))]

    def _sum(self, file: Any, offset: int) -> int:
        start = max(0, offset - BEFORE)
        file.seek(start)
        return zlib.crc32(file.read(offset - start))

    def _point(self, line: dict[str, Any] | None) -> documents.Point | None:
        found = point(line) if line is not None else None
        if found is None:
            return None
        if found["kind"] == "start":
            self.every = max(1, (found["steps"] or 0) // POINTS)
        if found["kind"] == "step":
            if found["step"] // self.every == self.sent:
                return None
            self.sent = found["step"] // self.every
        return found


def tails(runs: RunsFolder, names: Sequence[str], mark: str) -> dict[str, Tail]:
    """The logs that a page follows, each from where it was read to; a name that is no run yet may become one."""
    if len(names) > MOST_SHOWN:
        raise GlassformerError(f"{len(names)} runs are too many to show together: choose at most {MOST_SHOWN}.")
    made = {name: Tail(_metrics(runs, name)) for name in dict.fromkeys(names)}
    for entry in mark.split(",")[:MOST_SHOWN]:
        name, _, place = entry.partition("=")
        offset, _, check = place.partition(".")
        tail = made.get(unquote(name))
        if tail is not None and offset.isdecimal() and check.isdecimal() and len(place) < 40:
            tail.offset, tail.check = int(offset), int(check)
    return made


def _metrics(runs: RunsFolder, name: str) -> Path:
    try:
        return runs.path(name) / "metrics.jsonl"
    except GlassformerError:
        return NOWHERE


class Judge:
    """What `glassformer curves` says of a log: the best epoch, the turn, and whether it overfits.

    The log is read once, as it grows, for all pages that follow it; each of them asks after every epoch.
    """

    def __init__(self, metrics: Path) -> None:
        self.tail = Tail(metrics)
        self.epochs: list[Row] = []
        self.said: documents.Verdict | None = None
        self.mutex = Lock()

    def now(self) -> documents.Verdict | None:
        """The verdict on all epochs so far; None where there is none."""
        with self.mutex:
            news, before = False, -1
            metric = metric_of(self.tail.path.parent)
            while self.tail.offset != before:
                before = self.tail.offset
                void, points = self.tail.read()
                rows = [epoch_row(line, metric) for line in points if line["kind"] == "epoch"]
                news = news or void or bool(rows)
                self.epochs = [*([] if void else self.epochs), *rows]
            if news:
                self.said = self._verdict()
            return self.said

    def _verdict(self) -> documents.Verdict | None:
        if not self.epochs:
            return None
        folder = self.tail.path.parent
        curve = curve_of(self.epochs, folder.name, metric_of(folder))
        said = curve.to_dict()
        return {
            "epochs": said["epochs"],
            "best_accuracy": curve.validation_score[curve.best - 1],
            "best_epoch": curve.best,
            "least_loss": said["least_loss"],
            "turn": curve.turn,
            "overfits": curve.overfits,
            "note": " ".join(curves_table([curve]).notes).strip(),
        }


def marked(following: dict[str, Tail]) -> str:
    """How far each log was read."""
    return ",".join(f"{quote(name, safe='')}={tail.offset}.{tail.check}" for name, tail in following.items() if tail.offset)


async def events(table: Table, names: Sequence[str], mark: str, leaving: Event) -> AsyncIterator[tuple[str, Any, str]]:
    """First everything, then what is new: `table` and `rows` (how runs stand), `points` (of curves)."""
    following = tails(table.runs, names, mark)
    before: dict[str, documents.Row] | None = None
    spoke = time.monotonic()
    while not leaving.is_set():
        now = await to_thread.run_sync(table.now)
        if before is None or now.keys() != before.keys():
            yield "table", {"rows": list(now.values())}, ""
            spoke = time.monotonic()
        elif changed := [row for name, row in now.items() if row != before[name]]:
            yield "rows", {"rows": changed}, ""
            spoke = time.monotonic()
        before = now
        busy = False
        for name, tail in following.items():
            if tail.path == NOWHERE:
                tail.path = _metrics(table.runs, name)
            void, points = await to_thread.run_sync(tail.read)
            if void or points:
                asks = any(line["kind"] == "epoch" for line in points)
                judged = await to_thread.run_sync(table.judge(tail.path).now) if asks else None
                news: documents.Points = {"run": name, "void": void, "points": points, "verdict": judged}
                yield "points", news, marked(following)
                spoke, busy = time.monotonic(), True
        if time.monotonic() - spoke > QUIET:
            yield "alive", {}, ""
            spoke = time.monotonic()
        if not busy:
            await anyio.sleep(EVERY)
