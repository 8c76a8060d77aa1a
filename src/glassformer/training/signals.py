"""SIGINT, SIGTERM and SIGUSR1: the first saves and stops at the next step, the second ends the process at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from glassformer.errors import GlassformerError

WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)  # SIGUSR1 is commonly sent by Slurm before a time limit


@dataclass
class Flag:
    """The signal that was received, if any."""

    signal: int | None = None

    def __bool__(self) -> bool:
        return self.signal is not None


class Interrupted(GlassformerError):  # noqa: N818 - a way for a run to end
    """A signal stopped the run after its state was saved; the exit code is 128 plus the signal number."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.code = 128 + number


@contextmanager
def stopping(*, alone: bool = True) -> Iterator[Flag]:
    """Set a flag on the first signal; files are never written in a handler.

    With several processes, torchrun handles the rest: Ctrl-C arrives twice, from the terminal and from torchrun, which also
    signals all processes when one ends, and kills those that have not stopped after 30 s. Further signals are therefore
    ignored: they would cut off the last line of output.
    """
    flag = Flag()
    if threading.current_thread() is not threading.main_thread():  # only the main thread may install handlers
        yield flag
        return

    def handle(number: int, _: FrameType | None) -> None:
        if flag and alone:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        flag.signal = number

    before = {number: signal.signal(number, handle) for number in WATCHED}
    try:
        yield flag
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if alone else signal.SIG_IGN)
