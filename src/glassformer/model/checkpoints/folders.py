"""Atomic writes of folders and files, and the files of a model other than its weights."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glassformer.errors import GlassformerError
from glassformer.files.paths import no_such, not_written, path_text
from glassformer.files.weight_files import inside

# Tokenizers, image preprocessing, and the pooling of sentence-transformers: data; code is never copied.
COMPANIONS = (
    "tokenizer.json tokenizer_config.json special_tokens_map.json added_tokens.json vocab.txt vocab.json merges.txt "
    "sentencepiece.bpe.model spiece.model tokenizer.model source.spm target.spm preprocessor_config.json processor_config.json "
    "modules.json sentence_bert_config.json config_sentence_transformers.json reading.json"
).split()
MODULE = re.compile(r"\d{1,2}_[A-Za-z]{1,40}")  # 1_Pooling, a folder of sentence-transformers


def companions(folder: Path) -> dict[str, Path]:
    """The files of a model folder to copy when it is saved elsewhere, by their names there."""
    found = {name: inside(folder, name, source="the model folder") for name in COMPANIONS if (folder / name).is_file()}
    if not folder.is_dir():
        raise no_such(folder, "folder", wanted="Its tokenizer was to be copied.")
    for module in sorted(folder.iterdir()):
        if MODULE.fullmatch(module.name) and module.is_dir() and not module.is_symlink() and (module / "config.json").is_file():
            found[f"{module.name}/config.json"] = inside(module, "config.json", source="the model folder")
    return found


def vacant(path: Path) -> Path:
    """Check that a folder can be created at a path: nothing or an empty folder is there, and its parent exists."""
    try:
        if path.is_dir() and not path.is_symlink():
            if any(path.iterdir()):
                raise GlassformerError(f"the folder {path_text(path)} is not empty: choose another one; nothing is overwritten.")
        elif path.exists() or path.is_symlink():
            raise GlassformerError(f"{path_text(path)} already exists, and is not a folder: choose another name.")
        if not path.absolute().parent.is_dir():
            raise GlassformerError(f"there is no folder {path_text(path.absolute().parent)}: create it first.")
    except (OSError, ValueError) as error:
        if isinstance(error, GlassformerError):
            raise
        raise GlassformerError(f"{path_text(path)} cannot be written: choose another name.") from None
    return path.absolute()


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """A folder to fill, renamed to its final name when it is complete and on the disk; after an error nothing is left."""
    unfinished = target.parent / f".{target.name[:200]}.{secrets.token_hex(4)}"
    try:
        unfinished.mkdir()
        yield unfinished
        for path in [*unfinished.rglob("*"), unfinished]:
            sync(path)
        unfinished.rename(target)
        sync(target.parent)
    except OSError as error:
        raise not_written(target, error) from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def sync(path: Path) -> None:
    """Wait until a file or a folder is written to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
