"""Bench: a spec, and all that follows from it without numbers, derived again at every keystroke."""

from __future__ import annotations

from typing import Any, cast, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassformer import algebra
from glassformer.algebra.rows import Line
from glassformer.lab.blocks import blocks
from glassformer.lab.pages.bench_cost import Along, cost_view, step_costs
from glassformer.lab.wire import answer, asked, text_in
from glassformer.program import Program, build
from glassformer.program.pen import Convention, LatexPen
from glassformer.show.palette import part_of
from glassformer.spec import EncoderSpec, GlassformerError, defaults, field_docs, field_rules, shown
from glassformer.spec.files import parse_json
from glassformer.spec.presets import preset_doc, preset_names
from glassformer.spec.reading import Request as Spec
from glassformer.spec.reading import from_document
from glassformer.spec.reading import request as read_spec

# What a field that is not given comes to.
DERIVED = {"d_k": "head_k", "d_v": "head_v", "d_ff": "ffn_width", "final_norm": "norm_after_last"}


async def fields(_: Request) -> Response:
    """What can be named: presets, and every field with its doc and its rule."""
    rules, docs = field_rules(), field_docs()
    listed = [
        {
            "name": name,
            "doc": docs[name],
            "kind": rule.kind,
            "choices": rule.choices,
            "optional": rule.optional,
            "least": rule.least,
            "most": rule.most,
        }
        for name, rule in rules.items()
    ]
    presets = [{"name": name, "doc": preset_doc(name), "fields": read_spec(name).spec.to_dict()} for name in preset_names()]
    return answer({"presets": presets, "fields": listed, "defaults": defaults()})


async def config(request: Request) -> Response:
    """A pasted config.json (or a spec of ours) as fields: what the address of the page will hold."""
    document = await asked(request)
    found, sizes = from_document(parse_json(text_in(document, "text"), "the pasted text"), source="the pasted text")
    return answer({"spec": "encoder", "fields": found.to_dict() | sizes})


async def derive(request: Request) -> Response:
    """All that the first screen shows: totals, the ledger by lines, the diagram."""
    return answer(await _do(request, _derived))


async def shapes(request: Request) -> Response:
    """The shape of every tensor, each kind of layer once."""
    return answer(await _do(request, _shapes))


async def cost(request: Request) -> Response:
    """FLOPs and bytes at the sizes asked for, and along the length or the batch."""
    document = await asked(request)
    along = document.get("along", "length")
    if along not in get_args(Along):
        raise GlassformerError(f"along={shown(along)} is not known: {' or '.join(get_args(Along))}.")
    lab = request.app.state.lab
    return answer(await lab.workers.do(cost_view, lab.request(*_words(document, "spec")), along))


async def notation(request: Request) -> Response:
    """The equations, as LaTeX."""
    return answer(await _do(request, _notation))


async def bridge(request: Request) -> Response:
    """Why the counts of two specs differ, line by line."""
    document = await asked(request)
    lab = request.app.state.lab
    ends = [lab.request(*_words(document, key)) for key in ("left", "right")]
    found = await lab.workers.do(_bridge, *ends)
    return answer(found)


async def export(request: Request) -> Response:
    """A view as the text of a file, in a form of the command line."""
    from glassformer.lab.pages.bench_exports import Wanted
    from glassformer.lab.pages.bench_exports import export as exported

    document = await asked(request)
    lab = request.app.state.lab
    against = lab.request(*_words(document, "against")) if "against" in document else None
    spec = lab.request(*_words(document, "spec"))
    wanted = Wanted(text_in(document, "view"), text_in(document, "form"), _convention(document), spec, against)
    return answer(await lab.workers.do(exported, wanted))


async def _do(request: Request, reading: Any) -> Any:
    document = await asked(request)
    spec = request.app.state.lab.request(*_words(document, "spec"))
    convention = _convention(document)
    return await request.app.state.lab.workers.do(reading, spec, convention)


