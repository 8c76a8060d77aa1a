"""The one function that fetches a model from the Hugging Face hub; no other touches the network for a model."""

from __future__ import annotations

import re
from pathlib import Path

from glassformer.errors import GlassformerError, shown
from glassformer.files.hub_names import NAME

# What a model folder may hold here: weights as safetensors, configs, tokenizers, licences. No pickle, no code.
WANTED = ("*.safetensors", "*.json", "*.txt", "*.model", "*.md", "*.spm", "LICENSE*")
NEVER = ("onnx/*", "openvino/*", "*/*.safetensors")


def download(name: str, *, revision: str | None = None) -> Path:
    """Download a model of the Hugging Face hub, and return its folder: `gf.load(gf.download("google-bert/bert-base-uncased"))`.

    Files that the hub's cache has are not fetched again. `revision` is a branch, tag or commit. The package huggingface_hub is
    needed; weights other than safetensors are left out.
    """
    if not isinstance(name, str) or not re.fullmatch(rf"{NAME}(/{NAME})?", name):
        raise GlassformerError(f"'{shown(name)}' is no name of a model on the hub: they read owner/name, or name.")
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
