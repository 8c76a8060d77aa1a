"""What a forward or training pass costs: multiply-adds, FLOPs and bytes, read off the steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

from glassformer.algebra.memory import Dtype, Kernel, Memory, Optimizer, asked_steps, memory
from glassformer.algebra.result import Result
from glassformer.program import Program, Step, build
from glassformer.program.operations import Mask
from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.arguments import one_of, require, whole, yes_no

Pass = Literal["forward", "training"]

# The backward pass of a matrix product is two products of the same size, one for each input's gradient;
# everything else is taken to cost as much backward as forward.
BACKWARD_PRODUCTS = 2
BACKWARD_OTHER = 1
BY_DISTANCE = ("content_to_buckets", "content_to_position", "buckets_to_content", "position_to_content")  # terms of scores
FUSED = ("scores", "biased", "masked", "weights", "mix")  # the steps of an attention that a fused kernel does in one


@dataclass(frozen=True)
class CostRow:
    """One step's cost in one pass."""

    name: str
    multiply_adds: int  # in matrix products
    flops: int  # all operations, a multiply-add counted as two

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "multiply_adds": self.multiply_adds, "flops": self.flops}


@dataclass(frozen=True, repr=False)
class Cost(Result):
    """FLOPs and bytes of one pass over one batch, with the assumptions."""

    label: str
    program: Program
    which: Pass
    kernel: Kernel
    memory: Memory
    rows: tuple[CostRow, ...]

    def __repr__(self) -> str:
        sizes = self.program.sizes
        return f"<Cost of {self.label}: {self.multiply_adds:,} multiply-adds, {self.which}, batch={sizes.batch} t={sizes.t}>"

    @cached_property
    def multiply_adds(self) -> int:
        """Multiply-adds in matrix products."""
        return sum(row.multiply_adds for row in self.rows)

    @cached_property
    def flops(self) -> int:
        """All operations."""
        return sum(row.flops for row in self.rows)

    @property
    def matrix_flops(self) -> int:
        """Matrix products alone, a multiply-add counted as two."""
        return 2 * self.multiply_adds

    @cached_property
    def parts(self) -> dict[str, CostRow]:
        """Cost by part; layers together, and inside them attention, scores and feed-forward."""
        totals: dict[str, list[int]] = {}
        for row in self.rows:
            for part in parts_of(row.name, block=self.program.spec.block):
                entry = totals.setdefault(part, [0, 0])
                entry[0] += row.multiply_adds
                entry[1] += row.flops
        return {part: CostRow(part, *entry) for part, entry in totals.items()}

    @property
    def convention(self) -> str:
        passes = (
            "forward pass" if self.which == "forward" else "training step (forward, and a backward of twice the matrix products)"
        )
        kernel = {
            "materialised": "every score computed and kept in memory",
            "fused": "a fused attention kernel: scores are not kept in memory, masked pairs are not computed",
            "compiled": "compiled layers with fused attention: neither scores nor activations of feed-forward blocks are kept",
        }[self.kernel]
        if self.which == "training" and self.program.spec.relative:
            kernel += {
                "materialised": "",
                "fused": "; but those with a learned bias are written out, as on a CPU (on a GPU less is kept)",
                "compiled": ", but the learned bias by distance is",
            }[self.kernel]
        return f"one {passes} over batch={self.program.sizes.batch} t={self.program.sizes.t}; 1 multiply-add = 2 FLOPs; {kernel}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "spec": self.program.spec.to_dict(),
            "label": self.label,
            "batch": self.program.sizes.batch,
            "t": self.program.sizes.t,
            "pass": self.which,
            "kernel": self.kernel,
            "convention": self.convention,
            "total": self.multiply_adds,
            "unit": "multiply-adds in matrix products",
            "multiply_adds": self.multiply_adds,
            "matrix_flops": self.matrix_flops,
            "flops": self.flops,
            "left_out": ["softmax, norms, activations, biases, sums and look-ups: they are in flops, not in total"],
            "parts": {name: row.to_dict() for name, row in self.parts.items()},
            "memory": self.memory.to_dict(),
            "rows": [row.to_dict() for row in self.rows],
        }


