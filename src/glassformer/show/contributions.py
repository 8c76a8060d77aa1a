"""Presentation of a ledger of contributions: by part and layer, then the largest lines, then the sums."""

from __future__ import annotations

from glassformer.numbers.contributions.ledger import Contributions, Line
from glassformer.show.figures import figures
from glassformer.show.present import present
from glassformer.show.table import Column, Table

MOST_LINES = 12


@present.register
def _ledger(found: Contributions) -> Table:
    """Sums by part and layer, and the largest lines of each rule."""
    rows = [["by part and layer", ""]]
    rows += [[f"  {name}", figures(value)] for name, value in sums(found)]
    rows.append(["largest lines", ""])
    largest = sorted(found.lines, key=lambda line: -abs(line.value))[:MOST_LINES]
    rows += [[f"  {line_label(found, line)}", figures(line.value)] for line in largest]
    first = len(rows)
    rows += [["sum of contributions", figures(found.total)], ["remainder", figures(found.remainder)]]
    rows.append([found.label, figures(found.value)])
    notes = ["", f"Rules: {found.rules.text}.", f"Sum + remainder − value = {found.gap:.1e} ({len(found.lines)} lines)."]
    columns = [Column("contribution"), Column("value", right=True)]
    return Table(f"what made {found.label}", columns, rows, notes, frozenset({first, first + 1, first + 2}))


def sums(found: Contributions) -> list[tuple[str, float]]:
    """Sums by part and layer, from the embeddings upward."""
    grouped = sorted(found.by("stack", "layer", "part").items(), key=lambda item: order(item[0][0], item[0][1]))
    return [(part_name(layer, part, stack), value) for (stack, layer, part), value in grouped]


def order(stack: str, layer: int | None) -> tuple[int, int]:
    """The sort key of a layer: encoder, decoder, then the rest; embeddings first."""
    return ("encoder", "decoder", "").index(stack), -1 if layer is None else layer


def part_name(layer: int | None, part: str, stack: str = "") -> str:
    """`layer 3 attention`, `decoder layer 3 cross`, or `token` outside the layers."""
    return " ".join([*([stack] if stack else []), *([] if layer is None else [f"layer {layer}"]), part])


def line_label(found: Contributions, line: Line) -> str:
    """`layers.3.attention.mix head 2 from "river" (2)`."""
    words = [line.name if line.part != "remainder" else f"remainder of {line.name}"]
    words += [f"head {line.head}"] if line.head is not None else []
    if line.position is not None:
        word = found.word(line.position, line.batch, target=line.target)
        words.append(f'"{word}" ({line.position})' if word else f"position {line.position}")
    words += [f"of text {line.batch}"] if found.run.program.sizes.batch > 1 else []
    return " ".join(words)
