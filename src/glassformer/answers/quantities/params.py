"""Parameter counts of the model, a part, a layer or a head, with their products and alternative conventions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from glassformer.algebra.ledger import Count, count
from glassformer.algebra.parts import part_names, selector
from glassformer.answers.mistakes.conventions import GROUPS, left_out_ways, totals_by_convention
from glassformer.answers.mistakes.counting import rewrites
from glassformer.answers.mistakes.pieces import Piece, Pieces, Setting, pieces_of, total
from glassformer.answers.quantities.answer import Found, Line, Other, found, mistaken
from glassformer.answers.quantities.context import Context
from glassformer.answers.quantities.registry import means
from glassformer.configs.presets import preset, seq2seq_names
from glassformer.errors import GlassformerError
from glassformer.program.axes import HEADS
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec

OPTIONS = ("layer", "head", "without", "only", "trained")
MAY_BE_NONE = {"positions", "segments", "biases"}  # parts for which zero is a valid answer
WHOLE_MODEL = "-seq2seq"  # after the name of a preset that is the encoder alone
OWN_NORMS = {"attention": "norm_1", "cross": "norm_cross", "ffn": "norm_2"}
WHOLE_ATTENTION = ((), ("attention",))


@means(
    "params",
    "parameters of the whole model, of parts (embeddings attention qkv output ffn norms biases pooler head …), symbols or places",
    "params(ffn, layer=0)",
    OPTIONS,
)
def params(context: Context) -> Found:
    """Count parameters line by line, and under each usual convention."""
    if "decoder" in context.names and isinstance(context.spec, DecoderSpec):
        raise GlassformerError(f"{context.text}: this model has only a decoder. Write params for all of it, or params(layers).")
    pieces = counted_pieces(context)
    lines = [Line(piece.name, piece.formula, piece.numbers, piece.size) for piece in pieces]
    if not pieces:
        if {*context.options} - {"trained"} or (context.names and not {*context.names} & MAY_BE_NONE):
            raise GlassformerError(f"{context.text}: this model has no such parameters.")
        return found(0, "parameters", "this model has no such parameters", [Line(context.text, "", "", 0)])
    others = [Other(f"without {', '.join(words)}", total(kept), left_out=words) for words, kept in left_out_ways(pieces)]
    others += [*_of_one_head(context, pieces), *_with_own_biases(context, pieces), *_matrix_of_one_layer(context, pieces)]
    others += [*_trained_alone(context, pieces), *_betas(context, pieces), *_other_stack(context, pieces)]
    counted = found(total(pieces), "parameters", _convention(context, pieces), lines, others, lambda: mistakes(context, pieces))
    return replace(counted, nothing_without=tuple(name for name, belongs in GROUPS.items() if all(map(belongs, pieces))))


def counted_pieces(context: Context) -> Pieces:
    """Return the products that make up a parameter count."""
    whole = _whole(context.spec)
    layer = context.layer if context.layer is not None or context.head is None or "layer" in context.options else 0
    rows = whole.rows
    if context.names:
        rows = _rows(whole, context, context.names)
    if context.listed("only"):
        own = _rows(whole, context, context.listed("only"))
        shifts = tuple(row for row in rows if row.tensor.role == "beta")
        norms_alone = all(row.kind == "norm" for row in rows)
        rows = shifts if norms_alone and context.listed("only") == ("biases",) else tuple(row for row in rows if row in own)
    if context.listed("without"):
        left_out = {row.name for row in _rows(whole, context, context.listed("without"))}
        rows = tuple(row for row in rows if row.name not in left_out)
    if context.flag("trained"):
        rows = tuple(row for row in rows if not row.frozen)
    if layer is not None:
        rows = tuple(row for row in rows if row.layer == layer)
    pieces = pieces_of(replace(whole, rows=rows))
    if layer is not None:
        pieces = tuple(piece.without("layers") for piece in pieces)
    return _one_head(context, pieces) if context.head is not None else pieces


@lru_cache(maxsize=256)
def _whole(spec: EncoderSpec) -> Count:
    return count(spec)


def _rows(whole: Count, context: Context, words: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the rows of some parts; symbols that this spec lacks are ignored if others match, as b_Q in `W_Q, b_Q`."""
    parameters = context.program.parameters
    choosers = [selector(name, parameters) for name in part_names(list(words))]
    wanted = {parameter.name for parameter in parameters if any(selects(parameter) for selects in choosers)}
    return tuple(row for row in whole.rows if row.name in wanted)


