"""The weights in a model folder: one safetensors file, or several with an index; never a pickle, never a file elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from glassformer.spec.checksums import sums_in
from glassformer.spec.errors import GlassformerError, nearest, shown
from glassformer.spec.files import read_document
from glassformer.spec.look_alikes import NEVER_OPENED, SAFE_TWIN
from glassformer.spec.paths import no_such, path_text
from glassformer.spec.presets import known_as, known_preset
from glassformer.spec.safetensors_header import Entry, read_header

ONE_FILE = "model.safetensors"
RUN, BEST = "run.json", "best"  # what tells a training run, and where its best weights lie
INDEX = "model.safetensors.index.json"
MOST_SHARDS = 1000

# Weights in other forms, by file name or ending, and what to say where there is nothing else.
PICKLE = f"is a pickle file: {NEVER_OPENED}"
OTHER_FORMS = {
    ".bin": PICKLE,
    ".bin.index.json": f"is the index of pickle files, which are never opened. {SAFE_TWIN}",
    ".pt": PICKLE,
    ".pth": PICKLE,
    ".ckpt": PICKLE,
    ".pkl": PICKLE,
    ".h5": f"holds weights for TensorFlow. {SAFE_TWIN}",
    ".msgpack": f"holds weights for Flax. {SAFE_TWIN}",
    ".onnx": f"is a graph for ONNX, not named weights. {SAFE_TWIN}",
    ".gguf": f"holds weights for llama.cpp. {SAFE_TWIN}",
}


class Located(NamedTuple):
    """A tensor: the file that holds it, and where in that file."""

    path: Path
    entry: Entry


class WeightFiles(NamedTuple):
    """All tensors of a model by name, what to call the file in a message, and the checksums that its writer left."""

    label: str
    tensors: dict[str, Located]
    sums: dict[str, str] = {}  # noqa: RUF012  tensor -> sha256 in hexadecimal digits

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape."""
        return {name: located.entry.shape for name, located in self.tensors.items()}


def model_folder(path: Path) -> Path:
    """A folder that is there; of a training run, the one with its best weights."""
    try:
        is_folder, is_run, ended, is_file = path.is_dir(), (path / RUN).is_file(), (path / BEST).is_dir(), path.is_file()
    except (OSError, ValueError):
        is_folder = is_run = ended = is_file = False
    if is_run and not ended:
        way = f"Go on: glassformer resume {path_text(path)}"
        raise GlassformerError(f"{path_text(path)} is a run without {BEST}/: it has not ended. {way}")
    if is_folder:
        return path / BEST if is_run else path
    if is_file:
        raise GlassformerError(f"{path_text(path)} is a file: a model is a folder with config.json and {ONE_FILE}.")
    if known_preset(str(path)) is not None:
        raise GlassformerError(
            f"{path_text(path)} is a preset, and a preset has no weights. Name a folder with config.json and {ONE_FILE}."
        )
    meant = nearest(str(path).lower(), known_as())
    preset = f"{meant} That is a preset, and a preset has no weights." if meant else ""
    raise no_such(path, "folder", wanted=f"A model is a folder with config.json and {ONE_FILE}.{preset}")


def find_weights(folder: Path) -> WeightFiles:
    """The tensors of a model folder, from the checked headers of its files."""
    if (folder / ONE_FILE).is_file() or (folder / ONE_FILE).is_symlink():
        path = inside(folder, ONE_FILE, source="the model folder")
        header = read_header(path)
        tensors = {name: Located(path, entry) for name, entry in header.tensors.items()}
        return WeightFiles(ONE_FILE, tensors, sums_in(header.metadata, tensors, ONE_FILE))
    if (folder / INDEX).is_file() or (folder / INDEX).is_symlink():
        return _from_index(folder)
    names = sorted(entry.name for entry in folder.iterdir())[:10_000]
    for ending, said in OTHER_FORMS.items():
        for name in names:
            if name.endswith(ending):
                raise GlassformerError(f"{shown(name)} {said}")
    others = [name for name in names if name.endswith(".safetensors") and (folder / name).is_file()]
    hint = f" It has {shown(others[0])}: rename it if these are the weights." if others else ""
    raise GlassformerError(f"the folder {path_text(folder)} holds no weights: {ONE_FILE} is wanted.{hint}")


def inside(folder: Path, name: str, *, source: str) -> Path:
    """The file `name` of the folder: a bare name, and a regular file that really lies there."""
    if name in ("", ".", "..") or len(name) > 255 or any(sign in name for sign in '/\\:\0\n\r"'):
        raise GlassformerError(f'{source} names a file outside the model folder ("{shown(name)}"). Refused.')
    try:
        home, real = Path(os.path.realpath(folder)), Path(os.path.realpath(folder / name))
        there, regular = real.exists(), real.is_file()
    except (OSError, ValueError):
        raise GlassformerError(f'{source} names a file that cannot be looked at ("{shown(name)}").') from None
    # The download cache of the hub keeps a model's files, and those one folder down, as links to blobs/ beside snapshots/.
    shots = next((up for up in (home.parent, home.parent.parent) if up.name == "snapshots"), None)
    cached = shots is not None and real.parent == shots.parent / "blobs"
    if real.parent != home and not cached:
        raise GlassformerError(
            f"{shown(name)} is a link out of the model folder (to {path_text(real)}). Refused: copy the file there."
        )
    if not regular:
        what = "is not a regular file" if there else "is not in the model folder"
        raise GlassformerError(f"{shown(name)} {what}: {source} names it.")
    return real


def not_one_tensor(copy: str, name: str) -> GlassformerError:
    """What is said of a tied tensor that stands in a file twice, with other numbers."""
    return GlassformerError(
        f"{shown(copy)} and {shown(name)} hold different numbers, but the model uses one tensor for both. "
        "If they were trained apart, set tie_word_embeddings to false in config.json."
    )


def unknown_dtype(name: str, dtype: str, known: Iterable[str]) -> GlassformerError:
    """What is said of numbers in a format that is not read."""
    return GlassformerError(f"{shown(name)} is stored as {dtype}: weights are read as {', '.join(known)}.")


def _from_index(folder: Path) -> WeightFiles:
    document = read_document(inside(folder, INDEX, source="the model folder"))
    where = document.get("weight_map")
    if not isinstance(where, dict) or not where or not all(isinstance(name, str) for name in where.values()):
        raise GlassformerError(f"{INDEX}: weight_map must be an object from tensor names to file names.")
    shards = sorted(set(where.values()))
    if len(shards) > MOST_SHARDS:
        raise GlassformerError(f"{INDEX} names {len(shards):,} files, and {MOST_SHARDS:,} is the most that is read.")
    tensors: dict[str, Located] = {}
    sums: dict[str, str] = {}
    for shard in shards:
        if not shard.endswith(".safetensors"):
            raise GlassformerError(f'{INDEX} names "{shown(shard)}", which is no .safetensors file. Refused.')
        path = inside(folder, shard, source=INDEX)
        header = read_header(path)
        sums |= sums_in(header.metadata, header.tensors, shard)
        for name, entry in header.tensors.items():
            if name in tensors:
                raise GlassformerError(f"tensor {shown(name)} stands in two files, {tensors[name].path.name} and {shown(shard)}.")
            tensors[name] = Located(path, entry)
    lost = [
        name for name, shard in where.items() if name not in tensors or tensors[name].path != inside(folder, shard, source=INDEX)
    ]
    if lost:
        raise GlassformerError(
            f"{INDEX} says that {shown(where[lost[0]])} holds {shown(lost[0])}, which it does not ({len(lost):,} such)."
        )
    return WeightFiles(INDEX, tensors, sums)
