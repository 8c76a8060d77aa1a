"""What the backward pass computes and needs if only some parameters are trained."""

from __future__ import annotations

from collections.abc import Sequence

from glassformer.program import Program, Step, Tensor
from glassformer.program.operations import Affine, Contract, Multiply, Shift
from glassformer.program.roles import Role

BACKWARD_PRODUCTS = 2  # the backward pass of a matrix product is two products of the same size, one for each input's gradient
DROPPED: tuple[Role, ...] = ("attention output", "ffn output", "weights")
PRODUCTS = (Affine, Contract, Multiply)  # the gradient of one of their first two inputs needs the other


class Gradients:
    """Which tensors of a program have a gradient: the trained parameters, and every result that depends on one."""

    def __init__(self, program: Program) -> None:
        self.everywhere = program.trained is None
        self.program, self.made_by = program, program.step_of
        self.found = set(program.trained or ())
        for step in () if self.everywhere else program.steps:
            if any(tensor.name in self.found for tensor in step.inputs):
                self.found.add(step.name)

    def reach(self, tensor: Tensor) -> bool:
        """Whether the backward pass reaches a tensor."""
        return self.everywhere or tensor.name in self.found

    def products(self, step: Step) -> int:
        """The number of matrix products in the backward pass of a step, each as large as the one of the forward pass."""
        return BACKWARD_PRODUCTS if self.everywhere else sum(self.reach(tensor) for tensor in step.inputs[:2])

    def saved(self, step: Step) -> Sequence[Tensor]:
        """The tensors that the backward pass of a step needs."""
        if not self.reach(step.output):
            return ()
        if isinstance(step.operation, Shift) and not self.reach(step.inputs[0]):
            # a trained norm of a frozen input recomputes the normalised values
            return self.made_by[step.inputs[0].name].inputs
        if self.everywhere or not isinstance(step.operation, PRODUCTS):
            return step.operation.saves(step.inputs, step.output)
        first, second = step.inputs[:2]
        return [one for one, other in ((first, second), (second, first)) if self.reach(other)]

    def recomputed(self) -> set[str]:
        """The steps that are recomputed in the backward pass, with gradient checkpointing of the layers.

        A layer is recomputed up to the last result that its backward pass needs.
        """
        program = self.program
        again: set[str] = set()
        for steps in layers_of(program).values():
            needed = [number for number, step in enumerate(steps) if self._needs_result(step)]
            inputs = [number for number, step in enumerate(steps) if self.saved(step)]
            stop = max((*(number + 1 for number in needed), *inputs), default=0)
            again |= {step.name for step in steps[:stop]}
        return again

    def _needs_result(self, step: Step) -> bool:
        dropped = self.program.spec_of(step.block).dropout > 0 and is_dropped(step) and self.reach(step.output)
        return dropped or any(tensor.name == step.name for tensor in self.saved(step))


def layers_of(program: Program) -> dict[str, list[Step]]:
    """Return the steps of each layer, by its name."""
    layers: dict[str, list[Step]] = {}
    for step in program.steps:
        if step.block.layer is not None:
            layers.setdefault(step.block.layer_name, []).append(step)
    return layers


def is_dropped(step: Step) -> bool:
    """Whether dropout follows: on the input of the first layer, the output of each sub-layer, and the attention weights."""
    return step.block.layer is None if step.output.hidden else step.role in DROPPED
