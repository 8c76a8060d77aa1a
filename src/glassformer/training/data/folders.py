"""Folders with one subfolder per class: their files and labels; links out of the folder are refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from glassformer.errors import GlassformerError, listed, shown
from glassformer.files.paths import path_text
from glassformer.training.data.columns import Raw
from glassformer.training.data.lines import LONGEST_LINE
from glassformer.training.data.readers import is_table
from glassformer.training.data.row_options import Tally

Kind: TypeAlias = Literal["text", "image"]
TEXT_ENDINGS = {".txt"}
IMAGE_ENDINGS = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"}
MOST_FILES = 5_000_000
PART_NAMES = (
    dict.fromkeys(("train", "training"), "train")
    | dict.fromkeys(("validation", "valid", "val", "dev", "eval", "evaluation"), "validation")
    | dict.fromkeys(("test", "testing"), "test")
)
SHARD = re.compile(r"(.+)-(\d{1,9})-of-(\d{1,9})")  # train-00000-of-00002.parquet, as on the Hugging Face hub
LEFT_BEHIND = ("thumbs.db", "desktop.ini", "__macosx", "__pycache__")  # files left by operating systems


class Member(NamedTuple):
    """A file of a class; `place` is its path inside the folder."""

    path: Path
    place: str
    label: str


def given_parts(folder: Path, tally: Tally) -> dict[str, list[Path]]:
    """Return split -> files or folders (`train.csv`, `test/` …); empty if the folder is not organized by split."""
    found: dict[str, list[Path]] = {}
    others: list[Path] = []
    for entry in _entries(folder):
        stem = entry.name.split(".")[0].lower()
        shard = SHARD.fullmatch(stem)
        part = PART_NAMES.get(shard[1] if shard else stem)
        if part is None or not (entry.is_dir() or is_table(entry)):
            others += [entry] if entry.is_dir() or is_table(entry) else []
        elif part not in found or (shard and SHARD.match(found[part][0].name)):
            found.setdefault(part, []).append(entry)
        else:
            names = f"{found[part][0].name} and {entry.name}"
            raise GlassformerError(f"{path_text(folder)} has two candidates for {part}: {names}. Move one elsewhere.")
    places = [path for paths in found.values() for path in paths]
    if "train" not in found or len({path.is_dir() for path in places}) > 1 or _class_called_train(found, others):
        return {}
    for path in places:
        check_link(path, folder)
    for paths in found.values():
        _check_shards(paths, folder)
    for other in others:
        tally.add("left out: files and folders that are not a split", other.name)
    return found


def _class_called_train(found: dict[str, list[Path]], others: list[Path]) -> bool:
    """Return whether `train` is a class, next to `plane` and `car`: it has sibling folders and no subfolders."""
    (home, *_) = found["train"]
    alone = len(found) == 1 and home.is_dir() and any(other.is_dir() for other in others)
    return alone and not any(entry.is_dir() for entry in _entries(home))


def _check_shards(paths: list[Path], folder: Path) -> None:
    shards = [match for path in paths if (match := SHARD.fullmatch(path.name.split(".")[0]))]
    if shards and len(shards) != int(shards[0][3]):
        raise GlassformerError(
            f"{path_text(folder)} holds {len(shards)} of the {int(shards[0][3])} files of {shown(shards[0][1])}: "
            f"{shown(paths[0].name)} and so on. Add the missing files."
        )


def class_members(folder: Path, tally: Tally) -> tuple[Kind, list[Member]]:
    """Return all text or image files below the class folders, sorted by path, and their kind."""
    classes = [entry for entry in _entries(folder) if entry.is_dir()]
    if not classes:
        raise GlassformerError(
            f"{path_text(folder)} contains no folder: expected one folder per class, with .txt files or images, or "
            f"train.csv (.jsonl, .parquet) and similar files.{_tables_in(folder)}"
        )
    if len(classes) == 1 and (inner := [entry.name for entry in _entries(classes[0]) if entry.is_dir()]):
        raise GlassformerError(
            f"{path_text(folder)} contains one folder with subfolders ({listed(map(shown, inner), limit=60)}): "
            f"give {path_text(classes[0])}."
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
            raise _no_rows(home)
    if len(kinds) == 2:
        raise GlassformerError(
            f"{path_text(folder)} mixes texts ({kinds['text']}) and images ({kinds['image']}): use only one kind."
        )
    return next(iter(kinds)), sorted(members, key=lambda member: member.place)


def _no_rows(home: Path) -> GlassformerError:
    inside = [entry for entry in _entries(home) if entry.is_file()]
    way = f"Texts must be named .txt; the first file is {shown(inside[0].name)}." if inside else "Remove the folder."
    return GlassformerError(f"{path_text(home)} holds no .txt file and no image: a class without rows. {way}{_tables_in(home)}")


def _tables_in(folder: Path) -> str:
    """A hint for a folder that contains tables."""
    tables = [entry.name for entry in _entries(folder) if is_table(entry) and entry.suffix not in TEXT_ENDINGS]
    if not tables:
        return ""
    return f" It holds {listed(map(shown, tables), limit=60)}: name one file, or call them train, validation and test."


def check_link(path: Path, folder: Path) -> None:
    """Refuse a symbolic link out of the folder."""
    if path.is_symlink():
        home, real = Path(os.path.realpath(folder)), Path(os.path.realpath(path))
        if not real.is_relative_to(home):
            place = path.relative_to(folder).as_posix()
            raise GlassformerError(
                f"{shown(place)} is a link out of {path_text(folder)} (to {path_text(real)}). Refused: copy it there."
            )


def read_texts(members: list[Member]) -> Iterator[Raw]:
    """Read the text of each file; of a very large file, only the beginning."""
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
                fault = f"{shown(member.place)}: byte {error.start:,} is not UTF-8. Save it as UTF-8."
                yield Raw(member.place, None, None, fault)
                continue
            text = data[: error.start].decode("utf-8-sig")
        yield Raw(member.place, text, member.label)


def _entries(folder: Path) -> list[Path]:
    """Return the entries of a folder, sorted, without hidden and system files."""
    try:
        return sorted(entry for entry in folder.iterdir() if not _unseen(entry.name))
    except OSError as error:
        raise GlassformerError(f"{path_text(folder)} cannot be read: {error.strerror or error}.") from None


def _unseen(name: str) -> bool:
    return name.startswith(".") or name.lower() in LEFT_BEHIND


def _files_below(home: Path, folder: Path) -> Iterator[Path]:
    """Yield the files below a class folder; links to folders are not followed, so that no file counts twice."""
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
