"""Trace: a sentence through a model, every number of it open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassformer.errors import GlassformerError, shown
from glassformer.lab.cells import read_cell
from glassformer.lab.documents import trace as documents
from glassformer.lab.pages import trace_models
from glassformer.lab.pages.trace_beams import beams_of
from glassformer.lab.pages.trace_cells import opened_cell
from glassformer.lab.pages.trace_edits import Edit, edited, masks, with_mask
from glassformer.lab.pages.trace_ledger import ledger_at
from glassformer.lab.pages.trace_models import Model, can_keep_all, open_model
from glassformer.lab.pages.trace_output import output
from glassformer.lab.pages.trace_sessions import Cache
from glassformer.lab.pages.trace_slices import thumbnails, window
from glassformer.lab.pages.trace_target import Target, read_ids
from glassformer.lab.pages.trace_written import target_of
from glassformer.lab.wire import answer, arrays_answer, asked, text_in, whole_in
from glassformer.numbers import Difference, Run
from glassformer.numbers.keep import KeptValues
from glassformer.program import Step
from glassformer.program.formatter import LatexFormatter
from glassformer.show.palette import tensor_part
from glassformer.spec import EncoderSpec, Seq2SeqSpec

if TYPE_CHECKING:
    from glassformer.lab.start import Lab

Made = TypeVar("Made")


@dataclass(frozen=True)
class Asked:
    """What an address of the page says: a model, what goes in, what was changed, and which layer is looked at."""

    model: str
    spec: str
    seed: int
    text: str
    target: str
    ids: tuple[int, ...]
    image: str
    layer: int
    edits: tuple[str, ...]


@dataclass(frozen=True)
class Traced:
    """A run before and after the changes."""

    model: Model
    text: str
    difference: Difference[Run]
    edits: tuple[Edit, ...] = ()
    moved: Mapping[str, float] = field(default_factory=dict)  # as `difference.moved`, which looks at every number


class TraceState:
    """The models and runs that are open."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.models = Cache(4, 1_000_000_000)
        self.runs = Cache(8, 3_000_000_000)
        self.changed = Cache(8, 1_000_000_000)
        self.targets = Cache(64, 1_000_000)

    def model(self, ask: Asked) -> Model:
        key = (ask.model, ask.spec, ask.seed)
        return self.models.get(key, lambda: open_model(self.lab, ask.model, ask.spec, ask.seed), lambda model: model.size)

    def traced(self, ask: Asked) -> Traced:
        """The run that an address means: kept, or made again from nothing but the address."""
        model = self.model(ask)
        ask = ask if ask.text else replace(ask, text=model.first_text)
        target = self.target(model, ask)
        prepared = model.prepared(ask.text, ask.image, target)
        whole = (model.key, ask.text, ask.image, target, None)
        keeps_all = whole in self.runs or can_keep_all(model, prepared.program)  # what is kept takes no more memory
        layer = None if keeps_all else min(ask.layer, prepared.program.spec.layers - 1)
        key = (*whole[:4], layer)
        run = self.runs.get(key, lambda: model.run(prepared, layer), model.weight_of)
        if not ask.edits:
            return Traced(model, ask.text, Difference(run, run, (), ()))

        def make() -> Traced:
            difference, edits = edited(with_mask(run) if masks(ask.edits) else run, ask.edits)
            return Traced(model, ask.text, difference, tuple(edits), difference.moved)

        return self.changed.get((*key, ask.edits), make, lambda made: _own_bytes(made.difference, run))

    def target(self, model: Model, ask: Asked) -> Target | None:
        """What the decoder reads: writing it takes several runs, so it is kept."""
        key = (model.key, ask.text, ask.target, ask.ids)
        return self.targets.get(key, lambda: target_of(model, ask.text, ask.target, ask.ids), lambda _: 1000)


def _own_bytes(difference: Difference[Run], run: Run) -> int:
    """Bytes that a change holds beside what it shares with the run that was changed."""
    arrays = [*difference.before.values.items(), *difference.after.values.items()]
    own = {id(value): value.nbytes for name, value in arrays if value is not run.values.get(name)}
    return sum(own.values())


