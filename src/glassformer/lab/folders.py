"""Files only below the folders that were named at the start; a link that leads out of them leads nowhere."""

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
        """The file or folder that a name means, where the lab may read it; any other name gets one and the same answer."""
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
