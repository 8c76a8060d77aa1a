"""Program: the named steps of an encoder, and the writer that appends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from glassformer.program.axes import Array, Axis, Cell, Parameter, ParameterKind, Tensor
from glassformer.program.expression import Expression, Values
from glassformer.program.formatter import Formatter
from glassformer.program.operations import Operation
from glassformer.program.roles import ENCODER, Block, BlockKind, Role
from glassformer.spec import EncoderSpec, Seq2SeqSpec
from glassformer.spec.viewed import Viewed


class Step(NamedTuple):
    """`output = operation(inputs)`."""

    output: Tensor
    operation: Operation
    inputs: tuple[Tensor, ...]

    @property
    def name(self) -> str:
        return self.output.name

    @property
    def block(self) -> Block:
        """The block that the step belongs to: `layers.3.attention`."""
        return self.output.block

    @property
    def role(self) -> Role:
        """The role of the result: queries, scores, weights, …"""
        return self.output.role

    def evaluate(self, values: Values) -> Array:
        """Return the result, given the values of all previous tensors by name."""
        return self.operation.evaluate(self.inputs, self.output, [values[tensor.name] for tensor in self.inputs])

    def opened(self, cell: Cell, values: Values) -> Expression:
        """Return the arithmetic of one cell of the result."""
        return self.operation.opened(self.inputs, self.output, cell, values)

    def write(self, names: Sequence[str], formatter: Formatter) -> str:
        """Return the right-hand side of the equation, with `names` for the inputs."""
        return self.operation.write(self.inputs, self.output, names, formatter)


class Sizes(NamedTuple):
    """Input sizes: `batch` texts, images or sounds of `t` tokens each; for an encoder-decoder, a target of `u` tokens."""

    batch: int
    t: int
    u: int | None = None

    def __str__(self) -> str:
        """`batch=1 t=5`, or `batch=1 t=5 u=4` with a target."""
        return " ".join(f"{name}={size}" for name, size in self.to_dict().items())

    def to_dict(self) -> dict[str, int]:
        """The sizes by name, without the length of a target that there is not."""
        return {name: size for name, size in self._asdict().items() if size is not None}


@dataclass(repr=False)
class Program(Viewed):
    """The computation of an encoder: inputs, parameters, and steps in order. Everything is derived from these lists."""

    spec: EncoderSpec
    sizes: Sizes
    inputs: list[Tensor] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    constants: list[Tensor] = field(default_factory=list)  # buffers; zeros unless loaded from a file
    shared: dict[str, str] = field(default_factory=dict)  # second name of a tensor -> the name it is counted under
    trained: frozenset[str] | None = None  # the parameters that are trained; None: all of them

    written: dict[str, Tensor] = field(default_factory=dict)  # parameters and constants by name, for quick look-ups while writing

    def __repr__(self) -> str:
        return f"<Program of {len(self.steps)} steps, {self.sizes}>"

    @cached_property
    def step_of(self) -> dict[str, Step]:
        """Step by the name of its output."""
        return {step.name: step for step in self.steps}

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """Every tensor by name: inputs, parameters, results."""
        own = [*self.inputs, *(parameter.tensor for parameter in self.parameters), *(step.output for step in self.steps)]
        return {tensor.name: tensor for tensor in (*own, *self.constants)}

    def spec_of(self, block: Block) -> EncoderSpec:
        """The spec of the stack that a block belongs to; in an encoder-decoder, that of the encoder or the decoder."""
        if not isinstance(self.spec, Seq2SeqSpec):
            return self.spec
        return self.spec.encoder if block.stack == "encoder" else self.spec.decoder

    @cached_property
    def hidden(self) -> list[Tensor]:
        """The hidden states: the input of the first layer, and the output of each layer."""
        return [tensor for tensor in (*self.inputs, *(step.output for step in self.steps)) if tensor.hidden]

    @property
    def output(self) -> Tensor:
        """The result of the last step; the input if there are no steps."""
        return self.steps[-1].output if self.steps else self.inputs[0]


class Writer:
    """Appends the steps of one block. If layers share weights, parameters belong to the block of the layer that owns them."""

    def __init__(self, program: Program, block: Block = ENCODER, owner: Block | None = None) -> None:
        self.program = program
        self.block = block
        self.owner = block if owner is None else owner

    def at(self, word: str, kind: BlockKind) -> Writer:
        """Return a writer for a block inside this one: `writer.at("norm_1", "norm")`."""
        block = self.block.inside(word, kind)
        return Writer(self.program, block, block if self.owner is self.block else self.owner.inside(word, kind))

    def layer(self, number: int, owner: int) -> Writer:
        """Return a writer for one layer, with the weights of layer `owner`."""
        block = self.block.inside(str(number), "layer", number)
        return Writer(self.program, block, block if owner == number else self.block.inside(str(owner), "layer", owner))

    def input(self, name: str, role: Role, *axes: Axis, hidden: bool = False) -> Tensor:
        tensor = Tensor(name, axes, name, ENCODER, role, hidden)
        self.program.inputs.append(tensor)
        return tensor

    def parameter(self, symbol: str, role: Role, *axes: Axis, kind: ParameterKind = "weight", frozen: bool = False) -> Tensor:
        name = self.owner.tensor(symbol)
        tensor = self.program.written.get(name)
        if tensor is None:
            tensor = self.program.written[name] = Tensor(name, axes, symbol, self.owner, role)
            self.program.parameters.append(Parameter(tensor, kind, frozen))
        if self.owner is not self.block:
            self.program.shared[self.block.tensor(symbol)] = name
        return tensor

    def constant(self, symbol: str, role: Role, *axes: Axis) -> Tensor:
        """Stored numbers that are not trained and not counted: a buffer."""
        tensor = Tensor(self.block.tensor(symbol), axes, symbol, self.block, role)
        self.program.constants.append(tensor)
        self.program.written[tensor.name] = tensor
        return tensor

    def tied(self, symbol: str, tensor: Tensor) -> Tensor:
        """Use a tensor under a second name; it is counted once, under its first name."""
        self.program.shared[self.block.tensor(symbol)] = tensor.name
        return tensor

    def step(
        self, symbol: str, role: Role, operation: Operation, *inputs: Tensor, axes: tuple[Axis, ...] | None = None
    ) -> Tensor:
        axes = operation.axes(inputs) if axes is None else axes
        output = Tensor(self.block.tensor(symbol), axes, symbol, self.block, role)
        self.program.steps.append(Step(output, operation, inputs))
        return output

    def result(self, role: Role, operation: Operation, *inputs: Tensor) -> Tensor:
        """Append the last step of this block, whose result is named after the block."""
        output = Tensor(self.block.name, operation.axes(inputs), self.block.word, self.block, role)
        self.program.steps.append(Step(output, operation, inputs))
        return output

    def hidden(self, symbol: str) -> Tensor:
        """Mark the last result as a hidden state, and name it after this block: `x`, `layers.0.out`."""
        step = self.program.steps[-1]
        output = step.output._replace(name=self.block.tensor(symbol), symbol=symbol, hidden=True)
        self.program.steps[-1] = step._replace(output=output)
        return output
