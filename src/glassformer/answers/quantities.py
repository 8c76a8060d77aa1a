"""Answering a question: the value, its convention, its derivation, and the values under the other usual conventions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from glassformer.algebra.ledger import count
from glassformer.algebra.parts import PARTS, chooser, part_names
from glassformer.answers.answer import Answer, Line, Other, Value, made
from glassformer.answers.conventions import left_out_ways, totals_by_convention
from glassformer.answers.mistakes.pieces import Pieces, Setting, pieces_of, total
from glassformer.answers.operations import operations
from glassformer.answers.questions import Question, parse_question
from glassformer.answers.ratios import crossing, difference, ratio, share
from glassformer.answers.sizes import all_heads, batch_tokens, expansion, outputs, patch_length, scale, setting, tokens
from glassformer.answers.stated import check_stated, with_sizes
from glassformer.answers.stored import TRAINED, stored
from glassformer.answers.wording import PART_NAMES, STORES
from glassformer.program import Axis, Program, Tensor, build
from glassformer.program.matrices import as_matrix
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.presets import preset_names
from glassformer.spec.reading import Request

TRANSPOSED = ("q^t", "k^t", "v^t")
MAY_BE_NONE = ("positions", "segments", "biases", "b_Q,b_K,b_V,b_O", "b_1,b_2")  # where there are none, that is an answer


def ask(question: str | Question, asked: Request) -> Answer:
    """Answer a question about an encoder: `ask("params of W_O in one layer", request("bert-base"))`."""
    if isinstance(question, str):
        question = parse_question(question)
    _same_encoder(question, asked)
    asked = with_sizes(question.stated, asked)
    found = _Asked(question, asked)
    check_stated(question.text, question.stated, asked, found.program)
    return found.answer()


def _same_encoder(question: Question, asked: Request) -> None:
    """A question that names another model, or another number of layers, is not answered for this one."""
    preset = "".join(re.findall(r"[a-z0-9]", asked.label.lower().split(" ")[0]))
    known = ["".join(re.findall(r"[a-z0-9]", name)) for name in preset_names()]
    if question.model and preset in known and not preset.startswith(question.model):
        raise GlassformerError(f"'{shown(question.text)}' names another model than the spec, {shown(asked.label)}.")
    if question.layers not in (None, asked.spec.layers):
        raise GlassformerError(
            f"'{shown(question.text)}' speaks of {question.layers} layers, and this encoder has {asked.spec.layers}. "
            f"Write layers={question.layers}."
        )


@dataclass(frozen=True)
class _Asked:
    """A question put to one encoder."""

    question: Question
    asked: Request

    @cached_property
    def program(self) -> Program:
        return build(self.asked.spec, batch=self.asked.batch, t=self.asked.t)

    def answer(self) -> Answer:
        question, asked, kind = self.question, self.asked, self.question.kind
        if kind in ("flops", "macs"):
            return operations(question, asked, self.program)
        if kind in ("tokens", "patches"):
            return tokens(question, asked, self.program)
        if kind == "scale":
            return scale(question, asked, self.program)
        if kind == "width":
            if question.target == "batch_tokens":
                return batch_tokens(question, asked, self.program)
            made_by = {"patch": patch_length, "all_heads": all_heads, "outputs": outputs, "expansion": expansion}
            return made_by.get(question.target or "", setting)(question, asked)
        comparing = {"share": share, "ratio": ratio, "difference": difference}
        if kind in comparing:
            return comparing[kind](question, asked, lambda other: _Asked(other, asked).answer())
        if kind == "crossing":
            return crossing(question, asked)
        own = {"params": self.parameters, "bytes": self.bytes, "shape": self.shape, "elements": self.shape}
        return own[kind]()

    def _made(
        self,
        value: Value,
        unit: str,
        convention: str,
        lines: Iterable[Line],
        others: Iterable[Other],
        wrongs: Iterable[Other] = (),
    ) -> Answer:
        return made(self.question, self.asked, value, unit, convention, lines, others, wrongs)

    def parameters(self) -> Answer:
        question = self.question
        pieces = asked_pieces(question, self.asked)
        lines = [Line(piece.name, piece.formula, piece.numbers, piece.size) for piece in pieces]
        scope = "".join([", one layer" if question.one_layer else "", ", one head" if question.one_head else ""])
        convention = f"every parameter{scope}: weights, biases, norms, tables"
        if not pieces:
            tables = question.target in ("positions", "segments") and (question.one_layer or question.one_head)
            if (question.target not in MAY_BE_NONE and not question.among) or question.without or tables:
                raise GlassformerError(f"'{shown(question.text)}': this spec has none of that.")
            lines, convention = [Line(question.target or "", "", "", 0)], "this encoder has no such parameters"
        if question.without:
            convention = f"without {', '.join(question.without)}{scope}, every other parameter counted"
        others = [
            Other(f"without {', '.join((*question.without, *words))}{scope}", total(kept))
            for words, kept in left_out_ways(pieces)
        ]
        if question.one_head and not question.every_layer and question.target in (None, "attention"):
            rows = tuple(piece for piece in asked_pieces(replace(question, target="W_O"), self.asked))
            others += [Other("with its rows of W_O", total((*pieces, *rows)))]
            others += [
                Other(f"with its rows of W_O, without {', '.join(words)}", total((*kept, *rows)))
                for words, kept in left_out_ways(pieces)
            ]
        matrices = all(part[:2] in ("W_", "b_") for part in (question.target or "-").split(","))
        if matrices and not (question.one_layer or question.one_head or question.every_layer) and self.asked.spec.layers > 1:
            alone = _scoped(pieces, replace(question, one_layer=True))  # `the matrix W_1` may be that of one layer
            others += [Other("in one layer", total(alone))] if alone else []
            others += [
                Other(f"in one layer, with {biases[0].symbol}", total((*alone, *biases)))
                for biases in [own_biases(alone, replace(question, one_layer=True), self.asked)]
                if alone and biases
            ]
        if biases := own_biases(pieces, question, self.asked):
            named = " and ".join(dict.fromkeys(piece.symbol for piece in biases))
            others.append(Other(f"with {named}{scope}", total((*pieces, *biases))))
        if "biases" in (question.target, question.among):
            convention = f"biases of projections alone{scope}, no norm's beta"
            shifts = tuple(piece for piece in self._norms() if piece.symbol == "beta")
            others.append(Other(f"with the betas of norms{scope}", total((*pieces, *shifts))))
        return self._made(total(pieces), "parameters", convention, lines, others, self._wider())

    def _norms(self) -> Pieces:
        """The norms of what is asked about."""
        target = None if self.question.target == "biases" else self.question.target
        around = asked_pieces(replace(self.question, target=target, among=""), self.asked)
        return tuple(piece for piece in around if piece.kind == "norm")

    def _wider(self) -> Iterator[Other]:
        """What was asked of one layer or head, counted of all of them; what was to be left out, counted."""
        question = self.question
        wider = []
        if question.one_head:
            target = "qkv" if question.target in (None, "attention") else question.target
            all_heads = replace(question, one_head=False, one_layer=True, target=target)
            wider.append((all_heads, "all heads counted", "one_head_vs_all_heads"))
        if question.one_layer or question.one_head:
            wider.append((replace(question, one_layer=False, every_layer=True), "all layers counted", "stack_for_one_layer"))
        for other, what, code in wider:
            for words, value in totals_by_convention(asked_pieces(other, self.asked)):
                yield Other(f"{what}{', without ' + ', '.join(words) if words else ''}", value, excuses=False, code=code)
        if question.without:
            everything = replace(question, without=())
            what = f"{', '.join(question.without)} counted, which the question leaves out"
            yield Other(what, total(asked_pieces(everything, self.asked)), excuses=False, code="left_out_counted")

    def shape(self) -> Answer:
        question = self.question
        if question.target == "concat":
            return self._side_by_side()
        if question.target in TRANSPOSED:
            return self._transposed()
        tensor = self.find_tensor()
        one_head = question.one_head and any(axis.name == "head" for axis in tensor.axes)
        axes = tuple(axis for axis in tensor.axes if not (axis.name == "head" and one_head))
        shape = tuple(axis.size for axis in axes)
        formula = " × ".join(axis.name for axis in axes)
        lines = [Line(tensor.name, formula, " × ".join(str(size) for size in shape), shape)]
        which = ", one head" if question.one_head else ""
        if question.kind == "elements":
            return self._elements(tensor, axes, lines, which)
        return self._made(
            shape, "shape", f"tokens as rows, the batch first{which}", lines, other_shapes(tensor, one_head=one_head)
        )

    def _elements(self, tensor: Tensor, axes: tuple[Axis, ...], lines: list[Line], which: str) -> Answer:
        if self.asked.batch == 1:
            axes = tuple(axis for axis in axes if axis.name != "batch")
        layers = self.asked.spec.layers if tensor.name.startswith("layers.") else 1
        times = layers if self.question.every_layer else 1
        elements = times * math.prod(axis.size for axis in axes)
        symbols, numbers = " · ".join(axis.name for axis in axes), " · ".join(str(axis.size) for axis in axes)
        if times > 1:
            symbols, numbers = f"layers · {symbols}", f"{layers} · {numbers}"
        heads = next((axis.size for axis in tensor.axes if axis.name == "head"), 1)
        if self.question.one_head:
            others = [Other("all heads together", elements * heads, excuses=False)]
        else:
            others = [Other("one head", elements // heads, excuses=False)] if heads > 1 else []
        if layers > times and not self.question.one_layer:
            others.append(Other(f"in all {layers} layers", elements * layers))
        line = Line("elements", symbols, numbers, elements)
        return self._made(elements, "elements", f"tokens as rows{which}", [*lines, line], others)

    def _side_by_side(self) -> Answer:
        """The heads' outputs put side by side."""
        mix = next(step.output for step in self.program.steps if step.name.endswith("attention.mix"))
        sizes, spec = self.program.sizes, self.asked.spec
        width = spec.heads * spec.head_v
        shape = (sizes.batch, sizes.t, width)
        line = Line(mix.name, "batch × t × head · d_v", f"{sizes.batch} × {sizes.t} × {width}", shape)
        if self.question.kind == "elements":
            return self._made(math.prod(shape), "elements", "heads side by side", [line], [])
        others = [Other("without the batch", shape[1:]), Other("tokens as columns", (width, sizes.t))]
        wrongs = [
            Other("one head alone", one, excuses=False, code="one_head_vs_all_heads")
            for one in ((sizes.t, spec.head_v), (sizes.batch, sizes.t, spec.head_v), (spec.head_v, sizes.t))
        ]
        return self._made(shape, "shape", "tokens as rows, the batch first", [line], others, wrongs)

    def _transposed(self) -> Answer:
        """Kᵀ: features before tokens, head by head."""
        question, spec, sizes = self.question, self.asked.spec, self.program.sizes
        letter = (question.target or "")[0]
        width, said = (spec.head_v, "d_v") if letter == "v" else (spec.head_k, "d_k")
        one, every = (width, sizes.t), (spec.heads, width, sizes.t)
        shape = (sizes.batch, *(one if question.one_head else every))
        formula = f"batch × {'' if question.one_head else 'head × '}{said} × t"
        line = Line(f"{letter}ᵀ", formula, " × ".join(str(size) for size in shape), shape)
        others = [
            Other("one head alone, without the batch", one),
            Other("one head alone, with the batch", (sizes.batch, *one)),
        ]
        if not question.one_head:
            others += [Other("without the batch", every), Other("heads side by side", (spec.heads * width, sizes.t))]
        if question.kind == "elements":
            return self._made(math.prod(shape), "elements", "as many as before", [line], [])
        return self._made(shape, "shape", "features before tokens, the batch first", [line], others)

    def find_tensor(self) -> Tensor:
        """The tensor asked for: by its full name, or by what people call it, in the first layer that has it."""
        wanted = self.question.target or ""
        if not wanted:
            raise GlassformerError(
                f"'{shown(self.question.text)}': of which tensor? Ask for the 'shape of weights', of q, of W_O."
            )
        found = self._tensor(wanted)
        if found is None:
            tensors = self.program.tensors
            raise GlassformerError(
                f"this encoder has no tensor '{shown(wanted)}'.{nearest(wanted, tensors)} 'glassformer shapes' lists them all."
            )
        return found

    def _tensor(self, wanted: str) -> Tensor | None:
        tensors = self.program.tensors
        endings = (f".{wanted}", f"attention.{wanted}", f"ffn.{wanted}")
        found = tensors.get(wanted) or next((tensors[name] for name in tensors if name.endswith(endings)), None)
        if wanted in ("out", "attention.out") and self.asked.spec.layers and (found is None or wanted == "out"):
            found = tensors.get(f"layers.{self.asked.spec.layers - 1}.out")
        return found

    def bytes(self) -> Answer:
        question, target = self.question, self.question.target or ""
        known = not target or target in STORES.values()
        known = known or set(target.split(",")) <= TRAINED
        tensor = None if known or target[:2] in ("W_", "b_") else self._tensor(target.split(",")[0])
        parts = {name for names in PART_NAMES.values() for name in names.split(",")}
        if not known and tensor is None and not set(target.split(",")) <= {*PARTS, *parts}:
            raise GlassformerError(f"'{shown(question.text)}' is not understood: this encoder has no '{shown(target)}'.")
        if (question.training and target and not known) or (question.without and tensor is not None):
            raise GlassformerError(
                f"'{shown(question.text)}' is not understood: ask for the memory of one thing, as in 'memory in fp16'."
            )
        return stored(question, self.asked, self.program, tensor, lambda asked: self._counted(asked))

    def _counted(self, question: Question) -> int:
        pieces = asked_pieces(question, self.asked)
        if not pieces:
            raise GlassformerError(f"'{shown(question.text)}': this spec has none of that.")
        return total(pieces)


