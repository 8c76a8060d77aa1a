"""Finished rows of a long analysis, saved in a folder so that an interrupted analysis can continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json_object, read_text
from glassformer.files.paths import not_written, path_text

SETTINGS = "settings.json"


class KeptRows:
    """One .npy file for each chunk of rows, and the settings that they belong to."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        known = folder / SETTINGS
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not known.exists():
                if any(folder.iterdir()):
                    raise GlassformerError(f"{path_text(folder)} contains other files: give a new folder.")
                _write(known, json.dumps(settings, indent=1).encode())
        except OSError as error:
            raise not_written(folder, error) from None
        found = parse_json_object(read_text(known), SETTINGS)
        wrong = next((name for name, value in settings.items() if found.get(name) != value), None)
        if wrong is not None:
            raise GlassformerError(
                f"{path_text(folder)} belongs to another analysis: {wrong} is {shown(found.get(wrong))} there, and now "
                f"{shown(settings[wrong])}. Give a new folder."
            )

    def read(self, number: int) -> NDArray[np.float32] | None:
        """The outcome of a chunk, if it is finished."""
        file = self.folder / f"rows-{number:05}.npy"
        if not file.exists():
            return None
        try:
            found: NDArray[np.float32] = np.load(file, allow_pickle=False)
        except (OSError, ValueError):
            raise GlassformerError(f"{path_text(file)} is damaged: delete it to recompute its rows.") from None
        return found

    def write(self, number: int, outcome: NDArray[np.float32]) -> None:
        """Store the outcome of a chunk atomically."""
        file = self.folder / f"rows-{number:05}.npy"
        partial = file.with_suffix(".partial")
        try:
            with partial.open("wb") as opened:
                np.save(opened, outcome, allow_pickle=False)
            partial.replace(file)
        except OSError as error:
            raise not_written(file, error) from None


def _write(path: Path, data: bytes) -> None:
    partial = path.with_suffix(".partial")
    partial.write_bytes(data)
    partial.replace(path)
