"""The sections of a report that need only a spec: diagram, ledger, shapes, cost and equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from glassformer import algebra
from glassformer.configs.reading import Request
from glassformer.program import Program, build
from glassformer.program.kept import MemoryModel
from glassformer.show.algebra import bytes_text, equation_lists
from glassformer.show.blocks import blocks
from glassformer.show.charts import Chart, Line
from glassformer.show.diagram import diagram, inside
from glassformer.show.icicle import icicle_svg
from glassformer.show.markup import Child, Html, join, tags
from glassformer.show.palette import PARTS, ink
from glassformer.show.present import present
from glassformer.show.report.page import Section, facts, folded
from glassformer.show.table import Column, Table
from glassformer.spec import EncoderSpec, field_docs

OPENED = ("embeddings", "attention", "ffn", "pooler", "head")  # blocks that are shown expanded
SCORES = "layers: attention: scores and mix"
PLOTTED = 17  # lengths of a curve
MOST_LENGTH = 8192  # last length of a curve, if the model has no limit


class Subject(NamedTuple):
    """The subject of a report: the requested spec, its program, and the memory model of training."""

    requested: Request
    program: Program
    memory_model: MemoryModel

    @property
    def spec(self) -> EncoderSpec:
        return self.requested.spec


def subject(requested: Request, memory_model: MemoryModel) -> Subject:
    """Return the subject of a request."""
    return Subject(requested, build(requested.spec, batch=requested.batch, t=requested.t), memory_model)


def lead(about: Subject) -> Html:
    """Return a summary: one sentence and a few numbers."""
    count, cost = algebra.ledger(about.program), algebra.cost(about.program)
    numbers = [
        ("parameters", f"{count.total:,}"),
        (f"FLOPs of a forward pass, {_input(about)}", _short(cost.flops)),
        ("weights in float32", bytes_text(4 * count.total)),
    ]
    return join(tags.p(sentence(about.spec)), facts(numbers))


def _pictures(spec: EncoderSpec) -> str:
    return "images" if spec.video_frames is None else f"videos of {spec.video_frames} frames"


def sentence(spec: EncoderSpec) -> str:
    """Return a description: `12 layers of width 768 with 12 heads, …`."""
    many = "1 layer" if spec.layers == 1 else f"{spec.layers} layers"
    heads = "1 head" if spec.heads == 1 else f"{spec.heads} heads"
    reads = {
        "tokens": f"reads tokens of a vocabulary of {spec.vocab or 0:,}",
        "image": f"reads {_pictures(spec)} of {spec.image_size[0]} × {spec.image_size[1]} pixels in {spec.patches} patches",
        "frames": f"reads {_sound(spec)}, which give {spec.longest or 0:,} positions",
        "vectors": "reads vectors",
    }[spec.reads]
    if not spec.attends:
        heads, width = "Fourier transforms instead of attention", ""
    elif spec.group > 1:
        shared = "one head" if spec.key_heads == 1 else f"{spec.key_heads} heads"
        heads, width = f"{heads} of queries on {shared} of keys and values", f", each {spec.head_k} wide"
    else:
        width = f" of {spec.head_k}"
    inner = f", feed-forward blocks of {spec.ffn_width:,}" if spec.block == "layer" else ", attention only"
    ends = f", and ends in the head {spec.head}" if spec.head != "none" else ""
    return f"An encoder of {many} of width {spec.d_model:,} with {heads}{width}{inner}. It {reads}{ends}."


def _sound(spec: EncoderSpec) -> str:
    return (
        f"{spec.frames:,} samples of sound"
        if spec.raw_sound
        else f"{spec.frames:,} frames of sound with {spec.mels} features each"
    )


def derived_sections(about: Subject) -> Iterator[Section]:
    """All sections, in reading order."""
    yield Section("encoder", "The encoder", join(_diagram(about), _fields(about.spec)))
    yield Section("ledger", "Parameters", join(_ledger(about)))
    yield Section("shapes", "Shapes", join(_shapes(about)))
    yield Section("cost", "Cost", join(_cost(about)))
    yield Section("equations", "Equations", join(_equations(about)))


def legend() -> Html:
    """The colours of the parts."""
    return tags.ul([tags.li(tags.span(style=f"background:{ink(part)}"), part) for part in PARTS], class_="legend")


def _diagram(about: Subject) -> list[Html]:
    program = about.program
    whole = tags.figure(diagram(program).svg(), tags.figcaption("Shapes on the arrows, parameters in the blocks."))
    chosen: dict[str, str] = {}
    for node in (node for top in blocks(algebra.notation(program)) for node in top.walk() if node.kind in OPENED):
        chosen.setdefault(node.kind, node.name)
    insides = [tags.figure(tags.figcaption(tags.code(one)), inside(program, one).svg(), tabindex=0) for one in chosen.values()]
    return [legend(), tags.div(whole, tags.div(insides), class_="pictures")]


def _fields(spec: EncoderSpec) -> Html | None:
    docs = field_docs()
    rows = [[name, _field(value), docs[name]] for name, value in spec.to_dict().items()]
    if not rows:
        return None
    view = Table("", [Column("field"), Column("value"), Column("what it is")], rows, ["All other fields are as by default."])
    return folded("The spec, field by field", view.markup())


def _field(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else str(value)


def _ledger(about: Subject) -> list[Html]:
    count = algebra.ledger(about.program, label=about.requested.label)
    view: Table = present(count)
    order = [0, 3, 1, 2, *([4] if any(row[4] for row in view.rows) else [])]  # the count first: narrow screens show two columns
    return [tags.p("Width = share of the parameters:"), icicle_svg(count), _columns(view, order)]


def _columns(view: Table, order: Sequence[int]) -> Html:
    """Some columns of a table, without its title."""
    rows = [[row[place] for place in order] for row in view.rows]
    return replace(view, title="", columns=[view.columns[place] for place in order], rows=rows).markup()


def _shapes(about: Subject) -> list[Html]:
    rows_view, columns_view = (
        present(algebra.shapes(about.program, convention=convention)) for convention in ("rows", "columns")
    )
    pairs = zip(rows_view.rows, columns_view.rows, strict=True)
    rows = [[row[0], row[3], other[3], row[4], row[2], row[1]] for row, other in pairs]
    titles = ["tensor", "tokens as rows", "tokens as columns", "one head, tokens as rows", "axes", ""]
    sizes = about.program.sizes
    over = f"Every tensor of a forward pass over batch={sizes.batch}, t={sizes.t}."
    said = tags.p(f"{over} With tokens as rows, Q = X W_Q; with tokens as columns, Q = W_Q X.")
    return [said, replace(rows_view, title="", columns=[*map(Column, titles)], rows=rows).markup()]


def _cost(about: Subject) -> list[Child]:
    view: Table = present(algebra.cost(about.program, label=about.requested.label))
    return [_columns(view, range(3)), _lengths(about) if not about.spec.one_length else None]


def _lengths(about: Subject) -> list[Html]:
    """FLOPs and bytes against the length of the input."""
    longest = min(about.spec.longest or MOST_LENGTH, MOST_LENGTH)
    lengths = sorted({max(1, round(longest * place / (PLOTTED - 1))) for place in range(PLOTTED)})
    passes = {t: (build(about.spec, batch=about.requested.batch, t=t)) for t in lengths}
    flops = {t: algebra.cost(program) for t, program in passes.items()}
    bytes_ = {t: algebra.cost(program, which="training", memory_model=about.memory_model).memory for t, program in passes.items()}
    scale, unit = _scale(max(cost.flops for cost in flops.values()))
    mixed = {t: _flops(cost, SCORES) for t, cost in flops.items()}
    lines = [
        Line("all", [(t, cost.flops / scale) for t, cost in flops.items()], "currentColor"),
        Line("scores and mix", [(t, value / scale) for t, value in mixed.items()], ink("attention")),
    ]
    size, byte_unit = _scale(max(memory.total for memory in bytes_.values()), "B")
    kept = [
        Line("all", [(t, memory.total / size) for t, memory in bytes_.items()], "currentColor"),
        Line("activations", [(t, memory.activations / size) for t, memory in bytes_.items()], ink("embedding")),
    ]
    charts = Chart(f"{unit}FLOPs, forward", "tokens", lines), Chart(f"{byte_unit}, training step", "tokens", kept)
    batch = f"batch={about.requested.batch}"
    note = f"{batch}; training in float32 with AdamW and a fused attention kernel. The scores grow with the square of the length."
    return [
        tags.h3("Against the length of the input"),
        tags.div([tags.figure(chart.svg()) for chart in charts], class_="pictures"),
        tags.p(note, class_="note"),
        _lengths_table(about, longest).markup(),
    ]


def _lengths_table(about: Subject, longest: int) -> Table:
    rows = []
    for t in sorted({t for t in (16, 64, 128, 256, 512, 1024, 2048, 4096) if t < longest} | {longest, about.program.sizes.t}):
        program = build(about.spec, batch=about.requested.batch, t=t)
        forward, training = algebra.cost(program), algebra.cost(program, which="training", memory_model=about.memory_model)
        share = _flops(forward, SCORES) / (forward.flops or 1)
        memory = [bytes_text(one.memory.total) for one in (forward, training)]
        rows.append([f"{t:,}", _short(forward.flops), f"{share:.1%}", _short(training.flops), *memory])
    titles = [
        "tokens",
        "FLOPs, forward",
        "of which scores and mix",
        "FLOPs, training step",
        "memory, forward",
        "memory, training",
    ]
    return Table("", [Column(title, right=True) for title in titles], rows)


def _flops(cost: algebra.Cost, part: str) -> int:
    return cost.parts[part].flops if part in cost.parts else 0


def _equations(about: Subject) -> list[Child]:
    columns = folded("The same with tokens as columns", equation_lists(about.program, "columns"))
    return [tags.p("Tokens as rows."), equation_lists(about.program, "rows"), columns]


def _input(about: Subject) -> str:
    sizes = about.program.sizes
    one = {"image": "1 image", "frames": "1 sound"}.get(about.spec.reads) if sizes.batch == 1 else None
    what = one or f"{sizes.t:,} tokens"
    return what if sizes.batch == 1 else f"{sizes.batch:,} × {what}"


def _scale(most: float, unit: str = "") -> tuple[float, str]:
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if most >= size:
            return size, f"{prefix}{unit}"
    return 1.0, unit or ""


def _short(value: float) -> str:
    """`22.4 G`: three significant figures."""
    size, prefix = _scale(value)
    return f"{value / size:.3g} {prefix}".strip()
