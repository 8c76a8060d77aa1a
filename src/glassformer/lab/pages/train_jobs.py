"""Runs as processes of their own: started, stopped and resumed by the lab, and untouched by whatever happens to it."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from glassformer.errors import NO_TORCH, GlassformerError, shown
from glassformer.lab.runs import EXAMPLE, RunsFolder, alive, holder, stop_mark

MOST_AT_ONCE = 4
MOST_KEYS = 1000
# No module is taken from the folder that the lab was started in; lines come as they are written, without colours.
ENVIRONMENT = {"PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}


def has_torch() -> bool:
    """Whether PyTorch could be imported; it is not imported here."""
    return find_spec("torch") is not None


class Jobs:
    """The processes of one lab. Whatever is asked twice is done once."""

    def __init__(self, runs: RunsFolder) -> None:
        self.runs = runs
        self.mutex = threading.Lock()
        self.keys: dict[str, str] = {}  # what a page asked for -> the run that came of it
        self.children: dict[str, subprocess.Popen[bytes]] = {}  # by the name of the run that each trains

    def start(self, key: str, name: str, data: str, words: Sequence[str]) -> str:
        """`glassformer train DATA WORDS --out RUN` in a process of its own; gives the name of the run."""
        with self.mutex:
            if key in self.keys:
                return self.keys[key]
            self._check()
            path = self.runs.fresh(name) if name else self._next(data)
            self._launch(path.name, ["train", data, *words, f"--out={path}"], fresh=True)
            self.keys = dict([*self.keys.items(), (key, path.name)][-MOST_KEYS:])
            return path.name

    def resume(self, name: str, settings: Mapping[str, str]) -> None:
        """`glassformer resume RUN`; nothing where it is being trained."""
        path = self.runs.path(name)
        if name == EXAMPLE:
            raise GlassformerError("the example is only a log, without weights to resume from. Start a new run.")
        with self.mutex:
            if self._going(name):
                return
            self._check()
            self._launch(
                name, ["resume", str(path), *(f"--{word.replace('_', '-')}={value}" for word, value in settings.items())]
            )

    def stop(self, name: str) -> None:
        """Ask a run to finish its step, save and end; asked again, nothing more, because a second signal would not wait."""
        with self.mutex:
            try:
                process = holder(self.runs.path(name) / "lock").process
            except GlassformerError:
                process = None
            if process is None and alive(self.runs.log(name)):  # it still reads its data
                process = self.children[name].pid if name in self.children else None
            if process is None or process <= 1 or stop_mark(self.runs, name) == process:
                return
            mark = self.runs.log(name).with_suffix(".stop")
            mark.parent.mkdir(exist_ok=True)
            mark.write_text(f"{process}\n", encoding="ascii")
            try:
                os.kill(process, signal.SIGINT)
            except PermissionError:
                raise GlassformerError(f"process {process}, which trains {shown(name)}, belongs to another user.") from None
            except ProcessLookupError:
                return

    def sweep(self) -> None:
        """Forget processes that have ended."""
        self.children = {name: child for name, child in self.children.items() if child.poll() is None}

    def _going(self, name: str) -> bool:
        above = name.partition("/")[0]
        return holder(self.runs.path(name) / "lock").process is not None or any(
            alive(self.runs.log(one)) for one in (name, above)
        )

    def _check(self) -> None:
        if not has_torch():
            raise GlassformerError(NO_TORCH)
        self.sweep()
        if len(self.children) >= MOST_AT_ONCE:
            raise GlassformerError(f"{MOST_AT_ONCE} runs are already training: stop one, or wait for one to finish.")

    def _next(self, data: str) -> Path:
        stem = (
            "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in Path(data).stem)[:60].strip("-") or "run"
        )
        number = 1
        while (self.runs.root / f"{stem}-{number}").exists() or self.runs.log(f"{stem}-{number}").exists():
            number += 1
        return self.runs.root / f"{stem}-{number}"

    def _launch(self, name: str, words: list[str], *, fresh: bool = False) -> None:
        """A session of its own, so that no signal to the lab reaches it; its output goes to a log that it holds locked."""
        log = self.runs.log(name)
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("xb" if fresh else "ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.write(f"\n$ glassformer {shlex.join(words)}\n".encode())
                file.flush()
                child = subprocess.Popen(
                    [sys.executable, "-m", "glassformer", *words],
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env={**os.environ, **ENVIRONMENT},
                )
        except FileExistsError:
            raise GlassformerError(
                f"name={shown(name)} is taken: a run with this name exists. Choose another name, or leave it empty."
            ) from None
        except OSError as error:
            raise GlassformerError(f"{shown(str(log.parent))} cannot be written: {error.strerror or error}.") from None
        self.children[name] = child
        threading.Thread(target=child.wait, daemon=True).start()  # takes leave of it when it ends
