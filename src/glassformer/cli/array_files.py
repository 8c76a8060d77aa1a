"""Numbers from an .npy file, as numpy.save writes it: nothing in it is unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from glassformer.spec import GlassformerError, shown
from glassformer.spec.paths import no_such, path_text


def read_array(path: Path, *, wanted: str) -> Any:
    """The array of the file, left on the disk; `wanted` says what may stand there, to who names a file that is not there."""
    try:
        with path.open("rb") as file:
            begins = file.read(6)
        if begins != b"\x93NUMPY":
            raise ValueError("numpy.save writes an array as such a file, .npy")
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise no_such(path, "file or folder", wanted=wanted) from None
    except (OSError, ValueError) as error:
        raise GlassformerError(f"{path_text(path)} is no array of numbers: {shown(str(error), limit=100)}.") from None
