"""A folder with a folder a class: which files belong to which class; a link that leaves the folder is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from glassformer.spec import GlassformerError, shown
from glassformer.spec.weight_files import path_text
from glassformer.training.data.asked import Tally
from glassformer.training.data.lines import LONGEST_LINE
from glassformer.training.data.readers import READERS, Raw

Kind: TypeAlias = Literal["text", "image"]
TEXT_ENDINGS = {".txt"}
IMAGE_ENDINGS = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"}
MOST_FILES = 5_000_000
PART_NAMES = dict.fromkeys(("validation", "valid", "val", "dev"), "validation") | {"train": "train", "test": "test"}


class Member(NamedTuple):
    """A file of a class; `place` is its path inside the folder."""

    path: Path
    place: str
    label: str


def given_parts(folder: Path) -> dict[str, Path]:
    """`train.csv`, `test.csv` or `train/`, `test/` of a folder, by the part's name; empty where it is not laid out so."""
    found: dict[str, Path] = {}
    for entry in _entries(folder):
        stem = entry.name.split(".")[0].lower()
        table = entry.is_file() and (Path(entry.name).suffix == ".gz" or Path(entry.name).suffix.lower() in READERS)
        if stem in PART_NAMES and (entry.is_dir() or table):
            part = PART_NAMES[stem]
            if part in found:
                raise GlassformerError(f"{path_text(folder)} has two candidates for {part}: {found[part].name} and {entry.name}.")
            found[part] = entry
    if "train" not in found or len({path.is_dir() for path in found.values()}) > 1:
        return {}
    for path in found.values():
        check_link(path, folder)
    return found


def class_members(folder: Path, tally: Tally) -> tuple[Kind, list[Member]]:
    """Every text or image file below the class folders, sorted by path, and which of the two they are."""
    classes = [entry for entry in _entries(folder) if entry.is_dir()]
    if not classes:
        raise GlassformerError(
            f"{path_text(folder)} holds no folder: a folder a class is wanted, with .txt files or images in it, or "
            "train.csv (.jsonl, .parquet) and its like."
        )
    members: list[Member] = []
    kinds: dict[Kind, str] = {}
    for home in classes:
        before = len(members)
        for path in _files_below(home, folder):
            place = path.relative_to(folder).as_posix()
            kind = _kind(path)
            if kind is None:
                tally.add("left out: files that are neither .txt nor an image", place)
                continue
            kinds.setdefault(kind, place)
            members.append(Member(path, place, home.name))
            if len(members) > MOST_FILES:
                raise GlassformerError(f"{path_text(folder)} holds more than {MOST_FILES:,} files.")
        if len(members) == before:
            raise GlassformerError(f"{path_text(home)} holds no .txt file and no image: a class without rows. Remove the folder.")
    if len(kinds) == 2:
        raise GlassformerError(
            f"{path_text(folder)} mixes texts ({kinds['text']}) and images ({kinds['image']}): one of the two."
        )
    return next(iter(kinds)), sorted(members, key=lambda member: member.place)


def check_link(path: Path, folder: Path) -> None:
    """Refuse a link out of the folder."""
    if path.is_symlink():
        home, real = Path(os.path.realpath(folder)), Path(os.path.realpath(path))
        if not real.is_relative_to(home):
            place = path.relative_to(folder).as_posix()
            raise GlassformerError(
                f"{shown(place)} is a link out of {path_text(folder)} (to {path_text(real)}). Refused: copy it there."
            )


def read_texts(members: list[Member]) -> Iterator[Raw]:
    """The text of each file; of a file too large for memory, its beginning (which is longer than a text may be)."""
    for member in members:
        try:
            with member.path.open("rb") as file:
                data = file.read(LONGEST_LINE)
        except OSError as error:
            raise GlassformerError(f"{shown(member.place)} cannot be read: {error.strerror or error}.") from None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if len(data) < LONGEST_LINE or error.start < LONGEST_LINE - 4:
                raise GlassformerError(f"{shown(member.place)}: byte {error.start:,} is not UTF-8. Save it as UTF-8.") from None
            text = data[: error.start].decode("utf-8-sig")
        yield Raw(member.place, text, member.label)


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder, sorted; hidden files and what other systems leave behind are not seen."""
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith((".", "__MACOSX")))
    except OSError as error:
        raise GlassformerError(f"{path_text(folder)} cannot be read: {error.strerror or error}.") from None


def _files_below(home: Path, folder: Path) -> Iterator[Path]:
    """The files below a class folder; a link to a folder inside is not followed, so that no file counts twice."""
    check_link(home, folder)
    for entry in _entries(home):
        check_link(entry, folder)
        if entry.is_file():
            yield entry
        elif entry.is_dir() and not entry.is_symlink():
            yield from _files_below(entry, folder)


def _kind(path: Path) -> Kind | None:
    ending = path.suffix.lower()
    return "text" if ending in TEXT_ENDINGS else "image" if ending in IMAGE_ENDINGS else None
