"""A folder of adapters in the layout of peft, opened without reading weights: its settings, and the folder of its base model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.checkpoints.folder import CONFIG as MODEL_CONFIG
from glassformer.checkpoints.folder import SPEC
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.files.paths import path_text
from glassformer.files.weight_files import inside

CONFIG = "adapter_config.json"
OTHERWISE = ("use_dora", "lora_bias", "fan_in_fan_out")  # settings of peft that change the product, which must be false


def is_adapter(folder: Path) -> bool:
    """Whether a folder has adapters and no model."""
    try:
        found = (folder / CONFIG).is_file()
    except (OSError, ValueError):  # no path at all: reported when the folder is opened
        return False
    return found and not any((folder / name).exists() for name in (MODEL_CONFIG, SPEC))


def base_folder(folder: Path) -> Path | None:
    """Return the folder of the model that adapters belong to; None if the folder holds a model."""
    return base_of(folder, settings_of(folder)) if is_adapter(folder) else None


def settings_of(folder: Path) -> dict[str, Any]:
    """Return the settings of adapters; kinds that are not supported are refused."""
    document = read_document(inside(folder, CONFIG, source="the adapter folder"))
    kind = document.get("peft_type")
    if kind != "LORA":
        raise GlassformerError(f"{CONFIG}: peft_type={shown(kind)} is not supported: only LORA is.")
    for name, value in (*((name, document.get(name) or False) for name in OTHERWISE), ("bias", document.get("bias", "none"))):
        if value not in (False, "none"):
            raise GlassformerError(f"{CONFIG}: {name}={shown(value)} is not supported. Merge the adapters with peft first.")
    return document


def base_of(folder: Path, settings: Mapping[str, Any]) -> Path:
    """Return the folder of the base model: the path in the settings, from the working directory or from the adapters."""
    name = settings.get("base_model_name_or_path")
    if isinstance(name, str) and 0 < len(name) < 4096 and "\0" not in name:
        for base in (Path(name), folder / name):
            if base.is_dir() and (base / MODEL_CONFIG).is_file():
                return base
    raise GlassformerError(
        f"{path_text(folder)} holds adapters of {shown(name, limit=200)}, which is not a local model folder: download it, and "
        f"write its path into base_model_name_or_path of {CONFIG}."
    )
