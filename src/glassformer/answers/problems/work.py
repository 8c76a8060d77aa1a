"""A solution as a program with given numbers: the right one, or one that a mistake has rewritten."""

# ruff: noqa: ARG002 - operations share one interface; not every method uses all arguments.

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand import Problem, Solution, solve
from glassformer.program import Axis, Cell, Program, Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.expression import Expression, Values
from glassformer.program.formatter import Formatter
from glassformer.program.operations import Operation
from glassformer.program.operations.base import Elementwise


@dataclass(frozen=True)
class Instead(Elementwise):
    """An operation that replaces a step: a function of the values of its inputs."""

    does: Callable[..., Array]

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.broadcast_to(np.asarray(self.does(*values), dtype=float), output.shape)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        raise NotImplementedError("a mistake is run, not explained")

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], formatter: Formatter) -> str:
        raise NotImplementedError("a mistake is run, not written")


SAME = Instead(lambda value, *_: value)


@dataclass(frozen=True, eq=False, repr=False)
class Work:
    """A program and its numbers. `pristine` if it is unchanged, so that the problem can be solved again with other options."""

    problem: Problem
    program: Program
    given: Mapping[str, Array]
    names: Mapping[str, str]  # quantity -> tensor
    pristine: bool = True

    @staticmethod
    def of(solution: Solution, problem: Problem) -> Work:
        """Create the right work from a solution, with its values, in which fractions are exact."""
        made = Work(problem, solution.program, solution.given, solution.names)
        made.__dict__["values"] = solution.run.values
        return made

    @cached_property
    def values(self) -> dict[str, Array]:
        """The values of all tensors; those that depend on a step with mismatched sizes are left out."""
        values = dict(self.given)
        with np.errstate(all="ignore"):
            for step in self.program.steps:
                if all(tensor.name in values for tensor in step.inputs):
                    parts = [values[tensor.name] for tensor in step.inputs]
                    try:
                        values[step.name] = np.asarray(step.operation.evaluate(step.inputs, step.output, parts))
                    except (ValueError, IndexError):  # sizes that do not fit
                        continue
        return values

    def quantity(self, name: str) -> tuple[Tensor, Array] | None:
        """Return the tensor and value of a quantity, if this work has it."""
        tensor = self.names.get(name)
        if tensor is None or tensor not in self.values or tensor not in self.program.tensors:
            return None
        return self.program.tensors[tensor], self.values[tensor]

    # Finding steps.

    def step(self, name: str) -> Step | None:
        return self.program.step_of.get(name)

    def steps(self, *kinds: type) -> list[Step]:
        """Return the steps whose operation has exactly one of these types."""
        return [step for step in self.program.steps if type(step.operation) in kinds]

    def reads(self, name: str) -> list[Step]:
        """Return the steps that use a tensor."""
        return [step for step in self.program.steps if any(tensor.name == name for tensor in step.inputs)]

    def after(self, names: Collection[str]) -> set[str]:
        """Return the tensors that depend on some others."""
        found = set(names)
        for step in self.program.steps:
            if any(tensor.name in found for tensor in step.inputs):
                found.add(step.name)
        return found - set(names)

    def before(self, name: str) -> set[str]:
        """Return a tensor and those that it depends on."""
        found = {name}
        for step in reversed(self.program.steps):
            if step.name in found:
                found |= {tensor.name for tensor in step.inputs}
        return found

    # Rewriting.

    def rewritten(self, steps: Sequence[Step]) -> Work:
        program = dataclasses.replace(self.program, steps=list(steps))
        return dataclasses.replace(self, program=program, pristine=False)

    def redone(self, *steps: Step) -> Work:
        """Return the work with some steps replaced; steps that depend on a result of changed size are dropped."""
        right = self.program.step_of
        sized = {step.name for step in steps if step.output.shape != right[step.name].output.shape}
        lost = self.after(sized)
        new = {step.name: step if step.name in sized else step._replace(output=right[step.name].output) for step in steps}
        return self.rewritten([new.get(step.name, step) for step in self.program.steps if step.name not in lost])

    def wrong(self, code: str, what: str, *steps: Step) -> Rewrite:
        """Return a mistake in some steps; the first one is the step to correct."""
        return Rewrite(code, what, steps[0].name, self.redone(*steps))

    def giving(self, given: Mapping[str, Array]) -> Work:
        """Return the work with other given numbers."""
        return dataclasses.replace(self, given={**self.given, **given}, pristine=False)

    def supposing(self, values: Mapping[str, Array]) -> Work:
        """Return the work with some results fixed to claimed values; later steps are computed from them."""
        inputs = [self.program.tensors[name] for name in values]
        steps = [step for step in self.program.steps if step.name not in values]
        program = dataclasses.replace(self.program, steps=steps, inputs=[*self.program.inputs, *inputs])
        return dataclasses.replace(self, program=program, given={**self.given, **values}, pristine=False)

    def solved(self, problem: Problem) -> Work | None:
        """Return the work of another problem; None if that one cannot be solved, or if this work is not pristine."""
        if not self.pristine:
            return None
        try:
            return Work.of(solve(problem.replace(ask=())), problem)
        except GlassformerError:
            return None


