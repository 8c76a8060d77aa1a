"""The identity of a job's model: a checksum of the model folder, and the versions of the packages."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from glassformer.checkpoints.adapter_folder import base_folder
from glassformer.checkpoints.folder import model_folder
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text

ENDINGS = (".json", ".safetensors", ".txt", ".model")
PACKAGES = ("glassformer", "torch", "numpy", "tokenizers", "pyarrow", "onnxruntime", "openvino")
PIECE = 1 << 22


def checkpoint_sha256(checkpoint: Path) -> str:
    """Return a checksum over the weights, the config and the tokenizer of a model folder, and one folder down (pooling).

    Of a folder of adapters, those of their base model are included.
    """
    folder, digest = model_folder(checkpoint), hashlib.sha256()
    try:
        if (base := base_folder(folder)) is not None:
            digest.update(checkpoint_sha256(base).encode())
        files = sorted({*folder.glob("*"), *folder.glob("*/config.json")})
        for file in files:
            if file.suffix in ENDINGS and file.is_file():
                digest.update(f"{file.relative_to(folder).as_posix()}\0{file.stat().st_size}\0".encode())
                with file.open("rb") as opened:
                    while piece := opened.read(PIECE):
                        digest.update(piece)
    except OSError as error:
        raise GlassformerError(f"{path_text(folder)} cannot be read: {error.strerror or type(error).__name__}.") from None
    return digest.hexdigest()


def weight_bytes(checkpoint: Path) -> int:
    """Return the bytes of the weights of a model folder; of adapters, with those of their base model."""
    folders = [model_folder(checkpoint)]
    if (base := base_folder(folders[0])) is not None:
        folders.append(model_folder(base))
    return sum(file.stat().st_size for folder in folders for file in folder.glob("*.safetensors"))


def versions() -> dict[str, str]:
    """Return the versions of the packages that shards depend on."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
