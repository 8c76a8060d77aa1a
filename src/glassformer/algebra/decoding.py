"""One decoding step with a key/value cache: its cost, the bytes of the cache, and the longest context that fits into memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, get_args

from glassformer.algebra.cost import FUSED, CostRow, Operations, step_parts
from glassformer.algebra.memory import BYTES, Dtype
from glassformer.arguments import one_of, whole
from glassformer.errors import GlassformerError
from glassformer.program import Program, Step, build
from glassformer.program.operations import Mask
from glassformer.program.roles import Role
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec

CACHED: tuple[Role, ...] = ("key", "value")
MOST_CONTEXT = 10**8  # tokens; a cache that grows with each of them fits no memory


@dataclass(frozen=True)
class CacheRow:
    """The cached keys and values of one kind of attention: `attention`, or `cross` over an encoder's output."""

    name: str
    numbers: int

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "numbers": self.numbers}


@dataclass(frozen=True, repr=False)
class Decoding(Operations):
    """FLOPs of the step that computes the last token of a text, and bytes of weights and cache."""

    label: str
    program: Program
    dtype: Dtype
    rows: tuple[CostRow, ...]
    caches: tuple[CacheRow, ...]

    def __repr__(self) -> str:
        steps = f"{self.multiply_adds:,} multiply-adds a step"
        return f"<Decoding of {self.label}: {steps}, {self.cache:,} bytes of cache, {self.program.sizes}>"

    @property
    def cache(self) -> int:
        """Bytes of the cache: keys and values of all layers and positions."""
        return BYTES[self.dtype] * sum(row.numbers for row in self.caches)

    @cached_property
    def weights(self) -> int:
        """Bytes of the weights."""
        return BYTES[self.dtype] * sum(parameter.size for parameter in self.program.parameters)

    @property
    def convention(self) -> str:
        sizes = self.program.sizes
        return f"the step for the last of {sizes}, all earlier keys and values in a cache; 1 multiply-add = 2 FLOPs; {self.dtype}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "spec": self.program.spec.to_dict(),
            "label": self.label,
            **self.program.sizes.to_dict(),
            "pass": "decoding step",
            "convention": self.convention,
            "multiply_adds": self.multiply_adds,
            "matrix_flops": self.matrix_flops,
            "flops": self.flops,
            "parts": {name: row.to_dict() for name, row in self.parts.items()},
            "memory": {"weights": self.weights, "cache": self.cache, "total": self.weights + self.cache},
            "caches": [{**row.to_dict(), "bytes": BYTES[self.dtype] * row.numbers} for row in self.caches],
        }


def decoding(program: Program, *, dtype: Dtype = "float32", label: str = "spec") -> Decoding:
    """The cost of the last position of a forward pass, with the keys and values of the others cached.

    Every step of a forward pass works position by position, so a decoding step is the share of one position. A query is
    multiplied with the keys that its mask allows.
    """
    one_of("dtype", dtype, get_args(Dtype))
    if not isinstance(program.spec, DecoderSpec | Seq2SeqSpec):
        raise GlassformerError(f"{label} is an encoder: it predicts no next token, so it has no decoding step. Choose a decoder.")
    length = program.sizes.t if program.sizes.u is None else program.sizes.u
    seen = keys_seen(program)
    steps = [step for step in program.steps if _is_repeated(step)]
    rows = tuple([_row(step, length, seen) for step in steps])
    caches: dict[str, int] = {}
    for step in program.steps:
        if step.role in CACHED and step.block.kind in ("attention", "cross") and step.block.stack != "encoder":
            keys = step.output.axis("s").size
            held = seen.get(step.block.name, keys)
            caches[step.block.kind] = caches.get(step.block.kind, 0) + step.output.size // keys * held
    return Decoding(label, program, dtype, rows, tuple(CacheRow(name, size) for name, size in caches.items()))


def _is_repeated(step: Step) -> bool:
    """Whether a step runs for each token: the encoder, and the keys and values of cross-attention, are computed once."""
    by_query = any(axis.name in ("t", "u") for axis in step.output.axes)
    return step.block.stack != "encoder" and (step.block.kind != "cross" or by_query)


def keys_seen(program: Program) -> dict[str, int]:
    """For each attention with a mask: the number of keys that its last query attends to."""
    counted: dict[tuple[Mask, int, int], int] = {}
    seen: dict[str, int] = {}
    for step in program.steps:
        if isinstance(step.operation, Mask):
            t, s = (axis.size for axis in step.output.axes[-2:])
            key = (step.operation, t, s)
            if key not in counted:
                reach = s if step.operation.window is None else step.operation.window // 2 + 1
                counted[key] = min(s, reach)
            seen[step.block.name] = counted[key]
    return seen


def _row(step: Step, length: int, seen: dict[str, int]) -> CostRow:
    share = Fraction(1, length)
    if step.role in FUSED and step.block.name in seen:
        share *= Fraction(seen[step.block.name], max(axis.size for axis in _keys(step)))
    macs = step.operation.macs(step.inputs, step.output)
    other = step.operation.flops(step.inputs, step.output) - 2 * macs
    macs, other = int(macs * share), int(other * share)
    return CostRow(step.name, macs, 2 * macs + other, step_parts(step))


def _keys(step: Step) -> list[Any]:
    return [axis for tensor in (step.output, *step.inputs) for axis in tensor.axes if axis.name == "s"]


def longest_context(
    spec: EncoderSpec, limit: int, *, batch: int = 1, t: int | None = None, dtype: Dtype = "float32", label: str = "spec"
) -> int | None:
    """The largest number of tokens whose cache fits into `limit` bytes together with the weights; 0 if none fits.

    None: any number fits, since each layer stores no more than the tokens of its window. For an encoder-decoder these are
    tokens of the target, with a source of `t` tokens.
    """
    limit = whole("limit", limit)
    stack = spec.decoder if isinstance(spec, Seq2SeqSpec) else spec
    most = min(stack.longest or MOST_CONTEXT, MOST_CONTEXT)

    def needed(length: int) -> int:
        program = build(spec, batch=batch, t=t, u=length) if isinstance(spec, Seq2SeqSpec) else build(spec, batch=batch, t=length)
        found = decoding(program, dtype=dtype, label=label)
        return found.weights + found.cache

    found = _largest(lambda length: needed(length) <= limit, most)
    return None if found == MOST_CONTEXT else found


def _largest(fits: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` that fits, by bisection; 0 if none does."""
    if not fits(1):
        return 0
    low, high = 1, 2
    while high <= most and fits(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
