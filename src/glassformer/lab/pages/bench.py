"""Bench: a spec, and all that follows from it without numbers, derived again at every keystroke."""

from __future__ import annotations

from typing import Any, cast, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassformer import algebra
from glassformer.algebra.bridge import Span
from glassformer.algebra.rows import Line
from glassformer.configs.presets import decoder_names, preset_doc, preset_names, seq2seq_names
from glassformer.configs.reading import Request as Spec
from glassformer.configs.reading import from_document
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json
from glassformer.lab.documents import bench as documents
from glassformer.lab.documents import picked
from glassformer.lab.pages.bench_cost import Along, cost_view, part_costs, step_costs
from glassformer.lab.wire import answer, asked, text_in
from glassformer.program import Program, build
from glassformer.program.formatter import Convention, LatexFormatter
from glassformer.show.blocks import Node, blocks
from glassformer.show.diagram import diagram
from glassformer.show.icicle import Slice, slices
from glassformer.show.palette import tensor_part
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec, defaults, field_docs, field_rules
from glassformer.spec.seq2seq_spec import FIXED_IN_DECODER, STACKS

# What a field that is not given comes to.
DERIVED = {"d_k": "head_k", "d_v": "head_v", "d_ff": "ffn_width", "final_norm": "norm_after_last"}


async def fields(_: Request) -> Response:
    """What can be named: presets, and every field with its doc and its rule."""
    rules, docs = field_rules() | field_rules(DecoderSpec), field_docs() | field_docs(DecoderSpec)
    listed = [picked(documents.FieldRule, rule, doc=docs[name]) for name, rule in rules.items()]
    kinds: tuple[tuple[documents.Kind, tuple[str, ...]], ...] = (
        ("encoder", preset_names()),
        ("decoder", decoder_names()),
        ("encoder-decoder", seq2seq_names()),
    )
    presets: list[documents.Preset] = [
        {"name": name, "doc": preset_doc(name), "kind": kind} for kind, names in kinds for name in names
    ]
    found: documents.Fields = {"presets": presets, "fields": listed}
    return answer(found)


async def config(request: Request) -> Response:
    """A pasted config.json (or a spec of ours) as fields: what the address of the page will hold."""
    document = await asked(request)
    found, sizes = from_document(parse_json(text_in(document, "text"), "the pasted text"), source="the pasted text")
    given = found.to_dict()
    base = given.pop("base", "encoder")  # of an encoder-decoder the fields stand by stack, as in encoder.layers=6
    flat = {f"{name}.{inner}": one for name in STACKS for inner, one in given.pop(name, {}).items()} if base == "seq2seq" else {}
    read: documents.Config = {"spec": base, "fields": given | flat | sizes}
    return answer(read)


async def derive(request: Request) -> Response:
    """All that the first screen shows: totals, the ledger by lines, the diagram with the blocks that are open."""
    opened = _opened(await asked(request))
    return answer(await _do(request, lambda spec, convention: _derived(spec, convention, opened)))


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


def _derived(asked_for: Spec, convention: Convention, opened: list[str] | None = None) -> documents.Derived:
    program = _program(asked_for)
    count, cost = algebra.ledger(program, label=asked_for.label), algebra.cost(program)
    equations = algebra.notation(program, LatexFormatter(convention))
    return {
        "label": asked_for.label,
        "values": _values(asked_for.spec),
        "batch": program.sizes.batch,
        "t": program.sizes.t,
        "u": program.sizes.u,
        "longest": asked_for.spec.longest,
        "reads": asked_for.spec.reads,
        "total": count.total,
        "trainable": count.trainable,
        "convention": count.convention,
        "multiply_adds": cost.multiply_adds,
        "flops": cost.flops,
        "memory": picked(documents.Memory, cost.memory),
        "parts": dict(count.parts),
        "lines": [_line(line) for line in count.lines],
        "costs": {"parts": part_costs(cost), "steps": step_costs(program, equations, cost)},
        "icicle": _slice(slices(count)),
        "blocks": [_block(node) for node in blocks(equations)],
        "diagram": diagram(program, opened=opened, convention=convention),
    }


def _slice(found: Slice) -> documents.Slice:
    return picked(documents.Slice, found, parts=[_slice(one) for one in found.parts.values()])


def _block(node: Node) -> documents.Block:
    """A block with what is inside; a step with its equation, and the lines of the ledger that it reads."""
    inner, times = [_block(one) for one in node.inner], max(1, len(node.layers))
    if node.equation is None:
        shape = inner[-1]["shape"]
        return picked(documents.Block, node, blocks=inner, times=times, shape=shape, left="", right="", reads=[])
    own = [tensor for step in node.steps for tensor in step.inputs if tensor.block.part == step.block.part]
    reads = [f"{tensor.block.any_layer}.{tensor.symbol}" for tensor in own]
    sides = {"left": node.equation.left, "right": node.equation.right, "shape": node.equation.shape}
    return picked(documents.Block, node, blocks=inner, times=times, reads=reads, **sides)


