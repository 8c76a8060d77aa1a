"""Functions applied to each element: relu, gelu and others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from glassformer.program.axes import Array, Cell, Tensor
from glassformer.program.expression import Call, Constant, Expression, Product, Ratio, Ref, Sum, Values, in_full
from glassformer.program.formatter import Formatter
from glassformer.program.operations.base import Elementwise
from glassformer.program.operations.error_function import erf


class Function(NamedTuple):
    """An activation: its NumPy form, its derivative, its arithmetic, its FLOPs per element, and what its gradient needs."""

    evaluate: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    opened: Callable[[Expression], Expression]
    flops: int
    saved: str  # "input" or "output"


def _sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def _swish_slope(factor: float) -> Callable[[Array], Array]:
    """The derivative of `x · sigmoid(factor · x)`."""
    return lambda x: _sigmoid(factor * x) * (1 + factor * x * (1 - _sigmoid(factor * x)))


def _number(value: float) -> Constant:
    return Constant(value, in_full(value))


def _gelu_array(x: Array) -> Array:
    """`x · 0.5 · (1 + erf(x / √2))`, in place: allocating memory would take longer than the arithmetic."""
    result = erf(x / math.sqrt(2))
    result += 1
    result *= x
    result *= 0.5
    return result


def _gelu_slope(x: Array) -> Array:
    return np.asarray(0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi))


def _gelu(x: Expression) -> Expression:
    inside = Call("erf", Ratio(x, Constant(math.sqrt(2), "√2")))
    return Product((x, _number(0.5), Sum((_number(1), inside))))


_ROOT = Constant(math.sqrt(2 / math.pi), "√(2/π)")


def _gelu_tanh_array(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(_ROOT.value * (x + 0.044715 * x * x * x))))


def _gelu_tanh_slope(x: Array) -> Array:
    bent = np.tanh(_ROOT.value * (x + 0.044715 * x**3))
    return np.asarray(0.5 * (1 + bent) + 0.5 * x * (1 - bent**2) * _ROOT.value * (1 + 3 * 0.044715 * x * x))


def _gelu_tanh(x: Expression) -> Expression:
    cubic = Product((_number(0.044715), x, x, x))
    return Product((x, _number(0.5), Sum((_number(1), Call("tanh", Product((_ROOT, Sum((x, cubic)))))))))


FUNCTIONS: dict[str, Function] = {
    "relu": Function(lambda x: np.maximum(x, 0), lambda x: (x > 0).astype(float), lambda x: Call("relu", x), 1, "output"),
    "gelu": Function(_gelu_array, _gelu_slope, _gelu, 5, "input"),
    "gelu_tanh": Function(_gelu_tanh_array, _gelu_tanh_slope, _gelu_tanh, 9, "input"),
    "quick_gelu": Function(
        lambda x: x * _sigmoid(1.702 * x),
        _swish_slope(1.702),
        lambda x: Product((x, Call("sigmoid", Product((_number(1.702), x))))),
        3,
        "input",
    ),
    "silu": Function(lambda x: x * _sigmoid(x), _swish_slope(1.0), lambda x: Product((x, Call("sigmoid", x))), 2, "input"),
    "sigmoid": Function(_sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x)), lambda x: Call("sigmoid", x), 2, "output"),
    "tanh": Function(lambda x: np.tanh(x), lambda x: 1 - np.tanh(x) ** 2, lambda x: Call("tanh", x), 1, "output"),
}


@dataclass(frozen=True)
class Pointwise(Elementwise):
    """A function of each element."""

    function: str

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return FUNCTIONS[self.function].flops * output.size

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return inputs if FUNCTIONS[self.function].saved == "input" else (output,)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(FUNCTIONS[self.function].evaluate(values[0]))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        return FUNCTIONS[self.function].opened(Ref(inputs[0], cell))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        return formatter.call(self.function, names[0])


@dataclass(frozen=True)
class Cap(Elementwise):
    """`cap · tanh(x / cap)`: close to x near 0, and never beyond ± cap (Gemma 2)."""

    limit: float

    def flops(self, inputs: Sequence[Tensor], output: Tensor) -> int:
        return 3 * output.size

    def saves(self, inputs: Sequence[Tensor], output: Tensor) -> Sequence[Tensor]:
        return (output,)

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.asarray(self.limit * np.tanh(values[0] / self.limit))

    def slope(self, x: Array) -> Array:
        """The derivative."""
        return np.asarray(1 - np.square(np.tanh(x / self.limit)))

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        limit = _number(self.limit)
        return Product((limit, Call("tanh", Ratio(Ref(inputs[0], cell), limit))))

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        limit = formatter.number(self.limit)
        return formatter.product(limit, formatter.call("tanh", formatter.ratio(names[0], limit)))
