"""How the answers of the algebra look: each result as a table or a page of equations."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from glassformer.algebra import Bridge, Cost, Count, Notation, Shapes, notation
from glassformer.algebra.shapes import Shape
from glassformer.algebra.subtotals import Subtotal
from glassformer.show.icicle import icicle_svg
from glassformer.show.inert import clean, markdown_text
from glassformer.show.palette import ink, part_of
from glassformer.show.parts_table import PartsTable
from glassformer.show.present import present
from glassformer.show.table import STYLE, Column, Table, latex_text, scoped, sizes_text
from glassformer.show.typeset import STYLE as EQUATIONS
from glassformer.show.typeset import HtmlPen, equation

INDENT = "  "
SHOWN_LAYERS_NOTE = "{} layers are alike: layer {} is shown."


@dataclass(frozen=True)
class Equations:
    """Numbered equations, as text, Markdown, LaTeX or HTML."""

    notation: Notation

    def text(self) -> str:
        rows = self.notation.rows
        left = max((len(row.left) for row in rows), default=0)
        right = max((len(row.right) for row in rows), default=0)
        lines = [f"{self.notation.label}, tokens as {self.notation.pen.convention}"]
        for section in self.notation.sections:
            lines += ["", section.title]
            lines += [
                f"{f'({e.number})':>5}  {e.left:>{left}} = {e.right:<{right}}  {e.shape}".rstrip() for e in section.equations
            ]
        return clean("\n".join(lines))

    def markdown(self) -> str:
        quoted = "$" if self.notation.latex else "`"
        lines = [f"### {markdown_text(self.notation.label)}, tokens as {self.notation.pen.convention}"]
        for section in self.notation.sections:
            lines += ["", f"**{section.title}**", ""]
            lines += [f"({e.number}) {quoted}{e.left} = {e.right}{quoted} ({e.shape})  " for e in section.equations]
        return "\n".join(lines)

    def latex(self) -> str:
        lines = []
        for section in self.notation.sections:
            lines += [rf"\paragraph{{{latex_text(section.title)}}}", r"\begin{align}"]
            lines.append(" \\\\\n".join(rf"  {e.left} &= {e.right} \tag{{{e.number}}}" for e in section.equations))
            lines.append(r"\end{align}")
        return "\n".join(lines)

    def html(self) -> str:
        parts = [f"<h3>{html.escape(self.notation.label)}, tokens as {self.notation.pen.convention}</h3>"]
        written = notation(self.notation.program, HtmlPen(self.notation.pen.convention))
        for section in written.sections:
            items = "".join(
                f'<tr style="border-left:3px solid {ink(part_of(e.name))}"><td>({e.number})</td>'
                f"<td>{equation(e.left, e.right)}</td><td><small>{html.escape(e.shape)}</small></td></tr>"
                for e in section.equations
            )
            parts.append(f"<h4>{html.escape(section.title)}</h4><table><tbody>{items}</tbody></table>")
        return f"<div class=glassformer>{STYLE}<style>{scoped(EQUATIONS)}</style>{''.join(parts)}</div>"


@present.register
def _count(count: Count) -> Table:
    parts = [found for part in count.subtotals for found in part.walk()]
    rows = [_subtotal(part, depth) for depth, part in parts]
    bold = frozenset({place for place, (_, part) in enumerate(parts) if part.parts} | {len(rows) + 1})
    rows += [[""] * 5, ["total", "", "", f"{count.total:,}", ""]]
    names = [*(part.place for _, part in parts), "", "total"]
    notes = ["", f"{count.total:,} parameters: {count.convention}."]
    notes += [f"left out: {item.part} {item.count:,}" for item in count.left_out if item.part in count.without]
    notes += _largest(count)
    columns = [Column("tensor"), Column("formula"), Column("sizes", right=True), Column("count", right=True), Column("")]
    return PartsTable(f"{count.label}: parameters", columns, rows, notes, bold, above=icicle_svg(count), names=names)


def _subtotal(part: Subtotal, depth: int) -> list[str]:
    name, count = INDENT * depth + part.name, f"{part.count:,}"
    if part.line is None:
        return [name, "", "", count, ""]
    return [name, part.line.formula, part.line.numbers, count, _shared(part.line.rows[0].also)]


def _largest(count: Count) -> list[str]:
    """The largest part and its share of the total, in one line; no line where there is one part alone."""
    if not count.largest:
        return []
    names, size = [part.name for part in count.largest], count.largest[0].count
    share = f"{size / count.total:.1%}"
    return [
        f"largest parts: {', '.join(names)}, each {size:,}, {share}"
        if names[1:]
        else f"largest part: {names[0]}, {size:,}, {share}"
    ]


def _shared(also: tuple[str, ...]) -> str:
    if not also:
        return ""
    return f"also {also[0]}" if len(also) == 1 else f"also {also[0]} and {len(also) - 1} more"


@present.register
def _bridge(bridge: Bridge) -> Table:
    rows = [["", bridge.left.label, "", f"{bridge.left.total:,}"]]
    for span in bridge.rows:
        left, right = (line.numbers if line else "none" for line in (span.left, span.right))
        rows.append([span.name, left, right, f"{span.difference:+,}"])
    rows.append(["", bridge.right.label, "", f"{bridge.right.total:,}"])
    notes = ["", f"difference {bridge.total:+,}; {bridge.unchanged:,} parameters are the same on both sides."]
    notes += [f"{end.label}: {end.convention}." for end in (bridge.left, bridge.right) if end.left_out]
    columns = [Column("tensor"), Column("from", right=True), Column("to", right=True), Column("difference", right=True)]
    return PartsTable(f"{bridge.left.label} → {bridge.right.label}", columns, rows, notes, frozenset({0, len(rows) - 1}))


@present.register
def _shapes(shapes: Shapes) -> Table:
    shown, notes = _first_of_alike(shapes)
    rows = []
    for row in shown:
        one = sizes_text(row.one_head) if row.one_head and shapes.head is None else ""
        rows.append([row.name, row.role, row.formula.replace(" · ", " × "), sizes_text(row.shape), one, f"{row.elements:,}"])
    which = "" if shapes.head is None else f", head {shapes.head} alone"
    columns = [Column("tensor"), Column(""), Column("axes"), Column("shape"), Column("one head"), Column("elements", right=True)]
    sizes = shapes.program.sizes
    title = f"{shapes.label}: shapes, tokens as {shapes.convention}, batch={sizes.batch} t={sizes.t}{which}"
    return PartsTable(title, columns, rows, notes)


def _first_of_alike(shapes: Shapes) -> tuple[list[Shape], list[str]]:
    """Rows with layers that look alike folded onto the first of them."""
    layers: dict[str, list[Shape]] = {}
    for row in shapes.rows:
        words = row.name.split(".")
        if words[0] == "layers" and words[1].isdecimal():
            layers.setdefault(words[1], []).append(row)
    kinds: dict[tuple[Any, ...], list[str]] = {}
    for number, rows in layers.items():
        kinds.setdefault(tuple((row.name.split(".", 2)[2], row.shape) for row in rows), []).append(number)
    hidden = {number for numbers in kinds.values() for number in numbers[1:]}
    notes = [SHOWN_LAYERS_NOTE.format(len(numbers), numbers[0]) for numbers in kinds.values() if len(numbers) > 1]
    return [row for row in shapes.rows if not (row.name.startswith("layers.") and row.name.split(".")[1] in hidden)], notes


@present.register
def _cost(cost: Cost) -> Table:
    rows = [[name, f"{row.multiply_adds:,}", f"{row.flops:,}"] for name, row in cost.parts.items()]
    rows.append(["total", f"{cost.multiply_adds:,}", f"{cost.flops:,}"])
    memory = cost.memory
    uses = [
        ("weights", memory.weights),
        ("gradients", memory.gradients),
        ("optimizer", memory.optimizer),
        ("activations", memory.activations),
    ]
    notes = [
        "",
        f"{cost.multiply_adds:,} multiply-adds = {cost.matrix_flops:,} FLOPs in matrix products; {cost.flops:,} FLOPs in all.",
        f"{cost.convention}.",
        f"memory {bytes_text(memory.total)}: "
        + ", ".join(f"{name} {bytes_text(size)}" for name, size in uses if size)
        + f" ({memory.assumptions}).",
    ]
    if cost.which == "training":
        notes.append(f"peak {bytes_text(memory.peak)}: the most at one moment, the loss included.")
    columns = [Column("part"), Column("multiply-adds in products", right=True), Column("FLOPs, all operations", right=True)]
    return PartsTable(f"{cost.label}: cost", columns, rows, notes, frozenset({len(rows) - 1}))


def bytes_text(count: int) -> str:
    """`437.93 MB`: 10^6 bytes, as disks and cards are sold."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} bytes"


@present.register
def _notation(notation: Notation) -> Equations:
    return Equations(notation)
