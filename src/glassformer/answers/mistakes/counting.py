"""Mistakes in parameter counts: each rewrites the pieces of a count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from glassformer.answers.mistakes import embeddings
from glassformer.answers.mistakes.pieces import Changes, Piece, Pieces, Setting, changed, dropped
from glassformer.program.axes import HEADS
from glassformer.program.roles import ENCODER
from glassformer.spec import DecoderSpec, Seq2SeqSpec

QKV = ("W_Q", "W_K", "W_V")
FFN = ("W_1", "W_2", "W_3")
ATTENTION_BIASES = ("b_Q", "b_K", "b_V", "b_O")
HEAD = ENCODER.inside("head", "head")
POOLER = ENCODER.inside("pooler", "pooler")
ATTENTION = ENCODER.inside("layers", "layers").inside("0", "layer", 0).inside("attention", "attention")
CROSS = ATTENTION.above.inside("cross", "cross") if ATTENTION.above else ATTENTION


class Rewrite(NamedTuple):
    """One way to make a mistake: its code, what was done, and the rewritten pieces."""

    code: str
    what: str
    pieces: Pieces


Rule = Callable[[Pieces, Setting], Changes]


def full_width(pieces: Pieces, setting: Setting) -> Changes:
    d = setting.spec.d_model

    def widen(symbols: tuple[str, ...], *, bias: bool) -> Callable[[Piece], Piece]:
        def change(p: Piece) -> Piece:
            if p.symbol in symbols:
                return p.with_factor("d_k", "d_model", d).with_factor("d_v", "d_model", d)
            if bias and p.symbol in ATTENTION_BIASES[:3]:
                return p.with_factor("d_k", "d_model", d).with_factor("d_v", "d_model", d)
            return p

        return change

    def output_too(p: Piece) -> Piece:
        if p.symbol == "W_O":
            return p.with_factor("d_v", "d_model", d)
        return p.times("head", setting.spec.heads) if p.symbol == "b_O" else p

    for bias in (False, True):
        wide = changed(pieces, widen(QKV, bias=bias))
        yield "W_Q, W_K, W_V taken as d_model × d_model for every head", wide
        yield "all four projections taken as d_model × d_model for every head", changed(wide, output_too)


def one_head(pieces: Pieces, setting: Setting) -> Changes:
    def single(symbols: tuple[str, ...]) -> Pieces:
        return changed(pieces, lambda p: p.without(*HEADS) if p.symbol in symbols else p)

    yield "W_Q, W_K, W_V of one head", single(QKV)
    yield "W_Q, W_K, W_V and their biases of one head", single((*QKV, *ATTENTION_BIASES[:3]))
    yield "all four projections of one head", single((*QKV, "W_O", *ATTENTION_BIASES[:3]))


def grouped_queries(pieces: Pieces, setting: Setting) -> Changes:
    spec = setting.spec
    if spec.group == 1:
        return
    keys, queries = ("W_K", "W_V", "b_K", "b_V"), ("W_Q", "b_Q")

    def few(*symbols: str) -> Pieces:
        return changed(pieces, lambda p: p.with_factor("head", "kv_head", spec.key_heads) if p.symbol in symbols else p)

    yield "keys and values counted with all heads", changed(pieces, lambda p: p.with_factor("kv_head", "head", spec.heads))
    yield "queries counted with only kv_heads heads", few(*queries)
    yield "queries and W_O counted with only kv_heads heads", few(*queries, "W_O")
    if spec.key_heads > 1:
        single = changed(pieces, lambda p: p.without("kv_head") if p.symbol in keys else p)
        yield "one key and value head for all query heads", single


def no_output(pieces: Pieces, setting: Setting) -> Changes:
    yield "W_O and b_O left out", dropped(pieces, "W_O", "b_O")
    yield "W_O left out", dropped(pieces, "W_O")


def attention_biases(pieces: Pieces, setting: Setting) -> Changes:
    yield "b_Q, b_K, b_V, b_O left out", dropped(pieces, *ATTENTION_BIASES)
    yield "b_O left out", dropped(pieces, "b_O")
    yield "b_Q, b_K, b_V left out", dropped(pieces, *ATTENTION_BIASES[:3])
    for symbols in (QKV, (*QKV, "W_O")):
        extra = [_bias_of(p) for p in pieces if p.symbol in symbols and not _has_bias(p, pieces)]
        yield "biases counted that this model does not have", (*pieces, *extra)


def _has_bias(weight: Piece, pieces: Pieces) -> bool:
    return any(piece.bias_of == weight.name for piece in pieces)


def _bias_of(weight: Piece) -> Piece:
    """Return the bias of a matrix, with the sizes of its output axes."""
    layered = tuple(factor for factor in weight.factors if factor[0] == "layers")
    own = weight.factors[len(layered) :]
    factors = (*layered, *(own[1:] if weight.symbol in QKV else own[-1:]))
    return Piece(weight.block, weight.symbol.replace("W", "b"), "bias", factors, bias_of=weight.name)


def ffn_biases(pieces: Pieces, setting: Setting) -> Changes:
    d = setting.spec.d_model
    yield "b_1 and b_2 left out", dropped(pieces, "b_1", "b_2", "b_3")
    yield "b_1 taken as d_model wide", changed(pieces, lambda p: p.with_factor("d_ff", "d_model", d) if p.symbol == "b_1" else p)
    wide = setting.spec.ffn_width
    yield "b_2 taken as d_ff wide", changed(pieces, lambda p: p.with_factor("d_model", "d_ff", wide) if p.symbol == "b_2" else p)
    yield "b_1 left out", dropped(pieces, "b_1")
    yield "b_2 left out", dropped(pieces, "b_2")
    extra = [_bias_of(p) for p in pieces if p.symbol in FFN and not _has_bias(p, pieces)]
    yield "biases counted that this model does not have", (*pieces, *extra)


def norms(pieces: Pieces, setting: Setting) -> Changes:
    """Norms left out, named as this model has them."""
    places = dict.fromkeys(p.block.any_layer for p in pieces if p.symbol == "gamma")
    for place in places:
        yield f"{place} left out", changed(pieces, lambda p, place=place: None if p.block.any_layer == place else p)  # type: ignore[misc]
    kinds = {p.block.word for p in pieces if p.symbol == "gamma" and p.part == "layers"}
    if "norm_1" in kinds and len(kinds) > 1 and len(places) > len(kinds):  # of several stacks, or next to other norms
        yield "only norm_1 of each layer", changed(pieces, lambda p: None if p.block.word in kinds - {"norm_1"} else p)
    yield "gamma without beta", dropped(pieces, "beta")
    scalar = changed(pieces, lambda p: p.without("d_model", "d_embedding", "d_head") if p.kind == "norm" else p)
    yield "gamma and beta taken as single numbers", scalar


def one_layer(pieces: Pieces, setting: Setting) -> Changes:
    yield "one layer counted for all", changed(pieces, lambda p: p.without("layers"))


def shared_layers(pieces: Pieces, setting: Setting) -> Changes:
    if setting.spec.share_layers is None:
        return
    layers = setting.spec.layers
    yield (
        "the shared layer multiplied by the number of layers",
        changed(pieces, lambda p: p.with_factor("layers", "layers", layers)),
    )


def tied_twice(pieces: Pieces, setting: Setting) -> Changes:
    spec = setting.spec
    table = next((p for p in pieces if p.symbol == "E_token"), None)
    if table is None:
        return
    again = Piece(HEAD, "W_vocab", "weight", table.factors)
    if spec.head in ("mlm", "pretrain") and spec.tie:
        yield "the tied token table counted again in the head", (*pieces, again)
    writes = spec.decoder if isinstance(spec, Seq2SeqSpec) else spec
    tied = writes.predicts_next and writes.tie
    if tied:
        yield "the tied token table counted again for the logits", (*pieces, again)
    if isinstance(spec, Seq2SeqSpec) and spec.shares_table:
        other = replace(table, block=HEAD, symbol="E_token")
        yield "the shared token table counted once for each stack", (*pieces, other)
        if tied:
            yield "the shared token table counted three times: for each stack and for the logits", (*pieces, other, again)


def cross_attention(pieces: Pieces, setting: Setting) -> Changes:
    spec = setting.spec
    if isinstance(spec, Seq2SeqSpec):
        yield "cross-attention left out", changed(pieces, lambda p: None if p.block.reads_source else p)
        alike = changed(pieces, lambda p: None if p.block.reads_source or p.block.word == "norm_cross" else p)
        yield "the decoder's layers counted like the encoder's, without cross-attention and its norm", alike
    elif isinstance(spec, DecoderSpec):
        own = tuple(p for p in pieces if any(block.kind == "attention" for block in p.block.around))
        second = tuple(replace(p, block=CROSS) for p in own)
        yield "a cross-attention counted in each layer, which a decoder-only model does not have", (*pieces, *second)


def one_stack(pieces: Pieces, setting: Setting) -> Changes:
    if len({p.block.stack for p in pieces}) > 1:
        yield "the decoder left out", changed(pieces, lambda p: None if p.block.stack == "decoder" else p)
        left = changed(pieces, lambda p: None if p.block.stack == "encoder" and p.symbol != "E_token" else p)
        yield "the encoder left out", left


def ffn_matrices(pieces: Pieces, setting: Setting) -> Changes:
    if setting.spec.gated:
        yield "the matrix of the gate left out", dropped(pieces, "W_3", "b_3")
    yield "only one feed-forward matrix", dropped(pieces, "W_2", "W_3")
    yield "only one feed-forward matrix and its bias", dropped(pieces, "W_2", "b_2", "W_3", "b_3")
    double = changed(pieces, lambda p: p.times("2", 2) if p.symbol in ("W_1", "W_2") else p)
    yield "both feed-forward matrices counted twice", double


def mixed_widths(pieces: Pieces, setting: Setting) -> Changes:
    d_k, d_v = setting.spec.head_k, setting.spec.head_v
    if d_k == d_v:
        return

    def values_as_keys(p: Piece) -> Piece:
        return p.with_factor("d_v", "d_k", d_k) if p.symbol in ("W_V", "b_V") else p

    def keys_as_values(p: Piece) -> Piece:
        return p.with_factor("d_k", "d_v", d_v) if p.symbol in ("W_Q", "W_K", "b_Q", "b_K") else p

    def output_as_keys(p: Piece) -> Piece:
        return p.with_factor("d_v", "d_k", d_k) if p.symbol == "W_O" else p

    yield "W_V taken as d_k wide", changed(pieces, values_as_keys)
    yield "W_V and W_O taken with d_k", changed(changed(pieces, values_as_keys), output_as_keys)
    yield "W_O taken with d_k", changed(pieces, output_as_keys)
    yield "W_Q and W_K taken as d_v wide", changed(pieces, keys_as_values)
    swapped = changed(pieces, lambda p: values_as_keys(p) if p.symbol in ("W_V", "b_V") else keys_as_values(p))
    yield "d_k and d_v swapped", swapped


def lengths(pieces: Pieces, setting: Setting) -> Changes:
    patches = setting.spec.patches if setting.spec.reads == "image" else None
    for label, size in (("t", setting.t), ("batch", setting.batch), ("the patches", patches)):
        if size is not None and size > 1:
            yield f"everything multiplied by {label}", changed(pieces, lambda p, label=label, size=size: p.times(label, size))  # type: ignore[misc]
            some = changed(pieces, lambda p, label=label, size=size: p.times(label, size) if p.symbol in QKV else p)  # type: ignore[misc]
            yield f"W_Q, W_K, W_V multiplied by {label}", some
    if setting.t is not None and setting.t > 1:
        scores = (("layers", max(setting.spec.layers, 1)), ("head", setting.spec.heads), ("t", setting.t), ("t", setting.t))
        yield "the attention matrix counted as parameters", (*pieces, Piece(ATTENTION, "weights", "weight", scores))


def heads(pieces: Pieces, setting: Setting) -> Changes:
    weight = next((p for p in pieces if p.symbol == "W_C"), None)
    if weight is None or len(weight.factors) < 2:
        return
    yield "the bias of the head left out", dropped(pieces, "b_C")
    inputs, classes = weight.factors[-2], weight.factors[-1]
    others = tuple(p for p in pieces if p.symbol not in ("W_C", "b_C"))
    yield (
        "inputs + classes instead of inputs × classes",
        (*others, Piece(HEAD, "W_C", "weight", (inputs,)), Piece(HEAD, "b_C", "bias", (classes,))),
    )
    yield "one weight per input", (*others, Piece(HEAD, "W_C", "weight", (inputs,)))


def product_of_settings(pieces: Pieces, setting: Setting) -> Changes:
    spec = setting.spec
    factors = (("layers", max(spec.layers, 1)), ("d_model", spec.d_model), ("head", spec.heads))
    yield "layers · d_model · heads", (Piece(ENCODER, "product", "weight", factors),)


def pooler(pieces: Pieces, setting: Setting) -> Changes:
    d = ("d_model", setting.spec.d_model)
    pooled = (Piece(POOLER, "W_P", "weight", (d, d)), Piece(POOLER, "b_P", "bias", (d,)))
    if any(p.part == "pooler" for p in pieces):
        yield "the pooler left out", changed(pieces, lambda p: None if p.part == "pooler" else p)
    elif setting.spec.vocab is not None and {"embeddings", "layers"} <= {p.part for p in pieces}:  # the whole model was asked for
        yield (
            "a pooler counted that does not exist",
            (*pieces, *pooled),
        )
    elif setting.spec.pooler == "dense" and {p.part for p in pieces} == {"head"}:
        yield "the pooler counted as part of the head", (*pieces, *pooled)


def ffn_width(pieces: Pieces, setting: Setting) -> Changes:
    wide = 4 * setting.spec.d_model
    if setting.spec.ffn_width != wide:
        yield "d_ff taken as 4 · d_model", changed(pieces, lambda p: p.with_factor("d_ff", "4·d_model", wide))


def head_width(pieces: Pieces, setting: Setting) -> Changes:
    """Heads of d_model / heads features in a model whose heads have another width."""
    spec = setting.spec
    width = spec.d_model // spec.heads
    if spec.d_model % spec.heads or (spec.head_k, spec.head_v) == (width, width):
        return
    usual = changed(pieces, lambda p: p.with_factor("d_k", "d_model/heads", width).with_factor("d_v", "d_model/heads", width))
    yield "d_k and d_v taken as d_model / heads", usual
    yield "d_k taken as d_model / heads", changed(pieces, lambda p: p.with_factor("d_k", "d_model/heads", width))


def not_there(pieces: Pieces, setting: Setting) -> Changes:
    yield from embeddings.not_there(pieces, setting)
    biases = [_bias_of(p) for p in pieces if p.symbol in (*QKV, "W_O", *FFN) and not _has_bias(p, pieces)]
    betas = [replace(p, symbol="beta") for p in pieces if p.symbol == "gamma" and setting.spec.norm_kind == "rms"]
    if biases and betas:
        yield "biases and betas counted, which this model does not have", (*pieces, *biases, *betas)


RULES: dict[str, Rule] = {
    "heads_times_full_width": full_width,
    "one_head_vs_all_heads": one_head,
    "grouped_queries_ignored": grouped_queries,
    "no_output_projection": no_output,
    "attention_bias": attention_biases,
    "ffn_bias": ffn_biases,
    "layernorm_undercounted": norms,
    "one_layer_only": one_layer,
    "shared_layers_multiplied": shared_layers,
    "position_or_segment_table_missing": embeddings.missing_tables,
    "sinusoidal_counted": embeddings.fixed_positions,
    "tied_weights_twice": tied_twice,
    "cross_attention_missing": cross_attention,
    "one_stack_only": one_stack,
    "ffn_one_or_twice": ffn_matrices,
    "dv_dk_mixed": mixed_widths,
    "sequence_length_in_parameters": lengths,
    "vit_tokens_or_patch": embeddings.patches,
    "head_count_wrong": heads,
    "vocabulary_ignored": embeddings.vocabulary,
    "hyperparameter_product": product_of_settings,
    "pooler_in_or_out": pooler,
    "ffn_width_assumed_4d": ffn_width,
    "head_width_assumed": head_width,
    "position_offset": embeddings.position_offset,
    "factorised_embeddings": embeddings.factorised,
    "kernel_left_out": embeddings.kernels,
    "part_not_there": not_there,
}


def rewrites(pieces: Pieces, setting: Setting) -> Iterator[Rewrite]:
    """Yield every single mistake that changes the count."""
    before = frozenset(pieces)
    for code, rule in RULES.items():
        for what, after in rule(pieces, setting):
            if frozenset(after) != before or len(after) != len(pieces):
                yield Rewrite(code, what, after)
