"""Questions that have a shape for an answer, written as the question says: as stored, as one matrix, tokens as columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from glassformer.answers.asked import Answer
from glassformer.answers.asked.tensors import other_shapes
from glassformer.answers.mistakes.sizes import shape_mistakes
from glassformer.answers.quiz import notation
from glassformer.answers.quiz.keys import RIGHT, Judgement, Key, Own, Section, Wrong, explained, unread
from glassformer.answers.quiz.template import Writing
from glassformer.program import Tensor, build
from glassformer.program.axes import HEADS
from glassformer.program.matrices import Matrix, as_matrix

Sizes = tuple[int, ...]
HEADED = (".q", ".k", ".v", ".mix", ".scores", ".weights")
SAID: dict[Writing, str] = {
    "as stored": "tokens as rows, the batch first",
    "matrix": "tokens as rows, without the batch",
    "columns": "tokens as columns, without the batch",
}


@dataclass(frozen=True)
class Shaped(Key):
    """A shape."""

    answer: Answer
    writing: Writing = "as stored"
    convention_credit: Fraction = Fraction(1, 2)
    wanted: str = "a shape, such as 64 × 32"

    @cached_property
    def tensor(self) -> Tensor:
        asked = self.answer.asked
        return build(asked.spec, batch=asked.batch, t=asked.t).tensors[self.answer.lines[0].what]

    @cached_property
    def matrix(self) -> Matrix | None:
        """The matrix on paper, unless the shape is asked for as it is stored."""
        if self.writing == "as stored":
            return None
        convention = "columns" if self.writing == "columns" else "rows"
        return as_matrix(self.tensor, convention, one_head=self.answer.question.one_head)  # type: ignore[arg-type]

    @cached_property
    def value(self) -> Sizes:
        if self.matrix is not None:
            return self.matrix.shape
        assert isinstance(self.answer.value, tuple)
        return self.answer.value

    @property
    def text(self) -> str:
        return written(self.value)

    def judge(self, claim: str) -> Judgement:
        shapes = notation.shapes(claim)
        if not shapes:
            return unread(self.wanted)
        if same(shapes[0], self.value):
            return RIGHT
        known = [wrong for wrong in self.wrongs() if wrong.value == shapes[0]]
        if known:
            return explained(known)
        for convention, shape in self._others():
            if shape == shapes[0]:
                says = f"right in another way of writing ({convention}); asked for is {self.text} ({SAID[self.writing]})"
                return Judgement("convention", self.convention_credit, says)
        return explained([])

    def _others(self) -> list[tuple[str, Sizes]]:
        found = [(self.answer.convention, self.answer.value), *((o.convention, o.value) for o in other_shapes(self.tensor))]
        return [(convention, value) for convention, value in found if isinstance(value, tuple)]

    def wrongs(self) -> Sequence[Wrong]:
        return self._wrongs

    @cached_property
    def _wrongs(self) -> list[Wrong]:
        usual = {shape for _, shape in self._others()}
        found = [(code, what, value) for code, what, value in shape_mistakes(self.answer) if value not in usual]
        spec = self.answer.asked.spec
        headed = self.tensor.name.endswith(HEADED) and spec.heads > 1
        if headed and not self.answer.question.one_head:
            without = [axis.size for axis in self.tensor.axes if axis.name not in HEADS]
            found += [("one_head_vs_all_heads", "one head alone", shape) for shape in (tuple(without), tuple(without[1:]))]
        if headed and self.answer.question.one_head:
            wide = spec.d_model
            swapped = [tuple(wide if size in (spec.head_k, spec.head_v) else size for size in shape) for shape in (self.value,)]
            found += [("one_head_vs_all_heads", "the full width given to one head", shape) for shape in swapped]
        if self.tensor.symbol in ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2") and len(self.value) == 2:
            found.append(("row_column_convention", "rows and columns exchanged", self.value[::-1]))
        unique: dict[tuple[str, Sizes], Wrong] = {}
        for code, what, value in found:
            if not same(value, self.value):
                unique.setdefault((code, value), Wrong(written(value), value, code, what))
        return list(unique.values())

    def solution(self) -> tuple[Section, ...]:
        formula = self.matrix.formula if self.matrix is not None else self.answer.lines[0].symbols
        line = f"{self.tensor.name}: {formula} = {self.text}"
        return (("derivation", (line,)), ("convention", (SAID[self.writing],)))

    def own(self, claim: str) -> Own | None:
        """A shape is carried forward as its number of elements."""
        shapes = notation.shapes(claim)
        return Fraction(math.prod(shapes[0])) if shapes else None


def same(one: Sizes, other: Sizes) -> bool:
    """Equal; a vector may also be written as one row or one column."""
    return one == other or (len(other) == 1 and tuple(size for size in one if size != 1) == other)


def written(sizes: Sizes) -> str:
    return " × ".join(map(str, sizes))