def asked_pieces(question: Question, asked: Request) -> Pieces:
    """The products behind a question about parameters."""
    whole = count(asked.spec, label=asked.label)
    pieces = pieces_of(whole)
    parameters = build(asked.spec).parameters

    def chosen(names: Iterable[str]) -> Pieces:
        names = list(names)
        if len(names) == 1 and re.match(r"layers\.[1-9]", names[0]):  # lines stand for all layers alike: one is counted by itself
            return pieces_of(count(asked.spec, only=names))
        wanted = {parameter.name for name in names for parameter in parameters if chooser(name, parameters)(parameter)}
        lines = {line.name for line in whole.lines if line.rows[0].name in wanted}
        return tuple(piece for piece in pieces if piece.name in lines)

    if question.target is not None:
        names = part_names(question.target)
        symbols = {parameter.tensor.symbol for parameter in parameters}
        names = [name for name in names if name in symbols or not name.startswith("b_")] or names
        pieces = chosen(names)
    if question.among:
        own = chosen(part_names(question.among))
        pieces = tuple(piece for piece in pieces if piece in own)
    if question.without:
        left_out = chosen(part_names(question.without))
        pieces = tuple(piece for piece in pieces if piece not in left_out)
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
    """Of one layer, of one head, where that was asked; a head belongs to one layer, and W_O to all heads."""
    if question.one_layer or (question.one_head and not question.every_layer):
        layered = [piece for piece in pieces if re.match(r"layers\.[*\d]", piece.name)]  # not a table that all layers share
        pieces = tuple(piece.without("layers") for piece in layered)
    if question.one_head:
        own = tuple(piece for piece in pieces if any(name == "head" for name, _ in piece.factors))
        if question.target in (None, "attention"):
            own = tuple(piece for piece in own if piece.symbol != "W_O")
        pieces = tuple(piece.without("head") for piece in own)
    return pieces


def other_shapes(tensor: Tensor, *, one_head: bool = False) -> Iterator[Other]:
    """The same tensor as other people write it; of one head, where one was asked for."""
    unbatched = tuple(axis for axis in tensor.axes if axis.name != "batch")
    if len(unbatched) < len(tensor.axes) and not one_head:
        yield Other("without the batch", tuple(axis.size for axis in unbatched))
    yield Other("one head alone, without the batch", tuple(axis.size for axis in unbatched if axis.name != "head"))
    yield Other("one head alone, with the batch", tuple(axis.size for axis in tensor.axes if axis.name != "head"))
    yield Other("one head, tokens as columns", as_matrix(tensor, "columns", one_head=True).shape)
    if one_head:
        return
    yield Other("heads side by side", as_matrix(tensor, "rows").shape)
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


__all__ = ["Answer", "Line", "Other", "Setting", "Value", "ask", "asked_pieces", "other_shapes"]
