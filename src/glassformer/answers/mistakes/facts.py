"""Facts about the model, for the sentences of the catalogue: its norms, biases, matrices and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from string import Formatter

from glassformer.algebra.ledger import count
from glassformer.answers.mistakes.catalogue import Mistake
from glassformer.answers.mistakes.finding import Finding
from glassformer.answers.mistakes.pieces import Piece, Pieces, pieces_of
from glassformer.spec import EncoderSpec


def with_facts(findings: Iterable[Finding], spec: EncoderSpec) -> tuple[Finding, ...]:
    """Return the findings with the sentences that have facts about this model."""
    return tuple(replace(one, mistakes=tuple(_with_facts(mistake, spec) for mistake in one.mistakes)) for one in findings)


def _with_facts(mistake: Mistake, spec: EncoderSpec) -> Mistake:
    if not mistake.here:
        return mistake
    pieces = pieces_of(count(spec))
    wanted = [name for _, name, _, _ in Formatter().parse(mistake.here) if name]
    facts = {name: FACTS[name](pieces) for name in wanted}
    return mistake._replace(sentence=mistake.here.format(**facts)) if all(facts.values()) else mistake


def _norms(pieces: Pieces) -> str:
    """`layers.*.norm_1 and layers.*.norm_2, each with a gamma of 768 entries and no beta`."""
    norms = [piece for piece in pieces if piece.kind == "norm"]
    places = dict.fromkeys(piece.block.any_layer for piece in norms)
    alike = {tuple((p.symbol, p.factors[-1][1]) for p in norms if p.block.any_layer == place) for place in places}
    if not norms or (len(alike) > 1 and len({len(one) for one in alike}) > 1):
        return ""
    symbols = [symbol for symbol, _ in next(iter(alike))]
    sizes = sorted({size for one in alike for _, size in one})
    vectors = " and ".join(f"a {symbol}" for symbol in symbols) + (" and no beta" if "beta" not in symbols else "")
    return f"{_listed(places)}, each with {vectors} of {' or '.join(f'{size:,}' for size in sizes)} entries"


def _symbols(*starts: str, part: str = "") -> Callable[[Pieces], str]:
    """Return the tensors whose symbols start so, with their sizes: `W_1 (768 × 3072)`."""

    def found(pieces: Pieces) -> str:
        chosen = [piece for piece in pieces if piece.symbol.startswith(starts) and piece.part == (part or piece.part)]
        return _listed(dict.fromkeys(f"{piece.symbol} ({_shape(piece)})" for piece in chosen))

    return found


def _shape(piece: Piece) -> str:
    return " × ".join(f"{size:,}" for name, size in piece.factors if name != "layers")


def _listed(words: Iterable[str]) -> str:
    *most, last = [*words] or [""]
    return f"{', '.join(most)} and {last}" if most else last


FACTS: dict[str, Callable[[Pieces], str]] = {
    "norms": _norms,
    "ffn": _symbols("W_1", "W_2", "W_3", part="layers"),
    "ffn_biases": lambda pieces: _symbols("b_1", "b_2", "b_3", part="layers")(pieces) or "no feed-forward biases",
    "attention_biases": lambda pieces: _symbols("b_Q", "b_K", "b_V", "b_O", part="layers")(pieces) or "no attention biases",
    "tables": _symbols("E_", "W_E"),
}