def _line(line: Line) -> documents.LedgerLine:
    row = line.rows[0]
    more = {"kind": row.kind, "frozen": row.frozen, "also": list(row.also[:4])}
    return picked(documents.LedgerLine, line, part=tensor_part(row.tensor), **more)


def _shapes(asked_for: Spec, convention: Convention) -> documents.Shapes:
    program = _program(asked_for)
    firsts = {section.layers[0] for section in algebra.notation(program).sections if section.layers}
    found = algebra.shapes(program, convention=convention, label=asked_for.label)
    rows = [row for row in found.rows if row.tensor.block.layer in firsts or row.tensor.block.part != "layers"]
    shown_rows = [picked(documents.ShapeRow, row, part=tensor_part(row.tensor)) for row in rows]
    return {"rows": shown_rows, "left_out": len(found.rows) - len(rows), "convention": convention}


def _notation(asked_for: Spec, convention: Convention) -> documents.Equations:
    found = algebra.notation(_program(asked_for), LatexFormatter(convention), label=asked_for.label)
    sections: list[documents.EquationSection] = []
    for section in found.sections:
        listed = [picked(documents.Equation, one, part=tensor_part(one.step.output)) for one in section.equations]
        sections.append({"title": section.title, "equations": listed})
    return {"sections": sections, "convention": convention}


def _bridge(left: Spec, right: Spec) -> documents.Bridge:
    found = algebra.bridge(*(algebra.count(end.spec, label=end.label) for end in (left, right)))
    ends = [picked(documents.BridgeEnd, end) for end in (found.left, found.right)]
    rows, fields = [_span(span) for span in found.rows], _differing(left.spec, right.spec)
    return picked(documents.Bridge, found, left=ends[0], right=ends[1], fields=fields, rows=rows)


def _span(span: Span) -> documents.BridgeRow:
    sides: list[documents.Side] = [
        {"count": count, "formula": line.formula if line else None, "numbers": line.numbers if line else None}
        for count, line in zip(span.counts, (span.left, span.right), strict=True)
    ]
    return picked(documents.BridgeRow, span, part=tensor_part(span.line.rows[0].tensor), left=sides[0], right=sides[1])


def _differing(left: EncoderSpec, right: EncoderSpec) -> list[documents.FieldDifference]:
    """The fields in which two specs differ, with what they come to."""
    sides = [{**found["given"], **found["derived"]} for found in (_values(left), _values(right))]
    both = [name for name in sides[0] if name in sides[1]]
    return [{"name": name, "left": sides[0][name], "right": sides[1][name]} for name in both if sides[0][name] != sides[1][name]]


def _values(spec: EncoderSpec) -> documents.Values:
    """Every field's value, with what it comes to where it is not given."""
    fixed = FIXED_IN_DECODER if isinstance(spec, DecoderSpec) else frozenset()
    values = {name: getattr(spec, name) for name in defaults() if name not in fixed}
    writes = spec.decoder if isinstance(spec, Seq2SeqSpec) else spec
    if isinstance(writes, DecoderSpec):
        values |= {name: getattr(writes, name) for name in defaults(DecoderSpec) if name not in values}
    derived = {name: getattr(spec, source) for name, source in DERIVED.items() if values.get(name, ...) is None}
    return {"given": values, "derived": derived}


def _program(asked_for: Spec) -> Program:
    return build(asked_for.spec, batch=asked_for.batch, t=asked_for.t, u=asked_for.u)


def _words(document: dict[str, Any], key: str) -> tuple[str, dict[str, str]]:
    """`{"name": "bert-base", "fields": {"layers": "8"}}`: everything is text, and read as the command line reads it."""
    found = document.get(key)
    if not isinstance(found, dict):
        raise GlassformerError(f"the request has no {key}: name a preset and fields.")
    given = found.get("fields", {})
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise GlassformerError(f"the fields of {key} must be strings, found {shown(given)}.")
    return text_in(found, "name"), given


def _opened(document: dict[str, Any]) -> list[str] | None:
    """The blocks that are open in the diagram; None where the page leaves that to us."""
    found = document.get("open")
    if found is not None and not (isinstance(found, list) and all(isinstance(name, str) for name in found)):
        raise GlassformerError(f"open={shown(found)} is not allowed: give a list of block names.")
    return found


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
