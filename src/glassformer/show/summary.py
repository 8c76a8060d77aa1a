"""Presentation of model cards and comparisons: tables in Markdown or HTML, ready for a repository."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.algebra.summary import Card, Comparison, Summary
from glassformer.show.fragment import fragment
from glassformer.show.inert import markdown_text
from glassformer.show.markup import Html, tags
from glassformer.show.present import present
from glassformer.show.report.derived import sentence
from glassformer.show.table import Column, Table
from glassformer.spec import EncoderSpec

HEAVY = 10**9


@dataclass(frozen=True)
class CardView:
    """A title, a sentence, and several tables."""

    card: Card

    def text(self) -> str:
        return "\n\n".join([self.card.title, *self.sentences(), *(table.text() for table in self.tables())])

    def markdown(self) -> str:
        told = [markdown_text(one) for one in self.sentences()]
        tables = [table.markdown().replace("### ", "## ", 1) for table in self.tables()]
        return "\n\n".join([f"# {markdown_text(self.card.title)}", *told, *tables])

    def latex(self) -> str:
        return "\n\n".join(table.latex() for table in self.tables())

    def html(self) -> Html:
        told = (tags.p(one) for one in self.sentences())
        return fragment(tags.h1(self.card.title), *told, *(table.markup() for table in self.tables()))

    def sentences(self) -> list[str]:
        return [sentence(self.card.model.spec)]

    def tables(self) -> Iterator[Table]:
        model = self.card.model
        yield _facts(self.card)
        yield _parts(model)
        yield _lengths(model)
        if model.fits:
            yield _fits(model)


def _facts(card: Card) -> Table:
    spec, rows = card.model.spec, [*card.facts]
    rows += [("parameters", f"{card.model.parameters.total:,}"), ("layers", f"{spec.layers}"), ("width", f"{spec.d_model:,}")]
    rows += [("attention heads", _heads(spec)), ("feed-forward width", f"{spec.ffn_width:,} ({spec.activation})")]
    rows += [("positions", spec.position.replace("_", " ")), ("longest input", _longest(spec))]
    rows += [("attends to", card.model.attention), ("head", "none" if spec.head == "none" else spec.head.replace("_", " "))]
    return Table("Model", [Column("fact"), Column("value")], [list(row) for row in rows])


def _heads(spec: EncoderSpec) -> str:
    if not spec.attends:
        return "none"
    shared = f", {spec.key_heads} of keys and values" if spec.group > 1 else ""
    return f"{spec.heads} of {spec.head_k}{shared}"


def _longest(spec: EncoderSpec) -> str:
    if spec.longest is None or spec.raw_sound:
        return "not limited"
    what = {"image": "patches and learned tokens", "frames": "positions of sound"}.get(spec.reads, "tokens")
    return f"{spec.longest:,} {what}"


def _parts(model: Summary) -> Table:
    total = max(model.parameters.total, 1)
    rows = [[name, f"{size:,}", f"{size / total:.1%}"] for name, size in model.parameters.parts.items()]
    rows.append(["all", f"{model.parameters.total:,}", "100.0%" if model.parameters.total else ""])
    frozen = model.parameters.total - model.parameters.trainable
    notes = [f"{frozen:,} of them are stored but not trained."] if frozen else []
    heads = [Column("part"), Column("parameters", right=True), Column("share", right=True)]
    return Table("Parameters", heads, rows, notes, frozenset({len(rows) - 1}))


def _lengths(model: Summary) -> Table:
    heads = ["length", "GFLOPs", "MFLOPs per position", "memory float32", "memory bfloat16"]
    rows = [
        [f"{one.t:,}", _giga(one.flops), f"{one.flops_a_token / 10**6:,.1f}", _bytes(one.float32), _bytes(one.bfloat16)]
        for one in model.lengths
    ]
    notes = ["One input, forward pass; a multiply-add counts as two operations; memory: weights and the peak of the activations."]
    return Table("Cost", [Column(name, right=True) for name in heads], rows, notes)


def _fits(model: Summary) -> Table:
    rows = [[one.gpu, f"{one.encoding:,}", f"{one.training:,}"] for one in model.fits]
    heads = [Column("GPU"), Column("encoding, bfloat16", right=True), Column("training, float32, AdamW", right=True)]
    note = f"Inputs of {model.t:,} positions with a fused attention kernel, by predicted memory; leave a margin for other uses."
    return Table("Largest batch", heads, rows, [note])


@present.register
def _(card: Card) -> CardView:
    return CardView(card)


@present.register
def _(found: Comparison) -> Table:
    models = found.models
    lines: list[tuple[str, list[str]]] = [
        ("parameters", [f"{one.parameters.total:,}" for one in models]),
        ("without embeddings", [f"{one.parameters.total - one.parameters.parts.get('embeddings', 0):,}" for one in models]),
        ("layers × width", [f"{one.spec.layers} × {one.spec.d_model:,}" for one in models]),
        ("attention heads", [_heads(one.spec) for one in models]),
        ("vocabulary", [f"{one.spec.vocab:,}" if one.spec.vocab else "–" for one in models]),
        ("longest input", [_longest(one.spec) for one in models]),
        ("attends to", [one.attention for one in models]),
        ("positions of the input", [f"{one.t:,}" for one in models]),
        ("GFLOPs, forward", [_giga(one.usual.flops) for one in models]),
        ("MFLOPs per position", [f"{one.usual.flops_a_token / 10**6:,.1f}" for one in models]),
        ("memory, float32", [_bytes(one.usual.float32) for one in models]),
        ("memory, bfloat16", [_bytes(one.usual.bfloat16) for one in models]),
    ]
    if any(one.speed is not None for one in models):
        lines.append(("inputs per second, measured", ["–" if one.speed is None else f"{one.speed:,.1f}" for one in models]))
    heads = [Column(""), *(Column(one.label, right=True) for one in models)]
    return Table("", heads, [[name, *values] for name, values in lines], [*found.notes])


def _giga(flops: int) -> str:
    return f"{flops / HEAVY:,.2f}" if flops >= HEAVY / 100 else f"{flops / HEAVY:.2g}"


def _bytes(size: int) -> str:
    return f"{size / 10**9:,.2f} GB" if size >= 10**9 else f"{size / 10**6:,.1f} MB"
