"""Convolutions over sound, and how many positions they make of how many frames."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple


class Convolution(NamedTuple):
    """One convolution over sound: the features it gives, its kernel and stride, and the zeros before the first frame."""

    width: int
    kernel: int
    stride: int
    reach: int

    def positions(self, frames: int) -> int:
        """How many positions it makes of so many frames."""
        return (frames + 2 * self.reach - self.kernel) // self.stride + 1


class SoundSizes:
    """What follows from the fields of a spec about sound."""

    d_model: int
    position: str
    relative_gate: bool
    positions: int | None
    samples: int | None
    conv_widths: tuple[int, ...]
    conv_kernels: tuple[int, ...]
    conv_strides: tuple[int, ...]

    @property
    def raw_sound(self) -> bool:
        """Whether the input is sound as samples, read by convolutions whose sizes are fields of the spec."""
        return self.samples is not None

    @cached_property
    def convolutions(self) -> tuple[Convolution, ...]:
        """The convolutions over sound: those of the fields, or Whisper's two, the second of which halves the length."""
        if self.raw_sound:
            sizes = zip(self.conv_widths, self.conv_kernels, self.conv_strides, strict=True)
            return tuple(Convolution(width, kernel, stride, 0) for width, kernel, stride in sizes)
        return (Convolution(self.d_model, 3, 1, 1), Convolution(self.d_model, 3, 2, 1))

    @property
    def frames(self) -> int:
        """Number of audio frames of an input, which the convolutions turn into positions."""
        return self.samples if self.samples is not None else 2 * (self.positions or 0)

    def positions_of(self, frames: int) -> int:
        """How many positions the convolutions make of so many frames; 0 or less if they are too few."""
        for convolution in self.convolutions:
            frames = convolution.positions(frames)
        return frames

    def frames_of(self, positions: int) -> int:
        """The fewest frames that make so many positions."""
        for convolution in reversed(self.convolutions):
            positions = (positions - 1) * convolution.stride + convolution.kernel - 2 * convolution.reach
        return positions

    @property
    def convolves_positions(self) -> bool:
        """Whether positions come from a convolution over neighbouring positions."""
        return self.position.startswith("convolution")

    @property
    def gates_bias(self) -> bool:
        """Whether tokens scale a relative bias, where there is one."""
        return self.relative_gate and "relative" in self.position
