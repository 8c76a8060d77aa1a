"""Presentation of the algebra: each result as a table or a page of equations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from glassformer.algebra import Bridge, Cost, Count, Decoding, Notation, Shapes, notation
from glassformer.algebra.shapes import Shape
from glassformer.algebra.subtotals import GATHERED, Subtotal
from glassformer.program import Program
from glassformer.program.formatter import Convention
from glassformer.show.fragment import fragment
from glassformer.show.icicle import icicle_svg
from glassformer.show.inert import clean, markdown_text
from glassformer.show.markup import Html, tags
from glassformer.show.palette import Part, block_part, ink, tensor_part
from glassformer.show.present import present
from glassformer.show.table import Column, Table, latex_text, sizes_text
from glassformer.show.typeset import HtmlFormatter, equation

INDENT = "  "
SHOWN_LAYERS_NOTE = "{} {} are identical: layer {} is shown."
COST_PARTS: dict[str, Part | None] = {
    "embeddings": "embedding",
    "layers": None,
    "layers: attention": "attention",
    "layers: attention: projections": "attention",
    "layers: attention: scores and mix": "attention",
    "layers: mixing": "attention",
    "layers: cross-attention": "attention",
    "layers: cross-attention: projections": "attention",
    "layers: cross-attention: scores and mix": "attention",
    "layers: feed-forward": "feed-forward",
    "layers: norms and sums": "norm",
    "final_norm": "norm",
    "pooler": "head",
    "head": "head",
}


@dataclass(frozen=True)
class Equations:
    """Numbered equations, as text, Markdown, LaTeX or HTML."""

    notation: Notation

    def text(self) -> str:
        rows = self.notation.rows
        left = max((len(row.left) for row in rows), default=0)
        right = max((len(row.right) for row in rows), default=0)
        lines = [f"{self.notation.label}, tokens as {self.notation.formatter.convention}"]
        for section in self.notation.sections:
            lines += ["", section.title]
            lines += [
                f"{f'({e.number})':>5}  {e.left:>{left}} = {e.right:<{right}}  {e.shape}".rstrip() for e in section.equations
            ]
        return clean("\n".join(lines))

    def markdown(self) -> str:
        quoted = "$" if self.notation.latex else "`"
        lines = [f"### {markdown_text(self.notation.label)}, tokens as {self.notation.formatter.convention}"]
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

    def html(self) -> Html:
        title = tags.h2(f"{self.notation.label}, tokens as {self.notation.formatter.convention}")
        return fragment(title, equation_lists(self.notation.program, self.notation.formatter.convention))


def equation_lists(program: Program, convention: Convention) -> Iterator[Html]:
    """The equations of a program as HTML, each with its number, its shape and the colour of its part."""
    for section in notation(program, HtmlFormatter(convention)).sections:
        yield tags.h3(section.title)
        yield tags.ol(
            [
                tags.li(
                    tags.span(f"({e.number})", class_="number"),
                    equation(e.left, e.right),
                    tags.span(e.shape, class_="shape"),
                    style=f"border-left-color:{ink(tensor_part(e.step.output))}",
                )
                for e in section.equations
            ],
            class_="equations",
        )


@present.register
def _count(count: Count) -> Table:
    parts = [found for part in count.subtotals for found in part.walk()]
    rows = [_subtotal(part, depth) for depth, part in parts]
    bold = frozenset({place for place, (_, part) in enumerate(parts) if part.parts} | {len(rows) + 1})
    rows += [[""] * 5, ["total", "", "", f"{count.total:,}", ""]]
    notes = ["", f"{count.total:,} parameters: {count.convention}."]
    notes += [f"left out: {item.part} {item.count:,}" for item in count.left_out if item.part in count.without]
    notes += _largest(count)
    columns = [Column("tensor"), Column("formula"), Column("sizes", right=True), Column("count", right=True), Column("")]
    colours = [*(_subtotal_part(part) for _, part in parts), None, None]
    return Table(f"{count.label}: parameters", columns, rows, notes, bold, above=icicle_svg(count), parts=colours)


def _subtotal(part: Subtotal, depth: int) -> list[str]:
    name, count = INDENT * depth + part.name, f"{part.count:,}"
    if part.line is None:
        return [name, "", "", count, ""]
    return [name, part.line.formula, part.line.numbers, count, _shared(part.line.rows[0].also)]


def _subtotal_part(part: Subtotal) -> Part | None:
    if part.line is not None:
        return tensor_part(part.line.rows[0].tensor)
    if part.name in GATHERED:
        return "norm"
    return None if part.block.kind == "layers" else block_part(part.block)


def _largest(count: Count) -> list[str]:
    """The largest part and its share of the total, in one line; none if there is only one part."""
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
    title, ends = f"{bridge.left.label} → {bridge.right.label}", frozenset({0, len(rows) - 1})
    parts = [None, *(tensor_part(span.line.rows[0].tensor) for span in bridge.rows), None]
    return Table(title, columns, rows, notes, ends, parts=parts)


@present.register
def _shapes(shapes: Shapes) -> Table:
    shown, notes = _first_of_alike(shapes)
    rows = []
    for row in shown:
        one = sizes_text(row.one_head) if row.one_head and shapes.head is None else ""
        rows.append([row.name, row.role, row.formula.replace(" · ", " × "), sizes_text(row.shape), one, f"{row.elements:,}"])
    which = "" if shapes.head is None else f", head {shapes.head} only"
    columns = [Column("tensor"), Column(""), Column("axes"), Column("shape"), Column("one head"), Column("elements", right=True)]
    sizes = str(shapes.program.sizes)
    title = f"{shapes.label}: shapes, tokens as {shapes.convention}, {sizes}{which}"
    return Table(title, columns, rows, notes, parts=[tensor_part(row.tensor) for row in shown])


def _first_of_alike(shapes: Shapes) -> tuple[list[Shape], list[str]]:
    """Combine rows of identical layers."""
    layers: dict[str, list[Shape]] = {}
    for row in shapes.rows:
        if row.tensor.block.layer is not None:
            layers.setdefault(row.tensor.block.layer_name, []).append(row)
    kinds: dict[tuple[Any, ...], list[str]] = {}
    for name, rows in layers.items():
        alike = tuple((row.tensor.block.any_layer, row.tensor.symbol, row.shape) for row in rows)
        kinds.setdefault(alike, []).append(name)
    left_out = {name for names in kinds.values() for name in names[1:]}
    first = {names[0]: layers[names[0]][0].tensor.block for names in kinds.values()}
    notes = [
        SHOWN_LAYERS_NOTE.format(len(names), f"{first[names[0]].stack} layers".lstrip(), first[names[0]].layer)
        for names in kinds.values()
        if len(names) > 1
    ]
    return [row for row in shapes.rows if row.tensor.block.layer_name not in left_out], notes


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
        f"{cost.multiply_adds:,} multiply-adds = {cost.matrix_flops:,} FLOPs in matrix products; {cost.flops:,} FLOPs in total.",
        f"{cost.convention}.",
        f"memory {bytes_text(memory.total)}: "
        + ", ".join(f"{name} {bytes_text(size)}" for name, size in uses if size)
        + f" ({memory.assumptions}).",
    ]
    if cost.which == "training":
        notes.append(f"peak {bytes_text(memory.peak)}: the largest amount at any time, including the loss.")
    columns = [Column("part"), Column("multiply-adds in products", right=True), Column("FLOPs, all operations", right=True)]
    parts = [*(_cost_part(name) for name in cost.parts), None]
    return Table(f"{cost.label}: cost", columns, rows, notes, frozenset({len(rows) - 1}), parts=parts)


@present.register
def _decoding(decoding: Decoding) -> Table:
    rows = [[name, f"{row.multiply_adds:,}", f"{row.flops:,}"] for name, row in decoding.parts.items()]
    rows.append(["total", f"{decoding.multiply_adds:,}", f"{decoding.flops:,}"])
    of_each = ", ".join(f"{row.name} {row.numbers:,}" for row in decoding.caches)
    notes = [
        "",
        f"{decoding.multiply_adds:,} multiply-adds = {decoding.matrix_flops:,} FLOPs in matrix products; "
        f"{decoding.flops:,} FLOPs in total.",
        f"{decoding.convention}.",
        f"memory {bytes_text(decoding.weights + decoding.cache)}: weights {bytes_text(decoding.weights)}, "
        f"cache {bytes_text(decoding.cache)} ({of_each} numbers: keys and values of every layer).",
    ]
    columns = [Column("part"), Column("multiply-adds in products", right=True), Column("FLOPs, all operations", right=True)]
    parts = [*(_cost_part(name) for name in decoding.parts), None]
    return Table(f"{decoding.label}: one decoding step", columns, rows, notes, frozenset({len(rows) - 1}), parts=parts)


def _cost_part(name: str) -> Part | None:
    return COST_PARTS[name.removeprefix("encoder: ").removeprefix("decoder: ")]


def bytes_text(count: int) -> str:
    """Return `437.93 MB`, in units of 10^6 bytes."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} bytes"


@present.register
def _notation(notation: Notation) -> Equations:
    return Equations(notation)