class Rewrite(NamedTuple):
    """A mistake: its code, what was done, the step of the right work that it changes, and the resulting work."""

    code: str
    what: str
    step: str
    work: Work


Rule: TypeAlias = Callable[[Work], Iterable[Rewrite]]
Where: TypeAlias = Callable[[Work], Sequence[Step]]
What: TypeAlias = str | Callable[[Sequence[Step]], str]
Does: TypeAlias = (
    Operation | Callable[[Step], Step | None]
)  # what is done instead; None if the mistake is impossible in this step


def having(*kinds: type, inputs: int = 0, named: Collection[str] = ()) -> Where:
    """Return a selector of steps by type, number of inputs and name."""
    return lambda work: [
        step for step in work.steps(*kinds) if inputs in (0, len(step.inputs)) and (not named or step.name in named)
    ]


def at(where: Where, *table: tuple[str, What, Does]) -> Rule:
    """Return a rule for a table of mistakes (code, what was done, replacement), made in all selected steps or in one of them."""

    def rule(work: Work) -> Iterator[Rewrite]:
        for code, what, does in table:
            done = [(step, does(step) if callable(does) else redo(step, does)) for step in where(work)]
            pairs = [(step, wrong) for step, wrong in done if wrong is not None]
            for chosen in (pairs, *([pair] for pair in pairs)) if len(pairs) > 1 else [pairs] * len(pairs):
                said = what if isinstance(what, str) else what([step for step, _ in chosen])
                yield work.wrong(code, said, *(wrong for _, wrong in chosen))

    return rule


def rows(*rules: Rule) -> Rule:
    """Combine several rules into one; its mistakes are not tried in pairs."""
    return lambda work: (made for rule in rules for made in rule(work))


def redo(step: Step, operation: Operation, *inputs: Tensor, axes: tuple[Axis, ...] | None = None) -> Step:
    """Return a step with another operation, and optionally other inputs and axes."""
    output = step.output if axes is None else step.output._replace(axes=axes)
    return step._replace(operation=operation, inputs=inputs or step.inputs, output=output)


def unchanged(step: Step, tensor: Tensor | None = None) -> Step:
    """Return a step that passes on one of its inputs unchanged."""
    tensor = step.inputs[0] if tensor is None else tensor
    return redo(step, SAME, tensor, axes=tensor.axes)


def axis_names(tensor: Tensor) -> list[str]:
    return [axis.name for axis in tensor.axes]


def size_of(tensor: Tensor, name: str) -> int | None:
    return next((axis.size for axis in tensor.axes if axis.name == name), None)
