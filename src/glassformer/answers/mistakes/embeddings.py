"""Mistakes in the parameters of what a model reads: tables of tokens and positions, patches, convolutions."""

from __future__ import annotations

from dataclasses import replace

from glassformer.answers.mistakes.pieces import Changes, Piece, Pieces, Setting, changed, dropped
from glassformer.program.roles import ENCODER

EMBEDDINGS = ENCODER.inside("embeddings", "embeddings")
USUAL_LENGTHS = (512, 1024, 2048, 5000)  # of a position table that does not exist
USUAL_VOCABULARIES = (30522, 28996, 50265, 32000, 30000, 50257, 128256)


def missing_tables(pieces: Pieces, _: Setting) -> Changes:
    yield "the position and segment tables left out", dropped(pieces, "E_position", "E_segment")
    yield "the position table left out", dropped(pieces, "E_position")
    yield "the segment table left out", dropped(pieces, "E_segment")
    yield "the embedding projection left out", dropped(pieces, "W_E", "b_E")


def fixed_positions(pieces: Pieces, setting: Setting) -> Changes:
    spec = setting.spec
    if spec.position not in ("sinusoidal", "rotary"):
        return
    whole = any(piece.symbol == "E_token" for piece in pieces)
    guessed = USUAL_LENGTHS if whole and spec.positions is None else ()
    for rows in dict.fromkeys(size for size in (spec.positions, setting.t, *guessed) if size):
        extra = Piece(EMBEDDINGS, "E_position", "table", (("position", rows), ("d_model", spec.d_model)))
        yield f"a position table of {rows} rows counted", (*pieces, extra)


def patches(pieces: Pieces, setting: Setting) -> Changes:
    spec = setting.spec
    if spec.reads != "image":
        return
    pixels = spec.patch_size[0] * spec.patch_size[1]
    no_channels = changed(pieces, lambda p: p.with_factor("pixel", "pixel", pixels) if p.symbol == "W_patch" else p)
    yield "colour channels left out of the patch projection", no_channels
    row = spec.channels * spec.patch_size[1]
    one_row = changed(pieces, lambda p: p.with_factor("pixel", "pixel", row) if p.symbol == "W_patch" else p)
    yield "the side of a patch not squared", one_row
    grid = changed(pieces, lambda p: p.with_factor("position", "position", spec.patches) if p.symbol == "E_position" else p)
    yield "the position of the class token left out", grid
    yield "the class token left out", changed(pieces, lambda p: None if p.symbol == "class_token" else p)
    yield "the class token and its position left out", changed(grid, lambda p: None if p.symbol == "class_token" else p)


def vocabulary(pieces: Pieces, setting: Setting) -> Changes:
    for rows in USUAL_VOCABULARIES:
        if setting.spec.vocab is not None and rows != setting.spec.vocab:
            yield f"a vocabulary of {rows:,} used", changed(pieces, lambda p, rows=rows: p.with_factor("vocab", "vocab", rows))  # type: ignore[misc]


def position_offset(pieces: Pieces, setting: Setting) -> Changes:
    """A position table without the rows below the first position that is used."""
    offset = setting.spec.position_offset
    if offset:
        yield f"{offset} rows of the position table left out", _more_rows(pieces, -offset)
        yield f"{offset} rows too many in the position table", _more_rows(pieces, offset)


def _more_rows(pieces: Pieces, more: int) -> Pieces:
    def longer(p: Piece) -> Piece:
        rows = dict(p.factors).get("position", 0)
        return p.with_factor("position", "position", rows + more) if p.symbol == "E_position" else p

    return changed(pieces, longer)


def factorised(pieces: Pieces, setting: Setting) -> Changes:
    """Tables of full width in a model whose tables are narrower and projected."""
    spec = setting.spec
    if spec.vocab is None or spec.table_width == spec.d_model:
        return

    def wide(*symbols: str) -> Pieces:
        return changed(pieces, lambda p: p.with_factor("d_embedding", "d_model", spec.d_model) if p.symbol in symbols else p)

    tables = ("E_token", "E_position", "E_segment")
    everything = wide(*tables, "gamma", "beta")
    yield "the tables taken as d_model wide, without a projection", dropped(everything, "W_E", "b_E")
    yield "the token table taken as d_model wide, without a projection", dropped(wide("E_token"), "W_E", "b_E")
    yield "the tables taken as d_model wide", wide(*tables)
    yield "the token table taken as d_model wide", wide("E_token")


def kernels(pieces: Pieces, _: Setting) -> Changes:
    yield "the kernel left out of the convolutions", changed(pieces, lambda p: p.without("kernel") if p.kind == "weight" else p)
    yield "the input features left out of the convolutions", changed(pieces, _one_input)


def _one_input(piece: Piece) -> Piece:
    """A convolution that is counted as its kernel times its output features."""
    labels = [label for label, _ in piece.factors]
    return piece.without(labels[labels.index("kernel") - 1]) if "kernel" in labels[1:] and piece.kind == "weight" else piece


def not_there(pieces: Pieces, setting: Setting) -> Changes:
    """Parts that similar models have: segments, a norm after the embeddings, a second pooler, a gate."""
    spec, symbols = setting.spec, {piece.symbol for piece in pieces}
    token = next((piece for piece in pieces if piece.symbol == "E_token"), None)
    if token is not None and "E_segment" not in symbols:
        yield "a segment table counted", (*pieces, Piece(EMBEDDINGS, "E_segment", "table", (("segment", 2), token.factors[-1])))
    if token is not None and not spec.embedding_norm:
        norm = tuple(Piece(EMBEDDINGS, symbol, "norm", (token.factors[-1],)) for symbol in ("gamma", "beta"))
        yield "a norm after the embeddings counted", (*pieces, *norm)
    if token is not None and {"W_P", "b_P"} <= symbols:
        yield "the pooler counted twice", (*pieces, *(piece for piece in pieces if piece.part == "pooler"))
    if spec.norm_kind == "rms":
        extra = [replace(piece, symbol="beta") for piece in pieces if piece.symbol == "gamma"]
        yield "a beta counted for every gamma, which RMSNorm does not have", (*pieces, *extra)
    first = tuple(piece for piece in pieces if piece.symbol in ("W_1", "b_1"))
    if first and not spec.gated:
        yield "a third, gating matrix counted in the feed-forward block", (*pieces, *first)
        yield "a third matrix without a bias counted in the feed-forward block", (*pieces, *first[:1])
