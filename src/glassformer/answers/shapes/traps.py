"""Formulas that fit and mean something else: each trap a code, the sentence for the student, and the places to replace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from glassformer.answers.expressions.tree import Grid, List, Name, Node, Sum, Transposed
from glassformer.answers.shapes.form import Changes, joined_parts, stripped, turned
from glassformer.answers.shapes.names import key_of
from glassformer.answers.shapes.reading import sentence, where_tokens_are
from glassformer.answers.shapes.repair import other_side, right_attention, right_scores
from glassformer.answers.shapes.scale import value_widths, wrong_scale
from glassformer.answers.shapes.sizes import Size, agreement
from glassformer.answers.shapes.trace import PLACES, Adding, Attending, Claim, Joining, Projection, Trace, shape_text
from glassformer.answers.shapes.trap import Trap
from glassformer.answers.shapes.values import Value, Weights, is_output_weight
from glassformer.answers.shapes.writing import statement_text, written

Check: TypeAlias = Callable[[Trace], Iterator[Trap]]


def find_traps(trace: Trace) -> list[Trap]:
    """The traps of a formula in the order of the checks, one of a code; an attention has one fault of layout at most."""
    found: list[Trap] = []
    faulty: set[object] = set()
    for check in CHECKS:
        for trap in check(trace):
            if trap.about in faulty or any(trap.code == other.code for other in found):
                continue
            found.append(trap)
            faulty |= {trap.about} if trap.about is not None else set()
        if check is mixed_sides and any(event.clash for event in _projections(trace)):
            break  # which axis is tokens is not certain any more: nothing else is said
    return found


def _attending(trace: Trace, weights: Weights) -> Attending | None:
    """Where these weights are multiplied by values."""
    events = (event for event in trace.events if isinstance(event, Attending))
    return next((event for event in events if event.weights.node is weights.node), None)


def _because(trace: Trace) -> str:
    where = where_tokens_are(trace)
    return sentence(where) + " " if where else ""


def mixed_sides(trace: Trace) -> Iterator[Trap]:
    """Q = W_Q X but K = X W_K: one of the two meets tokens. Most of the weights are taken to stand where they should."""
    made = _projections(trace)
    for clash in made:
        sizes = trace.sizes(clash.data.axes)
        if not clash.clash or sizes[0] != sizes[1]:
            continue
        data = stripped(clash.data_node)
        alike = [event for event in made if same_text(stripped(event.data_node), data)]
        wrong, right = ([event for event in alike if event.clash == clashing] for clashing in (True, False))
        if len(wrong) > len(right) and right:
            wrong, right = right, wrong
        text = (
            f"{written(wrong[0].node)} sums over the tokens of {written(data)}, and fits only because there are as many tokens "
            f"as features ({sizes[0]})."
        )
        if right:
            text = (
                f"{written(wrong[0].node)} and {written(right[0].node)} sum over different axes of {written(data)}: what one "
                f"takes for features are the other's tokens. Both fit only because it is {trace.shape(clash.data.axes)}."
            )
        changes = Changes((event.node, other_side(event.node)) for event in wrong)
        yield Trap("row_column_convention", text, changes if len(wrong) != len(right) else None)


def _projections(trace: Trace) -> list[Projection]:
    """The products that make queries, keys and values."""
    events = (event for event in trace.events if isinstance(event, Projection))
    return [event for event in events if event.weight.role and event.data.attended is None]


def same_text(left: Node, right: Node) -> bool:
    return written(left) == written(right)


def feature_by_feature(trace: Trace) -> Iterator[Trap]:
    """Softmax of features by features."""
    for weights in trace.softmaxes:
        attending = _attending(trace, weights)
        named = None not in weights.pair.roles
        if trace.book.kinds(weights.axes) != ("features", "features") or not (named or attending):
            continue
        meant = right_scores(weights.pair, trace)
        text = (
            f"{written(weights.pair.node)} is {trace.shape(weights.axes)}, features × features: "
            f"features attend to features, not tokens to tokens. {_because(trace)}"
        )
        if meant is not None:
            counts = trace.shape((weights.pair.left.axes[1], weights.pair.right.axes[0]))
            text += f"So {written(meant)} was meant, {counts}."
        yield Trap("feature_by_feature", text.strip(), right_attention(weights, attending, trace), weights.pair.node)


def key_not_transposed(trace: Trace) -> Iterator[Trap]:
    """Q K: features of the one summed against tokens of the other."""
    for weights in trace.softmaxes:
        pair = weights.pair
        if not pair.clash:
            continue
        meant = right_scores(pair, trace)
        size = trace.sizes(pair.left.axes)[1]
        text = (
            f"{written(pair.node)} sums features against tokens, and fits only because there are {size} of each: "
            f"the keys are not transposed. {_because(trace)}"
        )
        text += f"So {written(meant)} was meant." if meant else ""
        yield Trap("key_not_transposed", text.strip(), right_attention(weights, _attending(trace, weights), trace), pair.node)


def values_on_the_wrong_side(trace: Trace) -> Iterator[Trap]:
    """The product of weights and values sums over the features of the values, or over the queries."""
    for event in trace.events:
        if not isinstance(event, Attending):
            continue
        weights, pair, node = event.weights, event.weights.pair, event.values_node
        changes = right_attention(weights, event, trace)
        contracted = 1 if event.side == "right" else 0
        if event.clash:
            size = trace.sizes(event.weights.axes)[contracted]
            text = (
                f"{written(event.node)} sums over the features of {written(node)}, and fits only because there are as many "
                f"tokens as features ({size}). {_because(trace)}"
            )
            yield Trap("value_wrong_side", text.strip(), changes, pair.node)
        elif None not in pair.roles and pair.roles[contracted] == "queries":
            swapped_scores = (event.side == "left") == (event.values.tokens_axis(trace.book) == 1) and not isinstance(
                node, Transposed
            )
            code = "queries_keys_transposed" if swapped_scores else "value_wrong_side"
            text = (
                f"{scores_text(weights)} is {pair_words(weights)}, {trace.shape(weights.axes)}, so {written(event.node)} "
                "sums over the queries. An output is a query's: a sum over the keys, each value weighted by its key."
            )
            yield Trap(code, text, changes, pair.node)
        elif event.from_queries:
            queries, keys = pair.of("queries"), pair.of("keys")
            assert queries and keys
            names = [", ".join(sorted(value.origins)) for value in (keys[1], event.values)]
            text = (
                f"The keys come from {names[0]}, and the values from {names[1]} like the queries: a key and its value would be "
                "different tokens, and the product fits only because there are as many of the ones as of the others. "
                f"Keys and values come from the same tokens, here {names[0]}."
            )
            yield Trap("values_from_queries", text, _from_keys(event, keys[1], trace), pair.node)


def _from_keys(event: Attending, keys: Value, trace: Trace) -> Changes | None:
    """The values made of what the keys are made of."""
    if len(keys.origins) != 1:
        return None
    source = Name(trace.given[next(iter(keys.origins))][0])
    places = [stripped(made.data_node) for made in _projections(trace) if made.weight.role == "values"]
    return Changes((place, source) for place in places if isinstance(place, Name) and key_of(place.text) in event.values.origins)


def pair_words(weights: Weights) -> str:
    """`queries × keys`."""
    return " × ".join(role or "?" for role in weights.pair.roles)


def scores_text(weights: Weights) -> str:
    """The scores as they lie in the attention matrix."""
    return written(Transposed(weights.pair.node) if weights.pair.flipped else weights.pair.node)


def softmax_axis(trace: Trace) -> Iterator[Trap]:
    """A softmax that says its axis, and it is the queries'."""
    for weights in trace.softmaxes:
        pair, over = weights.pair, weights.over
        if over is None or None in pair.roles or pair.roles[over] != "queries":
            continue
        keys = 1 - over
        right = "rows" if keys == 1 else "columns"
        sums = ("column", "row")[over]
        text = (
            f"{scores_text(weights)} is {pair_words(weights)}: this softmax makes each {sums} sum to 1, over the queries. "
            f"A query shares out its attention over the keys, so each {('column', 'row')[keys]} has to sum to 1."
        )
        yield Trap("softmax_wrong_axis", text, Changes([(weights.node, replace(weights.node, axis=right))]), pair.node)


