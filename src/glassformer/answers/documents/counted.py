"""Labelled products that count a part wrongly, by a known mistake; the settings of the document define the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import prod
from typing import NamedTuple

from glassformer.algebra import count
from glassformer.answers.documents.lines import Line
from glassformer.answers.documents.settings import Settings
from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.mistakes.counting import rewrites
from glassformer.answers.mistakes.pieces import Pieces, Setting, pieces_of, total
from glassformer.answers.verdicts import Correction, Finding, Judged
from glassformer.configs.reading import request_from_words
from glassformer.errors import GlassformerError
from glassformer.expressions import Evaluator, NotUnderstoodError, Reading, Real, exactly, plain
from glassformer.expressions.tree import Grouped, Node, Number, Power, Product, Sum, numerals_in, walk
from glassformer.program.roles import BlockKind
from glassformer.spec import EncoderSpec

CODES = ("heads_times_full_width", "ffn_one_or_twice")  # mistakes that are never a convention
FIELDS = ("d_model", "heads", "d_k", "d_v", "d_ff")
SYMBOLS = {
    "W_Q": "query queries w_q wq qkv", "W_K": "key keys w_k wk qkv", "W_V": "value values w_v wv qkv", "W_O": "output w_o wo",
}  # fmt: skip
FFN = ("W_1", "W_2")
COUNTS = frozenset("parameter parameters params weight weights matrix matrices projection projections".split())
SEVERAL = frozenset("parameters params weights matrices".split())
SCORES = frozenset("matrix map scores".split())
ATTENTION = frozenset("attention score".split())
# Words for other quantities, or for one of the matrices.
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
    """What a line was computed from: earlier wrong lines, and the numbers in it."""

    line: int
    sources: tuple[int, ...]
    numbers: frozenset[Fraction]


@dataclass(frozen=True)
class Miscount:
    """A wrong count: the code of its mistake, the sentence for the student, and the right count."""

    code: str
    sentence: str
    wrong: int
    value: Real
    correction: Correction
    line: int
    layers: int = 0  # a factor that may be the number of layers: a mistake only if the layers are multiplied again later
    numbers: frozenset[Fraction] = frozenset()

    def judged(self, arithmetic: Judged) -> Judged:
        """Return the verdict on the line: wrong for this reason, followed by any arithmetic error."""
        finding = Finding((mistake(self.code),), (self.sentence,), self.wrong, corrections=(self.correction,))
        besides = arithmetic.notes if arithmetic.verdict == "wrong" else ()
        notes = (self.sentence, f"Correct: {self.correction.rule} = {self.correction.value}.", *besides)
        return replace(arithmetic, verdict="wrong", findings=(finding, *arithmetic.findings), notes=notes)


@dataclass(frozen=True)
class Counted:
    """Compares labelled products with what the settings of the document give."""

    settings: Settings
    lines: Mapping[int, Line]

    def miscount(self, number: int, tree: Node) -> Miscount | None:
        """Return the miscount in a product, if its value is that of a known mistake and not of a convention."""
        line = self.lines.get(number)
        sizes = self.settings.at(line.part) if line is not None and _is_product(tree) else {}
        value, spec = _value(tree), _spec(tuple(sorted((name, size) for name, size in sizes.items() if name in FIELDS)))
        if line is None or value is None or spec is None or line.warns or sizes["d_model"] == sizes.get("t"):
            return None
        if not OTHERS.isdisjoint(line.words):
            return None
        found = _scores(line.words, tree, value, spec, sizes) or _weights(line.words, tree, value, spec, sizes)
        if found is None:
            return None
        code, what, due, formula, layers = found
        sentence = f"{plain(tree)}: {what}. {mistake(code).sentence}"
        again = layers or (spec.heads if code == "heads_times_full_width" and spec.heads in self.settings.others else 0)
        correction = Correction("", formula, (), f"{due:,}")
        return Miscount(code, sentence, value, exactly(due), correction, number, again, _numbers(tree))


Reason = tuple[str, str, int, str, int]  # code, what was done, right value, its formula, layers that would make it right


def _weights(words: Sequence[str], tree: Node, value: int, spec: EncoderSpec, sizes: Mapping[str, int]) -> Reason | None:
    """Return the miscount in a product that is labelled as the weights of attention or of the feed-forward block."""
    named, layers = _named(words, sizes), _layers(words, sizes)
    if named is None or layers is None or COUNTS.isdisjoint(words):
        return None
    pieces, numbers = pieces_of(count(spec)), _numbers(tree)
    usual = _usual(pieces, spec, "ffn" if named == FFN else "attention")
    mine = tuple(piece for piece in pieces if piece.symbol in named)
    matrices = {piece.name for piece in mine}
    biased = tuple(piece for piece in pieces if piece.name in matrices or piece.bias_of in matrices)
    for counted in (mine, biased) if value not in usual else ():
        for rewrite in rewrites(counted, Setting(spec, 1, None)):
            factors = {size for piece in rewrite.pieces for _, size in piece.factors}
            alike = numbers - {2, 3, 4} <= factors and {size for size in factors if size > 4} <= numbers
            if rewrite.code in CODES and total(rewrite.pieces) == value and alike:
                excused = layers in numbers and value in {one * layers for one in usual}
                return rewrite.code, rewrite.what, total(counted), _formula(counted), layers if excused else 0
    return None


def _named(words: Sequence[str], sizes: Mapping[str, int]) -> tuple[str, ...] | None:
    """Return the matrices that a label names."""
    attention = tuple(symbol for symbol, names in SYMBOLS.items() if not set(names.split()).isdisjoint(words))
    if "ffn" in words:
        whole = not SEVERAL.isdisjoint(words) and ONE_OF_TWO.isdisjoint(_without_each_layer(words)) and "d_ff" in sizes
        return FFN if whole and not attention else None
    return attention or None


def _without_each_layer(words: Sequence[str]) -> list[str]:
    """Return the words without `per layer` and `each layer`, which name neither of the two matrices."""
    pairs = [place for place, (one, two) in enumerate(pairwise(words)) if one in EACH and two in LAYERS]
    return [word for place, word in enumerate(words) if place not in pairs and place - 1 not in pairs]


def _layers(words: Sequence[str], sizes: Mapping[str, int]) -> int | None:
    """Return how many layers may be counted together: 1 if the label says so, None if it is unclear."""
    places = [place for place, word in enumerate(words) if word in LAYERS]
    if not places:
        return sizes.get("layers", 1)
    return 1 if all(not EACH.isdisjoint(words[max(0, place - 2) : place]) for place in places) else None


def _usual(pieces: Pieces, spec: EncoderSpec, kind: BlockKind) -> set[int]:
    """Return the counts of a layer under usual conventions: all matrices or some, with or without biases, or of one head."""
    matrices = [piece.size for piece in pieces if piece.block.kind == kind and piece.kind == "weight"]
    biases = sum(piece.size for piece in pieces if piece.block.kind == kind and piece.kind == "bias")
    fewest = len(matrices) if kind == "ffn" else 1
    sums = {sum(some) for taken in range(fewest, len(matrices) + 1) for some in combinations(matrices, taken)}
    return sums | {weights + biases for weights in sums} | {weights // spec.heads for weights in sums}


def _scores(words: Sequence[str], tree: Node, value: int, spec: EncoderSpec, sizes: Mapping[str, int]) -> Reason | None:
    """Return the miscount in `the attention matrix: 20 × 64`, which should be tokens × tokens."""
    named = any(one in ATTENTION and two in SCORES for one, two in pairwise(words))
    t = sizes.get("t")
    if not named or t is None or not all(set(names.split()).isdisjoint(words) for names in SYMBOLS.values()) or "ffn" in words:
        return None
    numbers = sorted(numeral.value for numeral in numerals_in(tree))
    usual = {t * t * heads * layers for heads in (1, spec.heads) for layers in (1, sizes.get("layers", 1))}
    for width, name in ((spec.head_k, "d_k"), (spec.d_model, "d_model")):
        for sides, what in (((t, width), f"tokens × {name}"), ((width, width), f"{name} × {name}")):
            if value not in usual and value == prod(sides) and numbers == sorted(sides) and width != t:
                return "feature_by_feature", f"{what} instead of tokens × tokens", t * t, f"{t} × {t}", 0
    return None


def _formula(pieces: Pieces) -> str:
    """Return the formula of pieces: `3 × 512 × 8 × 64`, or a sum if the pieces differ."""
    terms = [" × ".join(str(size) for label, size in piece.factors if label != "layers") for piece in pieces]
    if len(set(terms)) == 1:
        return f"{len(terms)} × {terms[0]}" if len(terms) > 1 else terms[0]
    return " + ".join(terms)


def _is_product(tree: Node) -> bool:
    """Return whether a tree is a product of numbers (possibly with biases added), without division and names."""
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
    """Return a layer with these sizes, if its width and number of heads are known."""
    if not {"d_model", "heads"} <= {name for name, _ in sizes}:
        return None
    try:
        return request_from_words(("layer", *(f"{name}={size}" for name, size in sizes))).spec
    except GlassformerError:
        return None


def is_certain(miscount: Miscount, uses: Sequence[Use], lines: Sequence[Line]) -> bool:
    """Return whether a miscount is certain, given the whole document."""
    if miscount.code == "ffn_one_or_twice":  # the other matrix may be on another line, or a factor of two
        others = [use.numbers for use in uses if use.line != miscount.line]
        return not any(miscount.numbers <= numbers or {miscount.wrong, 2} <= numbers for numbers in others)
    return not miscount.layers or _of_one_layer(miscount, uses, {line.number: line.words for line in lines})


def _of_one_layer(miscount: Miscount, uses: Sequence[Use], labels: Mapping[int, Sequence[str]]) -> bool:
    """Return whether a result of the product is later called that of one layer, or multiplied by the layers."""
    tainted = {miscount.line}
    for use in uses:
        if use.line > miscount.line and not tainted.isdisjoint(use.sources):
            tainted.add(use.line)
            words = labels.get(use.line, ())
            if miscount.layers in use.numbers or (not LAYERS.isdisjoint(words) and _layers(words, {}) == 1):
                return True
    return False
