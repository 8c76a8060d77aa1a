"""Attention by hand: from vectors to queries, keys and values, scores, weights and the output."""

from __future__ import annotations

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.numbers.by_hand.alignment import aligned_scores, scaled
from glassformer.numbers.by_hand.builder import ProblemBuilder
from glassformer.numbers.by_hand.entries import Entry, size_text
from glassformer.numbers.by_hand.masks import masked
from glassformer.numbers.by_hand.operations import Concat, Hardmax, Row, RowSoftmax, Sigmoid, Sparsemax, Split
from glassformer.program import Axis, Tensor
from glassformer.program.operations import Add, Operation

ADD = Add()
DISTRIBUTIONS: dict[str, Operation] = {
    "softmax": RowSoftmax("s"),
    "sparsemax": Sparsemax("s"),
    "sigmoid": Sigmoid(),
    "hardmax": Hardmax("s"),
}


def attend(builder: ProblemBuilder, x: Tensor | None, name: str = "output") -> Tensor:
    """All steps of the attention; its result is called `name`. `x`: the vectors of the queries' tokens, all of them."""
    problem = builder.problem
    head = _head(builder)
    memory = _memory(builder, x)
    query = chosen_query(builder)
    scores = _given_scores(builder, head)
    if scores is None:
        q = _vectors(builder, "Q", one_row(builder, x, query), head, "t")
        k = _vectors(builder, "K", memory, head, "s")
        if q is None or k is None:
            raise GlassformerError(_missing("Q" if q is None else "K", builder))
        s = k.axis("s")
        v = _vectors(builder, "V", memory, head, "s", keys=s.size)
        scores = scaled(builder, aligned_scores(builder, q, k))
    else:
        s = scores.axis("s")
        v = _vectors(builder, "V", memory, head, "s", keys=s.size)
        scores = scaled(builder, scores) if problem.has("dot") else scores
    weights = _weights(builder, scores, query)
    if v is None:
        builder.missing = dict.fromkeys((name, "output", "mix", "attention"), "the values: V, or X with W_V")
        builder.notes.append("No values are given (V, or X with W_V): the solution ends at the weights.")
        return weights
    if v.axis("s").size != s.size:
        raise _unequal(builder, v, s.size)
    return _mixed(builder, weights, v, head, name)


def _unequal(builder: ProblemBuilder, v: Tensor, keys: int) -> GlassformerError:
    """weights v where the number of values is not the number of keys."""
    product = "weights v" if builder.problem.convention == "rows" else "v weights"
    turned = " v transposed would fit." if v.axes[-1].size == keys else ""
    return GlassformerError(
        f"{product} does not fit: the weights are for {keys} keys, v is {builder.size(v)}, for {v.axis('s').size}. "
        f"Every key has one value.{turned}"
    )


def chosen_query(builder: ProblemBuilder) -> int | None:
    """The position, counted from 0, of the single query of the problem."""
    requested = builder.problem.option("query")
    if requested is None:
        return None
    key = "Q" if builder.problem.has("Q") else "X"
    entry = builder.upright(key) if builder.problem.has(key) else None
    labels = builder.labels.get("t") or (entry.labels if entry else None) or ()
    if isinstance(requested, str):
        if requested not in labels:
            known = f" The tokens are {', '.join(labels[:8])}.{nearest(requested, labels)}" if labels else " No tokens are named."
            raise GlassformerError(f"query '{shown(requested)}' is not one of the tokens.{known}")
        return labels.index(requested)
    count = entry.shape[-2] if entry is not None and entry.ndim > 1 else 1
    if not 1 <= requested <= count:
        raise GlassformerError(f"query = {requested}: there are {count} queries, counted from 1.")
    return requested - 1


def one_row(builder: ProblemBuilder, x: Tensor | None, query: int | None) -> Tensor | None:
    """The vector of the one query, or all of them."""
    if x is None or query is None or builder.problem.has("Q") or len(x.axes) == 1:
        return x
    written = next((step.output for step in builder.program.steps if step.name == "x_q"), None)
    if written is not None:
        return written
    label = builder.labels["t"][query] if "t" in builder.labels else str(query + 1)
    return builder.step("x_q", Row("t", query, label), x)


def _head(builder: ProblemBuilder) -> Axis | None:
    """Return the number of heads, from `heads` and from the entries that are given per head."""
    said = builder.problem.option("heads")
    counts = {"heads": said} if said is not None else {}
    for key in ("W_Q", "W_K", "W_V", "Q", "K", "V", "dot", "scores", "masked", "weights"):
        entry = builder.problem.entries.get(key)
        if entry is not None and (entry.ndim == 3 or (entry.described == "pick" and entry.ndim == 2)):
            counts[key] = entry.shape[0]
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{key} says {count}" for key, count in counts.items())
        raise GlassformerError(f"how many heads are there? {listed}.")
    count = next(iter(counts.values()), 1)
    return Axis("head", count) if count > 1 else None


