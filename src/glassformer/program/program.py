"""Program: the named steps of an encoder, and the writer that puts them down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from glassformer.program.axes import Array, Axis, Cell, Parameter, ParameterKind, Tensor
from glassformer.program.expression import Expression, Values
from glassformer.program.operations import Operation
from glassformer.program.pen import Pen
from glassformer.spec import EncoderSpec
from glassformer.spec.viewed import Viewed


class Step(NamedTuple):
    """`output = operation(inputs)`. `core`: part of softmax(QKᵀ)V, which a fused kernel never writes to memory."""

    output: Tensor
    operation: Operation
    inputs: tuple[Tensor, ...]
    core: bool = False

    @property
    def name(self) -> str:
        return self.output.name

    def evaluate(self, values: Values) -> Array:
        """The result, given the values of all tensors before it by name."""
        return self.operation.evaluate(self.inputs, self.output, [values[tensor.name] for tensor in self.inputs])

    def opened(self, cell: Cell, values: Values) -> Expression:
        """The arithmetic that gives one cell of the result."""
        return self.operation.opened(self.inputs, self.output, cell, values)

    def write(self, names: Sequence[str], pen: Pen) -> str:
        """The right-hand side of the equation, the inputs called `names`."""
        return self.operation.write(self.inputs, self.output, names, pen)


class Sizes(NamedTuple):
    """How much goes in: texts, images or sounds at once, and tokens in each."""

    batch: int
    t: int


@dataclass(repr=False)
class Program(Viewed):
    """What an encoder computes: inputs, parameters, and steps in order. Every reading is a loop over these lists."""

    spec: EncoderSpec
    sizes: Sizes
    inputs: list[Tensor] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    shared: dict[str, str] = field(default_factory=dict)  # second name of a tensor -> the name it is counted under

    written: set[str] = field(default_factory=set)  # names of the parameters, for quick look-ups while writing

    def __repr__(self) -> str:
        return f"<Program of {len(self.steps)} steps, batch={self.sizes.batch} t={self.sizes.t}>"

    @cached_property
    def step_of(self) -> dict[str, Step]:
        """Step by the name of its output."""
        return {step.name: step for step in self.steps}

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """Every tensor by name: inputs, parameters, results."""
        own = [*self.inputs, *(parameter.tensor for parameter in self.parameters), *(step.output for step in self.steps)]
        return {tensor.name: tensor for tensor in own}

    @property
    def output(self) -> Tensor:
        """What the last step gives; of a program without steps, what goes in."""
        return self.steps[-1].output if self.steps else self.inputs[0]


class Writer:
    """Writes steps under a prefix. Where layers share weights, parameters go by the prefix of the layer that owns them."""

    def __init__(self, program: Program, prefix: str = "", owner: str | None = None) -> None:
        self.program = program
        self.prefix = prefix
        self.owner = prefix if owner is None else owner

    def at(self, name: str, owner: str | None = None) -> Writer:
        """A writer one level down: `writer.at("attention")`."""
        return Writer(self.program, f"{self.prefix}{name}.", f"{self.owner}{owner or name}.")

    def input(self, name: str, *axes: Axis) -> Tensor:
        tensor = Tensor(name, axes)
        self.program.inputs.append(tensor)
        return tensor

    def parameter(self, symbol: str, *axes: Axis, kind: ParameterKind = "weight", frozen: bool = False) -> Tensor:
        tensor = Tensor(self.owner + symbol, axes)
        if tensor.name not in self.program.written:
            self.program.written.add(tensor.name)
            self.program.parameters.append(Parameter(tensor, kind, frozen))
        if self.owner != self.prefix:
            self.program.shared[self.prefix + symbol] = tensor.name
        return tensor

    def tied(self, symbol: str, tensor: Tensor) -> Tensor:
        """Another tensor used under a second name: counted once, where it was first written."""
        self.program.shared[self.prefix + symbol] = tensor.name
        return tensor

    def step(
        self, name: str, operation: Operation, *inputs: Tensor, axes: tuple[Axis, ...] | None = None, core: bool = False
    ) -> Tensor:
        output = Tensor(self.prefix + name, operation.axes(inputs) if axes is None else axes)
        self.program.steps.append(Step(output, operation, inputs, core))
        return output

    def name_last(self, name: str) -> Tensor:
        """Give the step just written the name under which the rest of the program knows it."""
        step = self.program.steps[-1]
        output = Tensor(self.prefix + name, step.output.axes)
        self.program.steps[-1] = step._replace(output=output)
        return output
