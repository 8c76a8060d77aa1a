"""The runs folder: its runs and the status of each: starting, running, stopped, killed, failed or finished.

All that is said here is read from files and from locks, so a lab that was started a minute ago knows as much as the one that
started the run. A run that is being trained holds `RUN/lock`; a process that a lab started holds its own log, `.lab/NAME.log`,
from its first moment on. The system lets go of both when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import re
import zlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents.train import Progress, Row, State
from glassformer.lab.run_lines import mapping, number, point, read_line, text, whole

RUNS = Path("runs")
EXAMPLE = ":example"  # no name that a folder of the user's can have here
EXAMPLE_HOME = Path(str(files("glassformer.lab").joinpath("example")))
NAME = re.compile(r"\w[\w.-]{0,79}(/\w[\w.-]{0,79})?")
JOBS = ".lab"
GOING = ("starting", "running", "stopping")  # states that can change without a file
MOST_RUNS = 500  # that are listed, the newest
MOST_DOCUMENT = 4_000_000
NOTHING: Progress = {"ended": False, "steps": None, "step": 0, "epoch": 0, "last": None, "best": None, "test": None}
TAIL = 16_384  # bytes of a log in which its last lines lie


@dataclass(frozen=True)
class RunsFolder:
    """The folder where runs are found and created; `given` is a run elsewhere that the lab was started with."""

    folder: Path
    given: Path | None = None

    @property
    def root(self) -> Path:
        return self.folder.resolve()

    def name(self, path: Path) -> str:
        """The name of a run on the page: its path relative to the runs folder, or its full path if it is elsewhere."""
        path = path.resolve()
        inside = path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else ""
        return inside if NAME.fullmatch(inside) else str(path)

    def path(self, name: str) -> Path:
        """Return the folder of a run by name; any name that is not a run gets the same error."""
        if name == EXAMPLE:
            return EXAMPLE_HOME
        if self.given is not None and name == self.name(self.given):
            return self.given.resolve()
        path = (self.root / name).resolve() if NAME.fullmatch(name) else None
        if path is None or not path.is_relative_to(self.root) or not (path / "run.json").is_file():
            raise GlassformerError(f"there is no run {shown(name)} in {shown(str(self.folder))}.")
        return path

    def fresh(self, name: str) -> Path:
        """Return the folder of a run that does not exist yet."""
        if not NAME.fullmatch(name) or "/" in name:
            raise GlassformerError(
                f"name={shown(name)} is not allowed: at most 80 letters, digits, '.', '_' and '-', a letter or a digit first."
            )
        path = self.root / name
        if path.exists() or path.is_symlink() or self.log(name).exists():
            raise GlassformerError(
                f"name={shown(name)} is taken: a run with this name exists. Choose another name, or leave it empty."
            )
        return path

    def log(self, name: str) -> Path:
        """The output file of a process started by the lab."""
        if not NAME.fullmatch(name):  # a path elsewhere, or untrusted text
            short = re.sub(r"[^a-zA-Z0-9_.-]", "_", name.rpartition("/")[2])[:60]
            name = f"{short}~{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"
        return self.root / JOBS / f"{name.replace('/', '~')}.log"

    def names(self) -> list[str]:
        """All runs, newest first: in the runs folder, one folder deeper, and runs that are being started."""
        found = {self.name(self.given): _time(self.given / "run.json")} if self.given is not None else {}
        for folder in _folders(self.root):
            inner = [folder] if (folder / "run.json").is_file() else _folders(folder)
            found |= {self.name(one): _time(one / "run.json") for one in inner if (one / "run.json").is_file()}
        for log in (self.root / JOBS).glob("*.log") if (self.root / JOBS).is_dir() else ():
            name = log.stem
            if NAME.fullmatch(name) and not (self.root / name).exists():
                found[name] = _time(log)
        return sorted(found, key=lambda name: (-found[name], name))[:MOST_RUNS]


class Holder(NamedTuple):
    """The holder of a lock: `process` (None if not held, 0 if unknown), and whether the recorded process has died (`gone`)."""

    process: int | None
    gone: bool


def holder(lock: Path) -> Holder:
    """Return the process that trains a run. A lock without a recorded process is not tried, to avoid blocking the next one."""
    try:
        with lock.open("rb") as file:
            word = file.read(20).strip()
            if not word:
                return Holder(None, gone=False)
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return Holder(int(word) if word.isdigit() else 0, gone=False)
            return Holder(None, gone=True)
    except OSError:
        return Holder(None, gone=False)


def alive(log: Path) -> bool:
    """Whether the process that writes this log is still alive."""
    try:
        with log.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except OSError:
        return True


def standing(runs: RunsFolder, name: str) -> Row:
    """One row of the table of runs."""
    log = runs.log(name)
    try:
        path: Path | None = runs.path(name)
    except GlassformerError:  # it is about to become one, or was not to be
        path = None
    about, settings = (_document(path / file) if path else {} for file in ("run.json", "settings.json"))
    found = progress(path / "metrics.jsonl") if path else NOTHING
    log = log if path is None or log.exists() or "/" not in name else runs.log(name.partition("/")[0])
    said, data = last_word(log), mapping(about.get("data"))
    if path is None:
        state: State = "starting" if alive(log) else "failed"
    else:
        state = _state(holder(path / "lock"), log, found, said, asked=stop_mark(runs, name))
    return {
        "name": name,
        "title": "",
        "archived": False,
        "state": state,
        "said": said if path is None or state in ("stopped", "failed", "killed") else "",
        "data": text(data.get("name")),
        "task": text(data.get("task")),
        "parameters": whole(mapping(about.get("counts")).get("parameters")),
        "start": text(mapping(about.get("start")).get("from")),
        "epochs": whole(settings.get("epochs")),
        "lr": number(settings.get("lr")),
        "trace": path is not None and any((path / part).is_dir() for part in ("best", "last")),
        **found,
    }


def _state(lock: Holder, log: Path, found: Progress, said: str, *, asked: int | None) -> State:
    if lock.process is not None:
        return "stopping" if asked == lock.process else "running"
    if found["ended"]:
        return "finished"
    if alive(log):
        return "starting"
    if lock.gone:
        return "killed"
    return "failed" if said and not said.startswith("stopped") else "stopped"


def signature(runs: RunsFolder, name: str) -> tuple[tuple[int, int], ...]:
    """Times and sizes of the files that `standing` reads: resuming a run changes at least one of them."""
    try:
        folder = runs.path(name)
    except GlassformerError:
        folder = runs.root / name
    logs = {runs.log(name), runs.log(name.partition("/")[0])}
    own = [folder / file for file in ("run.json", "settings.json", "metrics.jsonl", "lock", "best", "last")]
    return tuple(_stamp(path) for path in (*own, *sorted(logs)))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def stop_mark(runs: RunsFolder, name: str) -> int | None:
    """The process that was asked to stop."""
    try:
        word = runs.log(name).with_suffix(".stop").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(word) if word.isdecimal() and len(word) < 12 else None


def progress(metrics: Path) -> Progress:
    """The progress of a run, from the first and last lines of its log."""
    found = NOTHING.copy()
    try:
        with metrics.open("rb") as file:
            head = file.read(TAIL).partition(b"\n")[0]
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL))
            lines = file.read().split(b"\n")[1 if size > TAIL else 0 :]
    except OSError:
        return found
    found["steps"] = whole((read_line(head) or {}).get("steps"))
    for line in (point(one) for one in map(read_line, lines) if one):
        if line is None:
            continue
        found["ended"] = line["kind"] == "end"
        if line["kind"] == "step":
            found["step"] = line["step"]
        elif line["kind"] == "epoch":
            found["step"], found["epoch"], found["last"] = line["step"], line["epoch"], line["validation"]
        elif line["kind"] == "end":
            found["best"], found["test"] = line["best"], {"accuracy": line["test"]}
    return found


def last_word(log: Path) -> str:
    """The last line of a command's output without the command's name: an error, or where it stopped."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    lines = text.rpartition("\n$ ")[2].splitlines()[1:]
    said = [line.removeprefix("glassformer: ") for line in lines if line.startswith("glassformer: ")]
    if not said and any(line.startswith("Traceback ") for line in lines):
        said = [f"training failed because of a bug in Glassformer; see {log} for details."]
    return shown(said[-1], limit=600) if said else ""


def _document(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes()) if path.stat().st_size <= MOST_DOCUMENT else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _folders(folder: Path) -> list[Path]:
    try:
        return [one for one in folder.iterdir() if NAME.fullmatch(one.name) and one.is_dir() and not one.is_symlink()]
    except OSError:
        return []


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