def cost(
    program: Program,
    *,
    which: Pass = "forward",
    kernel: Kernel = "materialised",
    dtype: Dtype = "float32",
    optimizer: Optimizer = "adamw",
    asked: Fraction = Fraction(1),
    label: str = "spec",
) -> Cost:
    """What one pass of the program costs; `asked` is the share of the positions at which a masked-token head predicts."""
    _check_choices(kernel, dtype, optimizer)
    shares = _visible_shares(program) if kernel != "materialised" else {}
    if asked != 1:
        shares |= dict.fromkeys(asked_steps(program, kernel), asked)
    rows = tuple([_row(step, which, shares.get(step.name, Fraction(1))) for step in program.steps])
    needed = memory(program, training=which == "training", kernel=kernel, dtype=dtype, optimizer=optimizer, asked=asked)
    return Cost(label, program, which, kernel, needed, rows)


def _check_choices(kernel: Kernel, dtype: Dtype, optimizer: Optimizer) -> None:
    for name, value, known in (("kernel", kernel, Kernel), ("dtype", dtype, Dtype), ("optimizer", optimizer, Optimizer)):
        one_of(name, value, get_args(known))


def largest_batch(
    spec: EncoderSpec, limit: int, *, t: int | None, training: bool, kernel: Kernel, dtype: Dtype, optimizer: Optimizer
) -> int:
    """The largest batch whose bytes stay within `limit`; 0 where not even one input fits."""
    require(EncoderSpec, spec, "the batch of which encoder? A spec is wanted, as gf.spec('bert-base') makes it")
    limit, training = whole("limit", limit), yes_no("training", training)
    _check_choices(kernel, dtype, optimizer)

    def fits(batch: int) -> bool:
        program = build(spec, batch=batch, t=t)
        return memory(program, training=training, kernel=kernel, dtype=dtype, optimizer=optimizer).total <= limit

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
    """`24GB` (10^9 bytes each) or `24GiB` (2^30)."""
    word = text.strip().lower() if isinstance(text, str) else ""
    number = word.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = word[len(number) :].strip() or "b"
    try:
        amount = Fraction(number) if len(number) <= 30 and "e" not in number and "/" not in number else None
    except ValueError:
        amount = None
    if amount is None or amount <= 0 or unit not in UNITS:
        raise GlassformerError(f"'{shown(text)}' is no amount of memory: write 24GB (10^9 bytes each) or 24GiB (2^30).")
    return int(amount * UNITS[unit])


def _row(step: Step, which: Pass, share: Fraction) -> CostRow:
    macs = step.operation.macs(step.inputs, step.output)
    other = step.operation.flops(step.inputs, step.output) - 2 * macs
    if share != 1:
        macs, other = int(macs * share), int(other * share)
    if which == "training":
        macs, other = macs * (1 + BACKWARD_PRODUCTS), other * (1 + BACKWARD_OTHER)
    return CostRow(step.name, macs, 2 * macs + other)


def _visible_shares(program: Program) -> dict[str, Fraction]:
    """For each step between scores and mix: which share of the (query, key) pairs a kernel that skips masked ones computes."""
    shares: dict[str, Fraction] = {}
    counted: dict[tuple[Mask, int, int], Fraction] = {}
    for step in program.steps:
        if not isinstance(step.operation, Mask):
            continue
        t, s = (axis.size for axis in step.output.axes[-2:])
        key = (step.operation, t, s)
        if key not in counted:
            counted[key] = Fraction(step.operation.pairs(t, s), t * s)
        scope = step.name.rpartition(".")[0]
        shares |= {f"{scope}.{name}": counted[key] for name in FUSED}
    return shares


def parts_of(name: str, *, block: str = "layer") -> Iterable[str]:
    """The rows of `Cost.parts` in which a step is counted, the widest first; a bare sub-layer ends with its output projection."""
    words = name.split(".")
    if block == "attention" and words[0] == "layers" and words[-1] == "out":
        return ("layers", "layers: attention", "layers: attention: projections")
    if words[0] != "layers":
        return ("embeddings" if name == "x" else words[0],)
    if len(words) > 3 and words[2] == "attention":
        core = words[3] in (*FUSED, *BY_DISTANCE)
        return ("layers", "layers: attention", "layers: attention: scores and mix" if core else "layers: attention: projections")
    return ("layers", "layers: feed-forward" if "ffn" in words else "layers: norms and sums")
