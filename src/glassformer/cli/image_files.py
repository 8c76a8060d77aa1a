"""Pictures from the command line: a file or a folder of them, brought to the size and the scale that a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.files import read_document
from glassformer.spec.paths import no_such, path_text

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")
MOST_FILES = 1_000_000
SETTINGS = "preprocessor_config.json"  # where transformers keeps how the pictures of a model are scaled


@dataclass(frozen=True)
class Reading:
    """How a model wants its pictures: their size, and the mean and the spread that are taken out of pixels from 0 to 1."""

    shape: tuple[int, int, int]  # channels, height, width
    mean: tuple[float, ...] = (0.5,)  # pixels from −1 to 1, as our own training and ViT have them
    spread: tuple[float, ...] = (0.5,)

    def pixels(self, files: Sequence[Path]) -> NDArray[np.float32]:
        """Pictures as [image, channel, row, column]."""
        found = np.stack([self._one(file) for file in files]).astype(np.float32) / 255.0
        mean, spread = (np.array(part, dtype=np.float32).reshape(1, -1, 1, 1) for part in (self.mean, self.spread))
        return np.asarray((found - mean) / spread, dtype=np.float32)

    def _one(self, file: Path) -> NDArray[np.uint8]:
        from glassformer.training.data.images import channels_first, decode, read_image

        image = channels_first(decode(read_image(file, path_text(file)), path_text(file), self.shape[1:]), self.shape[0])
        if len(image) != self.shape[0]:
            raise GlassformerError(f"{path_text(file)} is a coloured picture, and this encoder reads grey ones. Save it in grey.")
        return image


def pictures_in(path: Path) -> list[Path]:
    """The pictures that a path means: itself, or all below a folder, in the order of their names."""
    if not path.exists():
        raise no_such(path, "file or folder", wanted="A picture or a folder of them is wanted.")
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
    if not found:
        raise GlassformerError(f"{path_text(path)} holds no picture ({', '.join(ENDINGS)}).")
    if len(found) > MOST_FILES:
        raise GlassformerError(f"{path_text(path)} holds {len(found):,} pictures: at most {MOST_FILES:,} at once.")
    return found


def reading_of(spec: EncoderSpec, folder: Path) -> Reading:
    """How the model in a folder wants its pictures: as its settings say, where it has any."""
    if spec.image is None:
        way = "call it in Python" if spec.reads == "frames" else "give texts"
        raise GlassformerError(f"this encoder reads {spec.reads}, not images: {way}.")
    shape = (spec.channels, spec.image, spec.image_width or spec.image)
    settings = folder / SETTINGS
    if not settings.is_file():
        return Reading(shape)
    document = read_document(settings)
    if document.get("do_normalize") is False:
        return Reading(shape, (0.0,), (1.0,))
    mean, spread = (_numbers(document, name, spec.channels) for name in ("image_mean", "image_std"))
    return Reading(shape, mean, spread)


def _numbers(document: Any, name: str, channels: int) -> tuple[float, ...]:
    given = document.get(name, [0.5] * channels)
    plain = isinstance(given, list) and len(given) in (1, channels) and all(type(one) in (int, float) for one in given)
    if not plain or (name == "image_std" and not all(one > 0 for one in given)):
        raise GlassformerError(f"{SETTINGS}: {name} = {shown(given, limit=60)} is not a number for each of {channels} channels.")
    return tuple(map(float, given))
