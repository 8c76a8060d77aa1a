"""Mixing by the real part of a Fourier transform over positions and features (Lee-Thorp et al. 2021)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.program.axes import Array, Cell, Tensor
from glassformer.program.expression import Constant, Expression, Product, Ref, Sum, Values
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Elementwise


@dataclass(frozen=True)
class FourierMix(Elementwise):
    """The real part of the discrete Fourier transform over the last two axes: `Σ x[s, g] · cos(2π (t s / T + f g / D))`.

    T and D are the sizes of the two axes. The matrix of this sum is symmetric, so it is its own transpose.
    """

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        """`5/2 · N · log2 N` for N real numbers, the usual figure for a fast transform (Frigo and Johnson 2005)."""
        numbers = math.prod(axis.size for axis in output.axes[-2:])
        return output.size // numbers * round(2.5 * numbers * math.log2(numbers))

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(np.fft.fft2(values[0]).real)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        along, features = output.axes[-2:]
        t, f = cell[along.name], cell[features.name]
        whole, terms = along.size * features.size, []
        for s, g in itertools.product(range(along.size), range(features.size)):
            turns = (t * s % along.size, f * g % features.size)  # whole turns change nothing
            text = f"cos(2 · π · ({turns[0]}/{along.size} + {turns[1]}/{features.size}))"
            wave = Constant(_cosine((turns[0] * features.size + turns[1] * along.size) % whole, whole), text)
            terms.append(Product((Ref(inputs[0], cell | {along.name: s, features.name: g}), wave)))
        return Sum(tuple(terms))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        along, features = (axis.name for axis in output.axes[-2:])
        real = formatter.call("Re", formatter.call("Fourier", names[0]))
        return real + formatter.over(along) + formatter.words(" and ") + formatter.symbol(features)


def _cosine(part: int, whole: int) -> float:
    """The cosine of `part / whole` turns, exact at quarters of a turn."""
    quarters, rest = divmod(4 * part, whole)
    return math.cos(2 * math.pi * part / whole) if rest else (1.0, 0.0, -1.0, 0.0)[quarters]