def _one_head(context: Context, pieces: Pieces) -> Pieces:
    """Return the pieces that belong to one head; W_O and biases without a head axis belong to all heads."""
    own = tuple(piece for piece in pieces if any(name in HEADS for name, _ in piece.factors))
    if context.names in WHOLE_ATTENTION:
        own = tuple(piece for piece in own if piece.symbol != "W_O")
    return tuple(piece.without(*HEADS) for piece in own)


def _convention(context: Context, pieces: Pieces) -> str:
    scope = _scope(context, pieces)
    if context.listed("without"):
        return f"without {', '.join(context.listed('without'))}{scope}; every other parameter counted"
    if "biases" in (*context.names, *context.listed("only")):
        return f"biases of projections{scope}; a norm's beta is not one of them"
    if context.flag("trained"):
        return f"trained parameters{scope}: stored tables that are not trained are left out"
    shared = "encoder" in context.names and isinstance(context.spec, Seq2SeqSpec) and context.spec.shares_table
    with_table = "; with the token table that both stacks share" if shared and context.layer is None else ""
    return f"every parameter{scope}: weights, biases, norms, tables{with_table}"


def _scope(context: Context, pieces: Pieces) -> str:
    if context.head is not None:
        return ", one head of one layer" if context.layer is not None or "layer" not in context.options else ", one head"
    if context.layer is not None:
        return ", one layer"
    everywhere = all(dict(piece.factors).get("layers", 1) > 1 for piece in pieces)
    return f", all {context.spec.layers} layers together" if everywhere else ""


def _of_one_head(context: Context, pieces: Pieces) -> Iterator[Other]:
    """Yield the count of a head with its rows of W_O."""
    if context.head is None or context.names not in WHOLE_ATTENTION:
        return
    output = [p for p in pieces_of(_whole(context.spec)) if p.symbol == "W_O"]
    rows = tuple(piece.without("layers", *HEADS) for piece in output[:1])
    yield Other("with its rows of W_O", total((*pieces, *rows)))
    for words, kept in left_out_ways(pieces):
        yield Other(f"with its rows of W_O, without {', '.join(words)}", total((*kept, *rows)))


def _with_own_biases(context: Context, pieces: Pieces) -> Iterator[Other]:
    """Yield the count with biases: `W_O` may mean W_O and b_O."""
    biases = own_biases(context, pieces)
    if biases and "biases" not in context.listed("without"):
        named = " and ".join(dict.fromkeys(piece.symbol for piece in biases))
        yield Other(f"with {named}", total((*pieces, *biases)))


def own_biases(context: Context, pieces: Pieces) -> Pieces:
    """Return the biases of matrices that were requested without them."""
    if not context.names or any(piece.kind == "bias" for piece in pieces):
        return ()
    matrices = {piece.name for piece in pieces if piece.kind == "weight"}
    biases = tuple(piece for piece in pieces_of(_whole(context.spec)) if piece.bias_of in matrices)
    if context.layer is not None or context.head is not None:
        biases = tuple(piece.without("layers") for piece in biases)
    return _one_head(context, biases) if context.head is not None else biases


def _matrix_of_one_layer(context: Context, pieces: Pieces) -> Iterator[Other]:
    """Yield the count of one layer: `params(W_1)` may mean the matrix of one layer."""
    matrices = bool(context.names) and all(name[:2] in ("W_", "b_") for name in context.names)
    if matrices and context.layer is None and context.head is None and context.spec.layers > 1:
        one = tuple(piece.without("layers") for piece in pieces if piece.part == "layers")
        yield Other("in one layer", total(one))
        biases = tuple(piece.without("layers") for piece in own_biases(context, pieces))
        if biases and "biases" not in context.listed("without"):
            yield Other(f"in one layer, with {biases[0].symbol}", total((*one, *biases)))


def _trained_alone(context: Context, pieces: Pieces) -> Iterator[Other]:
    frozen = {row.name for row in _whole(context.spec).rows if row.frozen}
    kept = tuple(piece for piece in pieces if piece.name not in frozen)
    if frozen and kept and len(kept) < len(pieces):
        yield Other("only trained parameters, without stored tables that are not trained", total(kept))