def _derived(asked_for: Spec, convention: Convention) -> dict[str, Any]:
    program = _program(asked_for)
    count, cost = algebra.ledger(program, label=asked_for.label), algebra.cost(program)
    equations = algebra.notation(program, LatexPen(convention))
    return {
        "label": asked_for.label,
        "values": _values(asked_for.spec),
        "batch": program.sizes.batch,
        "t": program.sizes.t,
        "longest": asked_for.spec.longest,
        "reads": asked_for.spec.reads,
        "total": count.total,
        "trainable": count.trainable,
        "convention": count.convention,
        "multiply_adds": cost.multiply_adds,
        "flops": cost.flops,
        "memory": cost.memory.to_dict(),
        "parts": count.parts,
        "lines": [_line(line) for line in count.lines],
        "costs": {"parts": [row.to_dict() for row in cost.parts.values()], "steps": step_costs(program, equations, cost)},
        "diagram": blocks(program, equations),
    }


def _line(line: Line) -> dict[str, Any]:
    row = line.rows[0]
    return {
        "name": line.name,
        "part": part_of(row.name),
        "kind": row.kind,
        "times": line.times,
        "formula": line.formula,
        "numbers": line.numbers,
        "count": line.count,
        "frozen": row.frozen,
        "also": row.also[:4],
    }


def _shapes(asked_for: Spec, convention: Convention) -> dict[str, Any]:
    program = _program(asked_for)
    firsts = {f"layers.{section.layers[0]}." for section in algebra.notation(program).sections if section.layers}
    found = algebra.shapes(program, convention=convention, label=asked_for.label)
    rows = [row for row in found.rows if not row.name.startswith("layers.") or row.name.startswith(tuple(firsts))]
    left_out = len(found.rows) - len(rows)
    return {
        "rows": [row.to_dict() | {"part": part_of(row.name)} for row in rows],
        "left_out": left_out,
        "convention": convention,
    }


def _notation(asked_for: Spec, convention: Convention) -> dict[str, Any]:
    found = algebra.notation(_program(asked_for), LatexPen(convention), label=asked_for.label).to_dict()
    for section in found["sections"]:
        for equation in section["equations"]:
            equation["part"] = part_of(equation["name"])
    return {"sections": found["sections"], "convention": convention}


def _bridge(left: Spec, right: Spec) -> dict[str, Any]:
    ends = [algebra.count(end.spec, label=end.label) for end in (left, right)]
    found = algebra.bridge(*ends).to_dict()
    for row in found["rows"]:
        row["part"] = part_of(row["name"])
    return found | {"fields": _differing(left.spec, right.spec)}


def _differing(left: EncoderSpec, right: EncoderSpec) -> list[dict[str, Any]]:
    """The fields in which two specs differ, with what they come to."""
    sides = [{**found["given"], **found["derived"]} for found in (_values(left), _values(right))]
    return [
        {"name": name, "left": sides[0][name], "right": sides[1][name]} for name in sides[0] if sides[0][name] != sides[1][name]
    ]


def _values(spec: EncoderSpec) -> dict[str, Any]:
    """Every field's value, with what it comes to where it is not given."""
    values = {name: getattr(spec, name) for name in defaults()}
    derived = {name: getattr(spec, source) for name, source in DERIVED.items() if values[name] is None}
    return {"given": values, "derived": derived}


def _program(asked_for: Spec) -> Program:
    return build(asked_for.spec, batch=asked_for.batch, t=asked_for.t)


def _words(document: dict[str, Any], key: str) -> tuple[str, dict[str, str]]:
    """`{"name": "bert-base", "fields": {"layers": "8"}}`: everything is text, and read as the command line reads it."""
    found = document.get(key)
    if not isinstance(found, dict):
        raise GlassformerError(f"the request has no {key}: name a preset and fields.")
    given = found.get("fields", {})
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise GlassformerError(f"the fields of {key} must be texts, found {shown(given)}.")
    return text_in(found, "name"), given


def _convention(document: dict[str, Any]) -> Convention:
    found = document.get("convention", "rows")
    if found not in ("rows", "columns"):
        raise GlassformerError(f"convention={shown(found)} is not known: rows or columns.")
    return cast(Convention, found)


routes = [
    Route("/api/bench/fields", fields),
    Route("/api/bench/config", config, methods=["POST"]),
    Route("/api/bench/derive", derive, methods=["POST"]),
    Route("/api/bench/shapes", shapes, methods=["POST"]),
    Route("/api/bench/cost", cost, methods=["POST"]),
    Route("/api/bench/notation", notation, methods=["POST"]),
    Route("/api/bench/bridge", bridge, methods=["POST"]),
    Route("/api/bench/export", export, methods=["POST"]),
]
