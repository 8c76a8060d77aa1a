"""Row groups: the unit of work, cut from the inputs in the same places at every run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from glassformer.encoding.jobs.inputs import Input
from glassformer.encoding.jobs.readers import Columns, Row, read
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text

MOST_CHARACTERS = 8_000_000  # of one group, so that long texts do not fill the memory


@dataclass(frozen=True)
class Group:
    """Consecutive rows of one file. Row numbers count from 1."""

    name: str  # of its shard
    file: str
    first: int
    rows: list[Row]
    carried: tuple[str, ...] = ()
    types: dict[str, Any] = field(default_factory=dict)

    @property
    def good(self) -> list[int]:
        """The places of the rows that have a text."""
        return [place for place, row in enumerate(self.rows) if row.fault is None]

    @property
    def texts(self) -> list[str]:
        """The texts of the good rows."""
        return [row.text or "" for row in self.rows if row.fault is None]

    def sha256(self) -> str:
        """Return a checksum of the shard's input."""
        texts, beside, faults = zip(*self.rows, strict=True)
        lengths = [None if text is None else len(text) for text in texts]
        about = self.file, self.first, self.carried, sorted(self.types.items()), lengths, beside, faults
        digest = hashlib.sha256(repr(about).encode())
        digest.update("".join(filter(None, texts)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


@dataclass
class Position:
    """How much of the inputs has been read, in stored bytes."""

    done: int = 0
    total: int = 0
    rows: list[int] = field(default_factory=list)  # of each file that was read to its end


def groups_of(inputs: Sequence[Input], columns: Columns, size: int, position: Position, start: int = 0) -> Iterator[Group]:
    """Yield the row groups of all inputs; a group never spans two files, so a changed file does not affect the others.

    `start` is the number of the first input among those of the job.
    """
    position.total = sum(one.state()[0] for one in inputs)
    for number, one in enumerate(inputs, start):
        before, finished = one.state(), position.done
        with one.opened() as (plain, stored):

            def told(stored: Any = stored, finished: int = finished) -> None:
                position.done = finished + (stored.tell() if not stored.closed else 0)

            count = yield from _of_file(one, number, columns, size, (plain, told))
        if before != one.state():
            raise GlassformerError(f"{path_text(one.path)} changed while it was read. Run the same command again.")
        position.rows.append(count)
        position.done = finished + before[0]


def _of_file(
    one: Input, number: int, columns: Columns, size: int, source: tuple[Any, Callable[[], None]]
) -> Generator[Group, None, int]:
    plain, told = source
    reader = read(one, columns, plain)
    some: list[Row] = []
    first, characters, part = 1, 0, 0

    def made() -> Group:
        return Group(f"{number:05d}-{part:06d}", one.name, first, some, reader.carried, reader.types)

    for row in reader.rows:
        some.append(row)
        characters += len(row.text or "")
        if len(some) >= size or characters >= MOST_CHARACTERS:
            told()
            yield made()
            first, some, characters, part = first + len(some), [], 0, part + 1
    if some:
        told()
        yield made()
    return first + len(some) - 1
