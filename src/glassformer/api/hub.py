"""Download of a model from the Hugging Face hub: the only function that uses the network for a model."""

from __future__ import annotations

import re
from pathlib import Path

from glassformer.errors import GlassformerError, shown
from glassformer.files.hub_names import NAME

# The files that are downloaded: safetensors weights, configs, tokenizers, licences. No pickle files, no code.
WANTED = ("*.safetensors", "*.json", "*.txt", "*.model", "*.md", "*.spm", "LICENSE*")
NEVER = ("onnx/*", "openvino/*", "*/*.safetensors")


def download(name: str, *, revision: str | None = None) -> Path:
    """Download a model from the Hugging Face hub, and return its folder: `gf.load(gf.download("google-bert/bert-base-uncased"))`.

    Files in the local hub cache are not downloaded again. `revision` is a branch, tag or commit. Requires the package
    huggingface_hub. Only safetensors weights are downloaded.
    """
    if not isinstance(name, str) or not re.fullmatch(rf"{NAME}(/{NAME})?", name):
        raise GlassformerError(f"'{shown(name)}' is not the name of a model on the hub: write owner/name, or name.")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise GlassformerError("--download needs the package huggingface_hub: pip install 'glassformer[hub]'.") from None
    try:
        folder = snapshot_download(name, revision=revision, allow_patterns=list(WANTED), ignore_patterns=list(NEVER))
    except Exception as error:  # no such model, no network, a gated model, a full disk: the package raises many kinds
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise GlassformerError(f"'{shown(name)}' cannot be downloaded: {shown(said, limit=160)}") from None
    return Path(folder)
