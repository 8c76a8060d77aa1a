"""What a person did: a program on given numbers, the right one or one that a mistake made of it."""

# ruff: noqa: ARG002 - every operation is asked the same questions; not each needs all that is said.

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from glassformer.numbers.by_hand import Problem, Solution, solve
from glassformer.program import Axis, Cell, Program, Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.expression import Expression, Values
from glassformer.program.operations import Operation
from glassformer.program.operations.base import Elementwise
from glassformer.program.pen import Pen
from glassformer.spec import GlassformerError


@dataclass(frozen=True)
class Instead(Elementwise):
    """What was done in place of a step: a function of the values of its inputs."""

    does: Callable[..., Array]

    def evaluate(self, inputs: Sequence[Tensor], output: Tensor, values: Sequence[Array]) -> Array:
        return np.broadcast_to(np.asarray(self.does(*values), dtype=float), output.shape)

    def opened(self, inputs: Sequence[Tensor], output: Tensor, cell: Cell, values: Values) -> Expression:
        raise NotImplementedError("a mistake is run, not explained")

    def write(self, inputs: Sequence[Tensor], output: Tensor, names: Sequence[str], pen: Pen) -> str:
        raise NotImplementedError("a mistake is run, not written")


SAME = Instead(lambda value, *_: value)


@dataclass(frozen=True, eq=False, repr=False)
class Work:
    """A program and its numbers. `pristine`: as the problem has it, so that it can be solved again with other choices."""

    problem: Problem
    program: Program
    given: Mapping[str, Array]
    names: Mapping[str, str]  # quantity -> tensor
    pristine: bool = True

    @staticmethod
    def of(solution: Solution, problem: Problem) -> Work:
        """The right work, with the solution's own values: fractions are tidy there."""
        made = Work(problem, solution.program, solution.given, solution.names)
        made.__dict__["values"] = solution.run.values
        return made

    @cached_property
    def values(self) -> dict[str, Array]:
        """Every tensor that comes out; what rests on a step that does not fit is left out."""
        values = dict(self.given)
        with np.errstate(all="ignore"):
            for step in self.program.steps:
                if all(tensor.name in values for tensor in step.inputs):
                    parts = [values[tensor.name] for tensor in step.inputs]
                    try:
                        values[step.name] = np.asarray(step.operation.evaluate(step.inputs, step.output, parts))
                    except (ValueError, IndexError):  # sizes that do not fit: the person could not have gone on either
                        continue
        return values

    def quantity(self, name: str) -> tuple[Tensor, Array] | None:
        """A quantity's axes and value, where this work has it."""
        tensor = self.names.get(name)
        if tensor is None or tensor not in self.values or tensor not in self.program.tensors:
            return None
        return self.program.tensors[tensor], self.values[tensor]

    # Finding steps.

    def step(self, name: str) -> Step | None:
        return self.program.step_of.get(name)

    def steps(self, *kinds: type) -> list[Step]:
        """The steps whose operation is exactly of one of these kinds."""
        return [step for step in self.program.steps if type(step.operation) in kinds]

    def reads(self, name: str) -> list[Step]:
        """The steps that use a tensor."""
        return [step for step in self.program.steps if any(tensor.name == name for tensor in step.inputs)]

    def after(self, names: Collection[str]) -> set[str]:
        """The tensors that depend on some others."""
        found = set(names)
        for step in self.program.steps:
            if any(tensor.name in found for tensor in step.inputs):
                found.add(step.name)
        return found - set(names)

    def before(self, name: str) -> set[str]:
        """A tensor and those that it depends on."""
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
        """Some steps done otherwise; what depends on a result that now has other sizes is left out."""
        right = self.program.step_of
        sized = {step.name for step in steps if step.output.shape != right[step.name].output.shape}
        lost = self.after(sized)
        new = {step.name: step if step.name in sized else step._replace(output=right[step.name].output) for step in steps}
        return self.rewritten([new.get(step.name, step) for step in self.program.steps if step.name not in lost])

    def wrong(self, code: str, what: str, *steps: Step) -> Rewrite:
        """A mistake in some steps, the first of which is the one to correct."""
        return Rewrite(code, what, steps[0].name, self.redone(*steps))

    def giving(self, given: Mapping[str, Array]) -> Work:
        """Other given numbers."""
        return dataclasses.replace(self, given={**self.given, **given}, pristine=False)

    def supposing(self, values: Mapping[str, Array]) -> Work:
        """Some results taken as they are claimed, and all that follows worked out from them."""
        inputs = [self.program.tensors[name] for name in values]
        steps = [step for step in self.program.steps if step.name not in values]
        program = dataclasses.replace(self.program, steps=steps, inputs=[*self.program.inputs, *inputs])
        return dataclasses.replace(self, program=program, given={**self.given, **values}, pristine=False)

    def solved(self, problem: Problem) -> Work | None:
        """The work of another problem; None where that one cannot be worked out, or this is not the problem's own work."""
        if not self.pristine:
            return None
        try:
            return Work.of(solve(problem.replace(ask=())), problem)
        except GlassformerError:
            return None


class Rewrite(NamedTuple):
    """A mistake made: its code, what exactly was done, the step of the right work that it gets wrong, and its own work."""

    code: str
    what: str
    step: str
    work: Work


Rule: TypeAlias = Callable[[Work], Iterable[Rewrite]]
Where: TypeAlias = Callable[[Work], Sequence[Step]]
What: TypeAlias = str | Callable[[Sequence[Step]], str]
Does: TypeAlias = Operation | Callable[[Step], Step | None]  # what is done instead; None: this step leaves no room for it


def having(*kinds: type, inputs: int = 0, named: Collection[str] = ()) -> Where:
    """The steps of some kinds, those with so many inputs or of these names alone."""
    return lambda work: [
        step for step in work.steps(*kinds) if inputs in (0, len(step.inputs)) and (not named or step.name in named)
    ]


def at(where: Where, *table: tuple[str, What, Does]) -> Rule:
    """A table of mistakes (code, what was done, what is done instead) in the same steps: in all of them, and in each alone."""

    def rule(work: Work) -> Iterator[Rewrite]:
        for code, what, does in table:
            done = [(step, does(step) if callable(does) else redo(step, does)) for step in where(work)]
            pairs = [(step, wrong) for step, wrong in done if wrong is not None]
            for chosen in (pairs, *([pair] for pair in pairs)) if len(pairs) > 1 else [pairs] * len(pairs):
                said = what if isinstance(what, str) else what([step for step, _ in chosen])
                yield work.wrong(code, said, *(wrong for _, wrong in chosen))

    return rule


def rows(*rules: Rule) -> Rule:
    """Several tables as one rule: no two of its mistakes are tried together."""
    return lambda work: (made for rule in rules for made in rule(work))


def redo(step: Step, operation: Operation, *inputs: Tensor, axes: tuple[Axis, ...] | None = None) -> Step:
    """A step done otherwise: another operation, on the same inputs or on others, with a result of other axes or of the same."""
    output = step.output if axes is None else Tensor(step.name, axes)
    return step._replace(operation=operation, inputs=inputs or step.inputs, output=output)


def unchanged(step: Step, tensor: Tensor | None = None) -> Step:
    """A step that hands on one of its inputs as it is."""
    tensor = step.inputs[0] if tensor is None else tensor
    return redo(step, SAME, tensor, axes=tensor.axes)


def axis_names(tensor: Tensor) -> list[str]:
    return [axis.name for axis in tensor.axes]


def size_of(tensor: Tensor, name: str) -> int | None:
    return next((axis.size for axis in tensor.axes if axis.name == name), None)
