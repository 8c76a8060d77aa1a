"""Paths in messages: how one is written, and what is said of one that is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from glassformer.spec.errors import GlassformerError, listed, nearest, shown

Kind: TypeAlias = Literal["file", "folder", "file or folder"]
MOST_ENTRIES = 1000  # of a folder, that are looked through for a name like the one that was given
LISTED = 80  # characters of names, where none is like it


def path_text(path: Path) -> str:
    """A path for a message; of a long one, the end."""
    text = str(path)
    return shown(text if len(text) <= 100 else f"…{text[-99:]}", limit=100)


def is_link(name: str) -> bool:
    """Whether a word is the name of a link, wherever that leads."""
    try:
        return Path(name).is_symlink()
    except (OSError, ValueError):  # a name that no file can have
        return False


def no_such(path: Path, kind: Kind = "file", *, wanted: str = "", endings: tuple[str, ...] = ()) -> GlassformerError:
    """What is said of a path where nothing is: why, which name there is like it, and what is `wanted` of such a file.

    With `endings`, only files that end so are named.
    """
    try:
        why = _why(path, kind, endings)
    except (OSError, ValueError, RuntimeError) as error:  # a name that no file can have, a folder that may not be read
        why = f" {error.strerror}." if isinstance(error, OSError) and error.strerror else ""
    return GlassformerError(f"no such {kind}: {path_text(path)}.{why} {wanted}")


def not_written(path: Path, error: OSError) -> GlassformerError:
    """What is said where the disk refused: the folder that is not there, or what the system says of it."""
    try:
        lost = not path.absolute().parent.is_dir()
    except (OSError, ValueError):
        lost = False
    why = "its folder is not there. Make it first" if lost else f"{error.strerror or type(error).__name__}. Choose another place"
    return GlassformerError(f"{path_text(path)} cannot be written: {why}.")


def _why(path: Path, kind: Kind, endings: tuple[str, ...]) -> str:
    if str(path) == "-":
        return " Standard input is not read here: name a file."
    if path.exists():
        return " What is there is no ordinary file: copy what it gives into one."
    if path.is_symlink():
        return f" It is a link to {path_text(path.readlink())}, which leads nowhere."
    above = path.parent
    if not above.is_dir():
        lost = next((folder for folder in (*reversed(above.parents), above) if not folder.is_dir()), above)
        return f" {path_text(lost)} is a file, not a folder." if lost.exists() else f" There is no folder {path_text(lost)}."
    names = _names(above, kind, endings)
    same_ending = [name for name in names if name.endswith(path.suffix)] if not endings else names
    # Without the ending, or every .json would be like every other.
    near = nearest(path.name, [name for name in names if nearest(path.stem, [Path(name).stem])])
    names = same_ending or names
    where = "the current folder" if above == Path() else path_text(above)
    what = "folder" if kind == "folder" else "such file" if endings else "file"
    if near:
        return near
    return f" In {where} there is {listed(map(shown, names), limit=LISTED)}." if names else f" In {where} there is no {what}."


def _names(folder: Path, kind: Kind, endings: tuple[str, ...]) -> list[str]:
    """What lies in a folder and could have been meant; not what is hidden."""
    found = []
    for _, entry in zip(range(MOST_ENTRIES), folder.iterdir(), strict=False):
        is_folder = entry.is_dir()
        fits = is_folder if kind == "folder" else (kind != "file" and is_folder) or entry.name.endswith(endings or "")
        if fits and not entry.name.startswith(".") and not (kind == "file" and is_folder):
            found.append(entry.name)
    return sorted(found)
