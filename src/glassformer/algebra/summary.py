"""The figures of a model card and a comparison: parameters by part, cost at usual lengths, batches that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from glassformer.algebra.cost import cost
from glassformer.algebra.ledger import Count, count
from glassformer.algebra.memory import Dtype, memory
from glassformer.algebra.result import Result
from glassformer.program import Program, build
from glassformer.program.kept import MemoryModel
from glassformer.spec import EncoderSpec

LENGTHS = (128, 512, 2048, 8192)  # tokens of one input; lengths beyond the model's limit are skipped
USUAL = 512  # the length at which batches are compared
# Memory of common GPUs in bytes, as specified by their vendors.
GPUS = {
    "T4 (16 GB)": 16 * 10**9,
    "RTX 4090 (24 GB)": 24 * 10**9,
    "A100 (40 GB)": 40 * 10**9,
    "A100, H100 (80 GB)": 80 * 10**9,
    "H200 (141 GB)": 141 * 10**9,
}


class AtLength(NamedTuple):
    """A forward pass for one input of some length: FLOPs, and bytes in two number formats."""

    t: int
    flops: int
    multiply_adds: int
    float32: int
    bfloat16: int

    @property
    def flops_a_token(self) -> float:
        return self.flops / self.t


class Fits(NamedTuple):
    """The largest batches within the memory of a GPU: encoding in bfloat16, and a training step with AdamW in float32."""

    gpu: str
    memory: int
    encoding: int
    training: int


@dataclass(frozen=True, repr=False)
class Summary(Result):
    """One model in figures, all of them derived from its program."""

    label: str
    spec: EncoderSpec
    parameters: Count
    lengths: tuple[AtLength, ...]
    t: int  # the length for which batches are given
    fits: tuple[Fits, ...] = ()
    speed: float | None = None  # inputs per second, if measured

    @property
    def usual(self) -> AtLength:
        """The figures at the length used for comparisons."""
        return next(one for one in self.lengths if one.t == self.t)

    @property
    def attention(self) -> str:
        """Which keys a query may attend to, in words."""
        spec = self.spec
        if not spec.attends:
            return "none: a Fourier transform mixes all positions"
        if spec.landmarks is not None:
            return f"every token, through {spec.landmarks} means of queries and keys"
        if spec.funnel:
            return "every token, of a sequence that is pooled to half between blocks of layers"
        everything = "earlier tokens and itself" if spec.attend == "causal" else "every token"
        if spec.window is None:
            return everything
        near = f"tokens up to {spec.window // 2} away"
        wide = sum(spec.layer_window(number) is None for number in range(spec.layers))
        return f"{near}, all in {wide} of {spec.layers} layers" if wide else near

    def to_dict(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "spec": self.spec.to_dict(),
            "total": self.parameters.total,
            "trainable": self.parameters.trainable,
            "parts": self.parameters.parts,
            "context": self.spec.longest,
            "attention": self.attention,
            "t": self.t,
            "lengths": [{**one._asdict(), "flops_a_token": one.flops_a_token} for one in self.lengths],
            "fits": [one._asdict() for one in self.fits],
            **({} if self.speed is None else {"inputs_a_second": self.speed}),
        }


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Several models side by side."""

    models: tuple[Summary, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        models = [model.to_dict() for model in self.models]
        return {"total": len(self.models), "models": models, "notes": list(self.notes)}


@dataclass(frozen=True, repr=False)
class Card(Result):
    """A model card: the figures of a model, and facts from its folder as pairs of a name and a value."""

    title: str
    model: Summary
    facts: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"title": self.title, "facts": dict(self.facts), **self.model.to_dict()}


def summary(
    spec: EncoderSpec,
    *,
    label: str,
    memory_model: MemoryModel,
    t: int | None = None,
    batches: bool = False,
    all_lengths: bool = True,
) -> Summary:
    """The figures of a spec at usual lengths, or at length `t` only; `batches` adds the largest batches that fit GPUs."""
    lengths = _lengths(spec, t, all_lengths=all_lengths)
    at = tuple(_at(build(spec, t=None if spec.one_length else length), memory_model) for length in lengths)
    usual = max((one.t for one in at if one.t <= USUAL), default=at[0].t) if t is None else at[-1].t
    fits = tuple(_fits(spec, usual, memory_model)) if batches else ()
    return Summary(label, spec, count(spec, label=label), at, usual, fits)


def _lengths(spec: EncoderSpec, t: int | None, *, all_lengths: bool) -> Sequence[int | None]:
    """The lengths for which figures are given; images and sounds have one."""
    if spec.one_length or t is not None:
        return [t]
    longest = spec.longest or LENGTHS[-1]
    usual = sorted({length for length in LENGTHS if length <= longest} | {longest})
    return usual if all_lengths else [max((length for length in usual if length <= USUAL), default=longest)]


def _at(program: Program, memory_model: MemoryModel) -> AtLength:
    found = cost(program, memory_model=memory_model)
    formats: tuple[Dtype, Dtype] = ("float32", "bfloat16")
    needed = [memory(program, training=False, memory_model=memory_model, dtype=one).total for one in formats]
    return AtLength(program.sizes.t, found.flops, found.multiply_adds, needed[0], needed[1])


def _fits(spec: EncoderSpec, t: int, memory_model: MemoryModel) -> Iterator[Fits]:
    """The largest batches that fit. Bytes grow linearly with the batch, so two sizes give the bytes of one more input."""
    length = None if spec.one_length else t

    def bytes_of(batch: int, *, training: bool) -> int:
        program = build(spec, batch=batch, t=length)
        dtype: Dtype = "float32" if training else "bfloat16"
        return memory(program, training=training, memory_model=memory_model, dtype=dtype, optimizer="adamw").total

    def largest(limit: int, one: int, two: int) -> int:
        return 0 if one > limit else 1 + (limit - one) // max(two - one, 1)

    encoding = [bytes_of(batch, training=False) for batch in (1, 2)]
    training = [bytes_of(batch, training=True) for batch in (1, 2)]
    for gpu, limit in GPUS.items():
        yield Fits(gpu, limit, largest(limit, *encoding), largest(limit, *training))
