"""The values of some steps for any number of texts, in memory or streamed to a folder, without padding."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json_object, read_text
from glassformer.files.texts import Text
from glassformer.insight.hooks import checked_names, tapped
from glassformer.model.fast.inference import evaluating, every_module
from glassformer.model.fast.packing import passes
from glassformer.program import build

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

Array = NDArray[np.float32]
ALONG = ("t", "s")  # axes that count the tokens of a text: cut to its own
INDEX = "cache.json"
LARGEST_INDEX = 2**30


class Store(Protocol):
    """Storage for the arrays of one step, in order of arrival."""

    def put(self, name: str, value: Array) -> int: ...
    def get(self, name: str, place: int, shape: tuple[int, ...]) -> Array: ...


class InMemory:
    """Arrays in lists."""

    def __init__(self) -> None:
        self.arrays: dict[str, list[Array]] = {}

    def put(self, name: str, value: Array) -> int:
        self.arrays.setdefault(name, []).append(value)
        return len(self.arrays[name]) - 1

    def get(self, name: str, place: int, shape: tuple[int, ...]) -> Array:
        return self.arrays[name][place].reshape(shape)


class OnDisk:
    """One file of float32 numbers for each step."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ends = folder, dict[str, int]()

    def put(self, name: str, value: Array) -> int:
        start = self.ends.get(name, 0)
        with (self.folder / f"{name}.f32").open("ab") as file:
            file.write(np.ascontiguousarray(value).tobytes())
        self.ends[name] = start + value.size
        return start

    def get(self, name: str, place: int, shape: tuple[int, ...]) -> Array:
        size = int(np.prod(shape))
        found: Array = np.fromfile(self.folder / f"{name}.f32", np.float32, count=size, offset=4 * place)
        if found.size != size:
            raise GlassformerError(f"{self.folder.name}/{name}.f32 ends too early: the file is damaged.")
        return found.reshape(shape)


class Kept(NamedTuple):
    """The location of one value."""

    place: int
    shape: tuple[int, ...]


class Cache:
    """Steps by name: `cache["layers.3.out"]` is a list of arrays, one for each text; `cache.text(7)` are all steps of one."""

    def __init__(self, names: list[str], store: Store, kept: dict[int, dict[str, Kept]], tokens: dict[int, list[str]]) -> None:
        self.names, self._store, self._kept, self._tokens = names, store, kept, tokens

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return f"<Cache of {len(self.names)} steps of {len(self):,} texts>"

    def __getitem__(self, name: str) -> list[Array]:
        return list(self.stream(name))

    def stream(self, name: str) -> Iterator[Array]:
        """Yield the arrays one by one, each read on access."""
        if name not in self.names:
            raise GlassformerError(f"this cache has no step '{shown(name)}'. Steps: {', '.join(self.names)}.")
        for number in sorted(self._kept):
            yield self._store.get(name, *self._kept[number][name])

    def text(self, number: int) -> dict[str, Array]:
        """All steps of one text, by its number in the input."""
        if number not in self._kept:
            raise GlassformerError(f"there is no text {shown(number)} in this cache of {len(self):,} texts.")
        return {name: self._store.get(name, *kept) for name, kept in self._kept[number].items()}

    def tokens(self, number: int) -> list[str]:
        """The tokens of one text."""
        return self._tokens[number]


def cache(
    model: LoadedModel, texts: Iterable[Text], names: Iterable[str], *, out: str | Path | None = None, **options: Any
) -> Cache:
    """Run texts through the model and keep these steps; with `out`, in a new folder that appears when it is complete."""
    wanted = checked_names(model.spec, names)
    if out is None:
        store = InMemory()
        return Cache(wanted, store, *_filled(model, texts, wanted, store, options))
    with _new_folder(Path(out)) as folder:
        on_disk = OnDisk(folder)
        kept, tokens = _filled(model, texts, wanted, on_disk, options)
        rows = [{"text": n, "tokens": tokens[n], "values": [kept[n][name] for name in wanted]} for n in sorted(kept)]
        (folder / INDEX).write_text(json.dumps({"names": wanted, "texts": rows}), encoding="utf-8")
    return open_cache(out)


def open_cache(folder: str | Path) -> Cache:
    """Open a folder that `cache` wrote."""
    path = Path(folder)
    document = parse_json_object(read_text(path / INDEX, most_bytes=LARGEST_INDEX), INDEX)
    try:
        names = [str(name) for name in document["names"]]
        rows = {int(row["text"]): row for row in document["texts"]}
        tokens = {number: [str(token) for token in row["tokens"]] for number, row in rows.items()}
        kept = {number: dict(zip(names, map(_kept, row["values"]), strict=True)) for number, row in rows.items()}
    except (KeyError, TypeError, ValueError):
        raise GlassformerError(f"{shown(path.name)}/{INDEX} is not a valid index of a cache: the file is damaged.") from None
    if not all(re.fullmatch(r"[\w.]+", name) for name in names):
        raise GlassformerError(f"{shown(path.name)}/{INDEX} contains an invalid step name: the file is damaged.")
    return Cache(names, OnDisk(path), kept, tokens)


def _kept(value: Any) -> Kept:
    place, shape = value
    sizes = tuple(int(size) for size in shape)
    if int(place) < 0 or min(sizes, default=0) < 0:
        raise ValueError("negative")
    return Kept(int(place), sizes)


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """A folder that is renamed at the end; the rest of an interrupted one is replaced."""
    if path.exists():
        raise GlassformerError(f"{shown(path.name)} exists: choose another folder, or remove it.")
    partial = path.with_name(f"{path.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    for file in partial.iterdir():
        file.unlink()
    yield partial
    partial.rename(path)


@torch.inference_mode()
def _filled(
    model: LoadedModel, texts: Iterable[Text], names: list[str], store: Store, options: dict[str, Any]
) -> tuple[dict[int, dict[str, Kept]], dict[int, list[str]]]:
    seen: dict[str, Tensor] = {}
    encoder = tapped(model.encoder, {name: partial(seen.__setitem__, name) for name in names})
    program = build(model.spec, t=None if model.spec.one_length else 1, padded=not model.spec.one_length)
    axes = {name: [axis.name for axis in program.tensors[name].axes] for name in names}
    kept: dict[int, dict[str, Kept]] = {}
    tokens: dict[int, list[str]] = {}
    for window in model._windows(texts, options, letters=True):
        lengths = [len(ids) for ids in window.ids]
        tokens |= dict(zip(window.numbers, window.tokens, strict=True))
        with evaluating(every_module(encoder)):
            for members, _, _ in passes(encoder, window.ids, window.segments):
                for row, member in enumerate(members):
                    values = {name: _of_text(seen[name], axes[name], row, lengths[member]) for name in seen}
                    places = {name: Kept(store.put(name, value), value.shape) for name, value in values.items()}
                    kept[window.numbers[member]] = places
                seen.clear()
    return kept, tokens


def _of_text(value: Tensor, axes: list[str], row: int, length: int) -> Array:
    """The part of one text: its row, and its tokens without padding."""
    if axes[0] == "batch":
        value, axes = value[row], axes[1:]
    for place, axis in enumerate(axes):
        if axis in ALONG and value.shape[place] > 1:
            value = value.narrow(place, 0, min(length, value.shape[place]))
    return value.float().cpu().numpy()
