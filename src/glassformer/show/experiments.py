"""Presentation of an experiment: its claim, one table, and the checks that decide whether the claim holds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from glassformer.numbers.experiments import (
    CLAIMS,
    Causal,
    Convention,
    Experiment,
    Explanation,
    Folding,
    Heads,
    Norm,
    Order,
    Padding,
    Scaling,
    TeacherForcing,
)
from glassformer.numbers.experiments.experiment import ROUNDING, Check
from glassformer.numbers.experiments.order import PERMUTATIONS
from glassformer.show.present import present
from glassformer.show.table import Column, Table, sizes_text

WIDTH = 100  # characters of a line of notes
SHOWN_DEPTHS = (1, 2, 3, 6, 12, 24)


def number(value: float) -> str:
    """Return four significant figures; rounding errors are shown as `< …`, since their digits depend on the machine."""
    if value == 0:
        return "0"
    if abs(value) <= ROUNDING:
        return f"< {ROUNDING:g}"
    return f"{value:.4g}".replace("-", "−")


def almost(value: float) -> str:
    """Return a number that is zero except for rounding, as `< …`: whether it is exactly zero depends on the machine."""
    return f"< {ROUNDING:g}" if abs(value) <= ROUNDING else number(value)


def list_of_experiments() -> Table:
    """Return the list of experiments."""
    rows = []
    for name, claim in CLAIMS.items():
        rows += [[name if i == 0 else "", line] for i, line in enumerate(wrapped(claim, WIDTH - 12))]
    return Table("", [Column("experiment"), Column("the claim that it tests")], rows)


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """Lines of at most `width` characters."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _table(experiment: Experiment, columns: list[Column], rows: list[list[str]], notes: Iterable[str] = ()) -> Table:
    verdict = "The claim holds." if experiment.holds else "The claim does not hold:"
    failed = [f"  {check.says}: {_found(check)}, expected {check.rule}" for check in experiment.checks if not check.holds]
    below = [line for note in notes for line in wrapped(note)]
    held = f"{len(experiment.checks)} checks passed." if experiment.holds else ""
    below += ["", *wrapped(experiment.claim), f"{verdict} {held}".strip(), *failed]
    return Table(f"experiment {experiment.name}, seed {experiment.seed}", columns, rows, below)


def _found(check: Check) -> str:
    return number(check.found) if check.low == check.high else almost(check.found)


@present.register
def _order(order: Order) -> Table:
    columns = [
        Column("position"),
        Column("moved with the tokens", right=True),
        Column("in place", right=True),
        Column("their mean", right=True),
        Column(f"the '{order.twin}'", right=True),
    ]
    rows = [[row.position, *(almost(value) for value in (row.moved, row.in_place, row.mean, row.twins))] for row in order.rows]
    notes = (
        "",
        f"Largest differences of the outputs over {PERMUTATIONS} permutations of '{' '.join(order.words)}', such as "
        f"'{' '.join(order.permuted)}'.",
        "'Moved with the tokens' is 0 for an equivariant map, 'in place' is 0 for an invariant one: the encoder without "
        "positions is equivariant, and the "
        "mean of its outputs is invariant. "
        f"The last column compares the positions of '{order.twin}'.",
    )
    return _table(order, columns, rows, notes)


@present.register
def _heads(heads: Heads) -> Table:
    columns = [
        Column("heads", right=True),
        Column("d_k", right=True),
        Column("parameters", right=True),
        Column("output moved", right=True),
        Column("sum of scores", right=True),
        Column("sum of blocks", right=True),
    ]
    rows = [
        [str(row.heads), str(row.d_k), f"{row.parameters:,}", *(almost(value) for value in (row.moved, row.scores, row.blocks))]
        for row in heads.rows
    ]
    rows[0][3] = "·"
    notes = (
        "",
        "The same matrices W_Q, W_K, W_V, W_O each time, cut into more heads. 'Output moved': largest difference from one head.",
        "'Sum of scores': the heads' unscaled scores add up to those of one head. 'Sum of blocks': full-width heads that are "
        "zero outside their block, summed, are these heads. Both columns are differences.",
    )
    return _table(heads, columns, rows, notes)


@present.register
def _scaling(scaling: Scaling) -> Table:
    titles = ["spread", "scaled", "entropy", "scaled", "gradient", "scaled"]
    columns = [Column("d_k", right=True), Column("√d_k", right=True), *(Column(title, right=True) for title in titles)]
    rows = []
    for row in scaling.rows:
        pairs = [
            (row.bare.scores, row.scaled.scores),
            (row.bare.entropy, row.scaled.entropy),
            (row.bare.gradient, row.scaled.gradient),
        ]
        rows.append([str(row.d_k), number(row.d_k**0.5), *(number(value) for pair in pairs for value in pair)])
    notes = (
        "",
        f"Spread: standard deviation of the scores. Entropy: of a row of weights over {scaling.tokens} tokens, in bits "
        f"({number(scaling.most_entropy)} = uniform, 0 = all on one token). Gradient: norm of ∂weights/∂scores in the "
        "median row.",
    )
    return _table(scaling, columns, rows, notes)


@present.register
def _padding(padding: Padding) -> Table:
    columns = [Column("mask"), Column("question"), Column("at the real tokens", right=True), Column("at the padding", right=True)]
    rows = []
    for row in padding.rows:
        exact = row.mask and row.padding is not None
        real = number(row.real) if exact else almost(row.real)
        rows.append(["yes" if row.mask else "no", row.question, real, "·" if row.padding is None else number(row.padding)])
    notes = (
        "",
        f"Largest differences of the outputs. '{' '.join(padding.words)}': {padding.real} real tokens.",
        f"Largest weight on padding: {number(padding.weight_masked)} with the mask, {number(padding.weight_bare)} without. "
        f"Where every key is masked, weights and mixed values are {number(padding.no_keys)}.",
    )
    return _table(padding, columns, rows, notes)


