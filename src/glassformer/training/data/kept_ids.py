"""Token ids stored with a run, so that a resumed run does not tokenize its texts again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.training.tokenizers import Encoded, Tokenizer

VERSION = 1  # of the files, and of what is in them
FEWEST_TOKENS, MOST_TOKENS = 200_000, 300_000_000  # in a file: fewer are soon tokenized, more take too much room
LONGEST_HEAD = 10_000
TYPES = {"ids": np.int32, "special": np.int8, "segments": np.int8, "bounds": np.int64, "cut": np.int8, "first": np.int64}


class Kept(NamedTuple):
    """Rows of token ids, one after the other."""

    ids: NDArray[np.int32]
    special: NDArray[np.int8]  # 1: a special token
    segments: NDArray[np.int8]  # empty for single texts
    bounds: NDArray[np.int64]  # where each row begins, and where the last ends
    cut: NDArray[np.int8]  # 1: the text of the row was truncated
    first: NDArray[np.int64]  # the first row of each text, and the number of rows

    @classmethod
    def of(cls, texts: Sequence[Sequence[Encoded]]) -> Kept:
        """Return the rows of texts."""
        rows = [row for text in texts for row in text]
        arrays = {name: _joined([getattr(row, name) for row in rows], TYPES[name]) for name in ("ids", "special", "segments")}
        bounds = np.cumsum([0, *(len(row.ids) for row in rows)])
        cut = np.array([row.cut for row in rows], dtype=np.int8)
        return cls(**arrays, bounds=bounds, cut=cut, first=np.cumsum([0, *map(len, texts)]))

    def texts(self) -> Iterator[list[Encoded]]:
        """Yield the rows of each text."""
        ends, cut, pairs = self.bounds.tolist(), self.cut.tolist(), len(self.segments) > 0
        for start, stop in pairwise(self.first.tolist()):
            yield [
                Encoded(self.ids[a:b], self.special[a:b], [], bool(cut[row]), self.segments[a:b] if pairs else ())  # type: ignore[arg-type]
                for row, (a, b) in enumerate(pairwise(ends[start : stop + 1]), start)
            ]


class KeepingTokenizer(Tokenizer):
    """A tokenizer for the texts of one split, whose results are read from files if they are there, and kept otherwise.

    `about` identifies the texts; a file with another `about` or a wrong checksum is replaced.
    """

    def __init__(self, tokenizer: Tokenizer, file: Path, about: dict[str, Any], *, writes: bool = True) -> None:
        vars(self).update(vars(tokenizer))
        self.plain, self.file, self.about, self.writes, self.calls = tokenizer, file, about, writes, 0

    def rows(self, texts: Iterable[str], max_length: int | None = None) -> Iterator[list[Encoded]]:
        """Encode each text as the windows it takes."""
        return self._kept(lambda: self.plain.rows(texts, max_length), "rows", max_length)

    def encode_all(self, texts: Iterable[str], max_length: int | None = None) -> Iterator[Encoded]:
        """Encode each text with the metadata of its tokens."""
        made = self._kept(lambda: ([one] for one in self.plain.encode_all(texts, max_length)), "all", max_length)
        return (one._replace(ids=np.asarray(one.ids).tolist()) for (one,) in made)

    def encode_pairs(self, pairs: Iterable[Sequence[str]], max_length: int | None = None) -> Iterator[Encoded]:
        """Encode each pair of texts as one row."""
        made = self._kept(lambda: ([one] for one in self.plain.encode_pairs(pairs, max_length)), "pairs", max_length)
        return (one for (one,) in made)

    def _kept(self, make: Callable[[], Iterator[list[Encoded]]], how: str, max_length: int | None) -> Iterator[list[Encoded]]:
        self.calls += 1
        file = self.file.with_name(f"{self.file.name}-{self.calls}.ids")
        about = self.about | {"tokenizer": self.fingerprint, "how": how, "max_length": max_length, "version": VERSION}
        found = read(file, about)
        return self._keeping(make(), file, about) if found is None else found.texts()

    def _keeping(self, made: Iterator[list[Encoded]], file: Path, about: dict[str, Any]) -> Iterator[list[Encoded]]:
        """Yield the items, and store them when all are complete."""
        texts: list[list[Encoded]] | None = [] if self.writes else None
        count = 0
        for text in made:
            count += sum(len(row.ids) for row in text)
            if count > MOST_TOKENS:
                texts = None
            if texts is not None:
                texts.append(text)
            yield text
        if texts is not None and count >= FEWEST_TOKENS:
            Thread(target=keep, args=(file, about, texts), name="glassformer-tokens").start()


def _joined(values: Sequence[Any], kind: Any) -> NDArray[Any]:
    filled = [value for value in values if len(value)]
    return np.concatenate(filled).astype(kind, copy=False) if filled else np.empty(0, dtype=kind)


def keep(file: Path, about: dict[str, Any], texts: Sequence[Sequence[Encoded]]) -> None:
    """Write the rows of texts into a file; if the disk is full they are tokenized again next time."""
    with suppress(OSError):
        write(file, about, Kept.of(texts))


def write(file: Path, about: dict[str, Any], kept: Kept) -> None:
    """Write rows into a file: a line that describes them, then the arrays. It has its name only when it is complete."""
    file.parent.mkdir(exist_ok=True)
    arrays = [np.ascontiguousarray(value) for value in kept]
    head = {"about": about, "sha256": sha256_of(arrays), "sizes": [len(one) for one in arrays]}
    unfinished = file.with_name(f"{file.name}.new")
    try:
        with unfinished.open("wb") as stream:
            stream.write(json.dumps(head).encode() + b"\n")
            for one in arrays:
                stream.write(one.data)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def read(file: Path, about: dict[str, Any]) -> Kept | None:
    """Read rows; None if there is no intact file of exactly these."""
    try:
        with file.open("rb") as stream:
            head = json.loads(stream.readline(LONGEST_HEAD))
            types = [np.dtype(kind) for kind in (TYPES[name] for name in Kept._fields)]
            sizes = [size * kind.itemsize for size, kind in zip(head["sizes"], types, strict=True)]
            if head["about"] != about or stream.tell() + sum(sizes) != file.stat().st_size:
                return None
            arrays = [np.frombuffer(stream.read(size), dtype=kind) for size, kind in zip(sizes, types, strict=True)]
        return Kept(*arrays) if sha256_of(arrays) == head["sha256"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sha256_of(arrays: Sequence[NDArray[Any]]) -> str:
    """Return the sha256 of arrays, one after the other."""
    digest = hashlib.sha256()
    for one in arrays:
        digest.update(one.data)
    return digest.hexdigest()