async def models(request: Request) -> Response:
    """What can be traced without naming a folder, what the lab was started with, and the built-in images."""
    own = trace_models.bundled()
    listed: list[documents.NamedModel] = [
        {"name": name, "title": about["title"], "made": about["made"]} for name, about in own.items()
    ]
    images, labels = trace_models.digits()
    header: documents.Models = {
        "models": listed,
        "first": trace_models.FIRST,
        "random": trace_models.RANDOM_SPEC,
        "digits": [int(label) for label in labels],
        "given": [str(root) for root in request.app.state.lab.folders.roots],
    }
    return arrays_answer(header, {"digits": images}, "float16")


async def opening(request: Request) -> Response:
    """The run: its tokens, the steps by layer, what came out, and what the changes moved."""
    return answer(await _do(request, lambda state, ask, _: _opened(state.traced(ask))))


async def heads(request: Request) -> Response:
    """A thumbnail for every head."""
    header, arrays = await _do(request, lambda state, ask, _: thumbnails(state.traced(ask).difference.after, ask.layer))
    return arrays_answer(header, arrays, "float16")


async def tensor(request: Request) -> Response:
    """One page of a tensor."""

    def read(state: TraceState, ask: Asked, document: dict[str, Any]) -> Any:
        return window(state.traced(ask).difference, text_in(document, "name", ""), _places(document))

    header, arrays = await _do(request, read)
    return arrays_answer(header, arrays)


async def cell(request: Request) -> Response:
    """One number, opened."""

    def read(state: TraceState, ask: Asked, document: dict[str, Any]) -> Any:
        difference = state.traced(ask).difference
        return opened_cell(difference, *read_cell(difference.after, text_in(document, "cell", "")))

    return answer(await _do(request, read))


async def ledger(request: Request) -> Response:
    """What made a number, or a line of it."""

    def read(state: TraceState, ask: Asked, document: dict[str, Any]) -> Any:
        return ledger_at(state.traced(ask).difference.after, text_in(document, "ledger", ""))

    return answer(await _do(request, read))


async def _do(request: Request, reading: Callable[[TraceState, Asked, dict[str, Any]], Made]) -> Made:
    state = request.app.state
    if not hasattr(state, "trace"):
        state.trace = TraceState(state.lab)
    document = await asked(request)
    made: Made = await state.lab.workers.do(reading, state.trace, _asked(document), document)
    return made


async def beams(request: Request) -> Response:
    """What a beam search keeps after each token."""

    def read(state: TraceState, ask: Asked, document: dict[str, Any]) -> Any:
        model = state.model(ask)
        ask = ask if ask.text else replace(ask, text=model.first_text)
        return beams_of(model, ask.text, state.target(model, ask), whole_in(document, "beams", 3))

    return answer(await _do(request, read))


def _opened(traced: Traced) -> documents.Opened:
    model, difference = traced.model, traced.difference
    run = difference.after
    spec, sizes = run.program.spec, run.program.sizes
    found: documents.Opened = {
        "label": model.label,
        "about": model.about,
        "parameters": sum(parameter.size for parameter in run.program.parameters),
        "reads": spec.reads,
        "text": traced.text,
        "tokens": _tokens(run),
        "before_tokens": _tokens(difference.before),
        "t": sizes.t,
        "target": _words(run.target),
        "before_target": _words(difference.before.target),
        "ids": [int(token) for token in run.values["target"][0]] if "target" in run and run.values["target"].ndim == 2 else [],
        "predicts_next": spec.predicts_next,
        "stacks": _stacks(spec),
        "layers": spec.layers,
        "heads": spec.heads,
        "whole": not isinstance(run.values, KeptValues),
        "steps": _steps(run),
        "output": output(model, difference),
        "examples": list(model.examples),
        "labels": list(model.labels),
        "edits": [edit.words for edit in traced.edits],
        "moved": dict(traced.moved),
    }
    if spec.reads == "image":
        found["image"] = {"grid": spec.patch_grid, "patch": spec.patch_size, "before": spec.class_tokens + spec.registers}
    return found


