"""SIGINT, SIGTERM and SIGUSR1: they set a flag, the loop saves at the next step, and a second one ends the process at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from glassformer.spec import GlassformerError

WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)  # SIGUSR1: what Slurm is usually told to send before a limit


@dataclass
class Flag:
    """Which signal came, if one did."""

    signal: int | None = None

    def __bool__(self) -> bool:
        return self.signal is not None


class Interrupted(GlassformerError):  # noqa: N818 - a way for a run to end
    """A run that a signal ended after its state was saved; the shell's exit code is 128 and the signal's number."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.code = 128 + number


@contextmanager
def stopping(*, alone: bool = True) -> Iterator[Flag]:
    """Inside, the first signal raises the flag and nothing else: files are never written in a handler.

    One process among several leaves the rest to torchrun: Ctrl-C reaches it twice, from the terminal and from torchrun, which
    also signals all when one has ended, and which ends after 30 s whoever did not stop. So further signals, then and after, do
    nothing: they would cut off the last line.
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