def _other_stack(context: Context, pieces: Pieces) -> Iterator[Other]:
    """Yield the count of a decoder with the table that it shares, of attention without cross-attention, and of a whole model."""
    whole = f"{context.request.label}{WHOLE_MODEL}"
    if not context.names and not context.options and whole in seq2seq_names():
        yield Other(f"the whole encoder-decoder, {whole}", _whole(preset(whole)).total)
    if context.names == ("decoder",) and not any(piece.symbol == "E_token" for piece in pieces):
        table = tuple(piece for piece in pieces_of(_whole(context.spec)) if piece.symbol == "E_token")
        if table and context.layer is None:
            yield Other("with the token table that both stacks share", total((*pieces, *table)))
    own = tuple(piece for piece in pieces if not piece.block.reads_source)
    if "attention" in context.names and own and len(own) < len(pieces):
        yield Other("self-attention alone, without cross-attention", total(own))


def _betas(context: Context, pieces: Pieces) -> Iterator[Other]:
    if "biases" in (*context.names, *context.listed("only")):
        around = pieces_of(_whole(context.spec))
        betas = tuple(piece for piece in around if piece.symbol == "beta" and piece not in pieces)
        if context.layer is not None:
            betas = tuple(piece.without("layers") for piece in betas if piece.part == "layers")
        yield Other("with the betas of norms", total((*pieces, *betas)))


def mistakes(context: Context, pieces: Pieces) -> Iterator[Other]:
    """Yield what known mistakes give: too many layers or heads, excluded parameters counted, and every rewrite."""
    for code, what, wider in _wider(context):
        for words, value in totals_by_convention(wider):
            yield mistaken(code, f"{what}{', without ' + ', '.join(words) if words else ''}", value)
    if context.listed("without"):
        everything = counted_pieces(_without_options(context, "without"))
        what = f"{', '.join(context.listed('without'))} counted, which the question excludes"
        yield mistaken("left_out_counted", what, total(everything))
    for rewrite in rewrites(pieces, setting_of(context)):
        yield mistaken(rewrite.code, rewrite.what, total(rewrite.pieces))
    vectors: dict[int, list[str]] = {}
    for piece in pieces if len(pieces) > 1 else ():
        if piece.kind in ("bias", "norm"):
            short = f"{piece.block.word}.{piece.symbol}" if piece.kind == "norm" else piece.symbol
            vectors.setdefault(piece.size, []).append(short)
    for size, names in vectors.items():
        if len(names) > 1:
            named = ", ".join(dict.fromkeys(names))
            yield mistaken("line_left_out", f"one of these left out: {named}", total(pieces) - size)
    yield from _with_own_norm(context, pieces)


def _with_own_norm(context: Context, pieces: Pieces) -> Iterator[Other]:
    """Yield the count of a sub-layer with its norm."""
    word = OWN_NORMS.get(context.names[0]) if len(context.names) == 1 and context.head is None else None
    norm = tuple(piece for piece in pieces_of(_whole(context.spec)) if piece.block.word == word)
    if norm:
        norm = norm if context.layer is None else tuple(piece.without("layers") for piece in norm)
        yield mistaken("another_part", f"{word} counted too", total((*pieces, *norm)))


def setting_of(context: Context) -> Setting:
    return Setting(context.spec, context.request.batch, context.request.t)


def _wider(context: Context) -> Iterator[tuple[str, str, Pieces]]:
    """Yield the counts of all layers or heads where one was asked for."""
    if context.head is not None and context.spec.heads > 1:
        every = _without_options(context, "head")
        pieces = counted_pieces(every)
        if context.layer is None and "layer" not in context.options:
            pieces = tuple(piece.without("layers") for piece in pieces)
        keep: tuple[Piece, ...] = tuple(
            p for p in pieces if context.names not in WHOLE_ATTENTION or p.symbol not in ("W_O", "b_O")
        )
        yield "one_head_vs_all_heads", "all heads counted", keep
    if (context.layer is not None or context.head is not None) and context.spec.layers > 1:
        wider = counted_pieces(_without_options(context, "layer", "head"))
        yield "stack_for_one_layer", "all layers counted", wider


def _without_options(context: Context, *keys: str) -> Context:
    return Context(context.quantity, context.request, {key: value for key, value in context.options.items() if key not in keys})
