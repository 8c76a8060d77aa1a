"""Returns free memory that the C library keeps, since batches of changing shapes fragment it."""

from __future__ import annotations

import ctypes
from contextlib import suppress

EVERY = 8_192  # computed tokens


def hand_back() -> None:
    """Return free memory to the system, where the C library is glibc."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
