"""Image files, resized and scaled as a model expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.files.paths import no_such, path_text
from glassformer.spec import EncoderSpec

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")
MOST_FILES = 1_000_000
SETTINGS = "preprocessor_config.json"  # where transformers stores the image scaling of a model


@dataclass(frozen=True)
class Reading:
    """The input format of an image model: size, and the mean and standard deviation used to normalize pixels from 0 to 1."""

    shape: tuple[int, int, int]  # channels, height, width
    mean: tuple[float, ...] = (0.5,)  # pixels from −1 to 1, as in our training and in ViT
    spread: tuple[float, ...] = (0.5,)

    def pixels(self, files: Sequence[Path]) -> NDArray[np.float32]:
        """Read images as an array [image, channel, row, column]."""
        found = np.stack([self._one(file) for file in files]).astype(np.float32) / 255.0
        mean, spread = (np.array(part, dtype=np.float32).reshape(1, -1, 1, 1) for part in (self.mean, self.spread))
        return np.asarray((found - mean) / spread, dtype=np.float32)

    def _one(self, file: Path) -> NDArray[np.uint8]:
        from glassformer.training.data.images import channels_first, decode, read_image

        image = channels_first(decode(read_image(file, path_text(file)), path_text(file), self.shape[1:]), self.shape[0])
        if len(image) != self.shape[0]:
            raise GlassformerError(
                f"{path_text(file)} is a colour image, but this encoder reads greyscale. Save it in greyscale."
            )
        return image


def pictures_in(path: Path) -> list[Path]:
    """Return the image file of a path, or all images below a folder, sorted by name."""
    if not path.exists():
        raise no_such(path, "file or folder", wanted="Give an image or a folder of images.")
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
    if not found:
        raise GlassformerError(f"{path_text(path)} contains no image ({', '.join(ENDINGS)}).")
    if len(found) > MOST_FILES:
        raise GlassformerError(f"{path_text(path)} contains {len(found):,} images: at most {MOST_FILES:,} at once.")
    return found


def reading_of(spec: EncoderSpec, folder: Path) -> Reading:
    """Return the input format of the image model in a folder, from its preprocessor settings if it has any."""
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
