"""What a forward or training pass costs: multiply-adds, FLOPs and bytes, computed from the steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

from glassformer.algebra.activations import IN_KERNEL, prediction_steps
from glassformer.algebra.gradients import Gradients
from glassformer.algebra.memory import Dtype, Memory, Optimizer, memory
from glassformer.algebra.result import Result
from glassformer.arguments import one_of, require, whole, yes_no
from glassformer.errors import GlassformerError, shown
from glassformer.program import Program, Step, build
from glassformer.program.kept import MATERIALISED, MemoryModel
from glassformer.program.operations import Mask
from glassformer.program.roles import Role
from glassformer.spec import EncoderSpec

Pass = Literal["forward", "training"]

BACKWARD_OTHER = 1  # everything but matrix products is assumed to cost the same in both directions
FUSED: tuple[Role, ...] = (*IN_KERNEL, "mix")  # the steps in one fused kernel
GLOBAL: tuple[Role, ...] = ("local scores", "global scores", "local mix", "global mix")
BY_DISTANCE: tuple[Role, ...] = ("content to buckets", "content to position", "buckets to content", "position to content")


@dataclass(frozen=True)
class CostRow:
    """The cost of one step in one pass."""

    name: str
    multiply_adds: int  # in matrix products
    flops: int  # all operations, a multiply-add counted as two
    parts: tuple[str, ...] = ()  # the rows of `Cost.parts` that include this step, the largest first

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "multiply_adds": self.multiply_adds, "flops": self.flops}


class Operations(Result):
    """Costs counted step by step: sums over the rows."""

    rows: tuple[CostRow, ...]

    @cached_property
    def multiply_adds(self) -> int:
        """Multiply-adds in matrix products."""
        return sum(row.multiply_adds for row in self.rows)

    @cached_property
    def flops(self) -> int:
        """FLOPs of all operations."""
        return sum(row.flops for row in self.rows)

    @property
    def matrix_flops(self) -> int:
        """FLOPs of matrix products only, a multiply-add counted as two."""
        return 2 * self.multiply_adds

    @cached_property
    def parts(self) -> dict[str, CostRow]:
        """Cost by part: all layers together, and within them attention, scores and feed-forward."""
        totals: dict[str, list[int]] = {}
        for row in self.rows:
            for part in row.parts:
                entry = totals.setdefault(part, [0, 0])
                entry[0] += row.multiply_adds
                entry[1] += row.flops
        return {part: CostRow(part, macs, flops) for part, (macs, flops) in totals.items()}


@dataclass(frozen=True, repr=False)
class Cost(Operations):
    """FLOPs and bytes of one pass over one batch, with the assumptions."""

    label: str
    program: Program
    which: Pass
    memory_model: MemoryModel
    memory: Memory
    rows: tuple[CostRow, ...]

    def __repr__(self) -> str:
        return f"<Cost of {self.label}: {self.multiply_adds:,} multiply-adds, {self.which}, {self.program.sizes}>"

    @property
    def convention(self) -> str:
        passes = (
            "forward pass" if self.which == "forward" else "training step (forward, and a backward of twice the matrix products)"
        )
        stacks = {step.block.stack: self.program.spec_of(step.block) for step in self.program.steps}
        relative = any(spec.relative for spec in stacks.values())
        learned = self.memory_model.text_by_distance if self.which == "training" and relative else ""
        return f"one {passes} over {self.program.sizes}; 1 multiply-add = 2 FLOPs; {self.memory_model.text}{learned}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "spec": self.program.spec.to_dict(),
            "label": self.label,
            **self.program.sizes.to_dict(),
            "pass": self.which,
            "kernel": self.memory_model.kernel,
            "convention": self.convention,
            "total": self.multiply_adds,
            "unit": "multiply-adds in matrix products",
            "multiply_adds": self.multiply_adds,
            "matrix_flops": self.matrix_flops,
            "flops": self.flops,
            "left_out": ["softmax, norms, activations, biases, sums and look-ups: included in flops, not in total"],
            "parts": {name: row.to_dict() for name, row in self.parts.items()},
            "memory": self.memory.to_dict(),
            "rows": [row.to_dict() for row in self.rows],
        }


def cost(
    program: Program,
    *,
    which: Pass = "forward",
    memory_model: MemoryModel = MATERIALISED,
    dtype: Dtype = "float32",
    optimizer: Optimizer = "adamw",
    predicted_share: Fraction = Fraction(1),
    label: str = "spec",
) -> Cost:
    """Return the cost of one pass of the program.

    `memory_model` describes what the implementation keeps in memory; `predicted_share` is the share of the positions at
    which a masked-token head predicts.
    """
    _check_choices(dtype, optimizer)
    shares = _visible_shares(program) if memory_model.fused_attention else {}
    if predicted_share != 1:
        shares |= dict.fromkeys(prediction_steps(program, memory_model), predicted_share)
    gradients = Gradients(program) if which == "training" else None
    again = gradients.recomputed() if gradients is not None and memory_model.recomputes_layers else set()
    rows = tuple([_row(step, gradients, shares.get(step.name, Fraction(1)), again=step.name in again) for step in program.steps])
    needed = memory(
        program,
        training=which == "training",
        memory_model=memory_model,
        dtype=dtype,
        optimizer=optimizer,
        predicted_share=predicted_share,
    )
    return Cost(label, program, which, memory_model, needed, rows)


def _check_choices(dtype: Dtype, optimizer: Optimizer) -> None:
    one_of("dtype", dtype, get_args(Dtype))
    one_of("optimizer", optimizer, get_args(Optimizer))


def largest_batch(
    spec: EncoderSpec, limit: int, *, t: int | None, training: bool, memory_model: MemoryModel, dtype: Dtype, optimizer: Optimizer
) -> int:
    """Return the largest batch that fits into `limit` bytes; 0 if not even one input does."""
    require(EncoderSpec, spec, "the first argument must be a spec, such as gf.spec('bert-base')")
    limit, training = whole("limit", limit), yes_no("training", training)
    _check_choices(dtype, optimizer)

    def fits(batch: int) -> bool:
        program = build(spec, batch=batch, t=t)
        return memory(program, training=training, memory_model=memory_model, dtype=dtype, optimizer=optimizer).total <= limit

    if not fits(1):
        return 0
    low, high = 1, 2
    while high < 10**9 and fits(high):
        low, high = high, min(2 * high, 10**9)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def parse_bytes(text: str) -> int:
    """Parse `24GB` (units of 10^9 bytes) or `24GiB` (2^30)."""
    word = text.strip().lower() if isinstance(text, str) else ""
    number = word.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = word[len(number) :].strip() or "b"
    try:
        amount = Fraction(number) if len(number) <= 30 and "e" not in number and "/" not in number else None
    except ValueError:
        amount = None
    if amount is None or amount <= 0 or unit not in UNITS:
        raise GlassformerError(f"'{shown(text)}' is not an amount of memory: write 24GB (10^9 bytes each) or 24GiB (2^30).")
    return int(amount * UNITS[unit])


def _row(step: Step, gradients: Gradients | None, share: Fraction, *, again: bool) -> CostRow:
    """The cost of a step: forward, backward if `gradients` reach it, and forward `again` if its layer is recomputed."""
    macs = step.operation.macs(step.inputs, step.output)
    other = step.operation.flops(step.inputs, step.output) - 2 * macs
    if share != 1:
        macs, other = int(macs * share), int(other * share)
    if gradients is not None and gradients.reach(step.output):
        macs, other = macs * (1 + again + gradients.products(step)), other * (1 + again + BACKWARD_OTHER)
    elif again:
        macs, other = 2 * macs, 2 * other
    return CostRow(step.name, macs, 2 * macs + other, step_parts(step))


def _visible_shares(program: Program) -> dict[str, Fraction]:
    """Return, for each step from scores to mix, the share of the pairs computed by a kernel that skips masked pairs."""
    shares: dict[str, Fraction] = {}  # by block
    counted: dict[tuple[Mask, int, int], Fraction] = {}
    for step in program.steps:
        if not isinstance(step.operation, Mask):
            continue
        t, s = (axis.size for axis in step.output.axes[-2:])
        key = (step.operation, t, s)
        if key not in counted:
            counted[key] = Fraction(step.operation.pairs(t, s), t * s)
        shares[step.block.name] = counted[key]
    fused = [step for step in program.steps if step.role in FUSED and step.block.name in shares]
    return {step.name: shares[step.block.name] for step in fused}


def step_parts(step: Step) -> tuple[str, ...]:
    """The rows of `Cost.parts` that count a step, the widest first; for an encoder-decoder, those of its stack."""
    stack = f"{step.block.stack}: " if step.block.stack else ""
    kinds = {block.kind for block in step.block.around}
    if "layers" not in kinds:
        return (f"{stack}{step.block.part}",)
    layers = f"{stack}layers"
    if kinds & {"attention", "cross"}:
        core = "scores and mix" if step.role in (*FUSED, *GLOBAL, *BY_DISTANCE) else "projections"
        kind = "cross-attention" if "cross" in kinds else "attention"
        return (layers, f"{layers}: {kind}", f"{layers}: {kind}: {core}")
    if "mixing" in kinds:
        return (layers, f"{layers}: mixing")
    return (layers, f"{layers}: {'feed-forward' if 'ffn' in kinds else 'norms and sums'}")
