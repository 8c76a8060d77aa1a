"""Laws of counting: growth with layers and length, and nothing lost in writing a spec or a table down."""

from __future__ import annotations

import json
import re

from laws.cases import Case
from laws.law import EXACT, law
from laws.ways import PROGRAM, Way

import glassformer as gf
from glassformer.algebra import cost, count, shapes
from glassformer.program import build
from glassformer.show import present
from glassformer.spec import EncoderSpec

ONCE = {"ways": (PROGRAM,), **EXACT}  # they read the program, whatever computes it


def unshared(spec: EncoderSpec) -> EncoderSpec:
    return spec.replace(share_layers=None, layer_cycle=1, layers=max(1, spec.layers))


@law(fit=unshared, **ONCE)
def parameter_count_is_linear_in_the_number_of_layers(way: Way, case: Case) -> float:
    one, two, three = (count(case.spec.replace(layers=n * case.spec.layers)).total for n in (1, 2, 3))
    return abs((three - two) - (two - one))


def without_contacts(spec: EncoderSpec) -> EncoderSpec:
    """A contact head has a weight for each layer and head, even if layers share weights; no state depends on it."""
    return spec.replace(contact_head=False)


@law(fit=without_contacts, **ONCE)
def layers_that_share_weights_add_no_parameters(way: Way, case: Case) -> float:
    spec = case.spec.replace(layers=1, share_layers=1, layer_cycle=1, first_norm=True)
    return abs(count(spec.replace(layers=5)).total - count(spec).total)


def growing(spec: EncoderSpec) -> EncoderSpec | None:
    return None if spec.one_length else spec.replace(positions=64, layers=max(1, spec.layers))


@law(fit=growing, **ONCE)
def attention_scores_cost_quadratic_time_and_everything_else_linear(way: Way, case: Case) -> float:
    short, long = (cost(build(case.spec, t=t)) for t in (6, 12))
    gaps = [0.0]
    for one, other in zip(short.rows, long.rows, strict=True):
        if one.name.startswith("layers.") and "relative" not in one.name:  # the length of a table of distances is fixed
            square = one.name.rpartition(".")[2] in ("scores", "biased", "masked", "weights", "mix")
            gaps.append(abs(other.flops - (4 if square else 2) * one.flops))
    return max(gaps)


@law(**ONCE)
def the_cost_of_a_batch_is_the_sum_of_its_inputs(way: Way, case: Case) -> float:
    """Except for parts shared by all inputs: a pooler's query, and projections of a table of distances."""
    one, three = (cost(build(case.spec, batch=batch)) for batch in (1, 3))
    own, all_three = (
        sum(row.flops for row in found.rows if not row.name.startswith("pooler.attention.q") and "relative" not in row.name)
        for found in (one, three)
    )
    return abs(all_three - 3 * own)


@law(**ONCE)
def the_parts_of_a_count_add_up_to_the_total(way: Way, case: Case) -> float:
    ledger, spent = count(case.spec), cost(build(case.spec))
    tops = [row for name, row in spent.parts.items() if not name.startswith("layers:")]
    gaps = [abs(ledger.total - sum(each.values())) for each in (ledger.parts, ledger.kinds)]
    gaps += [abs(sum(row.flops for row in tops) - spent.flops), abs(sum(row.multiply_adds for row in tops) - spent.multiply_adds)]
    return max(gaps)


@law(**ONCE)
def a_spec_round_trips_through_json(way: Way, case: Case) -> float:
    written = json.loads(json.dumps(case.spec.to_dict()))
    same = EncoderSpec(**written) == case.spec and gf.spec(written) == case.spec
    return 0.0 if same else 1.0


def cells(page: str, *, markdown: bool) -> list[list[str]]:
    """The rows of a printed table, cut at its own rule."""
    lines = page.splitlines()
    if markdown:
        rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
        return [[cell.strip().strip("*") for cell in row] for row in rows[2:]]
    at = next(i for i, line in enumerate(lines) if line.startswith("─"))
    spans = [match.span() for match in re.finditer("─+", lines[at])]
    body = lines[at + 1 :]
    body = body[: next((i for i, line in enumerate(body) if line[:1].isdecimal()), len(body))]
    return [[line[start:stop].strip() for start, stop in spans] for line in body]


def whole(text: str) -> int:
    return int(text.replace(",", ""))


@law(**ONCE)
def a_printed_table_reads_back_as_the_same_numbers(way: Way, case: Case) -> float:
    program = build(case.spec)
    gaps = [0.0]
    ledger, shape, spent = count(case.spec), shapes(program), cost(program)
    for markdown in (False, True):
        pages = [getattr(present(result), "markdown" if markdown else "text")() for result in (ledger, shape, spent)]
        rows = [row for row in cells(pages[0], markdown=markdown) if row[0]]
        printed = sorted(
            (row[0].replace("&nbsp;", "").replace("*", "").split()[-1], whole(row[3].strip("*"))) for row in rows if row[1]
        )  # a tensor has a formula, a subtotal none
        gaps += [0.0 if printed == sorted((line.symbol, line.count) for line in ledger.lines) else 1.0]
        gaps += [
            abs({row[0].strip("*"): whole(row[3].strip("*")) for row in rows}["total"] - sum(line.count for line in ledger.lines))
        ]
        for row in cells(pages[1], markdown=markdown):
            if row[0] and row[-1]:
                sizes = tuple(whole(size) for size in row[3].split(" × "))
                gaps.append(0.0 if sizes == (shape[row[0]].shape or (1,)) else 1.0)
        costs = {row[0]: (whole(row[1]), whole(row[2])) for row in cells(pages[2], markdown=markdown) if row[0]}
        gaps += [0.0 if costs[name] == (part.multiply_adds, part.flops) else 1.0 for name, part in spent.parts.items()]
        gaps += [abs(costs["total"][1] - sum(row.flops for row in spent.rows))]
    return max(gaps)
