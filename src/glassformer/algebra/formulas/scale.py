"""Checks that scores are divided by the square root of the keys' width, if both are known."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from glassformer.algebra.formulas.form import Changes
from glassformer.algebra.formulas.names import key_of
from glassformer.algebra.formulas.repair import size_node
from glassformer.algebra.formulas.sizes import Size, agreement
from glassformer.algebra.formulas.trace import Trace
from glassformer.algebra.formulas.trap import Trap, trap
from glassformer.algebra.formulas.values import Weights
from glassformer.algebra.formulas.writing import written
from glassformer.expressions.tree import Name, Node, Root

HALF = Fraction(1, 2)


def wrong_scale(trace: Trace) -> Iterator[Trap]:
    """Find sqrt(d) if the keys of a head are d/S wide, or sqrt(d_v); an unusual scale may be intended and is ignored."""
    for weights in trace.softmaxes:
        found = scaled_by(weights, trace)
        if found is None or weights.pair.several or trace.book.kinds(weights.axes) == ("features", "features"):
            continue
        base, under = found
        raw = weights.pair.left.axes[1].size
        width = raw.put_in(trace.known)
        if agreement(base, width) != "different":
            continue
        code, what = _recognised(base, raw, weights, trace)
        if code is None:
            continue
        right = Root(_due(raw, width, trace))
        same = written(under) if not base.number else f"sqrt({base})"
        yield trap(
            code,
            Changes([(under, right)]),
            width=f"{raw} = {width}" if raw != width else raw,
            due=f"{written(right)} = sqrt({width})" if raw != width else right,
            under=under if written(under) == same else f"{written(under)} = {same}",
            of=what,
        )


def scaled_by(weights: Weights, trace: Trace) -> tuple[Size, Node] | None:
    """Return the size under the root that the scores are divided by, and its node."""
    pair = weights.pair
    if pair.node in trace.trusted or len(weights.scales) != 1 or None in (pair.left.role, pair.right.role, *pair.roles):
        return None
    scale = weights.scales[0]
    if scale.by.exponent != HALF or scale.by.base is None or not isinstance(scale.node, Root):
        return None
    base = scale.by.base.put_in(trace.known)
    if base.symbol == "d_model":
        base = next(iter(model_widths(trace)), base)
    return base, scale.node


def model_widths(trace: Trace) -> set[Size]:
    """Return the widths of the inputs of the projections."""
    found = set()
    for _, value in trace.given.values():
        tokens = value.tokens_axis(trace.book)
        if value.source == "data" and value.role is None and tokens is not None:
            found.add(trace.sizes(value.axes)[1 - tokens])
    return found


def value_widths(trace: Trace) -> set[Size]:
    found = set()
    for row in trace.rows:
        kinds = trace.book.kinds(row.axes)
        if row.text.startswith(("V", "v")) and kinds.count("features") == 1:
            found.add(trace.sizes(row.axes)[kinds.index("features")])
    return found


def _recognised(base: Size, raw: Size, weights: Weights, trace: Trace) -> tuple[str | None, str]:
    """Return which other width is under the root. A smaller width may belong to one head, so it is not reported."""
    width = raw.put_in(trace.known)
    under = weights.scales[0].node
    symbol = key_of(under.inner.text) if isinstance(under, Root) and isinstance(under.inner, Name) else None
    if width.number and base.number and width.number % base.number == 0:
        return None, ""
    if base in model_widths(trace):
        return "sqrt_dmodel", "the width of the model, not of the keys"
    heads = next((trace.known[word] for word in ("heads", "h", "H", "S") if word in trace.known), None)
    if (symbol and symbol in raw.symbols and symbol != raw.symbol) or (heads is not None and base == width * heads):
        return "sqrt_dmodel", "the width of all heads together"
    if base in value_widths(trace) and symbol in (None, "d_v"):
        return "dv_dk_mixed", "the width of the values, not of the keys"
    return None, ""


def _due(raw: Size, width: Size, trace: Trace) -> Node:
    """Return what belongs under the root: the width as given, or d_k."""
    if raw.symbols and len(raw.terms) == 1:
        return size_node(raw)
    if trace.known.get("d_k", width) == width:
        return Name("d_k")
    return size_node(width)
