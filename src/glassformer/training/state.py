"""The state of a run on disk: tensors and JSON, written atomically and verified before use.

    step-000120.tmp-4711/   every file written and fsynced, MANIFEST.json with their sha256 last
    step-000120/            renamed when everything is on disk

The newest folder with a valid manifest is the state; leftovers of killed processes are removed at the next start. One process
writes its tensors to one file, several write one file each (distributed/shards.py); any number of processes can read both.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from_bytes
from torch import Tensor

from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text
from glassformer.model.boundary.start import in_words
from glassformer.model.checkpoints.folders import sync
from glassformer.training.pieces import Damaged, Piece, plans, together
from glassformer.training.tensor_bytes import Bytes, safetensors_bytes

FORMAT = 2  # 1: one file of tensors; 2: one file per process
TENSORS, NOTES, MANIFEST = "state.safetensors", "state.json", "MANIFEST.json"
FILES = re.compile(r"state\.(?:safetensors|json)|shard-\d{5,9}\.safetensors")
NAME = re.compile(r"step-(\d{6,12})")
UNFINISHED = re.compile(r"step-\d{6,12}\.(?:tmp|old)-\d+")  # being written, being removed


class Saved(NamedTuple):
    """A state in memory."""

    step: int
    tensors: dict[str, Tensor]
    notes: dict[str, Any]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return tensor name -> shape."""
        return {name: tuple(tensor.shape) for name, tensor in self.tensors.items()}

    def fill(self, targets: Mapping[str, Tensor]) -> None:
        """Copy the state into the given tensors."""
        for name, target in targets.items():
            target.detach().copy_(self.tensors[name])


class State(Protocol):
    """A saved state; `fill` copies its tensors into the given ones."""

    @property
    def step(self) -> int: ...

    @property
    def notes(self) -> dict[str, Any]: ...

    def shapes(self) -> dict[str, tuple[int, ...]]: ...

    def fill(self, targets: Mapping[str, Tensor]) -> None: ...


class CannotSave(GlassformerError):  # noqa: N818 - a way for a run to end
    """Saving failed; earlier checkpoints are unchanged."""

    code = 1


def folder_of(checkpoints: Path, step: int) -> Path:
    """Return the folder of the state after a step."""
    return checkpoints / f"step-{step:06d}"


def saved_steps(checkpoints: Path) -> list[int]:
    """Return the saved steps, newest first."""
    if not checkpoints.is_dir():
        return []
    found = (NAME.fullmatch(path.name) for path in checkpoints.iterdir())
    return sorted((int(match[1]) for match in found if match), reverse=True)


def save_state(checkpoints: Path, saved: Saved) -> Path:
    """Write a state; after an error, older states are unchanged and no partial folder looks like a state."""
    target = folder_of(checkpoints, saved.step)
    unfinished = target.with_name(f"{target.name}.tmp-{os.getpid()}")
    needed = sum(tensor.nbytes for tensor in saved.tensors.values())
    try:
        begin(unfinished)
        written = write(unfinished / TENSORS, *safetensors_bytes(saved.tensors))
        finish(unfinished, target, saved, {TENSORS: written}, version=1)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise CannotSave(refusal(checkpoints, saved.step, needed, error)) from None
    return target


def begin(unfinished: Path) -> None:
    """Create an empty folder to write into."""
    if not unfinished.parent.exists():
        unfinished.parent.mkdir()
        sync(unfinished.parent.parent)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()


def finish(unfinished: Path, target: Path, saved: Saved, files: Mapping[str, Any], version: int = FORMAT) -> None:
    """Write the notes and the manifest next to the tensors, then rename the folder."""
    files = {**files, NOTES: write(unfinished / NOTES, _json(saved.notes))}
    document = {"format": version, "step": saved.step, "torch": torch.__version__, "files": files}
    write(unfinished / MANIFEST, _json(document | {"sha256": _own_sum(document)}))
    sync(unfinished)
    if target.exists():  # a damaged state, or the same step again after a fallback
        discard(target)
    unfinished.rename(target)
    sync(target.parent)


def write(path: Path, *pieces: Bytes) -> dict[str, Any]:
    """Write a file of these pieces, wait until it is on disk, and return its manifest entry.

    Another thread computes the checksum meanwhile: both release the interpreter, and each takes about as long as the other.
    """
    with ThreadPoolExecutor(1) as pool, path.open("wb") as file:
        entry = pool.submit(listed, pieces)
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
        return entry.result()


