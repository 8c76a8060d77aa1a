"""`glassformer WORDS` in this process: the exit code, standard output and standard error, as `subprocess.run` gives them.

A process of its own first imports for a second or three what is here already. That it says the same as the command does here,
and what signals, closed pipes and full disks do to it, is tested with real processes (cli/test_cli.py, cli/test_training.py).
"""

import io
import os
import sys
from contextlib import ExitStack, chdir
from subprocess import CompletedProcess
from unittest.mock import patch

from glassformer.cli.main import main


def glassformer(*words, text="", cwd=None, as_one=False):
    """A traceback is no exit code here: what the command lets through, the test is told. `as_one`: mixed, as in a terminal."""
    given = text if isinstance(text, bytes) else text.encode()
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
    if as_one:
        streams["stderr"] = streams["stdout"]
    streams["stdin"] = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    line = ["glassformer", *map(str, words)]
    with ExitStack() as ours:
        ours.enter_context(chdir(cwd or "."))
        ours.enter_context(patch.dict(os.environ))
        ours.enter_context(patch.object(sys, "argv", line))
        for name, stream in streams.items():
            ours.enter_context(patch.object(sys, name, stream))
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return CompletedProcess(line, code or 0, *(_written(streams[name]) for name in ("stdout", "stderr")))


def _written(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")
