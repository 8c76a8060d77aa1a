"""Images of one size: checked before decoding, kept in memory if they fit, decoded on demand otherwise."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import GlassformerError, shown
from glassformer.training.data.folders import Member
from glassformer.training.data.label_values import label_name
from glassformer.training.data.row_options import RowOptions, Tally

Bytes: TypeAlias = NDArray[np.uint8]
MOST_PIXELS = 64_000_000  # maximum declared size, checked before decoding
MOST_FILE_BYTES = 256_000_000
MOST_KEPT = 1 << 30  # bytes of decoded pixels kept in memory
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
GREY = ("1", "L")
MOVING = (".gif", ".webp", ".tif", ".tiff", ".png")  # suffixes of files that may contain several frames


@dataclass(frozen=True, eq=False)
class Pictures(Sequence[Bytes]):
    """Images of one size, uint8, channels first; `white` is the brightest value. In memory, or decoded on demand."""

    shape: tuple[int, int, int]  # channels, height, width
    white: int = 255
    pixels: Bytes | None = None  # [images, channels, height, width]
    files: tuple[Path, ...] = ()
    digests: tuple[bytes, ...] = ()  # sha256 of each file

    def __len__(self) -> int:
        return len(self.digests) if self.pixels is None else len(self.pixels)

    @overload
    def __getitem__(self, place: int) -> Bytes: ...
    @overload
    def __getitem__(self, place: slice) -> Pictures: ...
    def __getitem__(self, place: int | slice) -> Bytes | Pictures:
        if isinstance(place, slice):
            return self.select(range(len(self))[place])
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        image: Bytes = self.take([place])[0]
        return image

    def take(self, places: Sequence[int] | NDArray[np.int64]) -> Bytes:
        """Return some images as one array [images, channels, height, width]."""
        if self.pixels is not None:
            return self.pixels[np.asarray(places, dtype=np.int64)]
        return np.stack([self._decoded(int(place)) for place in places])

    def select(self, places: Sequence[int]) -> Pictures:
        """Return a subset of the images."""
        pixels = None if self.pixels is None else self.pixels[np.asarray(places, dtype=np.int64)]
        files = tuple(self.files[place] for place in places) if self.files else ()
        digests = tuple(self.digests[place] for place in places) if self.digests else ()
        return Pictures(self.shape, self.white, pixels, files, digests)

    def in_colour(self) -> Pictures:
        """Return the images with three channels; grey images get equal channels."""
        if self.shape[0] == 3:
            return self
        pixels = None if self.pixels is None else np.repeat(self.pixels, 3, axis=1)
        return replace(self, shape=(3, *self.shape[1:]), pixels=pixels)

    def content(self) -> Iterator[bytes]:
        """Yield what identifies each image: the sha256 of its file, or its pixels."""
        if self.digests or self.pixels is None:
            return iter(self.digests)
        return (image.tobytes() for image in self.pixels)

    def _decoded(self, place: int) -> Bytes:
        path = self.files[place]
        data = read_image(path, path.name)
        if hashlib.sha256(data).digest() != self.digests[place]:
            raise GlassformerError(f"{shown(path.name)} has changed since the data was loaded. Load it again.")
        return channels_first(decode(data, path.name, self.shape[1:]), self.shape[0])


def read_pictures(members: Iterable[Member], asked: RowOptions, tally: Tally, name: str) -> tuple[Pictures, list[str]]:
    """Read every image and its label; each is decoded once, so that a damaged one is found before training."""
    kept: list[Bytes] = []
    paths, digests, labels = [], [], []
    sizes: Counter[tuple[int, int]] = Counter()
    first: dict[tuple[int, int], str] = {}
    colour, weight = False, 0
    for member in members:
        try:
            data = read_image(member.path, member.place)
            image = decode(data, member.place, asked.resize)
        except BadImageError as error:
            tally.bad(str(error), "images that cannot be read", member.place, asked)
            continue
        size = (image.shape[0], image.shape[1])
        sizes[size] += 1
        first.setdefault(size, member.place)
        colour, weight = colour or image.ndim == 3, weight + size[0] * size[1] * 3
        if weight <= MOST_KEPT:
            kept.append(image)
        else:
            kept.clear()
        paths.append(member.path)
        digests.append(hashlib.sha256(data).digest())
        labels.append(label_name(member.label, member.place) or member.label)
        if member.path.suffix.lower() in MOVING and _moves(data):
            tally.add("animated images reduced to their first frame", member.place)
    if not paths:
        raise GlassformerError(f"{name} has no readable image.")
    if len(sizes) > 1:
        (usual, _), (other, _), *_ = sizes.most_common()
        raise GlassformerError(
            f"{name} mixes {len(sizes):,} image sizes: {shown(first[usual])} is {_size(usual)}, {shown(first[other])} is "
            f"{_size(other)} (height × width). resize={usual[0]} (--resize {usual[0]}) resizes them."
        )
    height, width = next(iter(sizes))
    shape = (3 if colour else 1, height, width)
    pixels = np.stack([channels_first(image, shape[0]) for image in kept]) if len(kept) == len(paths) else None
    return Pictures(shape, 255, pixels, tuple(paths), tuple(digests)), labels


class BadImageError(GlassformerError):
    """An image that cannot be used."""


def decode(data: bytes, place: str, resize: tuple[int, int] | None) -> Bytes:
    """Decode an image to [height, width] (grey) or [height, width, 3] (colour), after checking its declared size."""
    Image, ImageOps = _pillow()
    name = shown(place)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=FORMATS)
            if image.width * image.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            if image.mode.startswith(("I", "F")):
                raise BadImageError(f"{name} has more than 8 bits per channel (mode {image.mode}): save it with 8 bits.")
            image.load()
            image = ImageOps.exif_transpose(image)
            image = _flat(image, Image)
            if resize is not None and image.size != resize[::-1]:
                image = image.resize(resize[::-1], Image.Resampling.BILINEAR)
            return np.asarray(image, dtype=np.uint8)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise BadImageError(f"{name} declares more than {MOST_PIXELS:,} pixels: it was not decoded.") from None
    except BadImageError:
        raise
    except Image.UnidentifiedImageError:
        raise BadImageError(f"{name} is not a readable image ({', '.join(FORMATS)}).") from None
    except Exception as error:  # decoders raise many kinds of errors on malformed input
        raise BadImageError(f"{name} is damaged: {shown(str(error) or type(error).__name__, limit=80)}.") from None


def _moves(data: bytes) -> bool:
    Image, _ = _pillow()
    return bool(getattr(Image.open(io.BytesIO(data), formats=FORMATS), "is_animated", False))


def channels_first(image: Bytes, channels: int) -> Bytes:
    """Return [channels, height, width]; a grey image among colour images gets three equal channels."""
    if image.ndim == 2:
        return np.repeat(image[None], channels, axis=0)
    return np.ascontiguousarray(image.transpose(2, 0, 1))


def _flat(image: Any, Image: Any) -> Any:
    """Convert to grey or RGB, with transparency on a white background."""
    if image.mode in GREY:
        return image.convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        over = image.convert("RGBA")
        paper = Image.new("RGBA", over.size, "white")
        flat = Image.alpha_composite(paper, over).convert("RGB")
        return flat.convert("L") if image.mode == "LA" else flat
    return image.convert("RGB")


def read_image(path: Path, place: str) -> bytes:
    try:
        size = path.stat().st_size
        if size > MOST_FILE_BYTES:
            raise BadImageError(f"{shown(place)} has {size:,} bytes; an image has at most {MOST_FILE_BYTES:,}. It was not read.")
        return path.read_bytes()
    except OSError as error:
        raise BadImageError(f"{shown(place)} cannot be read: {error.strerror or error}.") from None


def _pillow() -> tuple[Any, Any]:
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise GlassformerError("images need the package pillow: pip install pillow.") from None
    return Image, ImageOps


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}×{size[1]}"
