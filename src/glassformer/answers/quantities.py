"""Answering a question: the value, its convention, its derivation, and the values under the other usual conventions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from glassformer.algebra import Result, cost
from glassformer.algebra.ledger import count
from glassformer.algebra.parts import chooser, part_names
from glassformer.answers.conventions import left_out_ways
from glassformer.answers.mistakes.pieces import Pieces, Setting, pieces_of, total
from glassformer.answers.questions import Question, parse_question
from glassformer.program import Program, Tensor, build
from glassformer.program.matrices import as_matrix
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.reading import Request

Value: TypeAlias = int | tuple[int, ...]


@dataclass(frozen=True)
class Line:
    """One step of a derivation: symbols, numbers put in, result."""

    what: str
    symbols: str
    numbers: str
    value: Value

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "symbols": self.symbols, "numbers": self.numbers, "value": _plain(self.value)}


@dataclass(frozen=True)
class Other:
    """The value under another usual convention; `excuses`: a claim of this value is right, once the convention is said."""

    convention: str
    value: Value
    excuses: bool = True
    code: str = ""  # the mistake that it would be to give this value without saying so

    def to_dict(self) -> dict[str, Any]:
        return {"convention": self.convention, "value": _plain(self.value)}


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """The answer to a question about an encoder."""

    question: Question
    asked: Request
    value: Value
    unit: str
    convention: str
    lines: tuple[Line, ...]
    others: tuple[Other, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.question.text,
            "label": self.asked.label,
            "spec": self.asked.spec.to_dict(),
            "value": _plain(self.value),
            "total": _plain(self.value),
            "unit": self.unit,
            "convention": self.convention,
            "rows": [line.to_dict() for line in self.lines],
            "left_out": [],
            "others": [other.to_dict() for other in self.others],
        }


def ask(question: str | Question, asked: Request) -> Answer:
    """Answer a question about an encoder: `ask("params of W_O in one layer", request("bert-base"))`."""
    if isinstance(question, str):
        question = parse_question(question)
    return _Asked(question, asked).answer()


@dataclass(frozen=True)
class _Asked:
    """A question put to one encoder."""

    question: Question
    asked: Request

    @cached_property
    def program(self) -> Program:
        return build(self.asked.spec, batch=self.asked.batch, t=self.asked.t)

    def answer(self) -> Answer:
        kind = self.question.kind
        if kind == "params":
            return self.parameters()
        if kind in ("shape", "elements"):
            return self.shape()
        if kind in ("flops", "macs"):
            return self.operations()
        return {"bytes": self.bytes, "tokens": self.tokens, "patches": self.tokens, "width": self.width}[kind]()

    def _made(self, value: Value, unit: str, convention: str, lines: list[Line], others: Iterator[Other] | list[Other]) -> Answer:
        unique: dict[Value, Other] = {}
        for other in others:
            if other.value != value:
                unique.setdefault(other.value, other)
        return Answer(self.question, self.asked, value, unit, convention, tuple(lines), tuple(unique.values()))

    def pieces(self) -> Pieces:
        """The products that the question sums up."""
        return asked_pieces(self.question, self.asked)

    def parameters(self) -> Answer:
        pieces = self.pieces()
        lines = [Line(piece.name, piece.formula, piece.numbers, piece.size) for piece in pieces]
        scope = "".join([", one layer" if self.question.one_layer else "", ", one head" if self.question.one_head else ""])
        convention = f"every parameter{scope}: weights, biases, norms, tables"
        others = [Other(f"without {', '.join(words)}{scope}", total(kept)) for words, kept in left_out_ways(pieces)]
        if biases := own_biases(pieces, self.question, self.asked):
            named = " and ".join(dict.fromkeys(piece.symbol for piece in biases))
            others.append(Other(f"with {named}{scope}", total((*pieces, *biases))))
        return self._made(total(pieces), "parameters", convention, lines, others)

    def shape(self) -> Answer:
        question, tensor = self.question, self.find_tensor()
        axes = tuple(axis for axis in tensor.axes if not (axis.name == "head" and question.one_head))
        shape = tuple(axis.size for axis in axes)
        formula = " × ".join(axis.name for axis in axes)
        lines = [Line(tensor.name, formula, " × ".join(str(size) for size in shape), shape)]
        which = ", one head" if question.one_head else ""
        if question.kind == "elements":
            if self.asked.batch == 1:
                axes = tuple(axis for axis in axes if axis.name != "batch")
            elements = math.prod(axis.size for axis in axes)
            symbols, numbers = " · ".join(axis.name for axis in axes), " · ".join(str(axis.size) for axis in axes)
            others = (
                [Other("all heads together", tensor.size, excuses=False)]
                if question.one_head
                else self._one_head_elements(tensor)
            )
            return self._made(
                elements, "elements", f"tokens as rows{which}", [*lines, Line("elements", symbols, numbers, elements)], others
            )
        return self._made(shape, "shape", f"tokens as rows, the batch first{which}", lines, list(other_shapes(tensor)))

    def _one_head_elements(self, tensor: Tensor) -> list[Other]:
        heads = next((axis.size for axis in tensor.axes if axis.name == "head"), 1)
        return [Other("one head", tensor.size // heads, excuses=False)] if heads > 1 else []

    def find_tensor(self) -> Tensor:
        """The tensor asked for: by its full name, or by what people call it, in the first layer that has it."""
        wanted = self.question.target or ""
        tensors = self.program.tensors
        endings = (f".{wanted}", f"attention.{wanted}", f"ffn.{wanted}")
        found = tensors.get(wanted) or next((tensors[name] for name in tensors if name.endswith(endings)), None)
        if wanted == "out" and self.asked.spec.layers:
            found = tensors.get(f"layers.{self.asked.spec.layers - 1}.out")
        if found is None:
            raise GlassformerError(
                f"this encoder has no tensor '{shown(wanted)}'.{nearest(wanted, tensors)} 'glassformer shapes' lists them all."
            )
        return found

    def operations(self) -> Answer:
        found = cost(self.program)
        if self.question.target is not None:
            raise GlassformerError(
                f"'{shown(self.question.text)}': ask for flops or macs of the whole encoder; 'glassformer cost' splits them."
            )
        macs = found.multiply_adds
        factor = 1 if self.question.kind == "macs" else 2
        rows = [row for row in found.rows if row.multiply_adds]
        lines = [Line(row.name, "", f"{factor * row.multiply_adds:,}", factor * row.multiply_adds) for row in rows]
        unit = "multiply-adds" if factor == 1 else "FLOPs"
        convention = f"matrix products of one forward pass, batch={self.program.sizes.batch} t={self.program.sizes.t}" + (
            ", a multiply-add counted as two" if factor == 2 else ""
        )
        others = [
            Other(
                "multiply-adds" if factor == 2 else "FLOPs, a multiply-add counted as two",
                macs if factor == 2 else 2 * macs,
                code="macs_vs_flops",
            ),
            Other("the layers alone", factor * sum(row.multiply_adds for row in found.rows if row.name.startswith("layers."))),
            Other("all operations, not only products, in FLOPs", found.flops),
            Other("a training step (three times the forward products)", 3 * factor * macs),
        ]
        return self._made(factor * macs, unit, convention, lines, others)

    def bytes(self) -> Answer:
        parameters = count(self.asked.spec).total
        lines = [Line("weights", "parameters · 4", f"{parameters:,} · 4", 4 * parameters)]
        others = [Other("bfloat16 or float16", 2 * parameters, code="bytes_and_units"), Other("float64", 8 * parameters)]
        return self._made(4 * parameters, "bytes", "weights alone, in float32", lines, others)

    def tokens(self) -> Answer:
        spec = self.asked.spec
        length = self.program.sizes.t
        if spec.reads != "image":
            raise GlassformerError(
                "the number of tokens is yours to choose here (t=…): it follows from the spec only for images."
            )
        down, across = spec.patch_grid
        extra = spec.class_tokens + spec.registers
        lines = [Line("tokens", "patches down · patches across + tokens added", f"{down} · {across} + {extra}", length)]
        if self.question.kind == "patches":
            lines = [Line("patches", "patches down · patches across", f"{down} · {across}", spec.patches)]
            return self._made(
                spec.patches, "patches", "whole patches", lines, [Other("with the learned tokens", length, excuses=False)]
            )
        return self._made(
            length, "tokens", "patches and learned tokens", lines, [Other("patches alone", spec.patches, excuses=False)]
        )

    def width(self) -> Answer:
        spec = self.asked.spec
        value = spec.head_v if self.question.target == "d_v" else spec.head_k
        given = spec.d_v if self.question.target == "d_v" else spec.d_k
        symbols = "as given" if given is not None else "d_model / heads"
        lines = [Line(self.question.target or "", symbols, str(value) if given else f"{spec.d_model} / {spec.heads}", value)]
        return self._made(value, "features", "one head", lines, [])


def asked_pieces(question: Question, asked: Request) -> Pieces:
    """The products behind a question about parameters."""
    whole = count(asked.spec, label=asked.label)
    pieces = pieces_of(whole)
    if question.target is not None:
        names = part_names(question.target)
        parameters = build(asked.spec).parameters
        wanted = {parameter.name for name in names for parameter in parameters if chooser(name, parameters)(parameter)}
        lines = {line.name for line in whole.lines if line.rows[0].name in wanted}
        pieces = tuple(piece for piece in pieces if piece.name in lines)
        if not pieces:
            raise GlassformerError(f"'{shown(question.text)}': this spec has none of that.")
    pieces = _scoped(pieces, question)
    if not pieces and asked.spec.layers == 0:
        raise GlassformerError(f"'{shown(question.text)}': this spec has no layers.")
    return pieces


def own_biases(pieces: Pieces, question: Question, asked: Request) -> Pieces:
    """The biases of matrices that were asked for without them: `params of W_O`, where some say W_O and mean W_O and b_O."""
    if question.target is None or any(piece.kind == "bias" for piece in pieces):
        return ()
    wanted = {piece.name.replace(".W_", ".b_") for piece in pieces if piece.symbol.startswith("W_")}
    return _scoped(tuple(piece for piece in pieces_of(count(asked.spec)) if piece.name in wanted), question)


def _scoped(pieces: Pieces, question: Question) -> Pieces:
    """Of one layer, of one head, where that was asked."""
    if question.one_layer:
        pieces = tuple(piece.without("layers") for piece in pieces if piece.part == "layers")
    if question.one_head:
        pieces = tuple(piece.without("head") for piece in pieces if "attention" in piece.name)
    return pieces


def other_shapes(tensor: Tensor) -> Iterator[Other]:
    """The same tensor as other people write it."""
    unbatched = tuple(axis for axis in tensor.axes if axis.name != "batch")
    if len(unbatched) < len(tensor.axes):
        yield Other("without the batch", tuple(axis.size for axis in unbatched))
    yield Other("one head alone, without the batch", tuple(axis.size for axis in unbatched if axis.name != "head"))
    yield Other("one head alone, with the batch", tuple(axis.size for axis in tensor.axes if axis.name != "head"))
    yield Other("heads side by side", as_matrix(tensor, "rows").shape)
    yield Other("one head, tokens as columns", as_matrix(tensor, "columns", one_head=True).shape)
    yield Other("heads side by side, tokens as columns", as_matrix(tensor, "columns").shape)
    head_first = _head_first(tensor)
    if head_first is not None:
        yield Other("heads before tokens", head_first)
        yield Other(
            "heads before tokens, without the batch",
            tuple(size for axis, size in zip(_moved(tensor), head_first, strict=True) if axis != "batch"),
        )


def _moved(tensor: Tensor) -> list[str]:
    names = [axis.name for axis in tensor.axes]
    names.remove("head")
    names.insert(1 if names and names[0] == "batch" else 0, "head")
    return names


def _head_first(tensor: Tensor) -> tuple[int, ...] | None:
    if not any(axis.name == "head" for axis in tensor.axes):
        return None
    return tuple(tensor.axis(name).size for name in _moved(tensor))


def _plain(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


__all__ = ["Answer", "Line", "Other", "Setting", "Value", "ask", "asked_pieces", "other_shapes"]
