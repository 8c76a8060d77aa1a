"""Presentation of numbers in notebooks: a run as a table of tensors, a number as a tree, a change as the tensors it affects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from glassformer.numbers.checkpoint import Checkpoint
from glassformer.numbers.explain import Explanation, opened
from glassformer.numbers.run import Run
from glassformer.numbers.what_if import Difference
from glassformer.program.axes import Array
from glassformer.show.figures import figures
from glassformer.show.fragment import fragment
from glassformer.show.markup import Html, tags
from glassformer.show.notebook.encoders import encoder_html
from glassformer.show.palette import tensor_part
from glassformer.show.present import present
from glassformer.show.table import Column, Table, sizes_text

MOST_ROWS = 60
MOST_NODES = 120  # most cells in a tree
OPENED = 6  # cells below one cell


@dataclass(frozen=True)
class Drawn:
    """A view with prepared text and HTML."""

    text: Callable[[], str]
    html: Callable[[], Html]


@present.register
def _run(run: Run) -> Table:
    """The steps of the first layer and the outputs of the other layers, each with its range."""
    made = [step.output for step in run.program.steps if step.output.hidden or step.block.layer in (None, 0)]
    tensors = [tensor for tensor in (*run.program.inputs, *made) if tensor.name in run][:MOST_ROWS]
    rows = [[tensor.name, sizes_text(run[tensor.name].shape), *_range(run[tensor.name])] for tensor in tensors]
    explanation = f"{len(run.values):,} tensors by name; after the first layer, only the outputs. run.explain explains a number."
    words = [f"tokens: {' '.join(run.tokens[0])}"] if run.tokens and len(run.tokens[0]) <= 64 else []
    columns = [Column("tensor"), *(Column(title, right=True) for title in ("shape", "least", "mean", "largest"))]
    sizes = run.program.sizes
    parts = [tensor_part(tensor) for tensor in tensors]
    return Table(f"a run over batch={sizes.batch} t={sizes.t}", columns, rows, ["", *words, explanation], parts=parts)


def _range(value: Array) -> list[str]:
    """Minimum, mean and maximum of the finite numbers; the −∞ of a mask is shown as the minimum."""
    numbers = np.asarray(value, dtype=np.float64)
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return ["", "", ""]
    least = "−∞" if np.isneginf(numbers).any() else figures(float(finite.min()))
    return [least, figures(float(finite.mean())), figures(float(finite.max()))]


@present.register(Difference)
def _difference(difference: Difference[Run]) -> Table:
    moved = list(difference.moved.items())
    most = max((size for _, size in moved), default=0.0) or 1.0
    rows = [[name, figures(size), "▪" * round(24 * size / most)] for name, size in moved[:MOST_ROWS]]
    notes = [
        "",
        f"changed: {', '.join(difference.changed)}; {len(difference.rerun)} steps were recomputed, {len(moved)} tensors changed.",
    ]
    notes += [f"… and {len(moved) - MOST_ROWS} more"] if len(moved) > MOST_ROWS else []
    columns = [Column("tensor"), Column("by at most", right=True), Column("")]
    tensors = difference.after.program.tensors
    return Table("what moved", columns, rows, notes, parts=[tensor_part(tensors[name]) for name, _ in moved[:MOST_ROWS]])


@present.register
def _checkpoint(checkpoint: Checkpoint) -> Drawn:
    what = f": {checkpoint.model_class}, {checkpoint.parameters:,} parameters"
    head = tags.p(tags.strong(checkpoint.folder.name), what)
    return Drawn(lambda: repr(checkpoint), lambda: fragment(head, encoder_html(checkpoint.spec)))


@dataclass
class _Node:
    """A cell of the tree, and the cells shown below it."""

    explanation: Explanation
    below: list[_Node] = field(default_factory=list)

    def html(self, *, open_: bool = False) -> Html:
        value = [tags.code(self.explanation.label), " = ", tags.strong(figures(self.explanation.value, 6))]
        if self.explanation.source != "step":
            return tags.div(value, f" {self.explanation.set_by_hand() or f'({self.explanation.source})'}", class_="leaf")
        rule = tags.div(self.explanation.rule, tags.br(), f"= {self.explanation.numbers()}", class_="rule")
        left_out = len(self.explanation.refs) - len(self.below)
        more = tags.div(f"… and {left_out:,} more", class_="leaf") if left_out else None
        return tags.details(tags.summary(value), rule, [node.html() for node in self.below], more, class_="tree", open=open_)


@present.register
def _explanation(explanation: Explanation) -> Drawn:
    return Drawn(explanation.text, lambda: fragment(_tree(explanation).html(open_=True)))


def _tree(explanation: Explanation) -> _Node:
    """Return as many levels as the number of cells allows, the nearest first."""
    root = _Node(explanation)
    queue, written = [root], 1
    while queue and written < MOST_NODES:
        node = queue.pop(0)
        terms = node.explanation.terms
        refs = (
            node.explanation.refs
            if len(node.explanation.refs) <= OPENED
            else [ref for term in terms[: OPENED // 2] for ref in term.refs]
        )
        seen: set[tuple[str, tuple[int, ...]]] = set()
        for ref in refs[:OPENED]:
            key = (ref.tensor.name, ref.tensor.at(ref.cell))
            if key not in seen:
                seen.add(key)
                node.below.append(_Node(opened(explanation.run, ref)))
        written += len(node.below)
        queue += [below for below in node.below if below.explanation.source == "step"]
    return root
