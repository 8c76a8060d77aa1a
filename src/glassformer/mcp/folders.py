"""Access control for files: tools may read only below the given folders (links are resolved); none by default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from glassformer.errors import GlassformerError, shown


@dataclass(frozen=True)
class Folders:
    """Readable folders, resolved once. A relative path is looked up in each of them, in order."""

    roots: tuple[Path, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[str | Path]) -> Folders:
        """Resolve folders; an invalid path is an error before the server starts."""
        roots = []
        for path in map(Path, paths):
            if not path.is_dir():
                raise GlassformerError(f"--folder {shown(str(path))} is not a folder: give an existing one, or omit the option.")
            roots.append(path.resolve())
        return cls(tuple(dict.fromkeys(roots)))

    def inside(self, name: str) -> Path:
        """Return the file or folder at a path. All paths outside give the same error, whether they exist or not."""
        for root in self.roots:
            try:
                path = (root / name).resolve(strict=True)
            except (OSError, ValueError, RuntimeError):  # missing, invalid, or a loop of links
                continue
            if any(path.is_relative_to(known) for known in self.roots):
                return path
        if not self.roots:
            raise GlassformerError(
                f"{shown(name)} cannot be read: this server was started without folders. Pass the content or name a preset; or "
                "start the server with 'glassformer mcp --folder PATH'."
            )
        known = ", ".join(shown(str(root)) for root in self.roots)
        raise GlassformerError(f"{shown(name)} is not in the folders of this server ({known}): give a path below one of them.")
