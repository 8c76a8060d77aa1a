"""Reading .npy files without unpickling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import no_such, path_text


def read_array(path: Path, *, wanted: str) -> Any:
    """Memory-map the array of a file; `wanted` is the hint in the error for a missing file."""
    try:
        with path.open("rb") as file:
            begins = file.read(6)
        if begins != b"\x93NUMPY":
            raise ValueError("it is not an .npy file as written by numpy.save")
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise no_such(path, "file or folder", wanted=wanted) from None
    except (OSError, ValueError) as error:
        raise GlassformerError(f"{path_text(path)} is not an array of numbers: {shown(str(error), limit=100)}.") from None
