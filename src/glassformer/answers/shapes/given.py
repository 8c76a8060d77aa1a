"""What the reader says of sizes: `X=768x6`, `W_Q=d_k x d`, `b=768`, `heads=8`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest
from typing import TypeAlias

from glassformer.answers.shapes.nodes import Name, key_of, name
from glassformer.answers.shapes.scripts import Token
from glassformer.answers.shapes.sizes import LARGEST, Size
from glassformer.answers.shapes.tokens import LONGEST, tokens
from glassformer.spec import GlassformerError, shown

Shape: TypeAlias = tuple[Size, ...]
Written: TypeAlias = str | int | Sequence[int | str]

MOST_GIVEN = 300
ENTRY = re.compile(r"(?:^|(?<=[\s,;]))([^\W\d][\w^{}()\\']{0,60})\s*=\s*")
SMALL_SYMBOL = r"[A-Za-z](?:_[A-Za-z0-9]+)?"
EXAMPLE = "write it as in X=768x6, W_Q=d_k x d or d_k=64"


@dataclass
class Given:
    """Shapes and numbers by name. A single size is a vector's length or a number: how the name is used decides."""

    names: dict[str, Name] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)

    def add(self, given: Name, shape: Shape) -> None:
        if given.key in self.shapes and self.shapes[given.key] != shape:
            first, second = (" × ".join(map(str, each)) for each in (self.shapes[given.key], shape))
            raise GlassformerError(f"{given.key} is given twice: as {first} and as {second}.")
        self.names[given.key] = given
        self.shapes[given.key] = shape
        if len(self.shapes) > MOST_GIVEN:
            raise GlassformerError(f"more than {MOST_GIVEN} shapes are given: check the formula in parts.")

    @property
    def numbers(self) -> dict[str, Size]:
        """Values of symbols: every name that was given a single size."""
        return {key: shape[0] for key, shape in self.shapes.items() if len(shape) == 1}


def read_words(words: Iterable[str]) -> Given:
    """`X=768x6 W_Q=d_k x d heads=8`, as a command line splits it or as one piece of text."""
    text = " ".join(words)
    if len(text) > LONGEST:
        raise GlassformerError(f"the shapes have more than {LONGEST:,} characters: check the formula in parts.")
    given = Given()
    starts = list(ENTRY.finditer(text))
    if text.strip() and (not starts or text[: starts[0].start()].strip(" ,;")):
        raise GlassformerError(f"'{shown(text.strip())}' gives no shape: {EXAMPLE}.")
    for start, after in zip_longest(starts, starts[1:]):
        value = text[start.end() : after.start() if after else None].strip(" ,;\n\t")
        given.add(read_name(start[1]), read_shape(value, start[1]))
    return given


def read_mapping(shapes: Mapping[str, Written]) -> Given:
    """The same from Python: `{"X": "768x6", "W_Q": (768, 768), "d_k": 64}`."""
    given = Given()
    for word, value in shapes.items():
        text = value if isinstance(value, str) else str(value) if isinstance(value, int) else "×".join(map(str, value))
        given.add(read_name(str(word)), read_shape(text, str(word)))
    return given


def read_name(word: str) -> Name:
    found = tokens(word)
    if [token.kind for token in found] == ["name", "prime", "end"]:
        return name(found[0].text + "'", *found[0].indexes)
    if [token.kind for token in found] != ["name", "end"]:
        raise GlassformerError(f"'{shown(word)}' is no name: {EXAMPLE}.")
    return name(found[0].text, *found[0].indexes)


def read_shape(text: str, of: str) -> Shape:
    """Sizes between `x`, `×`, `\\times` or commas; one size is a vector or a number."""
    inner = re.sub(r"\\times(?![A-Za-z])|✕|\\cdot(?![A-Za-z])", lambda sign: "·" if "cdot" in sign[0] else "×", text.strip())
    inner = re.sub(r"^(?:\\mathbb\{R\}|ℝ|R)\^", "", inner)
    while len(inner) > 1 and inner[0] + inner[-1] in ("[]", "()", "{}") and _closes_last(inner):
        inner = inner[1:-1].strip()
    inner = re.sub(r"\s[xX]\s|(?<=[0-9)])[xX](?=[0-9A-Za-z(])|(?<=[0-9A-Za-z)])[xX](?=[0-9(])", "×", inner)
    if "×" not in inner and "," not in inner:
        letters = re.fullmatch(rf"({SMALL_SYMBOL})x({SMALL_SYMBOL})", inner)
        inner = f"{letters[1]}×{letters[2]}" if letters else inner
    sizes = tuple(_size(part, text, of) for part in re.split("[×,]", inner))
    if len(sizes) > 2:
        raise GlassformerError(
            f"{shown(of)}={shown(text)} has {len(sizes)} axes: a formula is about matrices, so leave the batch and the heads out."
        )
    return sizes


def _closes_last(text: str) -> bool:
    """Whether the first bracket is closed by the last sign, as in (d/S × m) but not in (d/S) × (m)."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return place == len(text) - 1
    return False


def _size(part: str, text: str, of: str) -> Size:
    entry = f"{shown(of)}={shown(text)}"
    if len(part) > 80 or re.search(r"(^|\s)[xX]\s*$|^\s*[xX]\s|^\s*[0-9]+\s*\*\s*[0-9]+\s*$", part):
        raise GlassformerError(f"{entry} is not a shape: {EXAMPLE}.")
    reader = SizeReader(tokens(part), entry)
    size = reader.whole()
    number = size.number
    if not size.symbols and (number is None or not 1 <= number <= LARGEST):
        raise GlassformerError(f"{entry} is not allowed: a size is a whole number from 1 to {LARGEST:,}.")
    return size


class SizeReader:
    """`768`, `d`, `d/S`, `2 d`, `h·d_v`, `(d_k + d_v)`."""

    def __init__(self, line: list[Token], entry: str) -> None:
        self.line = line
        self.at = 0
        self.entry = entry

    def whole(self) -> Size:
        size = self.sum(deep=0)
        if self.line[self.at].kind != "end":
            self.refuse()
        return size

    def refuse(self) -> None:
        raise GlassformerError(f"{self.entry} is not a shape: {EXAMPLE}.")

    def take(self, *kinds: str) -> Token | None:
        token = self.line[self.at]
        self.at += token.kind in kinds
        return token if token.kind in kinds else None

    def sum(self, deep: int) -> Size:
        size = self.product(deep)
        while self.take("+"):
            size = size + self.product(deep)
        return size

    def product(self, deep: int) -> Size:
        size = self.one(deep)
        while True:
            if self.take("/"):
                size = size / self.one(deep)
            elif self.take("*") or self.line[self.at].kind in ("name", "number", "(", "{", "frac"):
                size = size * self.one(deep)
            else:
                return size

    def one(self, deep: int) -> Size:
        if deep > 8:
            self.refuse()
        if token := self.take("number"):
            if token.value == 0:
                raise GlassformerError(f"{self.entry} is not allowed: a size is a whole number from 1 to {LARGEST:,}.")
            return Size.of(token.value or Fraction(1))
        if token := self.take("name"):
            return Size.of(key_of(token.text, token.indexes))
        if self.take("frac"):
            above = self.one(deep + 1)
            return above / self.one(deep + 1)
        if token := self.take("(", "{"):
            size = self.sum(deep + 1)
            if not self.take({"(": ")", "{": "}"}[token.kind]):
                self.refuse()
            return size
        self.refuse()
        raise AssertionError
