"""A shape that somebody gave for what the formula computes: is it that, and if not, what was confused?"""

from __future__ import annotations

from collections.abc import Iterator

from glassformer.answers.shapes.scale import value_widths
from glassformer.answers.shapes.sizes import Size
from glassformer.answers.shapes.trace import Claim, Trace, shape_text
from glassformer.answers.shapes.trap import Trap
from glassformer.answers.shapes.writing import statement_text, written


def claimed(trace: Trace) -> Iterator[Trap]:
    """Every claim that differs, with the confusion named where it is plain."""
    for event in trace.events:
        if not isinstance(event, Claim):
            continue
        said, found = (tuple(size.put_in(trace.known) for size in sizes) for sizes in (event.said, event.value.sizes))
        name = written(event.statement.name) if event.statement.name else statement_text(event.statement)
        code, why = _why(event, said, found, trace)
        yield Trap(code, f"{name} is {shape_text(found)}, not {shape_text(said)}{why}.", claim=True)


def _why(event: Claim, said: tuple[Size, ...], found: tuple[Size, ...], trace: Trace) -> tuple[str, str]:
    weights = event.value.weights
    if weights is not None and None not in weights.pair.roles:
        queries, keys = (found[weights.pair.roles.index(role)] for role in ("queries", "keys"))
        if said == found[::-1] or set(said) in ({queries}, {keys}):
            attend = f": {queries} queries attend to {keys} keys, and the matrix is {' × '.join(map(str, weights.pair.roles))}"
            return "queries_keys_transposed", attend
    if event.value.attended is not None:
        other = 1 - event.value.attended
        if said[event.value.attended] == found[event.value.attended] and found[other] in value_widths(trace):
            return "dv_dk_mixed", f": the output of a head is as wide as its values, {found[other]}"
    return "claimed_shape", ": its rows and columns are exchanged" if said == found[::-1] else ""
