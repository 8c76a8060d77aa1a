"""Restrict file access to the folders given at startup; links that lead outside them are refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from glassformer.errors import GlassformerError, shown


@dataclass(frozen=True)
class Folders:
    """The folders that the lab may read, resolved once."""

    roots: tuple[Path, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Folders:
        return cls(tuple(dict.fromkeys(path.resolve() for path in paths)))

    def inside(self, name: str) -> Path:
        """Return the file or folder with this name if the lab may read it; every other name gets the same error."""
        try:
            path = Path(name).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):  # not there, no name that a file can have, a loop of links
            path = None
        if path is None or not any(path.is_relative_to(root) for root in self.roots):
            known = ", ".join(shown(str(root)) for root in self.roots) or "none"
            raise GlassformerError(
                f"{shown(name)} is not in the folders that the lab was started with ({known}): "
                "start it with 'glassformer lab FOLDER'."
            )
        return path