def output_side(trace: Trace) -> Iterator[Trap]:
    """W_O that meets the tokens."""
    for event in trace.events:
        if not isinstance(event, Projection) or not event.clash or event.data.attended is None:
            continue
        name = stripped(event.weight_node)
        if isinstance(name, Name) and is_output_weight(name.text):
            node = other_side(event.node)
            text = (
                f"{written(event.node)} mixes tokens, not features, and fits only because there are as many of the ones as of "
                f"the others. The output of the attention has its tokens as {PLACES[event.data.attended]}, so {written(name)} "
                f"stands on the {'left' if event.side == 'right' else 'right'}: {written(node)}."
            )
            yield Trap("output_wrong_side", text, Changes([(event.node, node)]))


def heads_along_tokens(trace: Trace) -> Iterator[Trap]:
    """Heads put behind each other as if they were more tokens."""
    for event in trace.events:
        if not isinstance(event, Joining) or not event.chosen:
            continue
        parts = joined_parts(event.node)
        if len(parts) < 2:
            continue
        first = event.parts[0]
        roots = {trace.book.root(part.axes[event.axis]) for part in event.parts}
        if len(roots) > 1 or not all(part.attended == event.axis for part in event.parts):
            continue  # outputs of different texts may well stand behind each other
        if trace.book.kind(first.axes[event.axis]) == "features":
            continue
        beside = event.axis == 1
        node: Node = Grid(tuple((part,) for part in parts)) if beside else List(parts)
        text = (
            f"{written(event.node)} puts the heads {'beside' if beside else 'below'} each other, along the tokens, like a longer "
            "text. Each head has all tokens and some of the features, so heads are joined along the features: "
            f"{written(node)}."
        )
        yield Trap("heads_along_tokens", text, Changes([(event.node, node)]))