def listed(pieces: Sequence[Bytes]) -> dict[str, Any]:
    """Return the manifest entry of a file."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return {"sha256": digest.hexdigest(), "bytes": sum(map(len, pieces))}


def load_newest(
    checkpoints: Path,
    say: Callable[[str], None],
    load: Callable[[Path, int], State] | None = None,
    steps: list[int] | None = None,
) -> State | None:
    """Load the newest intact state and report each damaged one that was skipped; None if nothing was saved yet."""
    passed = []
    for step in saved_steps(checkpoints) if steps is None else steps:
        try:
            saved = (load or load_state)(checkpoints, step)
        except Damaged as why:
            passed.append(f"{folder_of(checkpoints, step).name} is damaged ({why})")
            continue
        for line in passed:
            say(f"{line}, using {folder_of(checkpoints, step).name}.")
        return saved
    if passed:
        raise GlassformerError(f"no usable checkpoint: {'; '.join(passed)}.")
    return None


def load_state(checkpoints: Path, step: int) -> Saved:
    """Load a state after checking every byte of it against the manifest."""
    folder = folder_of(checkpoints, step)
    files = manifest(folder)
    found: dict[tuple[str, str], Tensor] = {}
    try:
        notes = json.loads(checked(folder, NOTES, files))
        for name in files:
            if name != NOTES:
                found |= {(name, key): tensor for key, tensor in tensors_from_bytes(checked(folder, name, files)).items()}
    except (SafetensorError, RecursionError, ValueError) as error:
        raise Damaged(f"its files cannot be read: {shown(str(error))}") from None
    whole = plans(Piece(file, key, tuple(tensor.shape)) for (file, key), tensor in found.items())
    return Saved(step, {name: together(plan, found) for name, plan in whole.items()}, notes)


def manifest(folder: Path) -> dict[str, Any]:
    """Read and verify the manifest; return the files of the state."""
    try:
        document = json.loads((folder / MANIFEST).read_bytes())
        if document.pop("sha256", None) not in (None, _own_sum(document)):  # None: written by a version without checksum
            raise Damaged(f"the sha256 of {MANIFEST} does not match")
        version, files = int(document["format"]), dict(document["files"])
    except FileNotFoundError as error:
        raise Damaged(f"{Path(error.filename).name} is missing") from None
    except (OSError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise Damaged(f"{MANIFEST} cannot be read: {shown(str(error))}") from None
    if version > FORMAT:
        raise GlassformerError(f"{folder.name} was written by a newer version of glassformer: update glassformer.")
    if NOTES not in files or len(files) < 2 or not all(FILES.fullmatch(name) for name in files):
        raise Damaged(f"{MANIFEST} does not list the files of a state")
    return files


def checked(folder: Path, name: str, files: Mapping[str, Any]) -> bytes:
    """Return the bytes of a file after checking them against the manifest."""
    try:
        content = (folder / name).read_bytes()
    except FileNotFoundError:
        raise Damaged(f"{name} is missing") from None
    except OSError as error:
        raise Damaged(f"{name} cannot be read: {error.strerror}") from None
    if not isinstance(files[name], dict) or files[name].get("sha256") != hashlib.sha256(content).hexdigest():
        raise Damaged(f"the sha256 of {name} does not match the manifest")
    return content


def prune(checkpoints: Path, keep: int, best: int | None, newest: int | None = None) -> None:
    """Remove all but the last few states and the best; states after `newest` are damaged and do not count."""
    steps = [step for step in saved_steps(checkpoints) if newest is None or step <= newest]
    for step in steps[keep:]:
        if step != best:
            discard(folder_of(checkpoints, step))


def discard(folder: Path) -> None:
    """Remove a state, renaming it first: a kill during removal leaves nothing that looks like a state."""
    with suppress(OSError):
        going = folder.with_name(f"{folder.name}.old-{os.getpid()}")
        shutil.rmtree(going, ignore_errors=True)
        folder.rename(going)
        shutil.rmtree(going, ignore_errors=True)


def sweep(checkpoints: Path) -> int:
    """Remove leftovers of processes killed while saving or removing; call it only while holding the lock."""
    left = [path for path in checkpoints.iterdir() if UNFINISHED.fullmatch(path.name)] if checkpoints.is_dir() else []
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose names start with a prefix, with the prefix removed."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _own_sum(document: Mapping[str, Any]) -> str:
    """Return the sha256 of the manifest itself, which detects a flipped bit in any version of the format."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def refusal(checkpoints: Path, step: int, needed: int, error: OSError) -> str:
    """Return the message for a state that could not be written."""
    intact = next(iter(saved_steps(checkpoints)), None)
    left = "Nothing was saved before." if intact is None else f"Step {intact} is intact: free space and run resume."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(checkpoints.parent).free
        return f"disk full saving step {step} (needs {in_words(needed)}, {in_words(free)} free). {left}"
    return f"step {step} cannot be saved in {path_text(checkpoints)}: {error.strerror or type(error).__name__}. {left}"
