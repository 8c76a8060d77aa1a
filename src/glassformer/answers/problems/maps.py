"""Mistakes in linear maps: transposed matrices, missing biases or maps, heads not concatenated, missing activation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from glassformer.answers.problems.parts import mix_step
from glassformer.answers.problems.work import Instead, Rewrite, Where, Work, at, axis_names, having, redo, size_of, unchanged
from glassformer.numbers.by_hand.operations import Concat, Sigmoid
from glassformer.program import Step, Tensor
from glassformer.program.axes import Array
from glassformer.program.operations import Affine, Contract, Pointwise

CONTRACT = Contract()
THREE = ("W_Q", "W_K", "W_V")
ACTIVATIONS = ("relu", "gelu", "silu", "tanh")


def _applied(work: Work) -> dict[str, Step]:
    """Return the first step that applies each weight."""
    weights = {parameter.name for parameter in work.program.parameters if parameter.kind == "weight"}
    found: dict[str, Step] = {}
    for step in work.program.steps:
        if isinstance(step.operation, Contract) and len(step.inputs) > 1 and step.inputs[1].name in weights:
            found.setdefault(step.inputs[1].name, step)
    return found


def _applying(name: str, *, width: str = "") -> Where:
    """Return a selector of the steps that apply a weight to features of some width (additive alignment also has a W_2)."""

    def applies(step: Step) -> bool:
        return len(step.inputs) > 1 and step.inputs[1].name == name and width in ("", step.inputs[0].axes[-1].name)

    return lambda work: list(filter(applies, work.program.steps))


def _square(work: Work) -> list[Step]:
    """Return the projections whose output has the shape of their input."""
    return [step for name, step in _applied(work).items() if name in THREE and step.inputs[0].shape == step.output.shape]


def _listed(names: Sequence[str], did: str) -> str:
    """Return a list with its verb: `b_Q and b_K were not added`."""
    return f"{', '.join(names[:-1])} and {names[-1]} were {did}" if len(names) > 1 else f"{names[0]} was {did}"


def _named(tensor: int, did: str) -> Callable[[Sequence[Step]], str]:
    return lambda steps: _listed([step.inputs[tensor].name for step in steps], did)


biases = at(having(Affine), ("bias_forgotten", _named(2, "not added"), lambda step: redo(step, CONTRACT, *step.inputs[:2])))
not_applied = at(_square, ("projection_forgotten", _named(1, "not applied"), unchanged))
output_projection = at(_applying("W_O"), ("no_output_projection", "W_O was not applied", unchanged))
second_map = at(_applying("W_2", width="d_ff"), ("second_map_forgotten", "W_2 was not applied", unchanged))


def transposed(work: Work) -> Iterator[Rewrite]:
    """Yield W x instead of x W for square matrices: all of them, the three projections, or one."""
    steps = _applied(work)
    square = [name for name in steps if _turns(work.given[name])]
    choices = [square, [name for name in square if name in THREE], *([name] for name in square)]
    for names in dict.fromkeys(tuple(choice) for choice in choices if choice):
        made = work.giving({name: np.swapaxes(work.given[name], -1, -2).copy() for name in names})
        yield Rewrite("row_column_convention", _listed(names, "used transposed"), steps[names[0]].name, made)


def _turns(value: Array) -> bool:
    """Return whether a matrix is square and not symmetric."""
    square = value.ndim > 1 and value.shape[-1] == value.shape[-2]
    return square and not np.array_equal(value, np.swapaxes(value, -1, -2))


def one_for_all(work: Work) -> Iterator[Rewrite]:
    """Yield one head instead of all, heads left out, averaged or added, and one head of full width."""
    code = "one_head_vs_all_heads"
    for step in work.steps(Concat):
        heads = step.inputs[0]

        def narrow(does: Callable[..., Array], concat: Step = step) -> Step:
            """Return a step whose result is only as wide as one head."""
            return redo(concat, Instead(does), axes=concat.inputs[0].axes[1:])

        for head in range(heads.axes[0].size):
            others = Instead(lambda value, at=head, concat=step: _only(value, at, concat))
            yield work.wrong(
                code, f"only head {head + 1} was given as the result of all heads", narrow(lambda value, at=head: value[at])
            )
            yield work.wrong(code, f"only head {head + 1} was used; the others were left out", redo(step, others))
        yield work.wrong(code, "the heads were averaged, not concatenated", narrow(lambda value: value.mean(0)))
        yield work.wrong(code, "the heads were added, not concatenated", narrow(lambda value: value.sum(0)))
        yield from _one_wide_head(work, step)


def _only(value: Array, head: int, step: Step) -> Array:
    kept = np.zeros_like(value)
    kept[head] = value[head]
    return step.operation.evaluate(step.inputs, step.output, [kept])


def _one_wide_head(work: Work, step: Step) -> Iterator[Rewrite]:
    """Yield the full matrices used in one head."""
    problem = work.problem
    wide = all(problem.entries[key].ndim == 2 for key in (*THREE, "Q", "K", "V") if problem.has(key))
    if wide and problem.option("heads") and (made := work.solved(problem.choosing(heads=1))):
        yield Rewrite("one_head_vs_all_heads", "one head of full width was used instead of several heads", step.name, made)


def split_otherwise(work: Work) -> Iterator[Rewrite]:
    """Yield features assigned to the heads in turn, instead of in contiguous blocks."""
    given = {}
    for name in THREE:
        tensor, entry = work.program.tensors.get(name), work.problem.entries.get(name)
        if tensor is None or entry is None or entry.ndim != 2 or axis_names(tensor)[:1] != ["head"]:
            return
        given[name] = _dealt(work.given[name], tensor)
    mix = mix_step(work)
    if mix is not None and (size_of(mix.output, "head") or 1) > 1:
        what = "the features were assigned to the heads in turn; each head has a contiguous block"
        made = work.giving(given)
        yield from (Rewrite("heads_split_wrong", what, step, made) for step in ("q", "k", "v"))


def _dealt(value: Array, tensor: Tensor) -> Array:
    """Return the matrix with columns 0, h, 2h, … assigned to the first head."""
    width = next(place for place, name in enumerate(axis_names(tensor)) if name in ("d_k", "d_v"))
    side = np.moveaxis(value, (0, width), (-2, -1))
    dealt = side.reshape(*side.shape[:-2], value.shape[width], value.shape[0])
    return np.moveaxis(dealt, (-1, -2), (0, width)).copy()


def activation(work: Work) -> Iterator[Rewrite]:
    """Yield the activation left out or replaced by another one."""
    for step in work.steps(Pointwise, Sigmoid):
        if step.name in ("weights", "tanh") or (step.name == "output" and work.problem.kind == "softmax"):
            continue  # a softmax or similar, or part of an additive alignment
        own = step.operation.function if isinstance(step.operation, Pointwise) else "sigmoid"
        if work.problem.kind != "activation":
            yield work.wrong("activation_forgotten", f"{own} was not applied", unchanged(step))
        for other in ACTIVATIONS:
            if other != own and not (own.startswith("gelu") and other == "gelu"):
                yield work.wrong("activation_forgotten", f"{other} was used instead of {own}", redo(step, Pointwise(other)))
