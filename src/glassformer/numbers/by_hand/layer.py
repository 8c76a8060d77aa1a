"""The rest of a layer: positions before the attention; residual sums, norms and the feed-forward block after it."""

from __future__ import annotations

from typing import Literal

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand.attention import attend, chosen_query, one_row
from glassformer.numbers.by_hand.builder import ProblemBuilder
from glassformer.numbers.by_hand.operations import Centre, Deviation, PositionTable, RowSoftmax, Sigmoid, Spread
from glassformer.numbers.by_hand.surd import Surd
from glassformer.program import Tensor
from glassformer.program.operations import Add, Mean, Multiply, Operation, Pointwise, Shift
from glassformer.spec import GATES

ADD, MULTIPLY, SHIFT = Add(), Multiply(), Shift()
ZERO = Surd.of(0)


def attention_problem(builder: ProblemBuilder) -> Tensor:
    """Attention with the surrounding parts that the problem defines, up to a whole encoder layer."""
    x = embedded(builder)
    place = builder.problem.option("norm", "none")
    residual = bool(builder.problem.option("residual"))
    feeds = builder.problem.has("W_1") or builder.problem.has("ffn.W_1")
    if place == "none" and not residual and not feeds:
        return attend(builder, x)
    if x is None:
        raise GlassformerError("a residual sum, a norm or a feed-forward block needs the vectors themselves: give X.")
    before = place == "pre"
    y = normalised(builder, x, "1") if before else x
    out = attend(builder, y, "attention")
    own = one_row(builder, x, chosen_query(builder)) or x
    out = summed(builder, "sum_1", own, out) if residual else out
    out = normalised(builder, out, "1") if place == "post" else out
    if not feeds:
        return out
    y = normalised(builder, out, "2") if before else out
    fed = fed_forward(builder, y, "ffn")
    out = summed(builder, "sum_2", out, fed) if residual else fed
    return normalised(builder, out, "2") if place == "post" else out


def embedded(builder: ProblemBuilder) -> Tensor | None:
    """X, looked up by token if tokens are named, with positions added if the problem says so."""
    problem = builder.problem
    if not problem.has("X"):
        return None
    adds = problem.has("P") or problem.option("positions") == "sinusoidal"
    looked_up(builder)
    x = builder.vectors("X", "embeddings" if adds else "x", "t", "d_model")
    if len(x.axes) == 2:
        builder.label(x.axes[0], problem.option("tokens"), "tokens")
    if not adds:
        return x
    if problem.has("P"):
        table = builder.vectors("P", "p", "t", "d_model")
        if table.shape != x.shape:
            raise GlassformerError(f"X + P does not fit: X is {builder.size(x)}, P is {builder.size(table)}.")
    else:
        base = float(problem.option("base", Surd.of(10000)))
        places = tuple(float(place) for place in range(x.axes[0].size))
        table = builder.step("pe", PositionTable(x.axes[-1].size, base, "interleaved", places))
    return builder.step("x", ADD, x, table)


def looked_up(builder: ProblemBuilder) -> None:
    """A table by token and a sentence of those tokens, in which a token may come twice: the rows of the sentence."""
    entry, tokens = builder.problem.entries["X"], builder.problem.option("tokens")
    if entry.labels is None or tokens is None or entry.labels == tokens:
        return
    missing = next((token for token in tokens if token not in entry.labels), None)
    if missing is not None:
        raise GlassformerError(f"the token '{missing}' has no vector: X has {', '.join(entry.labels[:8])}.")
    rows = entry.at([entry.labels.index(token) for token in tokens])._replace(labels=tokens)
    builder.problem = builder.problem.replace(entries={**builder.problem.entries, "X": rows})


def summed(builder: ProblemBuilder, name: str, x: Tensor, y: Tensor) -> Tensor:
    """x + y, which must have the same size."""
    if x.shape != y.shape:
        raise GlassformerError(
            f"the residual sum {x.name} + {y.name} does not fit: {builder.size(x)} and {builder.size(y)}. "
            "A W_O that maps back to the width of X would make it fit."
        )
    if x.axes[-1].name != y.axes[-1].name:
        y = y.seen(**{y.axes[-1].name: x.axes[-1].name})
    return builder.step(name, ADD, x, y)


