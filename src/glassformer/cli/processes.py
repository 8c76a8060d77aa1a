"""Several processes, one voice: under torchrun a command runs in each of them, and prints and complains in one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.spec import GlassformerError

if TYPE_CHECKING:
    from glassformer.training.runs import Run

Body = Callable[..., None]
TOLD = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")  # what torchrun tells each process that it starts


def one_voice(command: Body) -> Body:
    """The body of a command that several processes may run together, and end with; started by itself, it is as it is."""

    @wraps(command)
    def together(**options: Any) -> None:
        if not all(name in os.environ for name in TOLD) or os.environ["WORLD_SIZE"] == "1":
            command(**options)
            return
        from glassformer.training.distributed.processes import first, joined, leave, noticing

        with joined() as voice, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            out, errors = (sys.stdout, sys.stderr) if first() else (nowhere, nowhere)
            try:
                with redirect_stdout(out), redirect_stderr(errors), noticing("Nothing was trained."):
                    command(**options)
            except GlassformerError as error:
                voice.say(partial(_print, f"glassformer: {error}"))
                leave(error.code)
            except KeyboardInterrupt:
                voice.say(partial(_print, "glassformer: stopped."))
                leave(130)
        leave(0)

    return together


def made_by_first(make: Callable[[], Run]) -> Run:
    """A run that the first process makes or changes in its folder; the others open that folder, so that all have the same."""
    from glassformer.training.distributed.processes import first, from_first
    from glassformer.training.runs import Run

    made: list[Run] = []

    def work() -> str:
        made.append(make())
        return str(made[0].path)

    path = from_first(work)
    if first():
        return made[0]
    if not Path(path).is_dir():
        raise GlassformerError(f"{path} is not there on every machine: all processes need to see the same run folder. Share it.")
    return Run.open(path)


def _print(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
