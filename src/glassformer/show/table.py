"""A table, rendered as terminal text, Markdown, LaTeX or HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from glassformer.show.fragment import fragment
from glassformer.show.inert import clean, markdown_text
from glassformer.show.markup import Child, Html, element, join, tags
from glassformer.show.palette import Part, ink


@dataclass(frozen=True)
class Column:
    """A column heading; numbers are aligned to the right."""

    title: str
    right: bool = False


@dataclass(frozen=True)
class Table:
    """Title, columns, rows of text, and notes below. `bold` lists the rows of totals; spaces before a cell indent it.

    `parts` is the part of the encoder of each row, which gives the row its colour in HTML.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    bold: frozenset[int] = field(default_factory=frozenset)
    parts: Sequence[Part | None] = field(default=(), kw_only=True)
    above: Child = field(default=None, kw_only=True)  # shown before the table on a page

    def text(self) -> str:
        """Plain text with aligned columns, the same in a pipe and in a file."""
        widths = [max([len(column.title), *(len(row[i]) for row in self.rows)]) for i, column in enumerate(self.columns)]

        def line(cells: Sequence[str]) -> str:
            padded = [
                cell.rjust(width) if column.right else cell.ljust(width)
                for cell, width, column in zip(cells, widths, self.columns, strict=True)
            ]
            return "  ".join(padded).rstrip()

        rule = "  ".join("─" * width for width in widths).rstrip()
        body = [line(row) for row in self.rows]
        head = [line([column.title for column in self.columns]), rule] if any(column.title for column in self.columns) else []
        return clean("\n".join([*([self.title] if self.title else []), *head, *body, *self.notes]))

    def markdown(self) -> str:
        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(indented(markdown_text(cell), "&nbsp;").replace("|", "\\|") for cell in cells) + " |"

        def strong(cell: str) -> str:
            words = cell.lstrip(" ")
            return f"{cell[: len(cell) - len(words)]}**{words}**" if words else ""

        rule = "|" + "|".join("---:" if column.right else ":---" for column in self.columns) + "|"
        rows = [[strong(cell) for cell in row] if i in self.bold else row for i, row in enumerate(self.rows)]
        top = [f"### {markdown_text(self.title)}", ""] if self.title else []
        notes = ["", *map(markdown_text, self.notes)] if self.notes else []
        return "\n".join([*top, line([column.title for column in self.columns]), rule, *map(line, rows), *notes])

    def latex(self) -> str:
        shape = "".join("r" if column.right else "l" for column in self.columns)
        rows = [" & ".join(indented(latex_text(cell), "~") for cell in row) + r" \\" for row in self.rows]
        head = " & ".join(rf"\textbf{{{latex_text(column.title)}}}" for column in self.columns) + r" \\"
        notes = [rf"\par {latex_text(note)}" for note in self.notes]
        return "\n".join([rf"\begin{{tabular}}{{{shape}}}", head, r"\hline", *rows, r"\end{tabular}", *notes])

    def html(self) -> Html:
        """A fragment with its own style."""
        return fragment(self.above, self.markup())

    def markup(self) -> Html:
        """The table, which scrolls on narrow pages, and its notes."""
        head = tags.thead(tags.tr(self._cells("th", [column.title for column in self.columns])))
        caption = tags.caption(self.title) if self.title else None
        whole = tags.table(caption, head, tags.tbody(self._rows()))
        scroll = tags.div(whole, class_="scroll", tabindex=0, role="region", aria_label=self.title or "table")
        return join(scroll, [tags.p(note, class_="note") for note in self.notes if note])

    def _rows(self) -> Iterator[Html]:
        for place, row in enumerate(self.rows):
            part = self.parts[place] if self.parts else None
            edge = f"border-left-color:{ink(part)}" if part else None
            if any(row):
                yield tags.tr(self._cells("td", row), class_="sum" if place in self.bold else None, style=edge)

    def _cells(self, tag: str, cells: Sequence[str]) -> list[Html]:
        return [
            element(tag, indented(cell, "\u00a0"), class_="n" if column.right else None)
            for cell, column in zip(cells, self.columns, strict=True)
        ]


def indented(text: str, space: str) -> str:
    """Replace leading spaces by `space`, which Markdown, LaTeX and HTML keep."""
    words = text.lstrip(" ")
    return space * (len(text) - len(words)) + words


def sizes_text(shape: Sequence[int]) -> str:
    """`12 × 64`; `1` for a single number."""
    return " × ".join(map(str, shape)) or "1"


LATEX_SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "−": "$-$",
    "→": r"$\to$",
    "≈": r"$\approx$",
    "√": r"$\surd$",
    "…": r"\dots{}",
    "─": "-",
}


def latex_text(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in clean(text))