def _memory(builder: ProblemBuilder, x: Tensor | None) -> Tensor | None:
    """Return the source of keys and values: another sequence, or that of the queries."""
    if not builder.problem.has("memory"):
        if x is None:
            return None
        if len(x.axes) == 1:
            raise GlassformerError("X is one vector: self-attention needs the vectors of all tokens, or memory to attend to.")
        builder.label(x.axis("t").renamed("s"), builder.labels.get("t"), "tokens")
        return x.seen(t="s")
    entry = builder.upright("memory")
    if entry.ndim == 1:
        entry = entry.shaped((1, entry.shape[0]))
    if entry.ndim != 2 or entry.described:
        raise GlassformerError(f"memory is {size_text(entry.shape)}: expected rows of vectors, one for each key.")
    s, width = Axis("s", entry.shape[0]), Axis("d_memory", entry.shape[1])
    builder.label(s, entry.labels or builder.problem.option("memory_tokens"), "memory")
    return builder.put("memory", entry, s, width)


def _vectors(
    builder: ProblemBuilder, key: str, source: Tensor | None, head: Axis | None, along: str, *, keys: int | None = None
) -> Tensor | None:
    """Queries, keys or values: given directly, projected from their source, or the source itself."""
    name = key.lower()
    width = "d_v" if key == "V" else "d_k"
    weight = f"W_{key}"
    if builder.problem.has(key):
        return _given(builder, key, head, along, width, keys)
    if source is None:
        return None
    if builder.problem.has(weight):
        return builder.project(source, weight, name, width, bias=f"b_{key}", head=head)
    others = [other for other in ("W_Q", "W_K") if builder.problem.has(other)]
    if others and key != "V":
        raise GlassformerError(_missing(key, builder))
    if others:
        builder.notes.append("No W_V is given: the values are the vectors themselves.")
    if head is not None:
        each = Axis(width, _share(name, source.axes[-1].size, head))
        return builder.step(name, Split(head, each), source)
    builder.alias(name, source)
    return source.seen(**{source.axes[-1].name: width})


def _given(builder: ProblemBuilder, key: str, head: Axis | None, along: str, width: str, keys: int | None) -> Tensor:
    """Q, K or V as given in the problem: one vector, rows, or rows for each head."""
    entry = builder.upright(key)
    query = chosen_query(builder) if key == "Q" else None
    if entry.described or entry.ndim == 0:
        raise GlassformerError(f"{key} must be written out: expected vectors, one for each token.")
    if query is not None and entry.ndim > 1:
        builder.label(Axis(along, entry.shape[-2]), entry.labels, key)
        builder.labels.pop(along, None)
        entry = entry.at(..., query, slice(None))
    elif entry.ndim == 1 and key == "V" and keys is not None and 1 < keys == entry.shape[0]:
        return builder.put("v", entry, Axis(along, keys))
    elif entry.ndim == 1 and key != "Q":
        entry = entry.shaped((1, entry.shape[0]))
    single = entry.ndim == 1 or (query is not None and entry.ndim == 2)
    lengths = () if single else (Axis(along, entry.shape[-2]),)
    for axis in lengths:
        builder.label(axis, entry.labels or _tokens(builder, axis), key)
    if head is not None and entry.ndim == len(lengths) + 1:
        each = _share(key, entry.shape[-1], head)
        entry = _cut(entry, head.size, each)
    sheets = (head,) if head is not None else ()
    if head is None and entry.ndim == len(lengths) + 2:
        entry = entry.at(0)
    return builder.put(key.lower(), entry._replace(labels=None), *sheets, *lengths, Axis(width, entry.shape[-1]))


def _tokens(builder: ProblemBuilder, axis: Axis) -> tuple[str, ...] | None:
    """The words that name the rows of Q, K or V; keys of another sequence have no names."""
    words: tuple[str, ...] | None = builder.problem.option("tokens")
    if axis.name == "t":
        return words
    words = builder.problem.option("memory_tokens") or words
    return words if words is not None and len(words) == axis.size else None


def _cut(entry: Entry, heads: int, width: int) -> Entry:
    """Wide vectors cut into heads, the heads first."""
    cut = entry.shaped((*entry.shape[:-1], heads, width))
    return cut.moved(1, 0, 2) if cut.ndim == 3 else cut