def _tokens(run: Run) -> list[str]:
    """A name for every position: words, or what stands before the patches, and the patches by row and column."""
    spec, length = run.program.spec, run.program.sizes.t
    if spec.reads == "image":
        first = ["class", "distill", *(f"token {i}" for i in range(2, spec.class_tokens))][: spec.class_tokens]
        columns = spec.patch_grid[1]
        patches = [f"{place // columns},{place % columns}" for place in range(spec.patches)]
        return [*first, *(f"register {i}" for i in range(spec.registers)), *patches]
    return _words(run.tokens) or [str(place) for place in range(length)]


def _words(texts: list[list[str]] | None) -> list[str]:
    words = texts[0] if texts else []
    return [shown(word, limit=40) if word.isprintable() else shown(repr(word), limit=40) for word in words]


def _stacks(spec: EncoderSpec) -> list[documents.Stack]:
    """The stacks in the order of the program; the only one has no name."""
    if isinstance(spec, Seq2SeqSpec):
        both = (("encoder", spec.encoder), ("decoder", spec.decoder))
        return [{"name": name, "layers": one.layers, "heads": one.heads} for name, one in both]
    return [{"name": "", "layers": spec.layers, "heads": spec.heads}]


def _steps(run: Run) -> list[documents.Step]:
    """Every tensor that was computed, and what went in, in order; `layer` is null outside of the layers."""
    formatter = LatexFormatter()
    listed: list[documents.Step] = [
        {
            "name": tensor.name,
            "stack": _input_stack(run, tensor.name),
            "layer": None,
            "part": "embedding",
            "axes": [(axis.name, axis.size) for axis in tensor.axes],
        }
        for tensor in run.program.inputs
    ]
    entered: set[str] = set()  # the stacks whose layers were listed
    for step in run.program.steps:
        layer, stack = step.block.layer, step.block.stack
        if layer is not None:
            entered.add(stack)
        names = [formatter.symbol(tensor.symbol) for tensor in step.inputs]
        listed.append(
            {
                "name": step.name,
                "stack": stack,
                "layer": "after" if layer is None and _follows(stack, entered) else layer,
                "part": tensor_part(step.output),
                "axes": [(axis.name, axis.size) for axis in step.output.axes],
                "latex": f"{formatter.symbol(step.output.symbol)} = {step.write(names, formatter)}",
                "kept": step.name in run,
                "keys": _keys(step),
            }
        )
    return listed


def _follows(stack: str, entered: set[str]) -> bool:
    """Whether a step outside of the layers comes after those of its stack; what belongs to no stack comes after all."""
    return stack in entered or (not stack and bool(entered))


def _input_stack(run: Run, name: str) -> str:
    """The stack that reads an input."""
    readers = (step.block.stack for step in run.program.steps if any(tensor.name == name for tensor in step.inputs))
    return next(readers, "")


def _keys(step: Step) -> Literal["source", "target"]:
    """Which of the two texts the axis `s` of a step counts."""
    return "target" if step.block.stack == "decoder" and not step.block.reads_source else "source"


def _asked(document: dict[str, Any]) -> Asked:
    edits = document.get("edits", [])
    if not isinstance(edits, list) or not all(isinstance(edit, str) and len(edit) < 400 for edit in edits):
        raise GlassformerError(f"edits must be a list of texts, found {shown(edits)}.")
    return Asked(
        model=text_in(document, "model", "") or trace_models.FIRST,
        spec=text_in(document, "spec", ""),
        seed=whole_in(document, "seed"),
        text=text_in(document, "text", ""),
        target=text_in(document, "target", ""),
        ids=read_ids(text_in(document, "ids", "")),
        image=text_in(document, "image", ""),
        layer=whole_in(document, "layer"),
        edits=tuple(edits),
    )


def _places(document: dict[str, Any]) -> dict[str, int]:
    found = document.get("at", {})
    if not isinstance(found, dict):
        raise GlassformerError(f"at must name axes, found {shown(found)}.")
    return {str(axis): whole_in(found, axis) for axis in found}


routes = [
    Route("/api/trace/models", models),
    Route("/api/trace/open", opening, methods=["POST"]),
    Route("/api/trace/heads", heads, methods=["POST"]),
    Route("/api/trace/tensor", tensor, methods=["POST"]),
    Route("/api/trace/cell", cell, methods=["POST"]),
    Route("/api/trace/ledger", ledger, methods=["POST"]),
    Route("/api/trace/beams", beams, methods=["POST"]),
]
