"""Checks for traps, formulas that fit but mean something else; each gives a code, a sentence and a correction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from glassformer.algebra.formulas.form import Changes, joined_parts, stripped, turned
from glassformer.algebra.formulas.names import key_of
from glassformer.algebra.formulas.reading import sentence, where_tokens_are
from glassformer.algebra.formulas.repair import other_side, right_attention, right_scores
from glassformer.algebra.formulas.scale import value_widths, wrong_scale
from glassformer.algebra.formulas.sizes import Size, agreement
from glassformer.algebra.formulas.trace import PLACES, Adding, Attending, Claim, Joining, Projection, Trace, shape_text
from glassformer.algebra.formulas.trap import Trap, trap
from glassformer.algebra.formulas.values import Value, Weights, is_output_weight
from glassformer.algebra.formulas.writing import statement_text, written
from glassformer.expressions.tree import Grid, List, Name, Node, Sum, Transposed

LINES = ("column", "row")  # what sums to 1 after a softmax over the first or second axis

Check: TypeAlias = Callable[[Trace], Iterator[Trap]]


def find_traps(trace: Trace) -> list[Trap]:
    """Return the traps of a formula in the order of the checks, one per code and at most one layout error per attention."""
    found: list[Trap] = []
    faulty: set[object] = set()
    for check in CHECKS:
        for one in check(trace):
            if one.about in faulty or any(one.code == other.code for other in found):
                continue
            found.append(one)
            faulty |= {one.about} if one.about is not None else set()
        if check is mixed_sides and any(event.clash for event in _projections(trace)):
            break  # the token axis is no longer certain, so nothing else is reported
    return found


def _attending(trace: Trace, weights: Weights) -> Attending | None:
    """Return the product of these weights with values."""
    events = (event for event in trace.events if isinstance(event, Attending))
    return next((event for event in events if event.weights.node is weights.node), None)


def _because(trace: Trace) -> str:
    where = where_tokens_are(trace)
    return sentence(where) if where else ""


def mixed_sides(trace: Trace) -> Iterator[Trap]:
    """Find Q = W_Q X with K = X W_K, where one product sums over tokens. The majority of weights is assumed to be right."""
    made = _projections(trace)
    for clash in made:
        sizes = trace.sizes(clash.data.axes)
        if not clash.clash or sizes[0] != sizes[1]:
            continue
        data = stripped(clash.data_node)
        alike = [event for event in made if stripped(event.data_node) == data]
        wrong, right = ([event for event in alike if event.clash == clashing] for clashing in (True, False))
        if len(wrong) > len(right) and right:
            wrong, right = right, wrong
        changes = Changes((event.node, other_side(event.node)) for event in wrong)
        yield trap(
            "row_column_convention",
            changes if len(wrong) != len(right) else None,
            form="both" if right else "alone",
            wrong=wrong[0].node,
            right=right[0].node if right else None,
            data=data,
            size=sizes[0],
            shape=trace.shape(clash.data.axes),
        )


def _projections(trace: Trace) -> list[Projection]:
    """Return the products that compute queries, keys and values."""
    events = (event for event in trace.events if isinstance(event, Projection))
    return [event for event in events if event.weight.role and event.data.attended is None]


def feature_by_feature(trace: Trace) -> Iterator[Trap]:
    """Find a softmax of a features × features matrix."""
    for weights in trace.softmaxes:
        attending = _attending(trace, weights)
        named = None not in weights.pair.roles
        if trace.book.kinds(weights.axes) == ("features", "features") and (named or attending):
            counts = trace.shape((weights.pair.left.axes[1], weights.pair.right.axes[0]))
            yield _scores_trap("feature_by_feature", weights, trace, f" was meant, {counts}.")


def key_not_transposed(trace: Trace) -> Iterator[Trap]:
    """Find Q K, which multiplies features with tokens."""
    for weights in trace.softmaxes:
        if weights.pair.clash:
            yield _scores_trap("key_not_transposed", weights, trace, " was meant.")


def _scores_trap(code: str, weights: Weights, trace: Trace, was_meant: str) -> Trap:
    """Return a trap of wrong scores, with a correction of the whole attention."""
    meant = right_scores(weights.pair, trace)
    return trap(
        code,
        right_attention(weights, _attending(trace, weights), trace),
        weights.pair.node,
        scores=weights.pair.node,
        shape=trace.shape(weights.axes),
        size=trace.sizes(weights.pair.left.axes)[1],
        because=_because(trace),
        meant=f"So {written(meant)}{was_meant}" if meant else None,
    )


def values_on_the_wrong_side(trace: Trace) -> Iterator[Trap]:
    """Find a product of weights and values that sums over the features of the values, or over the queries."""
    for event in trace.events:
        if not isinstance(event, Attending):
            continue
        weights, pair, node = event.weights, event.weights.pair, event.values_node
        changes = right_attention(weights, event, trace)
        summed = 1 if event.side == "right" else 0
        if event.clash:
            size, because = trace.sizes(weights.axes)[summed], _because(trace)
            fields: dict[str, Any] = {"product": event.node, "values": node, "size": size, "because": because}
            yield trap("value_wrong_side", changes, pair.node, "features", **fields)
        elif None not in pair.roles and pair.roles[summed] == "queries":
            columns = event.values.tokens_axis(trace.book) == 1
            exchanged = (event.side == "left") == columns and not isinstance(node, Transposed)
            code = "queries_keys_transposed" if exchanged else "value_wrong_side"
            fields = {"scores": scores_of(weights), "roles": roles_text(weights), "shape": trace.shape(weights.axes)}
            yield trap(code, changes, pair.node, product=event.node, **fields)
        elif event.from_queries and (keys := pair.of("keys")):
            origins = [", ".join(sorted(value.origins)) for value in (keys[1], event.values)]
            changed = _from_keys(event, keys[1], trace)
            yield trap("values_from_queries", changed, pair.node, keys=origins[0], values=origins[1])


def _from_keys(event: Attending, keys: Value, trace: Trace) -> Changes | None:
    """Return the changes that compute the values from the source of the keys."""
    if len(keys.origins) != 1:
        return None
    source = Name(trace.given[next(iter(keys.origins))][0])
    places = [stripped(made.data_node) for made in _projections(trace) if made.weight.role == "values"]
    return Changes((place, source) for place in places if isinstance(place, Name) and key_of(place.text) in event.values.origins)


def roles_text(weights: Weights) -> str:
    """Return the roles of the axes as text: `queries × keys`."""
    return " × ".join(role or "?" for role in weights.pair.roles)


def scores_of(weights: Weights) -> Node:
    """Return the scores in the orientation of the attention matrix."""
    return Transposed(weights.pair.node) if weights.pair.flipped else weights.pair.node


def softmax_axis(trace: Trace) -> Iterator[Trap]:
    """Find a softmax with an explicit axis that is the axis of the queries."""
    for weights in trace.softmaxes:
        pair, over = weights.pair, weights.over
        if over is None or None in pair.roles or pair.roles[over] != "queries":
            continue
        right = replace(weights.node, axis=("columns", "rows")[1 - over])
        fields: dict[str, Any] = {
            "scores": scores_of(weights),
            "roles": roles_text(weights),
            "sums": LINES[over],
            "due": LINES[1 - over],
        }
        yield trap("softmax_wrong_axis", Changes([(weights.node, right)]), pair.node, **fields)


def output_side(trace: Trace) -> Iterator[Trap]:
    """Find a product with W_O that sums over the tokens."""
    for event in trace.events:
        if not isinstance(event, Projection) or not event.clash or event.data.attended is None:
            continue
        weight = stripped(event.weight_node)
        if isinstance(weight, Name) and is_output_weight(weight.text):
            right, side = other_side(event.node), "left" if event.side == "right" else "right"
            fields: dict[str, Any] = {"product": event.node, "place": PLACES[event.data.attended], "weight": weight}
            yield trap("output_wrong_side", Changes([(event.node, right)]), side=side, right=right, **fields)


def heads_along_tokens(trace: Trace) -> Iterator[Trap]:
    """Find heads that are concatenated along the tokens."""
    for event in trace.events:
        if not isinstance(event, Joining) or not event.chosen:
            continue
        parts = joined_parts(event.node)
        roots = {trace.book.root(part.axes[event.axis]) for part in event.parts}
        if len(parts) < 2 or len(roots) > 1 or not all(part.attended == event.axis for part in event.parts):
            continue  # outputs of different sequences may be concatenated
        if trace.book.kind(event.parts[0].axes[event.axis]) == "features":
            continue
        beside = event.axis == 1
        right: Node = Grid(tuple((part,) for part in parts)) if beside else List(parts)
        where = "side by side" if beside else "one below the other"
        yield trap("heads_along_tokens", Changes([(event.node, right)]), join=event.node, where=where, right=right)


def added_transposed(trace: Trace) -> Iterator[Trap]:
    """Find X + Z in which one has its tokens as rows and the other as columns."""
    for event in trace.events:
        if isinstance(event, Adding) and (event.left.attended is not None or event.right.attended is not None):
            attended_left = event.left.attended is not None
            (plus, left), (sign, right) = event.node.terms
            node = Sum(((plus, turned(left)), (sign, right)) if attended_left else ((plus, left), (sign, turned(right))))
            yield trap("added_transposed", Changes([(event.node, node)]), sum=event.node, right=node)


def claimed(trace: Trace) -> Iterator[Trap]:
    """Find claims that differ from the derived shape, and name the confusion if it is clear."""
    for event in trace.events:
        if not isinstance(event, Claim):
            continue
        said, found = (tuple(size.put_in(trace.known) for size in sizes) for sizes in (event.said, event.value.sizes))
        name = event.statement.name or statement_text(event.statement)
        code, why = _why(event, said, found, trace)
        yield Trap(code, f"{name} is {shape_text(found)}, not {shape_text(said)}{why}.", claim=True)


def _why(event: Claim, said: tuple[Size, ...], found: tuple[Size, ...], trace: Trace) -> tuple[str, str]:
    weights = event.value.weights
    if weights is not None and None not in weights.pair.roles:
        queries, keys = (found[weights.pair.roles.index(role)] for role in ("queries", "keys"))
        if said == found[::-1] or set(said) in ({queries}, {keys}):
            attend = f": {queries} queries attend to {keys} keys, and the matrix is {roles_text(weights)}"
            return "queries_keys_transposed", attend
    if event.value.attended is not None:
        other = 1 - event.value.attended
        if said[event.value.attended] == found[event.value.attended] and found[other] in value_widths(trace):
            return "dv_dk_mixed", f": the output of a head is as wide as its values, {found[other]}"
    bound = [pair for pair in zip(found, said, strict=True) if agreement(*pair) == "bound"]
    equal = " = ".join(map(str, bound[0])) if bound else ""
    if said != found[::-1]:
        return "claimed_shape", f", and nothing else implies {equal}" if equal else ""
    only = f"; the two shapes are equal only if {equal}" if equal else ""
    return "claimed_shape", f": rows and columns are swapped{only}"


CHECKS: tuple[Check, ...] = (
    mixed_sides,
    feature_by_feature,
    key_not_transposed,
    values_on_the_wrong_side,
    softmax_axis,
    wrong_scale,
    output_side,
    heads_along_tokens,
    added_transposed,
    claimed,
)
