"""A table once, shown as terminal text, Markdown, LaTeX or HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

from glassformer.show.inert import clean, markdown_text


@dataclass(frozen=True)
class Column:
    """A heading; numbers stand to the right."""

    title: str
    right: bool = False


@dataclass(frozen=True)
class Table:
    """Title, columns, rows of text, and notes below. `bold` lists the rows that sum up; spaces before a cell indent it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    bold: frozenset[int] = field(default_factory=frozenset)
    above: str = field(default="", kw_only=True)  # HTML that stands between the title and the table

    def edge(self, place: int) -> str:  # noqa: ARG002
        """The colour that marks a row in HTML, where there is one."""
        return ""

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

    def html(self) -> str:
        """A fragment with its own scoped style; everything foreign is escaped."""
        head = "".join(_cell("th", column.title, column) for column in self.columns)
        body = "".join(
            f"<tr{' class=sum' if i in self.bold else ''}{_edge(self.edge(i))}>"
            + "".join(_cell("td", cell, column) for cell, column in zip(row, self.columns, strict=True))
            + "</tr>"
            for i, row in enumerate(self.rows)
            if any(row)
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div class=glassformer>{STYLE}{self.above}{table}{notes}</div>"


STYLE = (
    "<style>.glassformer{font-family:system-ui,sans-serif;overflow-x:auto}"
    ".glassformer tr[style] td:first-child{padding-left:.5em}"
    ".glassformer .narrow{display:none}"
    ".glassformer table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".glassformer caption{text-align:left;font-weight:600;padding:.3em 0}"
    ".glassformer th,.glassformer td{padding:.15em .8em .15em 0;text-align:left}"
    ".glassformer .n{text-align:right}.glassformer thead tr{border-bottom:1px solid currentColor}"
    ".glassformer tr.sum td{font-weight:600}</style>"
)


def scoped(style: str) -> str:
    """Every rule of a style sheet, made to hold inside our element alone."""
    rules = [rule.partition("{") for rule in style.split("}") if rule.strip()]
    return "".join(
        f"{','.join(f'.glassformer {one.strip()}' for one in selector.split(','))}{{{body}}}" for selector, _, body in rules
    )


def _edge(colour: str) -> str:
    return f' style="border-left:3px solid {colour}"' if colour else ""


def _cell(tag: str, text: str, column: Column) -> str:
    return f"<{tag}{' class=n' if column.right else ''}>{indented(html.escape(text), '&nbsp;')}</{tag}>"


def indented(text: str, space: str) -> str:
    """The spaces at its beginning written as `space`, which Markdown, LaTeX and HTML keep."""
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
    """Text that LaTeX sets as it stands."""
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in clean(text))
