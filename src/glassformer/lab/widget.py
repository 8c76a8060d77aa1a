"""Live views for notebooks: attention, one number, a diagram, made of the lab's own front end.

glassformer.live(run.attention())      choose a layer and a head, click a weight
glassformer.live(run.explain(...))     a number whose terms open, down to the weights
glassformer.live(spec)                 the diagram; a block opens into its parameters

They need anywidget (`pip install 'glassformer[notebook]'`). Where it is missing, what comes back is what was given, which shows
itself as static HTML. A view holds its run: it lives as long as the kernel, and a saved notebook keeps its first sight.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.lab.documents.widget import AttentionFirst, EncoderFirst, ParameterLine
from glassformer.numbers import Difference, Run
from glassformer.numbers.attention import Attention
from glassformer.numbers.explain import Explanation
from glassformer.numbers.values import Values
from glassformer.program import Program, build
from glassformer.spec import EncoderSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    Answer = tuple[Mapping[str, Any], list[bytes]]

SOURCE = Path(str(files("glassformer.lab").joinpath("static/widget.js")))
WINDOW = 48  # tokens of a side that are shown at once


class View(Protocol):
    """The content of a widget: its kind, its initial data, and a function that answers later requests."""

    kind: str

    def first(self) -> Mapping[str, Any]: ...
    def answer(self, question: Mapping[str, Any]) -> Answer: ...


class AttentionView:
    """Attention weights; selecting one shows its arithmetic."""

    kind = "attention"

    def __init__(self, attention: Attention) -> None:
        self.attention = attention

    def first(self) -> AttentionFirst:
        found = self.attention
        tensor = found.run.tensor(found.name(found.layers[0]))
        weights = found.grid(found.layers[0], found.heads[0])[:WINDOW, :WINDOW]
        return {
            "label": found.label,
            "queries": [shown(word, limit=40) for word in found.queries],
            "keys": [shown(word, limit=40) for word in found.keys],
            "name": tensor.any_layer,
            "query_axis": tensor.axes[-2].name,
            "layers": list(found.layers),
            "heads": list(found.heads),
            "weights": weights.ravel().tolist(),
            "window": WINDOW,
        }

    def answer(self, question: Mapping[str, Any]) -> Answer:
        if question.get("ask") == "cell":
            return _cell(self.attention.run, question)
        layer, head = (_one_of(question, name, getattr(self.attention, f"{name}s")) for name in ("layer", "head"))
        row, column = (_whole(question, name) for name in ("row", "column"))
        block = self.attention.grid(layer, head)[row : row + WINDOW, column : column + WINDOW]
        return {"shape": list(block.shape)}, [np.ascontiguousarray(block, dtype="<f4").tobytes()]


class CellView:
    """The arithmetic of one number."""

    kind = "cell"

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    def first(self) -> Mapping[str, Any]:
        from glassformer.lab.cells import cell_id

        return _cell(self.explanation.run, {"cell": cell_id(self.explanation.tensor.name, self.explanation.cell)})[0]

    def answer(self, question: Mapping[str, Any]) -> Answer:
        return _cell(self.explanation.run, question)


class EncoderView:
    """The diagram, with the parameters of each block."""

    kind = "encoder"

    def __init__(self, program: Program) -> None:
        self.program = program

    def first(self) -> EncoderFirst:
        from glassformer.algebra import count
        from glassformer.show.diagram import diagram
        from glassformer.show.report.derived import sentence

        drawn, counted = diagram(self.program), count(self.program.spec)
        rows = [row for line in counted.lines for row in line.rows]
        blocks = [box.name for box in drawn.boxes if box.kind == "block" and not box.open]
        lines: dict[str, list[ParameterLine]] = {
            name: [
                {"name": row.name.removeprefix(f"{name}."), "formula": row.formula, "numbers": row.numbers, "count": row.count}
                for row in rows
                if row.tensor.is_at(name)
            ]
            for name in blocks
        }
        return {"label": sentence(self.program.spec), "parameters": counted.total, "diagram": drawn, "lines": lines}

    def answer(self, question: Mapping[str, Any]) -> Answer:
        raise GlassformerError(f"a diagram cannot answer {shown(question.get('ask'))}.")


def view_of(what: object) -> View:
    """Return the live view of an object."""
    makers: list[tuple[type, Callable[[Any], View]]] = [
        (Attention, AttentionView),
        (Explanation, CellView),
        (Program, EncoderView),
        (EncoderSpec, lambda spec: EncoderView(build(spec))),
        (Run, lambda run: AttentionView(run.attention())),
    ]
    for kind, make in makers:
        if isinstance(what, kind):
            return make(what)
    raise GlassformerError(
        f"{shown(type(what).__name__)} has no live view: use run.attention(), run.explain(…), a run, a spec or a program."
    )


def live(what: Any) -> Any:
    """A live view of a run, its attention, one of its numbers, a spec or a program; without anywidget, the object itself."""
    view = view_of(what)
    return _widget()(view) if find_spec("anywidget") is not None else what


@lru_cache(maxsize=1)
def _widget() -> Any:
    import anywidget
    import traitlets  # type: ignore[import-not-found, unused-ignore]

    from glassformer.lab.wire import plain

    class Live(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
        """A view in a notebook, and the kernel's side of it."""

        _esm = SOURCE
        kind = traitlets.Unicode().tag(sync=True)
        first = traitlets.Dict().tag(sync=True)

        def __init__(self, view: View) -> None:
            super().__init__(kind=view.kind, first=plain(view.first()))
            self.on_msg(lambda _, content, __: self.send(*replied(view, content)))

    return Live


def replied(view: View, content: Any) -> Answer:
    """Return the reply to a request: an answer, or a one-line error."""
    from glassformer.lab.wire import plain

    number = content.get("id") if isinstance(content, dict) else None
    try:
        document, buffers = view.answer(content if isinstance(content, dict) else {})
    except GlassformerError as error:
        return {"id": number, "error": str(error)}, []
    return {"id": number, "answer": plain(document)}, buffers


def _cell(run: Values, question: Mapping[str, Any]) -> Answer:
    from glassformer.lab.cells import read_cell
    from glassformer.lab.pages.trace_cells import opened_cell

    text = question.get("cell")
    if not isinstance(text, str):
        raise GlassformerError(f"'{shown(text)}' is not a cell: write one as layers.0.attention.scores[head=0,t=1,s=2].")
    return opened_cell(Difference(run, run, (), ()), *read_cell(run, text)), []


def _one_of(question: Mapping[str, Any], name: str, known: tuple[int, ...]) -> int:
    found = question.get(name)
    if isinstance(found, bool) or not isinstance(found, int) or found not in known:
        raise GlassformerError(f"{name} {shown(found)} is not in this view: it has {', '.join(map(str, known))}.")
    return found


def _whole(question: Mapping[str, Any], name: str) -> int:
    found = question.get(name, 0)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise GlassformerError(f"{name}={shown(found)} is not allowed: a whole number from 0.")
    return found
