"""Images as rows of pixels, with a class each."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.training.data.chance import below
from glassformer.training.data.dataset import Split
from glassformer.training.data.examples import Batch, Extent, Numbers, Reading
from glassformer.training.data.images import Pictures


class PictureExamples:
    """Images with one label each, scaled to −1 (black) … 1 (white), the usual range of image encoders."""

    augments = ("none", "shift")
    predicts_some = False
    cut = 0

    def __init__(self, split: Split, reading: Reading) -> None:
        assert isinstance(split.inputs, Pictures)
        self.pictures, self.augment = split.inputs, reading.augment
        self.labels: Numbers = np.asarray(split.targets, dtype=np.int64)
        self.rows: Numbers = np.arange(len(split))
        self.lengths: Numbers = np.ones(len(split), dtype=np.int64)
        self.labelled: Numbers = self.lengths

    def __len__(self) -> int:
        return len(self.pictures)

    def targets(self, ids: Numbers, *, seed: int, epoch: int) -> int:  # noqa: ARG002
        """Return the number of labels: one per image."""
        return len(ids)

    def batch(self, ids: Numbers, *, seed: int, epoch: int, multiple: int = 1) -> Batch:  # noqa: ARG002
        """Return pixels and one label per row."""
        pixels = self.pictures.take(ids)
        if self.augment == "shift":
            pixels = shifted(pixels, ids, seed, epoch)
        values = torch.from_numpy(np.ascontiguousarray(pixels)).to(torch.float32) * (2.0 / self.pictures.white) - 1.0
        labels = torch.from_numpy(self.labels[ids])
        sums: dict[str, Any] = {"tokens": 0, "targets": len(ids), "targets_in_step": len(ids), "extent": Extent(len(ids))}
        return Batch(values, None, labels, tuple(map(int, ids)), **sums)


def shifted(pixels: NDArray[np.uint8], ids: Numbers, seed: int, epoch: int) -> NDArray[np.uint8]:
    """Shift each image by up to a tenth of its side (at least one pixel), repeating the border."""
    _, _, height, width = pixels.shape
    moved = []
    for side, purpose in ((height, "down"), (width, "across")):
        most = max(1, side // 10)
        step = below(2 * most + 1, seed, purpose, epoch, ids) - most
        moved.append(np.clip(np.arange(side) - step[:, None], 0, side - 1))
    down, across = moved
    every = np.arange(len(pixels))[:, None, None, None]
    channels = np.arange(pixels.shape[1])[None, :, None, None]
    return pixels[every, channels, down[:, None, :, None], across[:, None, None, :]]
