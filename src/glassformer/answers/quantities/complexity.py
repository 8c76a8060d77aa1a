"""Complexity classes derived from the program: how cost or memory grows with the length n and the width d."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from glassformer.answers.quantities.answer import Found, Line, Other, found, mistaken
from glassformer.answers.quantities.classes import Growth, monomial
from glassformer.answers.quantities.context import Context
from glassformer.answers.quantities.operations import products, steps_of
from glassformer.answers.quantities.registry import means
from glassformer.errors import GlassformerError
from glassformer.expressions.tree import Name, Quantity
from glassformer.program import Axis, Step
from glassformer.program.axes import HEADS

LENGTHS = ("t", "s", "patch")
WIDTHS = ("d_model", "d_ff", "d_head", "d_pooled", "d_k", "d_v")  # `head` times d_k or d_v is the width of all heads
CONSTANT = ("batch", *HEADS)
SEEN = "keys within the window"
LETTERS = {SEEN: "w", "vocab": "V", "class": "C", "segment": "", "pixel": "p"}
KEPT = ("attention", "core", "scores", "ffn")  # whose memory is worked out
EXAMPLE = "complexity(attention), complexity(flops(ffn)) or complexity(attention, of=memory)"


@means("complexity", "the complexity class of a part's cost, or of its memory (of=memory): n length, d width, w window, V vocab",
       "complexity(core)", ("of", "layer"))  # fmt: skip
def complexity(context: Context) -> Found:
    """Return the class of the matrix products in one layer, or of the stored numbers."""
    context = _unwrapped(context)
    if context.spec.global_every is not None or not context.spec.layers:
        raise GlassformerError(f"{context.text}: defined only for encoders that have layers, all of the same kind.")
    return _memory(context) if context.word("of", "time", ("time", "memory")) == "memory" else _time(context)


def _unwrapped(context: Context) -> Context:
    """`complexity(flops(attention))` is the same as `complexity(attention)`."""
    match context.quantity.arguments:
        case (Quantity("flops" | "macs", arguments),):
            inner = arguments or (Name("layers"),)
        case (Name("flops" | "macs"),) | ():
            inner = (Name("layers"),)
        case arguments if all(isinstance(argument, Name) for argument in arguments):
            return context
        case _:
            raise GlassformerError(f"{context.text}: write {EXAMPLE}; growth(EXPR, t) works for any expression.")
    return Context(Quantity("complexity", inner, context.quantity.options), context.request, context.options)


def _time(context: Context) -> Found:
    steps = [step for step in steps_of(context) if step.block.layer == 0 or step.block.part != "layers"]
    window = context.spec.window
    value = growth_of(steps, lambda step: _axes_of_product(step, window))
    lines = [Line(step.name, " · ".join(axis.name for axis in _axes_of_product(step, window)), "", products(step))
             for step in steps if products(step)]  # fmt: skip
    said = f"matrix products of {', '.join(context.names)}, one layer, d for every width"
    said += f", only pairs within the window w={window}" if window is not None else ""
    others = list(_as_others_write(value))
    if context.names == ("core",):
        whole = Context(Quantity("complexity", (Name("attention"),)), context.request, context.options)
        wider = growth_of(steps_of(whole), lambda step: _axes_of_product(step, window))
        others.insert(0, Other("with the projections", wider))
    return found(value, "", said, lines, others, lambda: _lost(value))


def _memory(context: Context) -> Found:
    target = context.one_name("complexity(attention, of=memory)")
    if target != "layers" and target not in KEPT:
        raise GlassformerError(f"{context.text}: memory is available for {', '.join(KEPT)} and layers.")
    first = [step for step in context.program.steps if step.block.layer == 0]
    attends = target in ("attention", "core", "scores")
    steps = [step for step in first if (step.role == "weights" if attends else target in ("layers", step.block.kind))]
    value = growth_of(steps, lambda step: step.output.axes)
    lines = [Line(step.name, " · ".join(axis.name for axis in step.output.axes), "", step.output.size) for step in steps]
    others = list(_as_others_write(value))
    if target in ("attention", "core"):
        wide = growth_of((step for step in first if step.block.kind == "attention"), lambda step: step.output.axes)
        others.insert(0, Other("all intermediate results of the attention", wide))
    what = "the attention weights" if attends else f"all intermediate results of {target}"
    return found(value, "", f"{what}, one layer, heads as a constant, d for every width", lines, others, lambda: _lost(value))


def growth_of(steps: Iterable[Step], axes_of: Callable[[Step], Iterable[Axis]]) -> Growth:
    """Return the class of a sum over steps; each term is the product of the step's axes."""
    return Growth.of(monomial(_letters(axes_of(step))) for step in steps)


def _axes_of_product(step: Step, window: int | None) -> list[Axis]:
    if not products(step):
        return []
    axes = {axis.name: axis for tensor in (step.output, *step.inputs) for axis in tensor.axes}
    if window is not None and {"t", "s"} <= set(axes):
        axes["s"] = Axis(SEEN, axes["s"].size)
    return list(axes.values())


def _letters(axes: Iterable[Axis]) -> Iterator[tuple[str, int]]:
    for axis in axes:
        if axis.name in LENGTHS:
            yield "n", 1
        elif axis.name in WIDTHS:
            yield "d", 1
        elif axis.name not in CONSTANT:
            yield LETTERS.get(axis.name, axis.name), 1


def _as_others_write(value: Growth) -> Iterator[Other]:
    """Yield the class in the length alone, and for long inputs."""
    yield Other("the width taken as a constant", value.without("d"))
    if value.without("w") != value:
        yield Other("the window taken as a constant", value.without("w"))
        yield Other("window and width taken as constants", value.without("w", "d"))
    if len(value.terms) > 1:
        yield Other("for lengths far above the width", value.leading("n"))


def _lost(value: Growth) -> Iterator[Other]:
    """Yield the class without the square of the length."""
    if any(dict(term).get("n", 0) > 1 for term in value.terms):
        for said in (value.capped("n", 1), value.capped("n", 1).without("d")):
            yield mistaken("linear_instead_of_quadratic", "the length not squared", said)
        if len(value.terms) > 1:
            for said in (value.leading("d"), value.leading("d").without("d")):
                yield mistaken("no_quadratic_term", "only projections and feed-forward", said)
