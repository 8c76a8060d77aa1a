"""Products that count a part as a known mistake would: the label names the part, the document's settings make the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import prod
from typing import NamedTuple

from glassformer.algebra import count
from glassformer.answers.documents.lines import WARNS, words_in
from glassformer.answers.documents.markup import laid_aside
from glassformer.answers.documents.settings import Settings
from glassformer.answers.documents.statements import read_tokens
from glassformer.answers.expressions import Evaluator, NotUnderstoodError, Reading, Real, exactly, plain
from glassformer.answers.expressions.tree import Grouped, Node, Number, Power, Product, Sum, numerals_in, walk
from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.mistakes.counting import rewrites
from glassformer.answers.mistakes.pieces import Pieces, Setting, pieces_of, total
from glassformer.answers.verdicts import Correction
from glassformer.spec import EncoderSpec, GlassformerError
from glassformer.spec.reading import request_from_words

CODES = ("heads_times_full_width", "ffn_one_or_twice", "sequence_length_in_parameters")  # nobody counts so as a convention
SYMBOLS = {
    "W_Q": "query queries w_q wq qkv", "W_K": "key keys w_k wk qkv", "W_V": "value values w_v wv qkv", "W_O": "output w_o wo",
}  # fmt: skip
FFN = ("W_1", "W_2")
COUNTS = frozenset("parameter parameters params weight weights matrix matrices projection projections".split())
PARAMETERS = frozenset(("parameter", "parameters", "params"))
SEVERAL = frozenset("parameters params weights matrices".split())
SCORES = frozenset("matrix map scores".split())
ATTENTION = frozenset("attention score".split())
# Something else is counted, or one of the matrices alone.
OTHERS = frozenset(
    "flop flops op ops operation operations multiplication multiplications mac macs memory activation activations cost costs byte"
    " bytes complexity bias biases gradient gradients".split()
)
ONE_OF_TWO = frozenset(
    "first second each one input output up down w_1 w_2 w1 w2 expansion contraction linear layer layers".split()
)
LAYERS = frozenset("layer layers block blocks encoder encoders decoder decoders stack".split())
EACH = frozenset("per each one single every a".split())


class Use(NamedTuple):
    """What a line was worked out from: the faulty lines before it, and the numbers in it."""

    line: int
    sources: tuple[int, ...]
    numbers: frozenset[Fraction]


@dataclass(frozen=True)
class Miscount:
    """A count as a mistake makes it: its code, what is to be said, and the count as it should be."""

    code: str
    sentence: str
    wrong: int
    value: Real
    correction: Correction
    line: int
    layers: int = 0  # where the product is right if these are layers: a mistake only if they are multiplied in again later
    numbers: frozenset[Fraction] = frozenset()

    @property
    def said(self) -> str:
        return f"{self.correction.rule} = {self.correction.value}"


@dataclass(frozen=True)
class Counted:
    """Compares labelled products with what the settings of the document give."""

    settings: Settings
    parts: dict[int, int]  # line -> part of the document
    latex: bool = False

    def miscount(self, line: str, tree: Node, number: int) -> Miscount | None:
        """What a product counts wrongly, where its value is that of a known mistake and of no convention."""
        sizes = self.settings.at(self.parts.get(number, 0))
        if not _is_product(tree) or "d_model" not in sizes or "heads" not in sizes:
            return None
        words = words_in(read_tokens(laid_aside(line, latex=self.latex), 0))
        if not WARNS.isdisjoint(words) or not OTHERS.isdisjoint(words) or sizes["d_model"] == sizes.get("t"):
            return None
        value = _value(tree)
        spec = _spec(
            tuple(sorted((name, size) for name, size in sizes.items() if name in ("d_model", "heads", "d_k", "d_v", "d_ff")))
        )
        if value is None or spec is None:
            return None
        found = _scores(words, tree, value, spec, sizes) or _weights(words, tree, value, spec, sizes)
        if found is None:
            return None
        code, what, due, formula, layers = found
        sentence = f"{plain(tree)}: {what}. {mistake(code).sentence}"
        again = layers or (spec.heads if code == "heads_times_full_width" and spec.heads in self.settings.others else 0)
        correction = Correction("", formula, (), f"{due:,}")
        return Miscount(code, sentence, value, exactly(due), correction, number, again, _numbers(tree))


Reason = tuple[str, str, int, str, int]  # code, what was done, what is due, its formula, layers that would make it right


def _weights(words: Sequence[str], tree: Node, value: int, spec: EncoderSpec, sizes: dict[str, int]) -> Reason | None:
    """A product that is labelled as the weights of attention or of the feed-forward block."""
    named = _named(words, sizes)
    if named is None or COUNTS.isdisjoint(words):
        return None
    pieces = pieces_of(count(spec))
    layers = _layers(words, sizes)
    if layers is None:
        return None
    mine = tuple(piece for piece in pieces if piece.symbol in named)
    usual = _usual(pieces, spec, ".ffn." if named == FFN else ".attention.")
    setting = Setting(spec, 1, sizes.get("t"))
    numbers = _numbers(tree)
    biased = (*mine, *(piece for piece in pieces if piece.symbol in {symbol.replace("W", "b") for symbol in named}))
    codes = CODES if not PARAMETERS.isdisjoint(words) else CODES[:2]  # a product with the tokens may be of multiplications
    for counted in (mine, biased):
        for rewrite in rewrites(counted, setting):
            if rewrite.code not in codes or total(rewrite.pieces) != value or value in usual:
                continue
            factors = {size for piece in rewrite.pieces for _, size in piece.factors}
            if numbers - {2, 3, 4} <= factors and {size for size in factors if size > 4} <= numbers:
                excused = layers in numbers and value in {one * layers for one in usual}
                return rewrite.code, rewrite.what, total(counted), _formula(counted), layers if excused else 0
    return None


def _named(words: Sequence[str], sizes: dict[str, int]) -> tuple[str, ...] | None:
    """The matrices that a label names."""
    attention = tuple(symbol for symbol, names in SYMBOLS.items() if not set(names.split()).isdisjoint(words))
    if "ffn" in words:
        whole = not SEVERAL.isdisjoint(words) and ONE_OF_TWO.isdisjoint(words) and "d_ff" in sizes
        return FFN if whole and not attention else None
    return attention or None


def _layers(words: Sequence[str], sizes: dict[str, int]) -> int | None:
    """How many layers may be counted together: one where the label says so; None where it speaks of layers otherwise."""
    places = [place for place, word in enumerate(words) if word in LAYERS]
    if not places:
        return sizes.get("layers", 1)
    return 1 if all(not EACH.isdisjoint(words[max(0, place - 2) : place]) for place in places) else None


def _usual(pieces: Pieces, spec: EncoderSpec, block: str) -> set[int]:
    """What the usual conventions count in a layer: both matrices, or any of attention's; with biases or without; of one head."""
    matrices = [piece.size for piece in pieces if block in piece.name and piece.kind == "weight"]
    biases = sum(piece.size for piece in pieces if block in piece.name and piece.kind == "bias")
    fewest = len(matrices) if block == ".ffn." else 1
    sums = {sum(some) for taken in range(fewest, len(matrices) + 1) for some in combinations(matrices, taken)}
    return sums | {weights + biases for weights in sums} | {weights // spec.heads for weights in sums}


def _scores(words: Sequence[str], tree: Node, value: int, spec: EncoderSpec, sizes: dict[str, int]) -> Reason | None:
    """`the attention matrix: 20 × 64`: a width where tokens × tokens is due."""
    named = any(one in ATTENTION and two in SCORES for one, two in pairwise(words))
    t = sizes.get("t")
    if not named or t is None or not all(set(names.split()).isdisjoint(words) for names in SYMBOLS.values()) or "ffn" in words:
        return None
    numbers = sorted(numeral.value for numeral in numerals_in(tree))
    usual = {t * t * heads * layers for heads in (1, spec.heads) for layers in (1, sizes.get("layers", 1))}
    for width, name in ((spec.head_k, "d_k"), (spec.d_model, "d_model")):
        for sides, what in (((t, width), f"tokens × {name}"), ((width, width), f"{name} × {name}")):
            if value not in usual and value == prod(sides) and numbers == sorted(sides) and width != t:
                return "feature_by_feature", f"{what} where tokens × tokens is due", t * t, f"{t} × {t}", 0
    return None


def _formula(pieces: Pieces) -> str:
    """`3 × 512 × 8 × 64`, or a sum where the pieces differ."""
    terms = [" × ".join(str(size) for label, size in piece.factors if label != "layers") for piece in pieces]
    if len(set(terms)) == 1:
        return f"{len(terms)} × {terms[0]}" if len(terms) > 1 else terms[0]
    return " + ".join(terms)


def _is_product(tree: Node) -> bool:
    """Numbers multiplied, a matrix with its bias among them; nothing that is divided, no names."""
    allowed = all(isinstance(node, Product | Number | Power | Grouped | Sum) for node in walk(tree))
    divides = any(sign in ("/", "//", "@", "⊙") for node in walk(tree) if isinstance(node, Product) for sign, _ in node.factors)
    while isinstance(tree, Grouped):
        tree = tree.inner
    return allowed and not divides and isinstance(tree, Product)


def _numbers(tree: Node) -> frozenset[Fraction]:
    return frozenset(numeral.value for numeral in numerals_in(tree))


def _value(tree: Node) -> int | None:
    try:
        value = Evaluator(Reading(), {}).value(tree)
    except NotUnderstoodError:
        return None
    return int(value.low) if isinstance(value, Real) and value.whole else None


@lru_cache(maxsize=64)
def _spec(sizes: tuple[tuple[str, int], ...]) -> EncoderSpec | None:
    try:
        return request_from_words(("layer", *(f"{name}={size}" for name, size in sizes))).spec
    except GlassformerError:
        return None


def is_certain(miscount: Miscount, uses: Sequence[Use]) -> bool:
    """Whether a product is the mistake that it looks like, with the whole document read."""
    if miscount.code == "ffn_one_or_twice":  # the other matrix may have a line of its own, or come in as a factor of two
        others = [use.numbers for use in uses if use.line != miscount.line]
        return not any(miscount.numbers <= numbers or {miscount.wrong, 2} <= numbers for numbers in others)
    return not miscount.layers or _multiplied_later(miscount, uses)


def _multiplied_later(miscount: Miscount, uses: Sequence[Use]) -> bool:
    """Whether what rests on a product is multiplied by the layers further down, so that the product was of one layer."""
    tainted = {miscount.line}
    for use in uses:
        if use.line > miscount.line and not tainted.isdisjoint(use.sources):
            tainted.add(use.line)
            if miscount.layers in use.numbers:
                return True
    return False
