"""A worksheet: the given values, each step with its rule and its numbers, and the result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.numbers.by_hand import Solution, WorkedStep
from glassformer.numbers.by_hand.surd import Surd
from glassformer.numbers.by_hand.worked import exactly, line, shows_exactly, symbol
from glassformer.numbers.explain import number
from glassformer.program import Tensor
from glassformer.program.axes import Array
from glassformer.program.formatter import LatexFormatter, TextFormatter
from glassformer.show.arithmetic import latex_arithmetic
from glassformer.show.fragment import fragment
from glassformer.show.inert import markdown_literal
from glassformer.show.markup import Html, tags
from glassformer.show.matrix import Grid, flowing, grids, latex_number
from glassformer.show.present import present
from glassformer.show.table import Column, Table, latex_text

MOST_ACROSS, MOST_DOWN = 8, 4  # numbers and rows of a result that fits into a table cell


@dataclass(frozen=True)
class Worksheet:
    """A solution as a page; `unrounded` is the solution without rounding, if this one carries rounded numbers."""

    solution: Solution
    digits: int = 4
    unrounded: Solution | None = None

    # The content, for all formats.

    @property
    def given(self) -> list[Tensor]:
        program = self.solution.program
        own = [*program.inputs, *(parameter.tensor for parameter in program.parameters)]
        return [tensor for tensor in own if tensor.name in self.solution.needed]

    def grids(self, tensor: Tensor, value: Array, text: Callable[[Any], str] | None = None) -> list[Grid]:
        shown = text or (lambda cell: number(float(cell), self.digits))
        return grids(tensor, value, shown, self.solution.labels, self.solution.problem.convention)

    def given_grids(self, tensor: Tensor) -> list[Grid]:
        """Given numbers in their given notation, such as fractions."""
        cells = np.empty(tensor.shape, dtype=object)
        for where in np.ndindex(*tensor.shape):
            exact: Any = self.solution.given_exact[tensor.name][where]
            ends = not isinstance(exact, Surd) or exact.decimal or not exact.short
            cells[where] = number(float(self.solution.given[tensor.name][where]), self.digits) if ends else exact.text()
        return self.grids(tensor, cells, str)

    def exact_grids(self, step: WorkedStep) -> list[Grid]:
        """The result in exact form, if decimals do not show it and its cells are not listed."""
        if not shows_exactly(step.exact, self.digits):
            return []
        return self.grids(step.step.output, step.exact, lambda cell: cell.text())

    @property
    def carried(self) -> str:
        if self.unrounded is not None:
            return f"Every intermediate result is rounded to {self.digits} decimals before it is used."
        return f"Shown to {self.digits} decimals; computed in full precision."

    @property
    def tables(self) -> list[Table]:
        return [*self._conventions(), *self._rounding()]

    def _conventions(self) -> Iterator[Table]:
        others = self.solution.others
        if not others or self.unrounded is not None:
            return
        output = self.solution.output
        rows = [[other.name, self._short(output, other.value), number(other.difference, self.digits)] for other in others]
        columns = [Column("convention"), Column("output"), Column("differs by at most", right=True)]
        yield Table("Under other conventions", columns, rows)

    def _short(self, tensor: Tensor, value: Array) -> str:
        """A result on one line of a table, `[1  2; 3  4]`; for a large one its first rows and numbers."""
        written = np.atleast_1d(self.solution.written(tensor, value))
        rows = written.reshape(-1, written.shape[-1])
        lines = [_few("  ", [number(float(cell), self.digits) for cell in row], MOST_ACROSS) for row in rows[: MOST_DOWN + 1]]
        return f"[{_few('; ', lines, MOST_DOWN)}]"

    def _rounding(self) -> Iterator[Table]:
        if self.unrounded is None:
            return
        moved = self.unrounded.moved(self.solution)
        rows = []
        for name, difference in moved.items():
            tensor = self.solution.program.tensors[self.solution.names.get(name, name)]
            rounded, full = (solution.run.values[tensor.name] for solution in (self.solution, self.unrounded))
            more = Worksheet(self.solution, self.digits + 2)
            rows.append([name, self._short(tensor, rounded), more._short(tensor, full), number(difference, self.digits + 2)])
        columns = [
            Column("quantity"),
            Column("rounded intermediates"),
            Column("full precision"),
            Column("largest difference", right=True),
        ]
        yield Table("Effect of rounding", columns, rows)

    # Text.

    def text(self) -> str:
        lines = [self.solution.title, self.carried]
        lines += ["", "Given", *flowing([self._text_given(tensor) for tensor in self.given])] if self.given else []
        for count, step in enumerate(self.solution.steps, start=1):
            lines += ["", *self._text_step(count, step)]
        for note in self.solution.notes:
            lines += ["", note]
        for table in self.tables:
            lines += ["", table.text()]
        return "\n".join(line.rstrip() for line in lines)

    @property
    def _text_formatter(self) -> TextFormatter:
        return TextFormatter(self.solution.problem.convention)

    def _text_given(self, tensor: Tensor) -> list[str]:
        name = symbol(tensor, self._text_formatter)
        words = self.solution.descriptions.get(tensor.name)
        if words is not None:
            return [f"{name}: {words}"]
        return self._block(name, self.given_grids(tensor))

    def _text_step(self, count: int, step: WorkedStep) -> list[str]:
        sizes = f"    {step.sizes}" if step.sizes else ""
        lines = [f"{count}. {step.rule(self._text_formatter)}{sizes}"]
        lines += [f"     {line(cell, step.run, self.digits)}" for cell in step.cells if not cell.moves]
        if step.left_out:
            lines.append(f"     … and {step.left_out} more in the same way")
        if step.value.ndim or all(cell.moves for cell in step.cells):
            blocks = [self._block(step.name, self.grids(step.step.output, step.value))]
            if step.left_out:
                blocks.append(self._block("exactly", self.exact_grids(step)))
            lines += flowing([block for block in blocks if block])
        return lines

    def _block(self, name: str, pages: list[Grid]) -> list[str]:
        """`name = matrix`, with the heads side by side."""
        blocks = []
        for page in pages:
            start = f"{name}{f' ({page.sheet})' if page.sheet else ''} = "
            rows = [page.single] if page.single is not None else page.lines()
            middle = (1 if page.column_names else 0) + (len(page.rows) - 1) // 2
            blocks.append([(start if number == middle else " " * len(start)) + row for number, row in enumerate(rows)])
        return flowing(blocks, indent=0)

    # LaTeX and Markdown.

    def latex(self) -> str:
        lines = [rf"\section*{{{latex_text(self.solution.title)}}}", latex_text(self.carried)]
        lines += ["", r"\paragraph{Given}"] if self.given else []
        lines += [rf"\[ {text} \]" for text in self._latex_given()]
        for count, step in enumerate(self.solution.steps, start=1):
            rule, cells, results = self._latex_step(step)
            lines += ["", rf"\paragraph{{{count}. {latex_text(step.name)}}}", rf"\[ {rule} \]"]
            lines += [rf"\begin{{gather*}} {(chr(92) * 2 + ' ').join(cells)} \end{{gather*}}"] if cells else []
            lines += [rf"\par \dots{{}} {step.left_out} more in the same way."] if step.left_out else []
            lines += [rf"\[ {result} \]" for result in results]
        lines += [f"\n{latex_text(note)}" for note in self.solution.notes]
        lines += [f"\n\\paragraph{{{latex_text(table.title)}}}\n\n{table.latex()}" for table in self.tables]
        return "\n".join(lines)

    def markdown(self) -> str:
        lines = [f"## {markdown_literal(self.solution.title)}", "", self.carried, ""]
        lines += ["**Given**", ""] if self.given else []
        lines += [f"$${text}$$\n" for text in self._latex_given()]
        for count, step in enumerate(self.solution.steps, start=1):
            rule, cells, results = self._latex_step(step)
            lines += [f"**{count}. {markdown_literal(step.name)}**", "", f"$${rule}$$", ""]
            lines += [*(f"- ${cell}$" for cell in cells), *([f"- … and {step.left_out} more"] if step.left_out else []), ""]
            lines += [f"$${result}$$\n" for result in results]
        lines += [f"{markdown_literal(note)}\n" for note in self.solution.notes]
        lines += [f"{table.markdown()}\n" for table in self.tables]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip()

    @property
    def _latex_formatter(self) -> LatexFormatter:
        return LatexFormatter(self.solution.problem.convention)

    def _latex_given(self) -> Iterator[str]:
        for tensor in self.given:
            words = self.solution.descriptions.get(tensor.name)
            if words is not None:
                yield rf"{symbol(tensor, self._latex_formatter)}\text{{: {latex_text(words)}}}"
                continue
            yield from self._latex_grids(tensor, self.given_grids(tensor))

    def _latex_grids(self, tensor: Tensor, pages: list[Grid]) -> Iterator[str]:
        for page in pages:
            sheet = rf"^{{(\text{{{_untagged(latex_text(page.sheet))}}})}}" if page.sheet else ""
            yield f"{symbol(tensor, self._latex_formatter)}{sheet} = {page.latex()}"

    def _latex_step(self, step: WorkedStep) -> tuple[str, list[str], list[str]]:
        rule = _untagged(step.rule(self._latex_formatter))
        cells = [self._latex_cell(step, number) for number, cell in enumerate(step.cells) if not cell.moves]
        results = list(self._latex_grids(step.step.output, self.grids(step.step.output, step.value)))
        return rule, cells, results

    def _latex_cell(self, step: WorkedStep, place: int) -> str:
        cell = step.cells[place]
        stages = [latex_arithmetic(stage, step.run, self.digits) for stage in cell.stages(self.digits)]
        value = number(cell.value, self.digits)
        sign = cell.sign(self.digits).replace("≈", r"\approx")
        parts = " = ".join(dict.fromkeys(stages))
        exact = cell.exact.latex() if isinstance(cell.exact, Surd) and exactly(cell, self.digits) else ""
        return f"{self._latex_label(step, cell.label)} = {parts} {sign} {latex_number(value)}" + (
            rf" \quad\text{{exactly }} {exact}" if exact else ""
        )

    def _latex_label(self, step: WorkedStep, label: str) -> str:
        _, bracket, places = label.partition("[")
        name = symbol(step.step.output, self._latex_formatter)
        if not bracket:
            return name
        inside = places.rstrip("]")
        inside = inside if inside.replace(", ", "").isdecimal() else rf"\text{{{_untagged(latex_text(inside))}}}"
        return rf"{name}\left[{inside}\right]"

    # HTML.

    def html(self) -> Html:
        """A fragment with its own style."""
        head = [tags.h3(self.solution.title), tags.p(self.carried), tags.h4("Given") if self.given else None]
        given = tags.div([self._html_given(tensor) for tensor in self.given], class_="matrices")
        steps = [self._html_step(count, step) for count, step in enumerate(self.solution.steps, start=1)]
        notes = [tags.p(note) for note in self.solution.notes]
        return fragment(head, given, steps, notes, [table.markup() for table in self.tables])

    def _html_step(self, count: int, step: WorkedStep) -> list[Html]:
        sizes = [" ", tags.small(step.sizes)] if step.sizes else None
        rows = [line(cell, step.run, self.digits) for cell in step.cells if not cell.moves]
        rows += [f"… and {step.left_out} more in the same way"] if step.left_out else []
        return [
            tags.h4(f"{count}. {step.rule(self._text_formatter)}", sizes),
            *(tags.div(row, class_="arithmetic") for row in rows),
            tags.div(self._html_grids(step.name, self.grids(step.step.output, step.value)), class_="matrices"),
        ]

    def _html_given(self, tensor: Tensor) -> list[Html]:
        name = symbol(tensor, self._text_formatter)
        words = self.solution.descriptions.get(tensor.name)
        if words is not None:
            return [tags.div(f"{name}: {words}", class_="given")]
        return self._html_grids(name, self.given_grids(tensor))

    def _html_grids(self, name: str, pages: list[Grid]) -> list[Html]:
        return [
            tags.div(tags.span(f"{name} ({page.sheet}) =" if page.sheet else f"{name} ="), page.html(), class_="given")
            for page in pages
        ]


def _few(between: str, words: list[str], most: int) -> str:
    return between.join(words if len(words) <= most else [*words[:most], "…"])


def worksheet(solution: Solution, digits: int, rounded: int | None = None) -> Worksheet:
    """The worksheet of a solution with `digits` decimals; `rounded` rounds intermediate results and shows the effect."""
    return Worksheet(solution, digits) if rounded is None else Worksheet(solution.rounded(rounded), rounded, solution)


@present.register
def _solution(solution: Solution) -> Worksheet:
    return Worksheet(solution)


def _untagged(latex: str) -> str:
    """LaTeX in which no <word> is parsed as HTML on a Markdown page; it renders identically."""
    return latex.replace("<", "{<}").replace(">", "{>}").replace("](", "]{}(")
