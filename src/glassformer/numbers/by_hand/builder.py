"""Builds the program of a problem: turns given numbers into tensors, records the steps, refuses sizes that do not fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.by_hand.entries import MOST_NUMBERS, Entry, chosen, size_text, whole_entry
from glassformer.numbers.by_hand.operations import Inner, Pick
from glassformer.numbers.by_hand.problem import Problem
from glassformer.program import Axis, Program, Sizes, Tensor
from glassformer.program.axes import Array, ParameterKind
from glassformer.program.matrices import as_matrix
from glassformer.program.operations import Affine, Contract, Operation
from glassformer.program.program import Writer
from glassformer.program.roles import Role
from glassformer.spec import EncoderSpec

MOST_IN_A_STEP = 4 * MOST_NUMBERS
CONTRACT, AFFINE = Contract(), Affine()


class Matrix(NamedTuple):
    """A given matrix as a map from `in` to `out` (per head, if there is a third axis), and its description."""

    entry: Entry
    picks: str = ""


class ProblemBuilder:
    """A program under construction, its given numbers, and the names of its tensors."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.program = Program(EncoderSpec(), Sizes(1, 1))
        self.write = Writer(self.program)
        self.given: dict[str, Array] = {}
        self.exact: dict[str, Array] = {}
        self.labels: dict[str, tuple[str, ...]] = {}  # axis -> names of its places
        self.aliases: dict[str, str] = {}  # second name -> tensor
        self.descriptions: dict[str, str] = {}  # matrices given in words -> the words
        self.notes: list[str] = []
        self.missing: dict[str, str] = {}  # result that is not available -> missing inputs

    # Given numbers.

    def put(self, name: str, entry: Entry, *axes: Axis, kind: ParameterKind | None = None, role: Role = "other") -> Tensor:
        """Return given numbers as a tensor: a parameter if `kind` is given, otherwise an input."""
        write = self.write
        tensor = write.input(name, role, *axes) if kind is None else write.parameter(name, role, *axes, kind=kind)
        assert entry.shape == tensor.shape, f"{name}: {entry.shape} for {tensor.shape}"
        self.given[tensor.name], self.exact[tensor.name] = entry.values, entry.exact
        return tensor

    def upright(self, key: str) -> Entry:
        """An entry with tokens as rows; a table by token has them already."""
        entry = self.problem.entries[key]
        return entry.turned() if self.problem.convention == "columns" and entry.labels is None else entry

    def label(self, axis: Axis, labels: tuple[str, ...] | None, what: str) -> None:
        """Name the positions along an axis, unless they have names already."""
        if labels is None:
            return
        if len(labels) != axis.size:
            raise GlassformerError(f"{what} names {len(labels)} places ({', '.join(labels[:6])}), but there are {axis.size}.")
        self.labels.setdefault(axis.name, labels)

    def vectors(self, key: str, name: str, length: str, width: str) -> Tensor:
        """Return rows of vectors as a tensor (length × width); a single vector has no length."""
        entry = self.upright(key)
        if entry.described or entry.ndim not in (1, 2):
            raise GlassformerError(f"{key} is {_found(entry)}: expected a vector or rows of vectors.")
        if entry.ndim == 1:
            return self.put(name, entry, Axis(width, entry.shape[0]))
        axes = Axis(length, entry.shape[0]), Axis(width, entry.shape[1])
        self.label(axes[0], entry.labels, key)
        return self.put(name, entry, *axes)

    def feature(self, key: str, axis: Axis, name: str, kind: ParameterKind, role: Role = "other") -> Tensor:
        """Return one number per feature (gamma, beta, a bias); a single number is repeated."""
        entry = self.problem.entries[key]
        if entry.ndim == 0:
            entry = Entry(np.full(axis.size, float(entry.values)), np.full(axis.size, entry.exact[()], dtype=object))
        if entry.described or entry.values.size != axis.size or max(entry.shape) != axis.size:
            raise GlassformerError(f"{key} has {_found(entry)}: expected {axis.size}, one for each feature.")
        return self.put(name, entry.shaped((axis.size,)), axis, kind=kind, role=role)

    # Writing steps.

    def step(
        self, name: str, operation: Operation, *inputs: Tensor, axes: tuple[Axis, ...] | None = None, role: Role = "other"
    ) -> Tensor:
        output = self.write.step(name, role, operation, *inputs, axes=axes)
        if output.size > MOST_IN_A_STEP:
            most = f"a step worked by hand has at most {MOST_IN_A_STEP:,}"
            raise GlassformerError(f"{name} would have {output.size:,} numbers: {most}.")
        return output

    def contract(self, name: str, left: Tensor, right: Tensor, *axes: Axis) -> Tensor:
        """The product of two tensors, summed over every axis that `axes` leaves out."""
        return self.step(name, CONTRACT if axes else Inner(), left, right, axes=axes)

    def written_out(self, key: str, entry: Entry, of: Tensor) -> Entry:
        """Return the numbers of a matrix given as a word, such as identity, for the features of `of`."""
        width = of.axes[-1].size
        if entry.described == "identity":
            if entry.values.size and entry.values[0] != width:
                side = f"{entry.values[0]:g}"
                raise GlassformerError(f"{key} is the identity, {side} × {side}, but {of.name} has {width} features.")
            return whole_entry(np.eye(width))
        if entry.described == "pick":
            if entry.values.max() > width:
                raise GlassformerError(f"{key} picks coordinate {entry.values.max():g}, but {of.name} has {width}.")
            return chosen(entry.values, width)
        return entry

    def matrix(self, key: str, of: Tensor, head: Axis | None = None) -> Matrix:
        """The map under `key` from the features of `of`, in `x W` form; one wide matrix is cut into heads."""
        width = of.axes[-1].size
        given = self.problem.entries[key]
        entry, picks = self.written_out(key, given, of), ""
        if given.described == "identity":
            self.descriptions[key] = f"the identity, {width} × {width}"
        elif given.described == "pick":
            picks = " | ".join(", ".join(f"{pick:g}" for pick in row) for row in np.atleast_2d(given.values))
            self.descriptions[key] = f"picks coordinates {picks}"
        else:
            if entry.described or entry.ndim not in (2, 3):
                raise GlassformerError(f"{key} is {_found(entry)}: expected a matrix, a list of rows.")
            entry = entry.turned() if self.problem.left else entry
            if entry.shape[-2] != width:
                raise self._misfit(key, given.shape[-2:], of)
        return Matrix(self._in_heads(key, entry, head), picks)

    def _in_heads(self, key: str, entry: Entry, head: Axis | None) -> Entry:
        if entry.ndim == 3:
            count = head.size if head else 1
            if entry.shape[0] != count:
                raise GlassformerError(f"{key} has {entry.shape[0]} heads, but there are {count}.")
            return entry if head else entry.at(0)
        if head is None:
            return entry
        width, wide = entry.shape
        if wide % head.size:
            raise GlassformerError(f"{key} gives {wide} features, which cannot be cut into {head.size} equal heads.")
        return entry.shaped((width, head.size, wide // head.size)).moved(1, 0, 2)

    def lay_map(self, key: str, matrix: Matrix, inside: Axis, outside: Axis, head: Axis | None = None, name: str = "") -> Tensor:
        """Return a map as a parameter with its axes in the given order, so that it is shown as it was written."""
        as_given = self.problem.left == (self.problem.convention == "columns")
        entry = matrix.entry if as_given else matrix.entry.turned()
        pair = (inside, outside) if as_given else (outside, inside)
        return self.put(name or key, entry, *((head,) if head else ()), *pair, kind="weight")

    def project(self, x: Tensor, key: str, name: str, into: str, *, bias: str = "", head: Axis | None = None) -> Tensor:
        """`x W + b` as a step; with heads, one product for each."""
        inside = x.axes[-1]
        matrix = self.matrix(key, x, head)
        outside = Axis(into, matrix.entry.shape[-1])
        weight = self.lay_map(key, matrix, inside, outside, head, name=key.rpartition(".")[2])
        axes = (*((head,) if head else ()), *x.axes[:-1], outside)
        if bias and self.problem.has(bias):
            added = self._bias(bias, outside, head)
            return self.step(name, AFFINE, x, weight, added, axes=axes)
        return self.step(name, Pick(picks=matrix.picks) if matrix.picks else CONTRACT, x, weight, axes=axes)

    def _bias(self, key: str, outside: Axis, head: Axis | None) -> Tensor:
        name = key.rpartition(".")[2]
        entry = self.problem.entries[key]
        if head is None or entry.ndim == 0:
            return self.feature(key, outside, name, "bias")
        if entry.described or entry.values.size != head.size * outside.size:
            raise GlassformerError(f"{key} has {_found(entry)}: expected {head.size} heads of {outside.size}.")
        return self.put(name, entry.shaped((head.size, outside.size)), head, outside, kind="bias")

    def alias(self, word: str, tensor: Tensor) -> None:
        self.aliases[word] = tensor.name

    # What does not fit.

    def _misfit(self, key: str, given: tuple[int, ...], x: Tensor) -> GlassformerError:
        """`x W` or `W x` with both shapes as they were written, and the form that would fit."""
        left = self.problem.left
        columns = self.problem.convention == "columns"
        sizes = x.shape[-2:]
        vector = size_text(sizes[::-1] if columns else sizes)
        product = f"{key} {x.name}" if left else f"{x.name} {key}"
        inner = given[-1] if left else given[0]
        turned = given[0] if left else given[-1]
        what = f"{product} does not fit: {x.name} is {vector}, {key} is {size_text(given)}, and {x.shape[-1]} is not {inner}."
        if turned != x.shape[-1]:
            return GlassformerError(f"{what} {key} must have {x.shape[-1]} {'columns' if left else 'rows'}.")
        other = "x W" if left else "W x"
        return GlassformerError(
            f"{what} {key} transposed, {size_text(given[::-1])}, would fit: "
            f'write {key} = {{transpose = …}}, or apply = "{other}" for all matrices.'
        )

    def size(self, tensor: Tensor) -> str:
        """The size of a tensor as it is written in this convention, one head of it."""
        return size_text(as_matrix(tensor, self.problem.convention, one_head=True).shape)


def _found(entry: Entry) -> str:
    if entry.described:
        return f"described ({entry.described})"
    return shown(size_text(entry.shape))
