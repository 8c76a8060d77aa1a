"""FLOPs and multiply-adds of the model, a part, a layer, a head or a token; forward, backward or a training step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

from glassformer.algebra.cost import BACKWARD_OTHER, CostRow
from glassformer.algebra.decoding import decoding
from glassformer.algebra.gradients import BACKWARD_PRODUCTS
from glassformer.algebra.ledger import count
from glassformer.answers.quantities.answer import Found, Line, Other, found, mistaken, simple
from glassformer.answers.quantities.context import Context
from glassformer.answers.quantities.registry import means
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.program import Program, Step
from glassformer.program.operations import Mask
from glassformer.program.roles import BlockKind, Role

OPTIONS = ("layer", "head", "per", "pass", "count")
PASSES = ("forward", "backward", "training", "decode")
PRODUCTS_OR_ALL = ("products", "all")

Selector = Callable[[Step], bool]


def _role(*roles: Role) -> Selector:
    """Steps with one of these roles; a projection in groups has that of what it makes, and so has its matrix."""
    return lambda step: (step.inputs[1].role if step.role == "grouped projection" else step.role) in roles


def _inside(*kinds: BlockKind) -> Selector:
    return lambda step: any(block.kind in kinds for block in step.block.around)


def _in_layers(selects: Selector) -> Selector:
    return lambda step: step.block.part == "layers" and selects(step)


def _part(part: str) -> Selector:
    return lambda step: step.block.part == part


# Disentangled attention adds content-to-position and position-to-content products to the scores.
_SCORES = _role("scores", "local scores", "global scores", "content to buckets", "buckets to content")
_QKV = _role("query", "key", "value", "relative query", "relative key", "global query", "global key", "global value")
_MIX = _role("mix", "local mix", "global mix")


def core(step: Step) -> bool:
    """Return whether a step computes the scores or the weighted sum of the values."""
    return _SCORES(step) or _MIX(step)


# The steps that belong to each part.
PARTS: dict[str, Selector] = {
    "qkv": _in_layers(_QKV),
    "output": _in_layers(_role("attention output")),
    "projections": _in_layers(lambda step: _QKV(step) or step.role == "attention output"),
    "scores": _in_layers(_SCORES),
    "mix": _in_layers(_MIX),
    "core": _in_layers(core),
    "attention": _in_layers(_inside("attention", "cross")),
    "cross": _in_layers(_inside("cross")),
    "softmax": _in_layers(_role("weights")),
    "ffn": _in_layers(_inside("ffn")),
    "norms": _in_layers(_inside("norm")),
    "layers": _part("layers"),
    "embeddings": _part("embeddings"),
    "convolutions": _role("convolution"),
    "pooler": _part("pooler"),
    "head": _part("head"),
}
# Products that are often left out of a cost, each alone.
_LEFT_OUT: dict[str, Selector] = {
    "Q Kᵀ": _SCORES, "the weighted sum of the values": _MIX, "W_O": PARTS["output"],
    "W_Q, W_K and W_V": PARTS["qkv"], "one feed-forward matrix": lambda step: step.output.is_called("ffn.out"),
}  # fmt: skip
OF_ONE_HEAD = {"qkv", "scores", "mix", "core", "W_Q", "W_K", "W_V"}
SHARED_BY_GROUPS = {"qkv", "W_K", "W_V"}  # with grouped queries


@means("flops", "FLOPs of matrix products, a multiply-add counted as two; count=all adds softmax, norms, biases …",
       "flops(attention, layer=0, t=512)", OPTIONS)  # fmt: skip
def flops(context: Context) -> Found:
    return _operations(context, 2)


@means("macs", "multiply-adds of matrix products", "macs(ffn, layer=0, t=128)", OPTIONS)
def macs(context: Context) -> Found:
    if context.word("count", "products", PRODUCTS_OR_ALL) == "all":
        raise GlassformerError(f"{context.text}: multiply-adds are counted for matrix products only; use flops for count=all.")
    return _operations(context, 1)


def _operations(context: Context, factor: int) -> Found:
    steps = steps_of(context)
    per, scope = _share(context)
    which = context.word("pass", "forward", PASSES)
    every = context.word("count", "products", PRODUCTS_OR_ALL) == "all"
    macs, beside = _costs_of_a_step(context) if which == "decode" else (products, _beside_products)

    def cost(chosen: Iterable[Step]) -> int:
        return sum(factor * _passes(which, BACKWARD_PRODUCTS) * macs(step) for step in chosen) // per

    def rest(chosen: Iterable[Step]) -> int:
        return sum(_passes(which, BACKWARD_OTHER) * beside(step) for step in chosen) // per

    value = cost(steps) + (rest(steps) if every else 0)
    counted = [step for step in steps if macs(step) or (every and beside(step))]
    plain = per == 1 and which == "forward" and not every
    lines = [_line(step, cost([step]) + (rest([step]) if every else 0), factor, plain=plain)
             for step in counted]  # fmt: skip
    what = "all operations" if every else "matrix products"
    names = {"training": "training step", "decode": "decoding step, with earlier keys and values in a cache"}
    sizes = context.program.sizes
    convention = f"{what} of one {names.get(which, f'{which} pass')}, {sizes}{scope}"
    convention += ", a multiply-add counted as two" if factor == 2 else ""
    others = [] if every else list(_others(context, factor, value, steps, rest))
    if per > 1 and context.head is None and (once := _once_for_a_text(context)):
        named = ", ".join(dict.fromkeys(step.block.part for step in once))
        convention += f"; {named} left out, computed once for a text and not for each token"
        more = Fraction(factor * _passes(which, BACKWARD_PRODUCTS) * sum(map(products, once)), per)
        others.append(Other(f"with {named}, divided by the tokens", simple(value + more)))
    unit = "multiply-adds" if factor == 1 else "FLOPs"

    def mistakes() -> Iterator[Other]:
        yield from _mistakes(context, cost, steps, value)
        if not every:
            yield from _mistaken_decoding(context, factor, cost, steps)

    return found(value, unit, convention, lines, others, mistakes)


def _costs_of_a_step(context: Context) -> tuple[Callable[[Step], int], Callable[[Step], int]]:
    """Return the costs of the step that computes the last token: multiply-adds and FLOPs."""
    if "per" in context.options:
        raise GlassformerError(f"{context.text}: a decoding step computes one token; leave per out.")
    rows = {row.name: row for row in decoding(context.program, label=context.request.label).rows}
    none = CostRow("", 0, 0, ())
    return (
        lambda step: rows.get(step.name, none).multiply_adds,
        lambda step: (row := rows.get(step.name, none)).flops - 2 * row.multiply_adds,
    )


def products(step: Step) -> int:
    """Return the multiply-adds of a step's matrix products."""
    return step.operation.macs(step.inputs, step.output)