@present.register
def _norm(norm: Norm) -> Table:
    columns = [
        Column("where"),
        Column("mean", right=True),
        Column("variance", right=True),
        Column("variance (pre)", right=True),
        Column("moved by", right=True),
        Column("moved by (pre)", right=True),
    ]
    rows = [[step.step, almost(step.mean), number(step.variance), "", "", ""] for step in norm.steps]
    rows.append([""] * 6)
    for row in norm.depth:
        if row.layer in (*SHOWN_DEPTHS, len(norm.depth)):
            changes = (f"{100 * row.change_post:.0f} %", f"{100 * row.change_pre:.0f} %")
            rows.append([f"after layer {row.layer}", "", number(row.post), number(row.pre), *changes])
    rows.append(["after the final norm", "", "", number(norm.final), "", ""])
    notes = (
        "",
        "Above: the first LayerNorm, step by step. Below: the layer outputs of a post-norm encoder, and of a pre-norm one "
        "('pre'), and the relative change of its input by the layer. Mean and variance are over the features of a token.",
    )
    return _table(norm, columns, rows, notes)


@present.register
def _convention(convention: Convention) -> Table:
    columns = [
        Column("tensor"),
        Column("tokens as rows"),
        Column("shape", right=True),
        Column("tokens as columns"),
        Column("shape", right=True),
        Column("difference", right=True),
    ]
    rows = [
        [row.name, row.by_rows, sizes_text(row.row_shape), row.by_columns, sizes_text(row.column_shape), almost(row.difference)]
        for row in convention.rows
    ]
    notes = (
        "",
        f"The row formula softmax(Q Kᵀ) V on column data: weights {sizes_text(convention.mixed.shape)} instead of "
        f"{sizes_text(convention.right.shape)}, so features attend to features; the output is "
        f"{sizes_text(convention.mixed_output)} as it should be, and off by up to {number(convention.mixed_moved)}. "
        "Shapes are those of one head.",
    )
    return _table(convention, columns, rows, notes)


@present.register
def _causal(causal: Causal) -> Table:
    titles = ("replaced word", "outputs before it", "its own", "outputs after it", "before it, without the mask")
    columns = [Column(titles[0]), *(Column(title, right=True) for title in titles[1:])]
    numbers = [(row.before, row.at, row.after, row.before_bare) for row in causal.rows]
    rows = [
        [row.word, *("·" if value is None else number(value) for value in values)]
        for row, values in zip(causal.rows, numbers, strict=True)
    ]
    notes = (
        "",
        f"Largest changes of the outputs of '{' '.join(causal.words)}' if one word is replaced by another. Largest weight on a "
        f"later token: {number(causal.above)}. The outputs of the whole text and of its prefixes differ by "
        f"{almost(causal.beginnings)}.",
    )
    return _table(causal, columns, rows, notes)


@present.register
def _teacher_forcing(found: TeacherForcing) -> Table:
    titles = ("probability", "with the cache", "without", "numbers stored")
    columns = [Column("reads"), Column("is to predict"), *(Column(title, right=True) for title in titles)]
    rows = [
        [row.read, row.next, number(row.probability), almost(row.cached), almost(row.forgetful), f"{row.stored:,}"]
        for row in found.rows
    ]
    notes = (
        "",
        f"The source is '{' '.join(found.source)}'. 'With the cache': largest difference between the logits of one pass over the "
        "target and those of one step at a time, which reuses the keys and values of earlier tokens. "
        "'Without': a step without them.",
        f"The loss is {number(found.loss)} in both cases: the mean of −ln of the probabilities, with random weights.",
    )
    return _table(found, columns, rows, notes)


@present.register
def _explanation(found: Explanation) -> Table:
    titles = ("weight", "in the second model", "most attended there", "attention moved")
    columns = [Column("query"), Column("attends most to"), *(Column(title, right=title != titles[2]) for title in titles)]
    rows = [
        [row.word, row.most, number(row.weight), number(row.weight_there), row.most_there, f"{100 * row.moved:.0f} %"]
        for row in found.rows
    ]
    heads, queries = found.weights.shape[1:3]
    notes = (
        "",
        f"Weights of head 0. The second model has other matrices W_Q and W_K and is equal otherwise; its outputs differ by "
        f"{almost(found.same) if found.same <= ROUNDING else '< 1e-9'} on this sentence, and by up to {number(found.other)} if "
        "the words come in the reverse order.",
        f"Over all heads, {found.changed} of {heads * queries} queries attend most to a different word, and "
        f"{100 * found.moved:.0f} % of the attention goes elsewhere.",
    )
    return _table(found, columns, rows, notes)


@present.register
def _folding(found: Folding) -> Table:
    titles = ("pre: difference", "post: difference", "post, relative")
    columns = [Column("after layer"), *(Column(title, right=True) for title in titles)]
    rows = [
        [str(row.layer), "< 1e-11" if row.pre <= 1e-11 else number(row.pre), number(row.post), f"{100 * row.relative:.0f} %"]
        for row in found.rows
    ]
    (pre_all, pre_matrices), (post_all, post_matrices) = found.readers["pre"], found.readers["post"]
    notes = (
        "",
        "Largest differences of the outputs between a model whose norms have γ = 1 and β = 0, with their scale and shift in the "
        "matrices that read them, and the original.",
        f"Of the {pre_all} steps that read a norm in the pre-norm encoder, {pre_matrices} are matrices; of {post_all} in the "
        f"post-norm encoder, {post_matrices}: the others are residual sums, which have no matrix.",
    )
    return _table(found, columns, rows, notes)
