"""A run's state on the disk: tensors and JSON, written whole or not at all, checked before it is used.

    step-000120.tmp-4711/   every file written and fsynced, MANIFEST.json with their sha256 last
    step-000120/            the name that it takes when all of it is on the disk

The newest folder whose manifest is right is the state; what a killed process left behind is swept away at the next start.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from_bytes
from safetensors.torch import save as tensors_to_bytes
from torch import Tensor

from glassformer.model.folders import sync
from glassformer.model.start import in_words
from glassformer.spec import GlassformerError, shown
from glassformer.spec.weight_files import path_text

FORMAT = 1
TENSORS, NOTES, MANIFEST = "state.safetensors", "state.json", "MANIFEST.json"
NAME = re.compile(r"step-(\d{6,12})")
UNFINISHED = re.compile(r"step-\d{6,12}\.tmp-\d+")


class Saved(NamedTuple):
    """A state as it was saved."""

    step: int
    tensors: dict[str, Tensor]
    notes: dict[str, Any]


class CannotSave(GlassformerError):  # noqa: N818 - a way for a run to end
    """The disk refused: what was saved before is as it was."""


class Damaged(Exception):  # noqa: N818 - what a checkpoint is
    """Why a checkpoint cannot be used."""


def folder_of(checkpoints: Path, step: int) -> Path:
    """Where the state after a step lies."""
    return checkpoints / f"step-{step:06d}"


def saved_steps(checkpoints: Path) -> list[int]:
    """The steps that have a folder, newest first."""
    if not checkpoints.is_dir():
        return []
    found = (NAME.fullmatch(path.name) for path in checkpoints.iterdir())
    return sorted((int(match[1]) for match in found if match), reverse=True)


def save_state(checkpoints: Path, saved: Saved) -> Path:
    """Write a state; after any error the older ones are untouched and nothing half-written has their form of name."""
    target = folder_of(checkpoints, saved.step)
    unfinished = target.with_name(f"{target.name}.tmp-{os.getpid()}")
    needed = sum(tensor.nbytes for tensor in saved.tensors.values())
    try:
        checkpoints.mkdir(exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in saved.tensors.items()}
        files = {TENSORS: tensors_to_bytes(whole), NOTES: _json(saved.notes)}
        for name, content in files.items():
            write(unfinished / name, content)
        write(unfinished / MANIFEST, _json(_manifest(saved.step, files)))
        sync(unfinished)
        if target.exists():  # a damaged one, or the same step again after a fall-back
            shutil.rmtree(target)
        unfinished.rename(target)
        sync(checkpoints)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise CannotSave(_refusal(checkpoints, saved.step, needed, error)) from None
    return target


def write(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def load_newest(checkpoints: Path, say: Callable[[str], None]) -> Saved | None:
    """The newest state that is whole; each one passed over is named in a line. None: nothing was saved yet."""
    steps = saved_steps(checkpoints)
    passed = []
    for step in steps:
        try:
            saved = load_state(checkpoints, step)
        except Damaged as why:
            passed.append(f"{folder_of(checkpoints, step).name} is damaged ({why})")
            continue
        for line in passed:
            say(f"{line}, using {folder_of(checkpoints, step).name}.")
        return saved
    if passed:
        raise GlassformerError(f"no checkpoint can be used: {'; '.join(passed)}.")
    return None


def load_state(checkpoints: Path, step: int) -> Saved:
    """One state, every byte of it checked against its manifest before it is looked at."""
    folder = folder_of(checkpoints, step)
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        listed = manifest["files"]
        if manifest["format"] > FORMAT:
            raise GlassformerError(f"{folder.name} was written by a newer version of glassformer: update this one.")
        content = {}
        for name in (TENSORS, NOTES):
            content[name] = (folder / name).read_bytes()
            if hashlib.sha256(content[name]).hexdigest() != listed[name]["sha256"]:
                raise Damaged(f"{name} does not have the sha256 of its manifest")
        return Saved(step, tensors_from_bytes(content[TENSORS]), json.loads(content[NOTES]))
    except FileNotFoundError as error:
        raise Damaged(f"{Path(error.filename).name} is missing") from None
    except (OSError, KeyError, TypeError, ValueError, SafetensorError) as error:
        if isinstance(error, GlassformerError):
            raise
        raise Damaged(f"{MANIFEST} cannot be read: {shown(str(error))}") from None


def prune(checkpoints: Path, keep: int, best: int | None) -> None:
    """Remove all but the last few and the best."""
    steps = saved_steps(checkpoints)
    for step in steps[keep:]:
        if step != best:
            shutil.rmtree(folder_of(checkpoints, step), ignore_errors=True)


def sweep(checkpoints: Path) -> int:
    """Remove what processes that died while saving left; called by the one process that holds the run's lock."""
    left = [path for path in checkpoints.iterdir() if UNFINISHED.fullmatch(path.name)] if checkpoints.is_dir() else []
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _manifest(step: int, files: Mapping[str, bytes]) -> dict[str, Any]:
    listed = {name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)} for name, content in files.items()}
    return {"format": FORMAT, "step": step, "torch": torch.__version__, "files": listed}


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _refusal(checkpoints: Path, step: int, needed: int, error: OSError) -> str:
    intact = next(iter(saved_steps(checkpoints)), None)
    left = "Nothing was saved before." if intact is None else f"Step {intact} is intact: free space and run resume."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(checkpoints.parent).free
        return f"disk full saving step {step} (needs {in_words(needed)}, {in_words(free)} free). {left}"
    return f"step {step} cannot be saved in {path_text(checkpoints)}: {error.strerror or type(error).__name__}. {left}"
