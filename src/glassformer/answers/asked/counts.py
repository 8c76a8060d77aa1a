"""Answers about parameters: of the whole, a part, a layer or a head, with the products behind each and the other conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from glassformer.algebra.ledger import Count, count
from glassformer.algebra.parts import chooser, part_names
from glassformer.answers.asked.answer import Answer, Line, Other, made
from glassformer.answers.asked.counting_conventions import left_out_ways, totals_by_convention
from glassformer.answers.mistakes.pieces import Pieces, pieces_of, total
from glassformer.answers.questions import Question
from glassformer.program import build
from glassformer.program.axes import HEADS, Parameter
from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.reading import Request

MAY_BE_NONE = ("positions", "segments", "biases", "b_Q,b_K,b_V,b_O", "b_1,b_2")  # where there are none, that is an answer

TRAINED = re.compile(r"\b(?:trainable|learnable|learned|learnt|trained)\b(?! position)", re.IGNORECASE)


def parameters(question: Question, asked: Request) -> Answer:
    """How many parameters, line by line, and as many under each usual convention."""
    if question.target == "nothing":
        return made(question, asked, 0, "parameters", "nothing in it is learned", [Line("parameters", "", "", 0)], [])
    pieces, trained = (asked_pieces(one, asked) for one in (question, _trained(question)))
    if len(trained) == len(pieces):
        return _counted(question, asked, pieces)
    if TRAINED.search(question.text) is None:
        found = _counted(question, asked, pieces)
        alone = Other("trained parameters alone, without tables that are stored and stay as they are", total(trained))
        return replace(found, others=(*found.others, alone)) if trained else found
    if trained:
        return _counted(_trained(question), asked, trained)
    said = "stored, and as they are for good: none of them is trained"
    return made(question, asked, 0, "parameters", said, [Line("trained", "", "", 0)], [Other("stored", total(pieces))])


def _counted(question: Question, asked: Request, pieces: Pieces) -> Answer:
    """These parameters, as many under each usual convention."""
    lines = [Line(piece.name, piece.formula, piece.numbers, piece.size) for piece in pieces]
    scope = _scope(question, pieces, asked)
    convention = f"every parameter{scope}: weights, biases, norms, tables"
    convention = f"the matrices alone{scope}, no bias" if question.among == "weights" else convention
    if not pieces:
        tables = question.target in ("positions", "segments") and (question.one_layer or question.one_head)
        if (question.target not in MAY_BE_NONE and not question.among) or question.without or tables:
            raise GlassformerError(f"'{shown(question.text)}': this spec has none of that.")
        lines, convention = [Line(question.target or "", "", "", 0)], "this encoder has no such parameters"
    if question.without:
        left_out = ("tables that are stored and stay as they are" if name == "frozen" else name for name in question.without)
        convention = f"without {', '.join(left_out)}{scope}, every other parameter counted"
    others = [
        Other(f"without {', '.join((*question.without, *words))}{scope}", total(kept)) for words, kept in left_out_ways(pieces)
    ]
    if question.one_head and not question.every_layer and question.target in (None, "attention"):
        rows = tuple(piece for piece in asked_pieces(replace(question, target="W_O"), asked))
        others += [Other("with its rows of W_O", total((*pieces, *rows)))]
        others += [
            Other(f"with its rows of W_O, without {', '.join(words)}", total((*kept, *rows)))
            for words, kept in left_out_ways(pieces)
        ]
    matrices = all(part[:2] in ("W_", "b_") for part in (question.target or "-").split(","))
    matrices = matrices or (question.target in ("attention", "ffn", "qkv", "output") and _speaks_of_one(question.text))
    if matrices and not (question.one_layer or question.one_head or question.every_layer) and asked.spec.layers > 1:
        alone = _scoped(pieces, replace(question, one_layer=True))  # `the matrix W_1` may be that of one layer
        others += [Other("in one layer", total(alone))] if alone else []
        others += [
            Other(f"in one layer, with {biases[0].symbol}", total((*alone, *biases)))
            for biases in [own_biases(alone, replace(question, one_layer=True), asked)]
            if alone and biases and "biases" not in question.without
        ]
    singular = question.target == "norms" and re.search(r"norm(?:ali[sz]ation)?\b", question.text.lower())
    if singular and not question.one_layer and asked.spec.layers > 1:
        one = [piece.without("layers") for piece in pieces if piece.name.rpartition(".")[0] == pieces[0].name.rpartition(".")[0]]
        others.append(Other("one norm alone", total(tuple(one))))  # `the layer norm` may be a single one
    if (biases := own_biases(pieces, question, asked)) and "biases" not in question.without:
        named = " and ".join(dict.fromkeys(piece.symbol for piece in biases))
        others.append(Other(f"with {named}{scope}", total((*pieces, *biases))))
    others += _output_bias(question, pieces)
    if question.among == "biases" and pieces and pieces == _shifts(pieces):
        convention = f"the shifts of the norms, beta{scope}"
    elif "biases" in (question.target, question.among):
        convention = f"biases of projections alone{scope}, no norm's beta"
        shifts = tuple(piece for piece in _norms(question, asked) if piece.symbol == "beta")
        others.append(Other(f"with the betas of norms{scope}", total((*pieces, *shifts))))
    return made(question, asked, total(pieces), "parameters", convention, lines, others, _wider(question, asked))


def _output_bias(question: Question, pieces: Pieces) -> list[Other]:
    """A head over the vocabulary whose matrix is the token table may have nothing of its own but a bias."""
    bias = tuple(piece for piece in pieces if piece.symbol == "b_vocab")
    tied = dict(question.stated).get("tie") == "True" and not question.model
    alone = question.target == "head" and tied and bias and len(pieces) > 1
    return [Other("the bias of the output alone, no dense layer before it", total(bias))] if alone else []


def _trained(question: Question) -> Question:
    """The same of what training changes: `trainable` asks for that, and a table of sines that is stored stays as it is."""
    return replace(question, without=tuple(dict.fromkeys((*question.without, "frozen"))))


def _scope(question: Question, pieces: Pieces, asked: Request) -> str:
    """Of which layers and heads; of parts that every layer has, it has to be said that all of them are counted."""
    if question.one_layer or question.one_head:
        return "".join([", one layer" if question.one_layer else "", ", one head" if question.one_head else ""])
    everywhere = bool(pieces) and all(re.match(r"layers\.\*", piece.name) for piece in pieces)
    return f", all {asked.spec.layers} layers together" if everywhere and asked.spec.layers > 1 else ""


def _speaks_of_one(text: str) -> bool:
    """`the attention sub-layer of …`: one of them may be meant, though there is one in every layer."""
    low = text.lower()
    return (
        re.search(r"\b(?:sub-?)?(?:layer|block|module)\b", low) is not None
        and re.search(r"\ball\b|total|layers|blocks", low) is None
    )


def _norms(question: Question, asked: Request) -> Pieces:
    """The norms of what is asked about."""
    target = None if question.target == "biases" else question.target
    around = asked_pieces(replace(question, target=target, among=""), asked)
    return tuple(piece for piece in around if piece.kind == "norm")


def _wider(question: Question, asked: Request) -> Iterator[Other]:
    """What was asked of one layer or head, counted of all of them; what was to be left out, counted."""
    wider = []
    if question.one_head:
        target = "qkv" if question.target in (None, "attention") else question.target
        all_heads = replace(question, one_head=False, one_layer=True, target=target)
        wider.append((all_heads, "all heads counted", "one_head_vs_all_heads"))
    if question.one_layer or question.one_head:
        wider.append((replace(question, one_layer=False, every_layer=True), "all layers counted", "stack_for_one_layer"))
    for other, what, code in wider:
        for words, value in totals_by_convention(asked_pieces(other, asked)):
            yield Other(f"{what}{', without ' + ', '.join(words) if words else ''}", value, excuses=False, code=code)
    if question.without:
        everything = replace(question, without=())
        what = f"{', '.join(question.without)} counted, which the question leaves out"
        yield Other(what, total(asked_pieces(everything, asked)), excuses=False, code="left_out_counted")


def counted(question: Question, asked: Request) -> int:
    """The number of parameters alone."""
    pieces = asked_pieces(question, asked)
    if not pieces:
        raise GlassformerError(f"'{shown(question.text)}': this spec has none of that.")
    return total(pieces)


@lru_cache(maxsize=2)  # of two encoders that are compared each is asked for in turn
def _all_of(spec: EncoderSpec, label: str) -> tuple[Count, Pieces, tuple[Parameter, ...]]:
    """All that is counted of an encoder. A question is answered under each convention, and every one begins here."""
    whole = count(spec, label=label)
    return whole, pieces_of(whole), tuple(build(spec).parameters)


def asked_pieces(question: Question, asked: Request) -> Pieces:
    """The products behind a question about parameters."""
    whole, pieces, parameters = _all_of(asked.spec, asked.label)

    def chosen(names: Iterable[str]) -> Pieces:
        names = list(names)
        if len(names) == 1 and re.match(r"layers\.[1-9]", names[0]):  # lines stand for all layers alike: one is counted by itself
            return pieces_of(count(asked.spec, only=names))
        choosers = [chooser(name, parameters) for name in names]
        wanted = {parameter.name for parameter in parameters if any(chooses(parameter) for chooses in choosers)}
        lines = {line.name for line in whole.lines if line.rows[0].name in wanted}
        return tuple(piece for piece in pieces if piece.name in lines)

    if question.target is not None:
        names = part_names(question.target)
        symbols = {parameter.tensor.symbol for parameter in parameters}
        names = [name for name in names if name in symbols or not name.startswith("b_")] or names
        pieces = chosen(names)
    if question.among:
        own = _shifts(pieces) if question.among == "biases" else ()
        own = own or chosen(part_names(question.among))
        pieces = tuple(piece for piece in pieces if piece in own)
    if question.without:
        left_out = chosen(part_names(question.without))
        pieces = tuple(piece for piece in pieces if piece not in left_out)
        if "biases" in question.without and (shifts := _shifts(pieces)):
            pieces = tuple(piece for piece in pieces if piece not in shifts)
    pieces = _scoped(pieces, question)
    if not pieces and asked.spec.layers == 0:
        raise GlassformerError(f"'{shown(question.text)}': this spec has no layers.")
    return pieces


def _shifts(pieces: Pieces) -> Pieces:
    """The betas of norms that are asked about by themselves: who speaks of their biases means these."""
    alone = all(piece.kind == "norm" for piece in pieces)
    return tuple(piece for piece in pieces if alone and piece.symbol == "beta")


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
        own = tuple(piece for piece in pieces if any(name in HEADS for name, _ in piece.factors))
        if question.target in (None, "attention"):
            own = tuple(piece for piece in own if piece.symbol != "W_O")
        pieces = tuple(piece.without(*HEADS) for piece in own)
    return pieces
