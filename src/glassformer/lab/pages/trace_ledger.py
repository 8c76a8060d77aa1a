"""What made a number: its ledger of contributions, and each line opened down to the cells that it sums over."""

from __future__ import annotations

import re
from typing import Any, Literal, cast

from glassformer.errors import GlassformerError, shown
from glassformer.lab.cells import DIGITS, cell_id, read_cell
from glassformer.lab.documents.cells import Door, Rest
from glassformer.lab.documents.trace import LedgerDocument, LedgerGroup, LineDocument
from glassformer.numbers import Run
from glassformer.numbers.contributions.ledger import Contributions
from glassformer.numbers.contributions.rules import Depth, Rules
from glassformer.numbers.explain import explain, number
from glassformer.numbers.keep import KeptValues
from glassformer.show.contributions import line_label, order, part_name

ADDRESS = re.compile(r"(why|words):([^#]{1,330})(?:#(\d{1,7}))?")
DEPTHS: dict[str, Depth] = {"why": "direct", "words": "input"}
MOST_LINES = 30  # of a group
MOST_TERMS = 40


def ledger_at(run: Run, address: str) -> LedgerDocument | LineDocument:
    """`why:CELL` is the ledger of a cell by what wrote it, `words:CELL` by input; `why:CELL#7` is one of its lines."""
    found = ADDRESS.fullmatch(address)
    if found is None:
        raise GlassformerError(f"'{shown(address)}' is not a ledger: write one as why:head.logits[class=0].")
    if isinstance(run.values, KeptValues):
        raise GlassformerError("this run is too large to keep in full, so contributions cannot be followed: use a shorter text.")
    name, cell = read_cell(run, found[2])
    ledger = run.contributions(name, Rules(depth=DEPTHS[found[1]]), **cell)
    address = f"{found[1]}:{cell_id(name, run.cell(name, cell))}"
    if found[3] is None:
        return _ledger(ledger, address, explain(run, name, run.cell(name, cell)).label)
    if int(found[3]) >= len(ledger.lines):
        raise GlassformerError(f"this ledger has no line {found[3]}: it has {len(ledger.lines)} lines, counted from 0.")
    return _line(ledger, address, int(found[3]))


def _ledger(ledger: Contributions, address: str, label: str) -> LedgerDocument:
    return {
        "id": address,
        "label": label,
        "value": ledger.value,
        "total": ledger.total,
        "remainder": ledger.remainder,
        "gap": ledger.gap,
        "rules": ledger.rules.text,
        "groups": _groups(ledger, address),
    }


def _groups(ledger: Contributions, address: str) -> list[LedgerGroup]:
    """Parts of the embeddings first, then those of each layer."""
    members: dict[tuple[str, int | None, str], list[int]] = {}
    for place, line in enumerate(ledger.lines):
        members.setdefault((line.stack, line.layer, line.part), []).append(place)
    sums = ledger.by("stack", "layer", "part")
    found: list[LedgerGroup] = []
    for (stack, layer, part), places in sorted(members.items(), key=lambda item: order(item[0][0], item[0][1])):
        largest = sorted(places, key=lambda place: -abs(ledger.lines[place].value))
        rest = [ledger.lines[place].value for place in largest[MOST_LINES:]]
        found.append(
            {
                "name": part_name(layer, part, stack),
                "value": sums[stack, layer, part],
                "lines": [_row(ledger, address, place) for place in largest[:MOST_LINES]],
                "rest": {"terms": len(rest), "sum": sum(rest)},
            }
        )
    return found


def _row(ledger: Contributions, address: str, place: int) -> Any:
    line = ledger.lines[place]
    name = line_label(ledger, line).removeprefix(f"{line.name} ")  # the group says where it belongs
    return {"id": f"{address}#{place}", "name": name, "value": line.value}


def _line(ledger: Contributions, address: str, place: int) -> LineDocument:
    line, terms = ledger.lines[place], ledger.terms(place)
    rest: Rest = {"terms": max(0, len(terms) - MOST_TERMS), "sum": sum(term.value for term in terms[MOST_TERMS:])}
    constant = cast("Literal['uniform attention', 'bias', 'remainder']", line.part) if ledger.sources[place] is None else None
    return {
        "id": f"{address}#{place}",
        "name": line_label(ledger, line),
        "value": line.value,
        "constant": constant,
        "terms": [
            {"value": term.value, "coefficient": term.coefficient, "cell": _door(ledger, term.tensor.name, term.cell)}
            for term in terms[:MOST_TERMS]
        ],
        "rest": rest,
    }


def _door(ledger: Contributions, name: str, cell: dict[str, int]) -> Door:
    run = ledger.run
    value = float(run.values[name][run.tensor(name).at(cell)])
    label = explain(run, name, cell).label
    return {"id": cell_id(name, cell), "text": number(value, DIGITS), "label": label, "value": value}
