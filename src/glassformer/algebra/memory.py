"""Bytes: weights, gradients, optimizer state, and the activations that are alive or saved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from glassformer.program import Program, Step, Tensor
from glassformer.program.operations import PatchBias, PickByDistance, RelativeBias

Dtype = Literal["float64", "float32", "bfloat16", "float16"]
Optimizer = Literal["adamw", "sgd", "none"]
Kernel = Literal["materialised", "fused", "compiled"]

BYTES: dict[str, int] = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
INDEX_BYTES = 8  # token ids, and the rows that distances choose, are 64-bit integers
STATISTIC_BYTES = 4  # kernels keep a norm's mean and variance, and a softmax's log-sum, in float32
MASK_BYTES = 1  # a dropout mask is a byte an element
SCORE_BYTES = 4  # attention that PyTorch writes out is in float32 at least
LOSS_BYTES = 12  # for each logit: its log-probability, and the gradients of that and of itself, in float32
BY_DISTANCE = (PatchBias, PickByDistance, RelativeBias)  # operations that choose rows of a relative table


@dataclass(frozen=True)
class Memory:
    """Bytes by use, and what was assumed."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    assumptions: str
    peak: int  # the most at one moment: in training activations go while gradients come, so less than all of them together

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.activations

    def to_dict(self) -> dict[str, Any]:
        return {
            "weights": self.weights,
            "gradients": self.gradients,
            "optimizer": self.optimizer,
            "activations": self.activations,
            "total": self.total,
            "peak": self.peak,
            "assumptions": self.assumptions,
        }


def memory(
    program: Program,
    *,
    training: bool,
    kernel: Kernel,
    dtype: Dtype = "float32",
    optimizer: Optimizer = "adamw",
    asked: Fraction = Fraction(1),
) -> Memory:
    """The bytes that one pass needs: saved activations in training, the most that is alive at once otherwise.

    `asked` is the share of the positions at which a masked-token head predicts.
    """
    shares = dict.fromkeys(asked_steps(program, kernel), asked)
    width = BYTES[dtype]
    parameters = sum(parameter.size for parameter in program.parameters)
    trained = sum(parameter.size for parameter in program.parameters if not parameter.frozen)
    if not training:
        held = "; what enters a layer is held until its end, by the loop that calls it" if kernel != "materialised" else ""
        text = f"{dtype} weights; activations: the most alive at once, each freed after its last use{held}"
        alive = _alive(program, width, fused=kernel != "materialised")
        return Memory(parameters * width, 0, 0, alive, text, parameters * width + alive)
    # 16-bit training keeps the weights in float32, as it does their gradients, and copies them for the products.
    master = trained * 4 if width == 2 and optimizer != "none" else 0
    states = {"adamw": 2, "sgd": 0, "none": 0}[optimizer] * trained * max(width, 4)
    formats = f"{dtype} copies of float32 weights, float32 gradients" if master else f"{dtype} weights and gradients"
    text = f"{formats}; {optimizer}: {_optimizer_text(optimizer, master)}; activations: what the backward pass needs again"
    if _written_out(program, kernel):
        text += ", attention with its learned bias written out in float32 at least, as on a CPU"
    saved = _saved(program, width, kernel, shares)
    kept = (parameters * width, states + master)
    gradient = max(width, 4) if master else width
    peak = sum(kept) + _backward_peak(program, saved, (width, gradient), shares, kernel)
    return Memory(kept[0], trained * gradient, kept[1], sum(size for size, _ in saved.values()), text, peak)


def _optimizer_text(optimizer: Optimizer, master: int) -> str:
    states = {"adamw": "two float32 moments", "sgd": "no state", "none": "no state"}[optimizer]
    return f"{states} beside the float32 weights" if master else states


