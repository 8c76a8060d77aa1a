"""Weights that are read from their files on access, as float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from glassformer.checkpoints.matching import Match
from glassformer.errors import GlassformerError, shown
from glassformer.files.checksums import check_sums
from glassformer.files.layout import Place, from_file, part_of
from glassformer.files.weight_files import Located, WeightFiles, not_one_tensor, unknown_dtype
from glassformer.program.axes import Array, Floats

# The NumPy type of each stored type; bfloat16, which NumPy lacks, is the upper half of a float32.
DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}


class Wanted(NamedTuple):
    """A parameter of the program: its shape, its place in the files, and the places of equal copies."""

    shape: tuple[int, ...]
    place: Place
    copies: tuple[Place, ...] = ()


class StoredWeights(Mapping[str, Array]):
    """Parameter name -> float64 array, read on access and shared while in use, so that it is never in memory twice."""

    def __init__(
        self,
        files: WeightFiles,
        match: Match,
        shapes: Mapping[str, tuple[int, ...]],
        *,
        allow_nonfinite: bool = False,
        constants: Mapping[str, Place] | None = None,
    ) -> None:
        self.files = files
        self.allow_nonfinite = allow_nonfinite
        self.wanted = {name: Wanted(shapes[name], place, match.copies.get(name, ())) for name, place in match.found.items()}
        self.computed = [name for name in shapes if name not in self.wanted]  # positions that files may leave out
        self.shapes = shapes
        constants = constants or {}  # stored, but not parameters
        self.wanted |= {name: Wanted((place.shape[-1],), place) for name, place in constants.items()}
        self._held: WeakValueDictionary[str, Array] = WeakValueDictionary()

    def __getitem__(self, name: str) -> Array:
        value = self._held.get(name)
        if value is None:
            value = split_sinusoids(*self.shapes[name]) if name in self.computed else self._read(self.wanted[name])
            value.setflags(write=False)
            self._held[name] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def __contains__(self, name: object) -> bool:
        return name in self.shapes

    def __repr__(self) -> str:
        return f"<{len(self)} weights in {self.files.label}>"

    def _read(self, wanted: Wanted) -> Array:
        check_sums(self.files, [wanted.place.name])
        part = read_tensor(self.files.tensors[wanted.place.name], wanted.place)
        if not self.allow_nonfinite:
            refuse_nonfinite(part, wanted.place)
        for copy in wanted.copies:
            other = read_tensor(self.files.tensors[copy.name], copy)
            if not np.array_equal(part, other, equal_nan=True):
                raise not_one_tensor(copy.name, wanted.place.name)
        return from_file(part, wanted.place, wanted.shape)


def read_tensor(located: Located, place: Place) -> Floats:
    """Read the part of a tensor given by a place, as float64; consecutive rows are read alone."""
    path, entry = located
    dtype = DTYPES.get(entry.dtype)
    if dtype is None:
        raise unknown_dtype(place.name, entry.dtype, DTYPES)
    runs, length = place.runs
    first = runs[0] if len(runs) == 1 else 0
    count = length if len(runs) == 1 else int(np.prod(place.shape, dtype=object))
    try:
        with path.open("rb") as file:
            raw = np.fromfile(file, dtype=dtype, count=count, offset=entry.start + first * dtype.itemsize)
    except OSError as error:
        raise GlassformerError(f"{shown(path.name)} cannot be read: {error.strerror or type(error).__name__}.") from None
    if raw.size != count:
        raise GlassformerError(f"{shown(path.name)} became shorter while it was open: {shown(place.name)} is incomplete.")
    if entry.dtype == "BF16":
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    if len(runs) != 1:
        raw = part_of(raw.reshape(place.shape), place)
    return raw.astype(np.float64).reshape(place.part_shape)


def refuse_nonfinite(part: Floats, place: Place) -> None:
    """Refuse NaN and infinity; the message names the first one and how many there are."""
    # Fast test first: the sum is finite unless a term is not, or the sum overflows, in which case the exact test below decides.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(part.sum()):
            return
    wrong = np.argwhere(~np.isfinite(part))
    if len(wrong):
        index = place.stored_index([int(i) for i in wrong[0]])
        value = {"nan": "NaN", "inf": "∞", "-inf": "−∞"}[str(float(part[tuple(wrong[0])]))]
        raise GlassformerError(
            f"{shown(place.name, limit=100)}[{', '.join(map(str, index))}] is {value} ({len(wrong):,} of {part.size:,} values "
            "are not finite). allow_nonfinite=True reads them anyway."
        )


def split_sinusoids(rows: int, width: int) -> Floats:
    """Return the fixed position table of Marian and Pegasus: sines in the first half of the features, cosines in the second."""
    features = np.arange(0, width, 2)
    angles = np.arange(rows)[:, None] / 10000.0 ** (features / width)
    return np.concatenate([np.sin(angles), np.cos(angles[:, : width - len(features)])], axis=1)
