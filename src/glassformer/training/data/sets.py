"""The built-in datasets: real, small, offline, with fixed splits, each with a README and LICENSE."""

from __future__ import annotations

import bz2
import gzip
import json
import re
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from glassformer.training.data.dataset import PARTS, Dataset, Provenance, Split, TaskName
from glassformer.training.data.images import Pictures

HOME = Path(__file__).parents[1] / "sets"


@dataclass(frozen=True)
class BuiltIn:
    """Metadata of a built-in dataset that its files lack: the task, and the test accuracy of a linear model in percent."""

    task: TaskName
    labels: tuple[str, ...] = ()  # for images: in labels.json
    to_beat: float | None = None
    white: int = 255  # the brightest pixel
    folder: str = ""  # the name of the dataset by default
    prefix: str = ""  # of its file names
    languages: tuple[str, str] | None = None  # the fields with a text and its translation

    @property
    def measure(self) -> str:
        """The unit of `to_beat`."""
        return {"tag": "tokens", "mlm": "", "translate": ""}.get(self.task, "rows")


TOPICS = ("arts", "geography", "life_science", "physical_science", "society")

SETS: dict[str, BuiltIn] = {
    "digits": BuiltIn("image", to_beat=97.0, white=16),
    "fashion-mnist-small": BuiltIn("image", to_beat=83.5),
    "topic": BuiltIn("classify", TOPICS, 94.4),
    "topic-fr": BuiltIn("classify", TOPICS, 93.6),
    "sentiment": BuiltIn("classify", ("negative", "positive"), 82.4),
    "lid": BuiltIn("classify", ("en", "hi"), 100.0),
    "lid4": BuiltIn("classify", ("en", "es", "fr", "hi"), 99.8),
    "lid-words": BuiltIn("tag", ("en", "hi", "other"), 100.0),
    "lid-words-romanised": BuiltIn("tag", ("en", "hi", "other"), 98.9, folder="lid-words", prefix="romanised_"),
    "mlm": BuiltIn("mlm"),
    "translation-en-fr": BuiltIn("translate", languages=("en", "fr")),
    "translation-en-hi": BuiltIn("translate", languages=("en", "hi")),
}


class StoredFile(NamedTuple):
    """A row of the file table in a README."""

    name: str
    rows: int
    sha256: str  # the first 16 digits


@dataclass(frozen=True)
class Card:
    """The content of a README: title, source, licence, baseline and files."""

    title: str
    provenance: Provenance
    files: tuple[StoredFile, ...]

    def rows(self, name: str) -> dict[str, int]:
        """Return the rows of each split, the three standard ones first."""
        counted = {_part(file.name, SETS[name].prefix): file.rows for file in self.files if _belongs(file.name, name)}
        return {part: counted[part] for part in (*PARTS, *sorted(counted.keys() - set(PARTS)))}


def folder(name: str) -> Path:
    """Return the folder of a built-in dataset."""
    return HOME / (SETS[name].folder or name)


@lru_cache
def card(name: str) -> Card:
    """Read the README of a dataset."""
    text = (folder(name) / "README.md").read_text(encoding="utf-8")

    def said(word: str) -> str:
        found = re.search(rf"^{word}: (.*?)(?:; text in LICENSE)?\.?$", text, flags=re.MULTILINE)
        assert found is not None, f"{name}/README.md has no line '{word}: …'"
        return found[1]

    table = re.findall(r"^\| (\S+) \| (\d+) \| \d+ \| ([0-9a-f]{16}) \|", text, flags=re.MULTILINE)
    return Card(
        title=text.partition("\n")[0].partition(": ")[2],
        provenance=Provenance(said("Source"), said("Licence"), said("Baseline")),
        files=tuple(StoredFile(file, int(rows), digits) for file, rows, digits in table),
    )


def load_set(name: str) -> Dataset:
    """Load a built-in dataset; each split is read from its file on first access."""
    built_in, parts = SETS[name], card(name).rows(name)
    stored = {_part(file.name, built_in.prefix): file.name for file in card(name).files if _belongs(file.name, name)}

    def reading(part: str) -> Split:
        path = folder(name) / stored[part]
        return _images(path, part, built_in) if built_in.task == "image" else _texts(path, part, built_in)

    return Dataset(name, built_in.task, labels(name), {part: partial(reading, part) for part in parts}, card(name).provenance)


def labels(name: str) -> tuple[str, ...]:
    """Return the label names of a dataset, in the order of their numbers."""
    if SETS[name].task != "image":
        return SETS[name].labels
    return tuple(json.loads((folder(name) / "labels.json").read_text(encoding="utf-8")))


def _images(path: Path, part: str, built_in: BuiltIn) -> Split:
    with np.load(path, allow_pickle=False) as stored:
        pixels, numbers = stored["image"][:, None], stored["label"].astype(np.int64)
    return Split(part, "image", Pictures(pixels.shape[1:], built_in.white, pixels), numbers)


def _texts(path: Path, part: str, built_in: BuiltIn) -> Split:
    unpack = bz2.decompress if path.suffix == ".bz2" else gzip.decompress
    rows = [json.loads(line) for line in unpack(path.read_bytes()).splitlines()]
    number = {label: place for place, label in enumerate(built_in.labels)}
    if built_in.task == "tag":
        words, tags = [tuple(row["tokens"]) for row in rows], [tuple(number[tag] for tag in row["tags"]) for row in rows]
        return Split(part, "tag", words, tags)
    if built_in.languages is not None:
        sources, targets = ([row[language] for row in rows] for language in built_in.languages)
        return Split(part, "translate", sources, targets)
    texts = [row["text"] for row in rows]
    if built_in.task == "mlm":
        return Split(part, "mlm", texts, None)
    return Split(part, "classify", texts, np.array([number[row["label"]] for row in rows], dtype=np.int64))  # type: ignore[arg-type]


def _belongs(file: str, name: str) -> bool:
    """Return whether a file belongs to this dataset and not to another in the same folder."""
    others = [other.prefix for known, other in SETS.items() if known != name and other.prefix and folder(known) == folder(name)]
    return file.startswith(SETS[name].prefix) and not any(file.startswith(prefix) for prefix in others)


def _part(file: str, prefix: str) -> str:
    return file.removeprefix(prefix).partition(".")[0]
