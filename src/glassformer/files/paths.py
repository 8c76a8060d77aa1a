"""Paths in error messages: how they are shown, and the message for a path that does not exist."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from glassformer.errors import GlassformerError, listed, nearest, shown

Kind: TypeAlias = Literal["file", "folder", "file or folder"]
MOST_ENTRIES = 1000  # of a folder that are searched for a similar name
LISTED = 80  # characters of names that are listed if none is similar


def path_text(path: Path) -> str:
    """Return a path for a message; a long one is cut to its end."""
    text = str(path)
    return shown(text if len(text) <= 100 else f"…{text[-99:]}", limit=100)


def is_link(name: str) -> bool:
    """Whether a name is a symbolic link, even a broken one."""
    try:
        return Path(name).is_symlink()
    except (OSError, ValueError):  # not a valid file name
        return False


def no_such(path: Path, kind: Kind = "file", *, wanted: str = "", endings: tuple[str, ...] = ()) -> GlassformerError:
    """Return the error for a path that does not exist: why, similar names, and `wanted`, which says what to give.

    With `endings`, only files with these endings are named.
    """
    try:
        why = _why(path, kind, endings)
    except (OSError, ValueError, RuntimeError) as error:  # an invalid file name, or a folder without read permission
        why = f" {error.strerror}." if isinstance(error, OSError) and error.strerror else ""
    return GlassformerError(f"no such {kind}: {path_text(path)}.{why} {wanted}")


def not_written(path: Path, error: OSError) -> GlassformerError:
    """Return the error for a file that cannot be written: its folder does not exist, or the system's reason."""
    try:
        lost = not path.absolute().parent.is_dir()
    except (OSError, ValueError):
        lost = False
    why = (
        "its folder does not exist. Create it first"
        if lost
        else f"{error.strerror or type(error).__name__}. Choose another place"
    )
    return GlassformerError(f"{path_text(path)} cannot be written: {why}.")


def _why(path: Path, kind: Kind, endings: tuple[str, ...]) -> str:
    if str(path) == "-":
        return " Standard input is not read here: name a file."
    if path.exists():
        return " It is not a regular file: copy its content into one."
    if path.is_symlink():
        return f" It is a broken link to {path_text(path.readlink())}."
    above = path.parent
    if not above.is_dir():
        lost = next((folder for folder in (*reversed(above.parents), above) if not folder.is_dir()), above)
        return f" {path_text(lost)} is a file, not a folder." if lost.exists() else f" There is no folder {path_text(lost)}."
    names = _names(above, kind, endings)
    same_ending = [name for name in names if name.endswith(path.suffix)] if not endings else names
    # Compare without the ending, or every .json would be similar to every other.
    near = nearest(path.name, [name for name in names if nearest(path.stem, [Path(name).stem])])
    names = same_ending or names
    start = "The current folder" if above == Path() else path_text(above)
    what = "folder" if kind == "folder" else "such file" if endings else "file"
    if near:
        return near
    return f" {start} contains {listed(map(shown, names), limit=LISTED)}." if names else f" {start} contains no {what}."


def _names(folder: Path, kind: Kind, endings: tuple[str, ...]) -> list[str]:
    """Return the entries of a folder that could have been meant, without hidden ones."""
    found = []
    for _, entry in zip(range(MOST_ENTRIES), folder.iterdir(), strict=False):
        is_folder = entry.is_dir()
        fits = is_folder if kind == "folder" else (kind != "file" and is_folder) or entry.name.endswith(endings or "")
        if fits and not entry.name.startswith(".") and not (kind == "file" and is_folder):
            found.append(entry.name)
    return sorted(found)
