"""The algebra commands in Python: presets, count, bridge, shapes, cost, notation, and the shapes of a formula."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from glassformer import algebra
from glassformer.algebra import Bridge, Cost, Count, Decoding, Notation, Shapes
from glassformer.algebra.memory import Dtype, Optimizer
from glassformer.arguments import as_list, in_order, is_number, is_whole, one_of, text, yes_no
from glassformer.configs.presets import decoder_names, preset_doc, preset_names, seq2seq_names
from glassformer.configs.reading import What, request
from glassformer.errors import GlassformerError, shown
from glassformer.program import Program
from glassformer.program import build as build_program
from glassformer.program.formatter import Convention, LatexFormatter, TextFormatter
from glassformer.program.kept import Kernel, MemoryModel
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec, defaults, field_docs, field_rules

if TYPE_CHECKING:
    from glassformer.algebra.formulas import FormulaShapes

Parts: TypeAlias = str | Iterable[str] | None
LARGEST_SIZE = 10**30  # of an axis in a formula


def presets(*, decoders: bool = False) -> dict[str, str]:
    """Return the presets and their one-line descriptions: encoders, or decoders and encoder-decoders."""
    names = (*decoder_names(), *seq2seq_names()) if yes_no("decoders", decoders) else preset_names()
    return {name: preset_doc(name) for name in names}


def fields(*, decoders: bool = False) -> list[dict[str, Any]]:
    """Return the fields of a spec (or those that only decoders have): name, description, choices and default of each."""
    kinds: tuple[Any, ...] = (DecoderSpec, Seq2SeqSpec) if yes_no("decoders", decoders) else (EncoderSpec,)
    return [
        {"field": name, "doc": doc, "choices": list(rule.choices), "default": defaults(kind)[name]}
        for kind in kinds
        for (name, doc), rule in zip(field_docs(kind).items(), field_rules(kind).values(), strict=True)
        if rule.kind != "record" and not (decoders and name in defaults())
    ]


def build(what: What, *, as_class: str | None = None, padded: bool = False, **fields: Any) -> Program:
    """Return the program of an encoder, its list of steps: `gf.build("bert-base", t=16)`."""
    requested = request(what, as_class=as_class, decoders=True, **fields)
    return build_program(requested.spec, batch=requested.batch, t=requested.t, u=requested.u, padded=yes_no("padded", padded))


def count(what: What, *, without: Parts = None, only: Parts = None, as_class: str | None = None, **fields: Any) -> Count:
    """Count the parameters, line by line: `gf.count("bert-base", layers=8, without="biases,norms")`."""
    requested = request(what, as_class=as_class, decoders=True, **fields)
    return algebra.count(requested.spec, without=without, only=only, label=requested.label)


def bridge(left: What | Count, right: What | Count) -> Bridge:
    """Explain the difference of two counts, line by line: `gf.bridge("bert-base", gf.count("bert-base", head="pretrain"))`."""
    return algebra.bridge(*[end if isinstance(end, Count) else count(end) for end in (left, right)])


def shapes(
    what: What, *, convention: Convention = "rows", head: int | None = None, as_class: str | None = None, **fields: Any
) -> Shapes:
    """Return the shape of every tensor: `gf.shapes("bert-base", t=5)["layers.0.attention.q"].shape`."""
    requested = request(what, as_class=as_class, decoders=True, **fields)
    program = build_program(requested.spec, batch=requested.batch, t=requested.t, u=requested.u)
    return algebra.shapes(program, convention=convention, head=head, label=requested.label)


def cost(
    what: What,
    *,
    train: bool = False,
    kernel: Kernel = "materialised",
    checkpointing: bool = False,
    dtype: Dtype = "float32",
    optimizer: Optimizer = "adamw",
    masked: float = 1.0,
    as_class: str | None = None,
    **fields: Any,
) -> Cost:
    """Return the FLOPs and bytes of one pass: `gf.cost("bert-base", batch=8, t=512, train=True)`.

    `masked` is the share of positions at which a masked-token head predicts. `kernel="fused"` is our encoder: after the
    attention of the last layer, it computes those positions only. `kernel="compiled"` is our encoder with compiled or float8
    layers, which do not store the activations of the feed-forward blocks either. With `checkpointing`, a training step stores
    only the input of each layer and recomputes the rest in the backward pass.
    """
    requested = request(what, as_class=as_class, decoders=True, **fields)
    program = build_program(requested.spec, batch=requested.batch, t=requested.t, u=requested.u)
    which: Literal["training", "forward"] = "training" if yes_no("train", train) else "forward"
    if not (is_number(masked) and 0 <= masked <= 1):
        raise GlassformerError(f"masked={shown(masked)} is not allowed: masked is a share of the positions, from 0 to 1.")
    share = Fraction(float(masked)).limit_denominator(10**6)
    memory_model = _memory_model(kernel, checkpointing=checkpointing)
    return algebra.cost(
        program,
        which=which,
        memory_model=memory_model,
        dtype=dtype,
        optimizer=optimizer,
        predicted_share=share,
        label=requested.label,
    )


def largest_batch(
    what: What,
    memory: str | int,
    *,
    train: bool = False,
    kernel: Kernel = "materialised",
    checkpointing: bool = False,
    dtype: Dtype = "float32",
    optimizer: Optimizer = "adamw",
    as_class: str | None = None,
    **fields: Any,
) -> int:
    """Return the largest batch that fits into memory, or 0: `gf.largest_batch("bert-base", "24GB", t=512, train=True)`."""
    requested = request(what, as_class=as_class, decoders=True, **fields)
    limit = algebra.parse_bytes(memory) if isinstance(memory, str) else memory
    memory_model = _memory_model(kernel, checkpointing=checkpointing)
    return algebra.largest_batch(
        requested.spec, limit, t=requested.t, training=train, memory_model=memory_model, dtype=dtype, optimizer=optimizer
    )


def decoding(what: What, *, dtype: Dtype = "float32", as_class: str | None = None, **fields: Any) -> Decoding:
    """Return the cost of one decoding step and the bytes of its key/value cache: `gf.decoding("llama-3-8b", t=8192)`."""
    requested = request(what, as_class=as_class, decoders=True, **fields)
    program = build_program(requested.spec, batch=requested.batch, t=requested.t, u=requested.u)
    return algebra.decoding(program, dtype=dtype, label=requested.label)


def longest_context(
    what: What, memory: str | int, *, dtype: Dtype = "float32", as_class: str | None = None, **fields: Any
) -> int | None:
    """Return how many tokens fit into the cache in memory next to the weights: `gf.longest_context("llama-3-8b", "24GB")`.

    None: any number fits, since every layer has a window.
    """
    requested = request(what, as_class=as_class, decoders=True, **fields)
    limit = algebra.parse_bytes(memory) if isinstance(memory, str) else memory
    return algebra.longest_context(
        requested.spec, limit, batch=requested.batch, t=requested.t, dtype=dtype, label=requested.label
    )


def _memory_model(kernel: Kernel, *, checkpointing: bool) -> MemoryModel:
    """The memory model of a kernel; that of our encoder is defined in `model`, without importing torch."""
    from glassformer.model.kept import KERNELS

    one_of("kernel", kernel, KERNELS)
    return KERNELS[kernel].with_checkpoints() if yes_no("checkpointing", checkpointing) else KERNELS[kernel]


def notation(
    what: What, *, convention: Convention = "rows", latex: bool = False, as_class: str | None = None, **fields: Any
) -> Notation:
    """Return the forward pass as numbered equations: `gf.notation("bert-base", latex=True)`."""
    requested = request(what, as_class=as_class, decoders=True, **fields)
    program = build_program(requested.spec, batch=requested.batch, t=requested.t, u=requested.u)
    one_of("convention", convention, get_args(Convention))
    formatter = (LatexFormatter if yes_no("latex", latex) else TextFormatter)(convention)
    return algebra.notation(program, formatter, label=requested.label)


def check_formula(formula: str, shapes: Iterable[str] | Mapping[str, Any] = ()) -> FormulaShapes:
    """Check the shapes in a formula: `gf.check_formula("Q = W_Q X", {"X": (768, 6), "W_Q": "64x768"})`."""
    from glassformer.algebra import formulas

    text("formula", formula)
    if isinstance(shapes, Mapping):
        return formulas.check_formula(formula, {str(name): _sizes(name, value) for name, value in shapes.items()})
    words = [shapes] if isinstance(shapes, str) else as_list(shapes)
    if not all(isinstance(word, str) for word in words):
        raise GlassformerError(f"shapes={shown(shapes)} is not allowed: give {{'X': (768, 6)}} or strings such as 'X=768x6'.")
    return formulas.check_formula(formula, words)


def _sizes(name: Any, value: Any) -> str | int | tuple[str | int, ...]:
    """Return a shape as given: a string, one size, or a tuple of sizes."""
    ordered = in_order(value)
    sizes = list(value) if ordered else [value]
    if not sizes or not all(isinstance(size, str) or (is_whole(size) and abs(size) < LARGEST_SIZE) for size in sizes):
        raise GlassformerError(f"{shown(value)} is not a shape for {shown(name)}: write (768, 6), '768x6' or a single size.")
    plain = tuple([size if isinstance(size, str) else int(size) for size in sizes])
    return plain if ordered else plain[0]
