"""The weights in a model folder: one safetensors file, or several with an index; never a pickle or a file outside it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.files.look_alikes import NEVER_OPENED, USE_SAFETENSORS
from glassformer.files.paths import path_text
from glassformer.files.safetensors_header import Entry, read_header, sums_in

ONE_FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"
MOST_SHARDS = 1000

# Other formats of weights, by file name or ending, and the message if a folder has no safetensors file.
PICKLE = f"is a pickle file: {NEVER_OPENED}"
OTHER_FORMS = {
    ".bin": PICKLE,
    ".bin.index.json": f"is the index of pickle files, which are never opened. {USE_SAFETENSORS}",
    ".pt": PICKLE,
    ".pth": PICKLE,
    ".ckpt": PICKLE,
    ".pkl": PICKLE,
    ".h5": f"holds weights for TensorFlow. {USE_SAFETENSORS}",
    ".msgpack": f"holds weights for Flax. {USE_SAFETENSORS}",
    ".onnx": f"is an ONNX graph, not named weights. {USE_SAFETENSORS}",
    ".gguf": f"holds weights for llama.cpp. {USE_SAFETENSORS}",
}


class Located(NamedTuple):
    """A tensor: its file, and its entry in that file."""

    path: Path
    entry: Entry


class WeightFiles(NamedTuple):
    """All tensors of a model by name, the name of the file for messages, and the stored checksums."""

    label: str
    tensors: dict[str, Located]
    sums: dict[str, str] = {}  # noqa: RUF012  tensor -> sha256 in hexadecimal digits

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape."""
        return {name: located.entry.shape for name, located in self.tensors.items()}


def find_weights(folder: Path) -> WeightFiles:
    """Find the tensors of a model folder in the headers of its files."""
    if (folder / ONE_FILE).is_file() or (folder / ONE_FILE).is_symlink():
        path = inside(folder, ONE_FILE, source="the model folder")
        header = read_header(path)
        tensors = {name: Located(path, entry) for name, entry in header.tensors.items()}
        return WeightFiles(ONE_FILE, tensors, sums_in(header.metadata, tensors, ONE_FILE))
    if (folder / INDEX).is_file() or (folder / INDEX).is_symlink():
        return _from_index(folder)
    names = sorted(entry.name for entry in folder.iterdir())[:10_000]
    for ending, message in OTHER_FORMS.items():
        for name in names:
            if name.endswith(ending):
                raise GlassformerError(f"{shown(name)} {message}")
    others = [name for name in names if name.endswith(".safetensors") and (folder / name).is_file()]
    hint = f" It has {shown(others[0])}: rename it if these are the weights." if others else ""
    raise GlassformerError(f"the folder {path_text(folder)} contains no weights: {ONE_FILE} is missing.{hint}")


def inside(folder: Path, name: str, *, source: str) -> Path:
    """Return the path of the file `name` in the folder; refuse names with a path, and links to files outside it."""
    if name in ("", ".", "..") or len(name) > 255 or any(sign in name for sign in '/\\:\0\n\r"'):
        raise GlassformerError(f'{source} names a file outside the model folder ("{shown(name)}"). Refused.')
    try:
        home, real = Path(os.path.realpath(folder)), Path(os.path.realpath(folder / name))
        there, regular = real.exists(), real.is_file()
    except (OSError, ValueError):
        raise GlassformerError(f'{source} names a file that cannot be accessed ("{shown(name)}").') from None
    # The download cache of the hub stores files (also those one folder down) as links to blobs/, next to snapshots/.
    shots = next((up for up in (home.parent, home.parent.parent) if up.name == "snapshots"), None)
    cached = shots is not None and real.parent == shots.parent / "blobs"
    if real.parent != home and not cached:
        raise GlassformerError(
            f"{shown(name)} is a link to a file outside the model folder ({path_text(real)}). Refused: copy it into the folder."
        )
    if not regular:
        what = "is not a regular file" if there else "is not in the model folder"
        raise GlassformerError(f"{shown(name)} {what}: {source} names it.")
    return real


def not_one_tensor(copy: str, name: str) -> GlassformerError:
    """Return the error for a tied tensor that is stored twice with different numbers."""
    return GlassformerError(
        f"{shown(copy)} and {shown(name)} have different values, but the model uses one tensor for both. "
        "If they were trained separately, set tie_word_embeddings to false in config.json."
    )


def unknown_dtype(name: str, dtype: str, known: Iterable[str]) -> GlassformerError:
    """Return the error for a number format that is not supported."""
    return GlassformerError(f"{shown(name)} is stored as {dtype}, which is not supported: {', '.join(known)} are.")


def _from_index(folder: Path) -> WeightFiles:
    document = read_document(inside(folder, INDEX, source="the model folder"))
    where = document.get("weight_map")
    if not isinstance(where, dict) or not where or not all(isinstance(name, str) for name in where.values()):
        raise GlassformerError(f"{INDEX}: weight_map must map tensor names to file names.")
    shards = sorted(set(where.values()))
    if len(shards) > MOST_SHARDS:
        raise GlassformerError(f"{INDEX} names {len(shards):,} files; at most {MOST_SHARDS:,} are allowed.")
    tensors: dict[str, Located] = {}
    sums: dict[str, str] = {}
    for shard in shards:
        if not shard.endswith(".safetensors"):
            raise GlassformerError(f'{INDEX} names "{shown(shard)}", which is not a .safetensors file. Refused.')
        path = inside(folder, shard, source=INDEX)
        header = read_header(path)
        sums |= sums_in(header.metadata, header.tensors, shard)
        for name, entry in header.tensors.items():
            if name in tensors:
                raise GlassformerError(f"tensor {shown(name)} is in two files, {tensors[name].path.name} and {shown(shard)}.")
            tensors[name] = Located(path, entry)
    lost = [
        name for name, shard in where.items() if name not in tensors or tensors[name].path != inside(folder, shard, source=INDEX)
    ]
    if lost:
        raise GlassformerError(
            f"{INDEX} names {shown(where[lost[0]])} as the file of {shown(lost[0])}, which is not in it ({len(lost):,} such)."
        )
    return WeightFiles(INDEX, tensors, sums)
