"""Presentation of insight results: tables of an ablation, a saliency map, a logit lens, a patching and probes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from glassformer.errors import shown
from glassformer.show.colours import DIVERGING, ink_on, mixed
from glassformer.show.figures import figures
from glassformer.show.fragment import fragment
from glassformer.show.markup import Html, join, tags
from glassformer.show.table import Column, Table

MOST_PARTS = 15


@dataclass(frozen=True)
class InsightView:
    """Several tables, one below the other; on a page, a coloured grid above them."""

    found: Any

    def tables(self) -> list[Table]:
        return list(TABLES[type(self.found).__name__](self.found))

    def text(self) -> str:
        return "\n\n".join(table.text() for table in self.tables())

    def markdown(self) -> str:
        return "\n\n".join(table.markdown() for table in self.tables())

    def latex(self) -> str:
        return "\n\n".join(table.latex() for table in self.tables())

    def html(self) -> Html:
        return fragment(*(join(table.above, table.markup()) for table in self.tables()))


def of_torch_room(found: Any) -> InsightView:
    """The view of an insight result, whose class this room may not import."""
    return InsightView(found)


def _ablation(found: Any) -> Iterator[Table]:
    title = f"{found.model} on {found.data}, {found.part}: {found.rows:,} rows"
    one = found.accuracy
    base = f"Full model: accuracy {_share(one.value)} ({_share(one.low)} – {_share(one.high)}), loss {found.loss:.4f}."
    heads = [Column("silenced"), *(Column(name, right=True) for name in ("accuracy", "95% interval", "loss", "95% interval"))]
    worst = sorted(found.silenced, key=lambda one: one.accuracy.value)[:MOST_PARTS]
    rows = [
        [
            one.part.name,
            _points(one.accuracy.value),
            _reach(one.accuracy, _points),
            _moved(one.loss.value),
            _reach(one.loss, _moved),
        ]
        for one in worst
    ]
    left = len(found.silenced) - len(worst)
    notes = [base, *([f"The {len(worst)} largest drops; {left:,} more parts in --json."] if left else []), *found.notes]
    kinds = {one.part.kind: 0 for one in found.silenced}
    for kind in kinds:
        count = sum(one.part.kind == kind for one in found.silenced)
        notes.append(
            f"{found.free(0.01, kind)} of {count} {NAMES[kind]} can be silenced, one at a time, with a loss of at most 1 point."
        )
    yield Table(title, heads, rows, notes)


NAMES = {"head": "heads", "ffn": "feed-forward blocks", "layer": "layers"}


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")


def _moved(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def _reach(one: Any, form: Callable[[float], str]) -> str:
    return f"{form(one.low)} … {form(one.high)}"


def _saliency(found: Any) -> Iterator[Table]:
    widest = max((abs(score) for _, score in found.words), default=0.0) or 1.0
    rows = [[shown(word), figures(score), _bar(score / widest)] for word, score in found.words]
    notes = [
        f"The scores sum to {figures(found.gap.total)}; they should sum to {figures(found.gap.wanted)} ({SUMS[found.method]})."
    ]
    notes += [f"Completeness gap: {100 * found.gap.relative:.2g}%" + (f" with {found.steps} steps." if found.steps else ".")]
    title = f"{found.of} = {figures(found.value)}, {METHODS[found.method]}"
    columns = [Column("word"), Column("score", right=True), Column("")]
    yield Table(title, columns, rows, notes, above=_coloured(found.words, widest))
    if found.heads:
        heads = [Column(""), *(Column(f"head {number}", right=True) for number in range(len(found.heads[0])))]
        rows = [[f"layer {number}", *map(figures_of_head, layer)] for number, layer in enumerate(found.heads)]
        yield Table("Gradient × mix of each head", heads, rows)


METHODS = {"integrated": "integrated gradients", "gradient": "gradient × input", "rollout": "attention rollout"}
SUMS = {
    "integrated": "the change of the logit from the baseline",
    "gradient": "the logit itself, if the model were linear",
    "rollout": "1; the scores do not depend on the logit",
}
BAR = 20


def figures_of_head(value: float) -> str:
    return figures(value, 2)


def _bar(share: float) -> str:
    """A bar of text: positive scores filled, negative ones hollow."""
    return ("█" if share > 0 else "░") * round(abs(share) * BAR)


def _coloured(words: Any, widest: float) -> Html:
    """The text, each word coloured by its score: orange for, blue against."""
    spans = []
    for word, score in words:
        colour = mixed(DIVERGING, 0.5 + score / widest / 2)
        spans.append(tags.span(tags.bdi(shown(word)), style=f"background:{colour};color:{ink_on(colour)};padding:1px 3px"))
    return tags.p([join(span, " ") for span in spans])


def _lens(found: Any) -> Iterator[Table]:
    """With one answer per layer, its best guesses; with one per position, the best guess of each."""
    answers = {(answer.depth, answer.position): answer.guesses for answer in found.answers}
    if found.positions == [None]:
        rows = [
            [depth, *(f"{shown(one.label)} {_share(one.probability)}" for one in answers[depth, None])] for depth in found.depths
        ]
        guesses = max(len(row) for row in rows) - 1
        columns = [Column("read after"), *(Column(f"guess {number + 1}") for number in range(guesses))]
        yield Table(f"Logit lens of {found.model}", columns, rows)
        return
    heads = [Column("token"), *(Column(depth) for depth in found.depths)]
    rows = [
        [
            shown(found.tokens[place]),
            *(
                f"{shown(answers[depth, place][0].label)} {_share(answers[depth, place][0].probability)}"
                for depth in found.depths
            ),
        ]
        for place in found.positions
    ]
    yield Table(f"Logit lens of {found.model}", heads, rows)


def _lens_over_data(found: Any) -> Iterator[Table]:
    columns = [Column("read after"), *(Column(name, right=True) for name in ("accuracy", "95% interval", "loss"))]
    rows = [[one.depth, _share(one.accuracy.value), _reach(one.accuracy, _share), f"{one.loss:.4f}"] for one in found.depths]
    notes = ["The last row is the model itself.", *found.notes]
    yield Table(f"Logit lens of {found.model} on {found.data}, {found.part}: {found.rows:,} rows", columns, rows, notes)


def _patching(found: Any) -> Iterator[Table]:
    pairs = zip(found.clean, found.corrupt, strict=True)
    words = [shown(one if one == other else f"{one} / {other}") for one, other in pairs]
    restored = found.restored
    rows = [
        [word, *(f"{restored[depth][place]:.2f}".replace("-", "−") for depth in range(len(found.depths)))]
        for place, word in enumerate(words)
    ]
    columns = [Column("clean / corrupt"), *(Column(depth, right=True) for depth in found.depths)]
    notes = [
        f"{found.of}: {figures(found.clean_value)} for the clean text, {figures(found.corrupt_value)} for the corrupt one.",
        "Each cell: the share of the difference that the clean value there restores (0 as corrupt, 1 as clean).",
    ]
    yield Table(f"Patched: {found.at} of {found.model}", columns, rows, notes)


def _probes(found: Any) -> Iterator[Table]:
    columns = [Column("states"), *(Column(name, right=True) for name in ("accuracy", "95% interval", "control", "selectivity"))]
    rows = [
        [one.depth, _share(one.accuracy.value), _reach(one.accuracy, _share), _share(one.control.value), _share(one.selectivity)]
        for one in found.probes
    ]
    notes = [
        f"{found.train_rows:,} texts to fit, {found.test_rows:,} to test.",
        f"Baseline (most frequent label): {_share(found.always_one)}.",
        "Control task: a random label for each first word; selectivity is the accuracy minus that of the control task.",
    ]
    yield Table(f"Linear probes of {found.model} on {found.data}", columns, rows, notes)


TABLES: dict[str, Callable[[Any], Iterator[Table]]] = {
    "Ablation": _ablation,
    "Saliency": _saliency,
    "Lens": _lens,
    "LensOverData": _lens_over_data,
    "Patching": _patching,
    "Probes": _probes,
}
