"""The files that tools may read: those below the folders named at the start, links followed; none by default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from glassformer.spec import GlassformerError, shown


@dataclass(frozen=True)
class Folders:
    """Readable folders, resolved once. A relative path is looked up in each of them, in order."""

    roots: tuple[Path, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[str | Path]) -> Folders:
        """The folders with these paths; one that is not a folder is refused before the server starts."""
        roots = []
        for path in map(Path, paths):
            if not path.is_dir():
                raise GlassformerError(f"--folder {shown(str(path))} is not a folder: name one that exists, or leave it out.")
            roots.append(path.resolve())
        return cls(tuple(dict.fromkeys(roots)))

    def inside(self, name: str) -> Path:
        """The file or folder that a path names. Every path outside gets the same answer, whether something is there or not."""
        for root in self.roots:
            try:
                path = (root / name).resolve(strict=True)
            except (OSError, ValueError, RuntimeError):  # missing, not a possible name, a loop of links
                continue
            if any(path.is_relative_to(known) for known in self.roots):
                return path
        if not self.roots:
            raise GlassformerError(
                f"{shown(name)} cannot be read: this server was started without folders. Pass the content itself or name a "
                "preset; or start it with 'glassformer mcp --folder PATH'."
            )
        known = ", ".join(shown(str(root)) for root in self.roots)
        raise GlassformerError(f"{shown(name)} is not in the folders of this server ({known}): give a path below one of them.")