def normalised(builder: ProblemBuilder, x: Tensor, number: str = "") -> Tensor:
    """The steps of LayerNorm or RMSNorm. With a `number` it is a norm of a layer, `norm_1`; without, the whole problem."""
    problem = builder.problem
    tail = f"_{number}" if number else ""
    final = f"norm{tail}" if number else "output"
    features = x.axes[-1]
    eps = float(problem.option("eps", ZERO))
    place: Literal["inside", "outside"] = problem.option("eps_place", "inside")
    rms = problem.kind == "rms_norm" or problem.option("norm_kind") == "rms"
    if rms:
        mean: tuple[Tensor, ...] = ()
        variance = builder.step(f"mean_square{tail}", Spread(features.name), x)
        spread = builder.step(f"rms{tail}", Deviation(eps, place), variance)
    else:
        less = 1 if problem.option("variance", "biased") == "unbiased" else 0
        if features.size <= less:
            raise GlassformerError("the unbiased variance of one number does not exist: n − 1 is 0.")
        mean = (builder.step(f"mean{tail}", Mean(features.name), x),)
        variance = builder.step(f"variance{tail}", Spread(features.name, less), x, *mean, role="variance")
        spread = builder.step(f"std{tail}", Deviation(eps, place), variance, role="deviation")
    keys = {name: _norm_key(builder, name, number) for name in ("gamma", "beta")}
    name = f"normalised{tail}" if any(keys.values()) else final
    result = builder.step(name, Centre(), x, *mean, spread)
    builder.alias(f"normalised{tail}", result)
    if keys["gamma"]:
        gamma = builder.feature(keys["gamma"], features, f"gamma{tail}", "norm")
        beta = (builder.feature(keys["beta"], features, f"beta{tail}", "norm", "beta"),) if keys["beta"] else ()
        result = builder.step(final, SHIFT, result, gamma, *beta)
    elif keys["beta"]:
        result = builder.step(final, ADD, result, builder.feature(keys["beta"], features, f"beta{tail}", "norm", "beta"))
    return result


def _norm_key(builder: ProblemBuilder, name: str, number: str) -> str:
    """Return the key of gamma or beta of a norm: `norm_1.gamma`, `gamma_1`, `norm.gamma`, or `gamma`."""
    spelled = (f"norm_{number}.{name}", f"{name}_{number}", f"norm.{name}", name) if number else (name, f"norm.{name}")
    return next((key for key in spelled if builder.problem.has(key)), "")


def fed_forward(builder: ProblemBuilder, x: Tensor, name: str) -> Tensor:
    """f(x W_1 + b_1) W_2 + b_2; gated: (f(x W_1 + b_1) ⊙ (x W_3 + b_3)) W_2 + b_2. Without W_2 it ends at the activation."""
    prefix = "ffn." if builder.problem.has("ffn.W_1") else ""
    activation = builder.problem.option("activation", "relu")
    if not builder.problem.has(f"{prefix}W_1"):
        raise GlassformerError("the feed-forward block is f(x W_1 + b_1) W_2 + b_2: W_1 is missing.")
    ends = not builder.problem.has(f"{prefix}W_2")
    gated = builder.problem.has(f"{prefix}W_3")
    if activation in GATES and not gated:
        raise GlassformerError(f"activation = {activation} multiplies two projections: W_3 is missing.")
    hidden = builder.project(x, f"{prefix}W_1", "hidden", "d_ff", bias=f"{prefix}b_1")
    operation = pointwise(GATES.get(activation, activation))
    last = name if ends and not gated else "active"
    active = builder.step(last, operation, hidden) if operation else hidden
    builder.alias("active", active)
    if gated:
        gate = builder.project(x, f"{prefix}W_3", "gate", "d_ff", bias=f"{prefix}b_3")
        if gate.axes[-1].size != active.axes[-1].size:
            raise GlassformerError(
                f"the gate does not fit: x W_1 gives {active.axes[-1].size} numbers, x W_3 {gate.axes[-1].size}."
            )
        active = builder.step(name if ends else "gated", MULTIPLY, active, gate)
    if ends:
        builder.notes.append("No W_2 is given: the solution ends after the activation.")
        return active
    return builder.project(active, f"{prefix}W_2", name, "d_model", bias=f"{prefix}b_2")


def pointwise(activation: str, over: str = "d_ff") -> Operation | None:
    """The operation of an activation; None for none. A softmax goes along the features."""
    if activation in GATES:
        raise GlassformerError(f"activation = {activation} multiplies two projections: it belongs to a feed-forward block.")
    own: dict[str, Operation | None] = {"none": None, "sigmoid": Sigmoid(), "softmax": RowSoftmax(over)}
    return own[activation] if activation in own else Pointwise(activation)