def added_transposed(trace: Trace) -> Iterator[Trap]:
    """X + Z where the one has its tokens as rows and the other as columns."""
    for event in trace.events:
        if isinstance(event, Adding) and (event.left.attended is not None or event.right.attended is not None):
            attended_left = event.left.attended is not None
            (plus, left), (sign, right) = event.node.terms
            node = Sum(((plus, turned(left)), (sign, right)) if attended_left else ((plus, left), (sign, turned(right))))
            text = (
                f"{written(event.node)} adds the tokens of the one to the features of the other, and fits only because there are "
                f"as many of the ones as of the others. {written(node)} was meant."
            )
            yield Trap("added_transposed", text, Changes([(event.node, node)]))


def claimed(trace: Trace) -> Iterator[Trap]:
    """Every claim that differs, with the confusion named where it is plain."""
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
            attend = f": {queries} queries attend to {keys} keys, and the matrix is {' × '.join(map(str, weights.pair.roles))}"
            return "queries_keys_transposed", attend
    if event.value.attended is not None:
        other = 1 - event.value.attended
        if said[event.value.attended] == found[event.value.attended] and found[other] in value_widths(trace):
            return "dv_dk_mixed", f": the output of a head is as wide as its values, {found[other]}"
    bound = [pair for pair in zip(found, said, strict=True) if agreement(*pair) == "bound"]
    equal = " = ".join(map(str, bound[0])) if bound else ""
    if said != found[::-1]:
        return "claimed_shape", f", and nothing else says that {equal}" if equal else ""
    only = f", which is the same only where {equal}" if equal else ""
    return "claimed_shape", f": its rows and columns are exchanged{only}"


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
