"""Mistakes about heads: one for all, averaged or summed for side by side, W_O left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glassformer.answers.problems.parts import mix_step
from glassformer.answers.problems.work import SAME, Instead, Rewrite, Work, axis_names, size_of
from glassformer.numbers.by_hand.operations import Concat
from glassformer.program import Step, Tensor
from glassformer.program.axes import Array


def one_for_all(work: Work) -> Iterator[Rewrite]:
    """One head's result for the result of all, the other heads left out, or one head of full width."""
    for step in work.steps(Concat):
        heads = step.inputs[0]
        for head in range(heads.axes[0].size):
            what = f"head {head + 1} alone was given for all heads"
            yield Rewrite("one_head_vs_all_heads", what, step.name, _narrow(work, step, lambda value, at=head: value[at]))
            others = Instead(lambda value, at=head, concat=step: _only(value, at, concat))
            what = f"only head {head + 1} was put in; the others were left out"
            yield Rewrite("one_head_vs_all_heads", what, step.name, work.doing(step.name, others))
        for word, function in (("averaged", lambda value: value.mean(0)), ("added up", lambda value: value.sum(0))):
            what = f"the heads were {word}, not put side by side"
            yield Rewrite("one_head_vs_all_heads", what, step.name, _narrow(work, step, function))
        yield from _one_wide_head(work, step)


def _narrow(work: Work, step: Step, does: object) -> Work:
    """A result as wide as one head; what comes after it has no place for that, unless a head is as wide as all."""
    heads = step.inputs[0]
    operation = Instead(does)  # type: ignore[arg-type]
    return work.reshaped(step.name, Tensor(step.name, heads.axes[1:]), operation, heads)


def _only(value: Array, head: int, step: Step) -> Array:
    kept = np.zeros_like(value)
    kept[head] = value[head]
    return step.operation.evaluate(step.inputs, step.output, [kept])


def _one_wide_head(work: Work, step: Step) -> Iterator[Rewrite]:
    """The wide matrices used as they are, in one head."""
    problem = work.problem
    wide = all(problem.entries[key].ndim == 2 for key in ("W_Q", "W_K", "W_V", "Q", "K", "V") if problem.has(key))
    if wide and problem.option("heads"):
        made = work.solved(problem.choosing(heads=1))
        if made is not None:
            yield Rewrite("one_head_vs_all_heads", "one head of full width was used for all the heads", step.name, made)


def output_projection(work: Work) -> Iterator[Rewrite]:
    """The heads, or the one head, given without W_O."""
    for step in work.program.steps:
        if len(step.inputs) < 2 or step.inputs[1].name != "W_O":
            continue
        mixed = step.inputs[0]
        if mixed.axes[-1].size == step.output.axes[-1].size:
            made = work.doing(step.name, SAME, mixed)
        else:
            made = work.reshaped(step.name, Tensor(step.name, mixed.axes), SAME, mixed)
        yield Rewrite("no_output_projection", "W_O was not applied", step.name, made)


def split_otherwise(work: Work) -> Iterator[Rewrite]:
    """Features dealt out to the heads in turn, where each head has a block of neighbouring ones."""
    given = {}
    for name in ("W_Q", "W_K", "W_V"):
        tensor = work.program.tensors.get(name)
        entry = work.problem.entries.get(name)
        if tensor is None or entry is None or entry.ndim != 2 or axis_names(tensor)[:1] != ["head"]:
            return
        given[name] = _dealt(work.given[name], tensor)
    mix = mix_step(work)
    if given and mix is not None and (size_of(mix.output, "head") or 1) > 1:
        what = "the features were dealt out to the heads in turn; each head has a block of neighbours"
        yield Rewrite("heads_split_wrong", what, "q", work.giving(given))


def _dealt(value: Array, tensor: Tensor) -> Array:
    """Columns 0, h, 2h, … to the first head."""
    names = axis_names(tensor)
    width = next(place for place, name in enumerate(names) if name in ("d_k", "d_v"))
    side = np.moveaxis(value, (0, width), (-2, -1))
    wide = side.reshape(*side.shape[:-2], -1)
    dealt = wide.reshape(*wide.shape[:-1], value.shape[width], value.shape[0])
    return np.moveaxis(dealt, (-1, -2), (0, width)).copy()
