"""A solved problem: the program, every value by name, the requested results, and the results under other conventions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from glassformer.arguments import require
from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand.builder import ProblemBuilder
from glassformer.numbers.by_hand.exactly import exact_values
from glassformer.numbers.by_hand.functions import BUILDERS
from glassformer.numbers.by_hand.problem import Problem, errors_naming
from glassformer.numbers.by_hand.result_names import resolved_names, result_names
from glassformer.numbers.by_hand.rounding import rounded_values
from glassformer.numbers.by_hand.surd import Surd
from glassformer.numbers.by_hand.worked import Bench, WorkedStep, turned, worked_steps
from glassformer.numbers.run import Run, evaluate
from glassformer.program import Program, Sizes, Tensor
from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec
from glassformer.spec.viewed import Viewed

Nested = Any  # a number, or lists of lists of numbers


class Other(NamedTuple):
    """The result under another convention: the difference in the rule, the result, and its distance from the chosen one."""

    name: str
    value: Array
    difference: float


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Viewed):
    """The result. `program` can be rewritten and `rerun`, to compute what a mistake would have given."""

    problem: Problem
    program: Program
    given: Mapping[str, Array]  # inputs and parameters by name
    given_exact: Mapping[str, Array]
    run: Run
    exact: Mapping[str, Array]  # the exact form of every cell that has one, else None
    output: Tensor
    names: Mapping[str, str]  # what can be asked for -> the tensor
    labels: Mapping[str, tuple[str, ...]]
    descriptions: Mapping[str, str] = field(default_factory=dict)  # matrices given in words
    notes: tuple[str, ...] = ()
    requested: tuple[str, ...] = ()
    others: tuple[Other, ...] = ()
    decimals: int | None = None  # decimals of intermediate results; None: full precision

    def __repr__(self) -> str:
        return f"<Solution of {self.problem.title!r}: {', '.join(step.name for step in self.program.steps)}>"

    def __str__(self) -> str:
        return self.presented().text()

    @property
    def title(self) -> str:
        return self.problem.title

    @cached_property
    def values(self) -> dict[str, Nested]:
        """Every quantity by name as nested lists, written in the problem's convention; heads first if there are several."""
        return self.nested(self.run.values)

    def nested(self, values: Mapping[str, Array]) -> dict[str, Nested]:
        """Return the values of this program, from this run or another, by every name of each."""
        return {name: self.written(self.program.tensors[tensor], values[tensor]).tolist() for name, tensor in self.names.items()}

    def written(self, tensor: Tensor, value: Array) -> Array:
        """A value as it is written in the problem's convention."""
        return turned(tensor, value, self.problem.convention)

    @cached_property
    def steps(self) -> list[WorkedStep]:
        """The steps that lead to the requested results, each with its arithmetic."""
        bench = Bench(self.run, self.exact, self.labels, self.problem.convention, self.decimals)
        return worked_steps(self.program, self.needed, bench)

    @cached_property
    def needed(self) -> frozenset[str]:
        """The tensors that the requested results depend on, including the results."""
        wanted = {self.names[name] for name in self.requested} or {self.output.name}
        for step in reversed(self.program.steps):
            if step.name in wanted:
                wanted |= {tensor.name for tensor in step.inputs}
        return frozenset(wanted)

    def rerun(self, program: Program) -> dict[str, Array]:
        """The values of a rewritten program on the same given numbers."""
        values = dict(self.given)
        evaluate(program, values)
        return values

    def rounded(self, decimals: int) -> Solution:
        """The same solution with every intermediate result rounded to `decimals` places before it is used."""
        values = rounded_values(self.program, self.given, decimals)
        run = Run(self.program, values, tokens=self.run.tokens)
        exact = {name: np.full(value.shape, None, dtype=object) for name, value in values.items()}
        return dataclasses.replace(self, run=run, exact=exact, decimals=decimals, others=())

    def moved(self, other: Solution) -> dict[str, float]:
        """Return the largest difference between a requested result and the same result in another run."""
        names = {name: self.names[name] for name in self.requested} or {self.output.name: self.output.name}
        return {word: _difference(self.run.values[name], other.run.values[name]) for word, name in names.items()}

    def to_dict(self, digits: int = 4) -> dict[str, Any]:
        """One JSON document; `digits` is the number of decimals in the written arithmetic, values are in full precision."""
        return {
            "title": self.title,
            "kind": self.problem.kind,
            "convention": self.problem.convention,
            "asked": list(self.requested),
            "values": self.values,
            "steps": [step.to_dict(digits) for step in self.steps],
            "labels": {name: list(labels) for name, labels in self.labels.items()},
            "notes": list(self.notes),
            "conventions": [
                {"name": o.name, "value": self.written(self.output, o.value).tolist(), "difference": o.difference}
                for o in self.others
            ],
        }


def solve(problem: Problem) -> Solution:
    """Solve a problem."""
    require(Problem, problem, "a problem is expected, as returned by parse_problem(…) or load_problem(…)")
    with errors_naming(problem.source):
        solution = _solve(problem)
        return dataclasses.replace(solution, others=tuple(_others(problem, solution)))