def _saved(program: Program, width: int, kernel: Kernel, shares: dict[str, Fraction]) -> dict[str, tuple[int, int]]:
    """What backward needs, each tensor counted once: its bytes, and the first step that needs it, which frees it in the end."""
    fused, written = kernel != "materialised", _written_out(program, kernel)
    inputs = {tensor.name for tensor in program.inputs}
    inside = _inside(program, kernel)
    if kernel == "compiled":  # what feed-forward blocks bend is bent again on the way back
        inside |= {step.name for step in program.steps if step.name.endswith((".ffn.active", ".ffn.gated"))}
    held = inside | {parameter.name for parameter in program.parameters}
    saved: dict[str, tuple[int, int]] = {}
    for number, step in enumerate(program.steps):
        for tensor in () if step.name in written else step.operation.saves(step.inputs, step.output):
            if tensor.name in held or tensor.name in saved:
                continue
            size = _bytes(tensor, width, index=tensor.name in inputs and len(tensor.axes) == 2)
            saved[tensor.name] = (int(size * shares.get(tensor.name, 1)), number)
        if step.core and step.name in inside and step.name.endswith(".weights"):
            # The fused kernel recomputes scores from q and k, and keeps one log-sum for each row of them,
            # and the result of the mix, to which the backward pass compares.
            saved[step.name] = (STATISTIC_BYTES * (step.output.size // step.output.axes[-1].size), number)
        if program.spec.dropout and step.name not in inside | written and _dropped(step):
            saved[f"{step.name}: dropout mask"] = (int(MASK_BYTES * step.output.size * shares.get(step.name, 1)), number)
    return saved | _kept_beside(program, saved, width) | _kept_by_distance(program, width, kernel) if fused else saved


def _inside(program: Program, kernel: Kernel) -> set[str]:
    """The steps of attention whose results never reach memory."""
    if kernel == "materialised":
        return set()
    return {step.name for step in program.steps if step.core} - _written_out(program, kernel)


def _written_out(program: Program, kernel: Kernel) -> set[str]:
    """The steps of attention with a learned bias, in our encoder where nothing is compiled.

    No kernel of PyTorch's for a CPU gives such a bias its gradient, so scores and weights are written out. A GPU has such a
    kernel: layers that are compiled, which is for GPUs, are taken to use it.
    """
    if kernel != "fused":
        return set()
    names = [step.name for step in program.steps]
    scopes = tuple(name.removesuffix("biased") for name in names if name.endswith(".biased"))
    return {step.name for step in program.steps if step.name.startswith(scopes) and (step.core or step.name.endswith(".mix"))}


def _rows_by_distance(program: Program) -> int:
    """The bytes that say which row of a relative table belongs to each (query, key) pair: once for all layers."""
    squares = [step.output.axes[-2:] for step in program.steps if isinstance(step.operation, BY_DISTANCE)]
    return INDEX_BYTES * squares[0][0].size * squares[0][1].size if squares else 0


def _kept_by_distance(program: Program, width: int, kernel: Kernel) -> dict[str, tuple[int, int]]:
    """What a learned bias by distance adds: the row of each (query, key) pair, and what its attention keeps.

    Written out that is the weights, and queries, keys and values as the products read them, copied; in a kernel the bias.
    Dropout keeps what it multiplies the weights by, and what that gives.
    """
    kept: dict[str, tuple[int, int]] = {}
    written, precise = _written_out(program, kernel), max(width, SCORE_BYTES)
    for number, step in enumerate(program.steps):
        if isinstance(step.operation, BY_DISTANCE):
            kept.setdefault("rows by distance", (_rows_by_distance(program), number))
        elif step.name in written:
            for tensor in step.operation.saves(step.inputs, step.output):
                copies = 3 if program.spec.dropout and tensor.name.endswith(".weights") else 1
                kept.setdefault(f"{tensor.name}: written out", (copies * precise * tensor.size, number))
        elif step.name.endswith(".biased"):
            bias = step.output if program.spec.disentangled else step.inputs[1]  # the latter may serve all layers
            kept.setdefault(f"{bias.name}: handed over", (width * bias.size, number))
    return kept


def _kept_beside(program: Program, saved: dict[str, tuple[int, int]], width: int) -> dict[str, tuple[int, int]]:
    """Our encoder makes queries, keys and values in one product: where one of them is kept, so are the others.

    Even those that are read only after a rotation.
    """
    made = {step.name: step.output for step in program.steps}
    beside: dict[str, tuple[int, int]] = {}
    for trio in _trios(program):
        freed = [saved[one][1] for one in trio if one in saved]
        if freed:
            beside |= {one: (_bytes(made[one], width, index=False), min(freed)) for one in trio if one not in saved}
    return beside


def _trios(program: Program) -> list[list[str]]:
    """The names of each layer's queries, keys and values."""
    names = [step.name for step in program.steps if step.name.startswith("layers.") and step.name.endswith(".attention.q")]
    return [[name[:-1] + which for which in "qkv"] for name in names]


def asked_steps(program: Program, kernel: Kernel) -> list[str]:
    """What is computed only where a masked-token head is asked to predict: the head, and, in our own encoder, all that follows
    the last layer's attention."""
    if program.spec.head != "mlm":
        return []
    names = [step.name for step in program.steps]
    if kernel == "materialised" or not program.spec.layers:
        return [name for name in names if name.startswith("head.")]
    return names[max(number for number, name in enumerate(names) if name.endswith(".attention.mix")) + 1 :]


def _dropped(step: Step) -> bool:
    return step.name.endswith((".attention.out", ".ffn.out", ".attention.weights")) or step.name == "x"


def _backward_peak(
    program: Program, saved: dict[str, tuple[int, int]], widths: tuple[int, int], shares: dict[str, Fraction], kernel: Kernel
) -> int:
    """The most bytes at one moment of the backward pass: going back, saved tensors are freed, and gradients of weights come.

    `widths` are the bytes of an activation and of a weight's gradient.
    """
    inside, written = _inside(program, kernel), _written_out(program, kernel)
    trained = {parameter.name: parameter.size for parameter in program.parameters if not parameter.frozen}
    freed: dict[int, int] = {}
    for size, number in saved.values():
        freed[number] = freed.get(number, 0) + size
    alive = sum(freed.values())
    most = alive
    if program.spec.head != "none":
        last = program.steps[-1]
        most += int(LOSS_BYTES * last.output.size * shares.get(last.name, 1))
    for number in range(len(program.steps) - 1, -1, -1):
        step = program.steps[number]
        alive += widths[1] * sum(trained.pop(tensor.name, 0) for tensor in step.inputs)
        passing = [tensor for tensor in (step.output, *step.inputs[:1]) if tensor.name not in inside]
        width = max(widths[0], SCORE_BYTES) if step.name in written else widths[0]
        flowing = sum(int(width * tensor.size * shares.get(step.name, 1)) for tensor in passing)
        most = max(most, alive + flowing)
        alive -= freed.get(number, 0)
    return most


def _alive(program: Program, width: int, *, fused: bool) -> int:
    """The most bytes of results alive at once, each from the step that makes it to the last step that reads it."""
    inside = {step.name for step in program.steps if step.core} if fused else set()
    replacing = _replacing(program) if fused else set()
    last_use = {tensor.name: number for number, step in enumerate(program.steps) for tensor in step.inputs}
    parameters = {parameter.name for parameter in program.parameters}
    if fused:
        last_use |= _held(program, parameters) | _held_beside(program, last_use)
    sizes = {tensor.name: _bytes(tensor, width, index=len(tensor.axes) == 2) for tensor in program.inputs}
    alive = sum(sizes.values()) + (_rows_by_distance(program) if fused else 0)
    most = alive
    ends: dict[int, list[str]] = {}
    for name, number in last_use.items():
        if name not in parameters:
            ends.setdefault(number, []).append(name)
    for number, step in enumerate(program.steps):
        if step.name in replacing:
            sizes[step.name] = sizes.pop(step.inputs[0].name)
        elif step.name not in inside:
            sizes[step.name] = _bytes(step.output, width, index=False)
            alive += sizes[step.name]
            most = max(most, alive)
        alive -= sum(sizes.pop(name, 0) for name in ends.get(number, ()))
    return most


def _replacing(program: Program) -> set[str]:
    """What feed-forward blocks bend in its place: all but gated ones, which read the other half, too, and QuickGELU's sigmoid."""
    if program.spec.gated or program.spec.activation == "quick_gelu":
        return set()
    return {step.name for step in program.steps if step.name.endswith(".ffn.active")}


def _held_beside(program: Program, last_use: dict[str, int]) -> dict[str, int]:
    """Queries, keys and values are one tensor: all are alive while one of them is read."""
    return {name: max(last_use[one] for one in trio) for trio in _trios(program) for name in trio}


def _held(program: Program, parameters: set[str]) -> dict[str, int]:
    """What enters each layer, and the last step of that layer."""
    layers: dict[str, list[int]] = {}
    for number, step in enumerate(program.steps):
        if step.name.startswith("layers."):
            layers.setdefault(step.name.split(".")[1], []).append(number)
    entering = {numbers[0]: numbers[-1] for numbers in layers.values()}
    return {
        tensor.name: last
        for first, last in entering.items()
        for tensor in program.steps[first].inputs
        if tensor.name not in parameters
    }


def _bytes(tensor: Tensor, width: int, *, index: bool) -> int:
    if index:
        return tensor.size * INDEX_BYTES
    statistic = tensor.symbol in ("mean", "variance", "mean_square")
    return tensor.size * (max(STATISTIC_BYTES, width) if statistic else width)
