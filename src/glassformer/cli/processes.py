"""Commands under torchrun: every process runs the command, and only the first prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial, wraps
from pathlib import Path
from typing import Any

from glassformer.errors import GlassformerError

Body = Callable[..., None]
TORCHRUN_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")  # set by torchrun in each process


def one_voice(command: Body) -> Body:
    """Wrap a command so that several torchrun processes can run it together; a single process runs it unchanged."""

    @wraps(command)
    def together(**options: Any) -> None:
        if not all(name in os.environ for name in TORCHRUN_VARIABLES) or os.environ["WORLD_SIZE"] == "1":
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


def _print(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