def solve_as_far(problem: Problem) -> tuple[Solution | None, GlassformerError | None]:
    """Return the solution up to the step that does not fit, and the error; None if there is no earlier step."""
    builder = ProblemBuilder(problem)
    try:
        with errors_naming(problem.source):
            BUILDERS[problem.kind](builder)
    except GlassformerError as error:
        if not builder.program.steps:
            return None, error
        builder.problem = builder.problem.replace(ask=())
        return _worked_out(builder, builder.program.steps[-1].output), error
    try:
        return solve(problem), None
    except GlassformerError as error:
        return None, error


def _solve(problem: Problem) -> Solution:
    builder = ProblemBuilder(problem)
    return _worked_out(builder, BUILDERS[problem.kind](builder))


def _worked_out(builder: ProblemBuilder, output: Tensor) -> Solution:
    problem, program = builder.problem, builder.program
    _check_sizes(problem, program)
    program.spec, program.sizes = _spec(program), Sizes(1, _length(program, "t"))
    values = dict(builder.given)
    evaluate(program, values)
    exact = exact_values(program, builder.exact, values)
    for step in program.steps:
        _tidy(values[step.name], exact[step.name])
    labels = {
        name: labels
        for name, labels in builder.labels.items()
        if any(a.name == name for t in program.tensors.values() for a in t.axes)
    }
    tokens = [list(labels["t"])] if labels.get("t") and labels.get("t") == labels.get("s", labels["t"]) else None
    names = result_names(program, builder.aliases, None if builder.missing else output)
    names |= resolved_names(problem.ask, names, labels, builder.missing)
    return Solution(
        problem=builder.problem,
        program=program,
        given=builder.given,
        given_exact=builder.exact,
        run=Run(program, values, tokens=tokens),
        exact=exact,
        output=output,
        names=names,
        labels=labels,
        descriptions=builder.descriptions,
        notes=tuple(dict.fromkeys(builder.notes)),
        requested=problem.ask,
    )


def _check_sizes(problem: Problem, program: Program) -> None:
    """Check that given sizes agree with the matrices (d_k and d_model may be given for the scale only)."""
    for name in ("d_v", "d_ff", "d_model"):
        said, found = problem.option(name), {a.size for t in program.tensors.values() for a in t.axes if a.name == name}
        if said is not None and found and said not in found and problem.option("scale") != name:
            raise GlassformerError(f"{name} = {said} is given, but the matrices have {name} = {min(found)}.")


def _tidy(values: Array, exact: Array) -> None:
    """Remove rounding noise: 0.3 for 0.30000000000000004, if the exact fraction is known."""
    for where in np.ndindex(*values.shape):
        cell: Any = exact[where]
        value = float(values[where])
        if isinstance(cell, Surd) and cell.fraction is not None:
            values[where] = float(cell.fraction)
        elif np.isfinite(value) and abs(value - round(value, 10)) <= 2e-15 * max(1.0, abs(value)):
            values[where] = round(value, 10)


def _length(program: Program, axis: str) -> int:
    return next((a.size for tensor in program.tensors.values() for a in tensor.axes if a.name == axis), 1)


def _spec(program: Program) -> EncoderSpec:
    """The sizes of the problem as a spec, which every program has."""
    size = {name: _length(program, name) for name in ("d_model", "head", "d_k", "d_v", "d_ff")}
    return EncoderSpec(d_model=size["d_model"], heads=size["head"], d_k=size["d_k"], d_v=size["d_v"], d_ff=size["d_ff"], layers=1)


def _others(problem: Problem, solution: Solution) -> list[Other]:
    """LayerNorm as computed, and under the other usual conventions."""
    if problem.kind != "layer_norm":
        return []
    eps = float(problem.option("eps", Surd.of(0)))
    width = solution.output.axes[-1].size
    divided = {
        "biased": f"biased variance, divided by n = {width}",
        "unbiased": f"unbiased variance, divided by n − 1 = {width - 1}",
    }
    places = {
        "inside": f"eps = {eps:g} inside the root, √(variance + eps)",
        "outside": f"eps = {eps:g} outside it, √variance + eps",
    }
    variance, place = problem.option("variance", "biased"), problem.option("eps_place", "inside")
    changes: list[tuple[str, dict[str, Any]]] = [
        (f"as computed here: {divided[variance]}{f', {places[place]}' if eps else ''}", {}),
        *((text, {"variance": name}) for name, text in divided.items() if name != variance and width > 1),
        *((text, {"eps_place": name}) for name, text in places.items() if name != place and eps),
    ]
    if not eps:
        changes.append(("eps = 1e-05 inside the root", {"eps": Surd.of(1) / Surd.of(100000)}))
    found = []
    for name, change in changes:
        other = _solve(problem.choosing(**change).replace(ask=()))
        value = other.run.values[other.output.name]
        found.append(Other(name, value, _difference(solution.run.values[solution.output.name], value)))
    return found


def _difference(one: Array, two: Array) -> float:
    """The largest difference; −∞ on both sides is none."""
    with np.errstate(invalid="ignore"):
        return float(np.where(one == two, 0.0, np.abs(np.subtract(one, two))).max(initial=0.0))