def _beside_products(step: Step) -> int:
    return step.operation.flops(step.inputs, step.output) - 2 * products(step)


def _passes(which: str, backward: int) -> int:
    return {"forward": 1, "backward": backward, "training": 1 + backward, "decode": 1}[which]


def _line(step: Step, value: int, factor: int, *, plain: bool) -> Line:
    """Return a step's line; a matrix product takes one multiply-add per combination of indices of all its axes."""
    axes = {axis.name: axis.size for tensor in (step.output, *step.inputs) for axis in tensor.axes}
    if not plain or math.prod(axes.values()) != products(step):
        return Line(step.name, "", "", value)
    doubled = [str(factor)] if factor > 1 else []
    return Line(step.name, " · ".join([*doubled, *axes]), " · ".join([*doubled, *map(str, axes.values())]), value)


def steps_of(context: Context) -> list[Step]:
    """Return the requested steps, of all layers or of one."""
    steps = list(context.program.steps)
    if context.names:
        symbols = {parameter.tensor.symbol for parameter in context.program.parameters}
        steps = [step for step in steps if any(_selector(context, name, symbols)(step) for name in context.names)]
    if context.word("per", "", ("token",)) == "token":
        steps = [step for step in steps if any(axis.name in ("t", "s") for axis in step.output.axes)]
    layer = 0 if context.head is not None and context.layer is None and "layer" not in context.options else context.layer
    if layer is not None:
        steps = [step for step in steps if step.block.layer == layer]
    if not steps:
        raise GlassformerError(f"{context.text}: this model has no such step. 'glassformer cost' lists them.")
    return steps


def _selector(context: Context, name: str, symbols: set[str]) -> Selector:
    if name in PARTS:
        return PARTS[name]
    if name in symbols:
        return _in_layers(lambda step: any(tensor.symbol == name for tensor in step.inputs))
    if any(step.output.is_at(name) for step in context.program.steps):
        return lambda step: step.output.is_at(name)
    if name in ("q", "k", "v"):
        return _in_layers(_role({"q": "query", "k": "key", "v": "value"}[name]))  # type: ignore[arg-type]
    near = nearest(name, [*PARTS, *symbols])
    raise GlassformerError(f"{context.text}: '{shown(name)}' is not a part with a cost.{near} Parts: {', '.join(PARTS)}.")