def _share(name: str, width: int, head: Axis) -> int:
    if width % head.size:
        raise GlassformerError(f"{name} has {width} features, which cannot be cut into {head.size} equal heads.")
    return width // head.size


def _given_scores(builder: ProblemBuilder, head: Axis | None) -> Tensor | None:
    """Weights, scores or dot products, if the problem starts with them."""
    key = next((name for name in ("weights", "masked", "scores", "dot") if builder.problem.has(name)), None)
    if key is None:
        return None
    entry = builder.upright(key)
    if entry.described or entry.ndim == 0:
        raise GlassformerError(f"{key} must be written out: one number for each key, in a row for each query.")
    s = Axis("s", entry.shape[-1])
    axes: tuple[Axis, ...] = (s,)
    if entry.ndim > 1:
        axes = (Axis("t", entry.shape[-2]), s)
        builder.label(axes[0], entry.labels or builder.problem.option("tokens"), key)
        builder.label(s, builder.problem.option("memory_tokens"), key)
    else:
        builder.label(s, entry.labels or builder.problem.option("tokens"), key)
    if head is not None and entry.ndim == 3:
        axes = (head, *axes)
    return builder.put(key, entry.at(0) if entry.ndim == 3 and head is None else entry, *axes)


def _weights(builder: ProblemBuilder, scores: Tensor, query: int | None) -> Tensor:
    if builder.problem.has("weights"):
        return scores
    if scores.name != "masked":
        builder.alias("scores", scores)
    if scores.name == "scores":
        builder.alias("scaled", scores)
    scores = masked(builder, _biased(builder, scores), query=query)
    return builder.step("weights", DISTRIBUTIONS[builder.problem.option("distribution", "softmax")], scores)


def _biased(builder: ProblemBuilder, scores: Tensor) -> Tensor:
    """Scores with a given bias added (relative positions, ALiBi)."""
    if not builder.problem.has("score_bias"):
        return scores
    entry = builder.upright("score_bias")
    axes = scores.axes if entry.ndim == len(scores.axes) else scores.axes[-entry.ndim :]
    if entry.shape != tuple(axis.size for axis in axes):
        raise GlassformerError(
            f"scores + score_bias does not fit: the scores are {builder.size(scores)}, score_bias is {size_text(entry.shape)}."
        )
    return builder.step("biased", ADD, scores, builder.put("score_bias", entry._replace(labels=None), *axes))


def _mixed(builder: ProblemBuilder, weights: Tensor, v: Tensor, head: Axis | None, name: str) -> Tensor:
    """Weights times values, the heads concatenated, and the output projection if there is one."""
    outer = tuple(axis for axis in weights.axes if axis.name not in ("s", "head"))
    features = tuple(axis for axis in v.axes if axis.name not in ("s", "head"))
    sheets = (head,) if head is not None else ()
    projects = builder.problem.has("W_O")
    own = name if head is None and not projects else "heads" if head is not None else "mix"
    mix = builder.contract(own, weights, v, *sheets, *outer, *features)
    builder.alias("mix", mix)
    if head is not None:
        wide = Axis("h_d_v", head.size * features[0].size)
        mix = builder.step("concat" if projects else name, Concat(wide), mix)
        builder.alias("concat", mix)
    if projects:
        mix = _projected(builder, mix, name)
    builder.alias("attention", mix)
    return mix


def _projected(builder: ProblemBuilder, mix: Tensor, name: str) -> Tensor:
    entry = builder.problem.entries["W_O"]
    if entry.ndim == 3 and not entry.described:  # one W_O for each head: stacked, they are the whole W_O
        upright = entry.turned() if builder.problem.left else entry
        stacked = upright.shaped((upright.shape[0] * upright.shape[1], upright.shape[2]))
        entries = {**builder.problem.entries, "W_O": stacked.turned() if builder.problem.left else stacked}
        builder.problem = builder.problem.replace(entries=entries)
    return builder.project(mix, "W_O", name, "d_model", bias="b_O")


def _missing(key: str, builder: ProblemBuilder) -> str:
    what = {"Q": "queries", "K": "keys"}[key]
    sources = {"Q": f"{key}, or X with W_{key}", "K": f"{key}, or X (or memory) with W_{key}"}[key]
    if builder.problem.has("X") or builder.problem.has("memory"):
        other = "W_K" if key == "Q" else "W_Q"
        if builder.problem.has(other):
            return f"W_{key} is missing: {other} is given, so the {what} need a matrix too (or give {key})."
    return f"the {what} are missing: give {sources}."
