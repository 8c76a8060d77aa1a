"""A formula described in words: which axis is tokens, what attends to what, and the result."""

from __future__ import annotations

from glassformer.algebra.formulas.form import sides, stripped
from glassformer.algebra.formulas.names import key_of
from glassformer.algebra.formulas.scale import scaled_by
from glassformer.algebra.formulas.sizes import agreement
from glassformer.algebra.formulas.trace import PLACES, Attending, Projection, Trace, counted
from glassformer.algebra.formulas.values import Axis, Weights
from glassformer.algebra.formulas.writing import written
from glassformer.expressions.tree import Name, Transposed

MOST_SHOWN = 3


def reading(trace: Trace) -> list[str]:
    """Return sentences that describe a formula that fits."""
    said = [sentence(where)] if (where := where_tokens_are(trace)) else []
    different: list[str] = []
    for weights in trace.softmaxes:
        text = attention_words(weights, trace)
        if text not in different:
            different.append(text)
    said += different[:MOST_SHOWN]
    if trace.result is not None and trace.result.axes:
        kinds = axis_words(trace.result.axes, (None, None), trace)
        said.append(f"The result is {trace.shape(trace.result.axes)}" + (f", {kinds}." if kinds else "."))
    return said


def attention_words(weights: Weights, trace: Trace) -> str:
    """Return `The attention matrix is 6 × 6, keys × queries: 6 queries attend to 6 keys … Softmax runs down each column.`"""
    pair = weights.pair
    shape = trace.shape(weights.axes)
    sizes = trace.sizes(weights.axes)
    width = pair.left.axes[1].size.put_in(trace.known)
    over = weights.over if weights.over is not None else over_keys(weights, trace)
    runs = f" Softmax runs {('down each column', 'along each row')[over]}, over the keys." if over is not None else ""
    if None not in pair.roles:
        queries, keys = (sizes[pair.roles.index(role)] for role in ("queries", "keys"))
        roles = " × ".join(role or "" for role in pair.roles)
    elif over is not None:
        queries, keys = sizes[1 - over], sizes[over]
        roles = "queries × keys" if over == 1 else "keys × queries"
    else:
        return f"The attention matrix is {shape}."
    attend = f"{'1 query attends' if queries.number == 1 else f'{queries} queries attend'} to {counted(keys, 'key')}"
    return f"The attention matrix is {shape}, {roles}: {attend}, compared by {counted(width, 'feature')}.{runs}"


def over_keys(weights: Weights, trace: Trace) -> int | None:
    """Return the axis of the keys, known by name or because the values are summed along it."""
    if "keys" in weights.pair.roles:
        return weights.pair.roles.index("keys")
    for event in trace.events:
        if isinstance(event, Attending) and event.weights.node is weights.node:
            summed = 1 if event.side == "right" else 0
            return summed if event.weights.pair.flipped == weights.pair.flipped else 1 - summed
    return None


def axis_words(axes: tuple[Axis, ...], roles: tuple[str | None, ...], trace: Trace) -> str:
    """Return what the axes count: `features × tokens`, or `queries × keys` for an attention matrix; empty if unknown."""
    kinds: list[str | None] = list(trace.book.kinds(axes))
    if None not in roles and "features" not in kinds:
        kinds = list(roles)
    if all(kind is None for kind in kinds):
        return ""
    one = [axis.size.put_in(trace.known).number == 1 and kind is None for axis, kind in zip(axes, kinds, strict=True)]
    return " × ".join("1" if unit else kind or "?" for unit, kind in zip(one, kinds, strict=True))


def remarks(trace: Trace) -> list[str]:
    """Return remarks on a formula that fits: conditions, a missing scale, an ambiguous layout."""
    said = [f"It fits if {', '.join(trace.conditions)}."] if trace.conditions else []
    said += [f"{remark}." for remark in trace.remarks]
    for weights in trace.softmaxes:
        if trace.book.kinds(weights.axes) == ("features", "features"):
            continue
        said += scale_remark(weights, trace)
        if (remark := unknown_layout(weights, trace)) and not where_tokens_are(trace):
            said.append(remark)
    return list(dict.fromkeys(said))


def scale_remark(weights: Weights, trace: Trace) -> list[str]:
    if not weights.scales and weights.pair.node not in trace.trusted and None not in weights.pair.roles:
        return ["The scores are not divided by sqrt(d_k)."]
    found = scaled_by(weights, trace)
    if found is None:
        return []
    base, under = found
    width = weights.pair.left.axes[1].size.put_in(trace.known)
    found_agreement = agreement(base, width)
    if found_agreement == "bound":
        return [
            f"{base} is the width of the keys, {width}." if base.symbol else f"{written(under)} is right if {base} = {width}."
        ]
    if found_agreement == "different" and base.number and width.number and width.number % base.number == 0:
        heads = width.number // base.number
        return [
            f"The keys of this product are {width} wide, but the scale is sqrt({base}), which is right for {heads} heads of "
            f"width {base} that are multiplied separately."
        ]
    return []


def unknown_layout(weights: Weights, trace: Trace) -> str | None:
    """Return a remark if Q, K and V are given without weights, so that only the formula tells which axis is tokens."""
    node, axes, tokens = sides(weights.pair.node)[0], weights.pair.left.axes, 0
    if trace.book.kind(axes[0]) is not None:
        return None
    while isinstance(node, Transposed):
        node, tokens = node.inner, 1 - tokens
    count, width = trace.sizes(axes)
    return (
        f"The shapes do not determine which axis is tokens. The formula treats the {PLACES[tokens]} of {written(node)} as "
        f"tokens: {count} tokens with {width} features."
    )


def where_tokens_are(trace: Trace) -> str | None:
    """Return `W_Q X sums over the rows of X, its features, so the columns of X are the tokens`."""
    for event in trace.events:
        if not isinstance(event, Projection) or event.clash or event.data.attended is not None:
            continue
        data = stripped(event.data_node)
        if isinstance(data, Name) and key_of(data.text) in trace.given:
            value = trace.given[key_of(data.text)][1]
            tokens = value.tokens_axis(trace.book)
            if tokens is not None and not value.loose:
                text = written(data)
                sizes = trace.sizes(value.axes)
                blind = f" (both sizes are {sizes[0]}, so they do not tell)" if sizes[0] == sizes[1] else ""
                return (
                    f"{written(event.node)} sums over the {PLACES[1 - tokens]} of {text}, its features, "
                    f"so the {PLACES[tokens]} of {text} are the tokens{blind}"
                )
    return where_given_tokens_are(trace)


def where_given_tokens_are(trace: Trace) -> str | None:
    """Return the same if no weight determines it, but the sizes do."""
    for text, value in trace.given.values():
        tokens = value.tokens_axis(trace.book)
        if value.source == "data" and tokens is not None and not value.loose and None not in trace.book.kinds(value.axes):
            size = trace.sizes(value.axes)[1 - tokens]
            return f"the {PLACES[1 - tokens]} of {text} are its features ({size}), so its {PLACES[tokens]} are the tokens"
    return None


def sentence(text: str) -> str:
    """Return a text as a sentence: capitalised if it begins with a word, with a full stop."""
    first = text.split(" ", 1)[0]
    return (text[0].upper() + text[1:] if first.isalpha() and first.islower() and len(first) > 1 else text) + "."