def _once_for_a_text(context: Context) -> list[Step]:
    """Return the steps with a cost that `per=token` leaves out, as the pooler."""
    if context.word("per", "", ("token",)) != "token" or context.names:
        return []
    whole = Context(context.quantity, context.request, {key: value for key, value in context.options.items() if key != "per"})
    kept = steps_of(context)
    return [step for step in steps_of(whole) if step not in kept and products(step)]


def _share(context: Context) -> tuple[int, str]:
    """Return the divisor of a cost (for one head or one token), and its description."""
    per, scope = 1, ", one layer" if context.layer is not None else ""
    if context.head is not None:
        if not context.names or not set(context.names) <= OF_ONE_HEAD:
            raise GlassformerError(f"{context.text}: the cost of one head is defined only for {', '.join(sorted(OF_ONE_HEAD))}.")
        if context.spec.group > 1 and set(context.names) & SHARED_BY_GROUPS:
            raise GlassformerError(f"{context.text}: heads in a group share keys and values here. Ask for W_Q, scores or mix.")
        per, scope = context.spec.heads, f"{scope}, one head"
    if context.word("per", "", ("token",)) == "token":
        per, scope = per * context.program.sizes.batch * context.program.sizes.t, f"{scope}, per token"
    return per, scope


def _others(
    context: Context, factor: int, value: int, steps: list[Step], rest: Callable[[Iterable[Step]], int]
) -> Iterator[Other]:
    said = "multiply-adds" if factor == 2 else "FLOPs, a multiply-add counted as two"
    yield Other(said, value // 2 if factor == 2 else 2 * value, code="macs_vs_flops")
    whole = not context.names and context.layer is None
    per, which = _share(context)[0], context.word("pass", "forward", PASSES)
    if whole:
        layered = sum(products(step) for step in steps if step.block.part == "layers")
        yield Other("only the layers", factor * _passes(which, BACKWARD_PRODUCTS) * layered // per)
    if factor == 2:
        yield Other("all operations, not only matrix products", value + rest(steps))
    if which == "forward" and (masked := sum(_masked_products(context, step) for step in steps)):
        yield Other("only the pairs of scores that the causal mask leaves", value - factor * masked // per)
        halved = sum(products(step) for step in steps if _masked_products(context, step))
        yield Other("half of the scores of causal attention", value - factor * halved // 2 // per)
    if which == "forward":
        yield Other("a training step (three times the forward products)", (1 + BACKWARD_PRODUCTS) * value, excuses=False)
    if whole and factor == 2 and which in ("forward", "training"):
        yield from _by_parameters(context, 6 if which == "training" else 2)


def _masked_products(context: Context, step: Step) -> int:
    """Return the multiply-adds of a step for pairs of a query and a later key, which the causal mask hides."""
    mask = causal_masks(context.program).get(step.block.name) if core(step) else None
    if mask is None:
        return 0
    queries, keys = (axis.size for axis in mask.output.axes[-2:])
    assert isinstance(mask.operation, Mask)
    return products(step) * (queries * keys - mask.operation.pairs(queries, keys)) // (queries * keys)


def causal_masks(program: Program) -> dict[str, Step]:
    """Return the causal mask of each attention that has one, by the name of its block."""
    return {step.block.name: step for step in program.steps if isinstance(step.operation, Mask) and step.operation.causal}


def _by_parameters(context: Context, rule: int) -> Iterator[Other]:
    """Yield the usual estimates: 2 FLOPs per parameter and token, 6 in training."""
    sizes = context.program.sizes
    tokens = 1 if context.word("per", "") == "token" else sizes.batch * sizes.t
    for said, left_out in (
        (" outside the embeddings", ("embeddings",)),
        (" of the layers", ("embeddings", "pooler", "head")),
        ("", ()),
    ):
        parameters = sum(row.count for row in count(context.spec).rows if row.part not in left_out)
        yield Other(f"estimated as {rule} FLOPs per parameter{said} and token", rule * parameters * tokens)


def _mistakes(context: Context, cost: Callable[[Iterable[Step]], int], steps: list[Step], value: int) -> Iterator[Other]:
    spec, sizes, one_head = context.spec, context.program.sizes, context.head is not None
    layered = [step for step in steps if step.block.part == "layers"]
    yield from _mistaken_products(context, cost, steps, value)
    if sizes.batch > 1:
        yield mistaken("batch_forgotten", "one input of the batch", value // sizes.batch)
    if spec.heads > 1 and (one_head or (context.names and set(context.names) <= OF_ONE_HEAD)):
        said, wrong = ("all heads together", value * spec.heads) if one_head else ("one head", value // spec.heads)
        yield mistaken("one_head_vs_all_heads", said, wrong)
        if not one_head and not any(map(core, steps)):
            yield mistaken("heads_times_full_width", "the full width for each head", value * spec.heads)
    if spec.layers > 1 and context.layer is not None:
        yield mistaken("stack_for_one_layer", "all layers together", value * spec.layers)
    elif spec.layers > 1 and layered:
        yield mistaken("one_layer_only", "only one layer", cost(layered) // spec.layers)
    yield from _mistaken_passes(context.word("pass", "forward", PASSES), value)
    if context.word("per", "") == "token":
        yield mistaken("sequence_length_in_parameters", "all tokens together", value * sizes.batch * sizes.t)


def _mistaken_products(context: Context, cost: Callable[[Iterable[Step]], int], steps: list[Step], value: int) -> Iterator[Other]:
    """Yield the costs with scores or other products miscounted."""
    spec, sizes, one_head = context.spec, context.program.sizes, context.head is not None
    layered = [step for step in steps if step.block.part == "layers"]
    scores = cost(step for step in steps if core(step))
    for base, what in {cost(layered): ", only the layers", value: ""}.items():
        if scores and spec.heads > 1 and not one_head:
            said = f"the scores multiplied by the number of heads{what}"
            yield mistaken("score_cost_times_heads", said, base + (spec.heads - 1) * scores)
        if scores and scores != base:
            yield mistaken("no_quadratic_term", f"only projections and feed-forward{what}", base - scores)
        yield from _without_a_product(base, {words: cost(filter(selects, layered)) for words, selects in _LEFT_OUT.items()}, what)
        if context.quantity.name == "flops":
            yield mistaken("macs_vs_flops", f"multiply-adds given as FLOPs{what}", base // 2)
            yield mistaken("macs_vs_flops", f"multiplied by two twice{what}", 2 * base)
    if scores and not causal_masks(context.program) and sizes.u is None:
        halved = scores * (sizes.t + 1) // (2 * sizes.t)
        yield mistaken("causal_half_ignored", "half of the scores left out, as by a causal mask", value - scores + halved)
    if scores:
        what = "d_model in place of one of the two lengths of the scores"
        yield mistaken("linear_instead_of_quadratic", what, value - scores + scores // sizes.t * spec.d_model)
    if scores and scores == value:
        yield mistaken("linear_instead_of_quadratic", "t · d_model instead of t² · d_model", value // sizes.t)


def _without_a_product(base: int, costs: Mapping[str, int], what: str) -> Iterator[Other]:
    for cost in dict.fromkeys(costs.values()):
        if 0 < cost < base:
            words = " or ".join(one for one, its in costs.items() if its == cost)
            yield mistaken("product_left_out", f"{words} left out{what}", base - cost)


def _mistaken_decoding(
    context: Context, factor: int, cost: Callable[[Iterable[Step]], int], steps: list[Step]
) -> Iterator[Other]:
    """Yield the costs without cross-attention, and of keys and values for every head; of a step, those of a whole pass."""
    sizes, value = context.program.sizes, cost(steps)
    cross = cost(step for step in steps if step.block.reads_source)
    if 0 < cross < value:
        yield mistaken("cross_attention_missing", "cross-attention left out", value - cross)
    if context.spec.group > 1:
        shared = cost(step for step in steps if step.role in ("key", "value"))
        yield mistaken("grouped_queries_ignored", "keys and values of all query heads", value + (context.spec.group - 1) * shared)
    if context.word("pass", "forward", PASSES) == "decode":
        whole = factor * sum(products(step) for step in steps)
        yield mistaken("whole_pass_for_a_step", "the whole text computed again, without a cache", whole)
        yield mistaken("whole_pass_for_a_step", "a whole pass divided by its tokens", whole // (sizes.u or sizes.t))


def _mistaken_passes(which: str, value: int) -> Iterator[Other]:
    alike = "the backward pass assumed to cost as much as the forward pass"
    if which == "training":
        yield mistaken("backward_forgotten", "only the forward pass", value // 3)
        yield mistaken("backward_forgotten", alike, 2 * value // 3)
    elif which == "backward":
        yield mistaken("backward_forgotten", alike, value // 2)
