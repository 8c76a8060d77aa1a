"""Shapes and sizes that running text gives to names: `X has dimensions [768, 6]`, `Q ∈ ℝ^{d × t}`, `K is 64 x 32`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SCRIPT = r"(?:[_^](?:\{[^{}\n]{1,20}\}|[A-Za-z0-9]{1,8}))"
NAME = rf"(?:[A-Z]{SCRIPT}{{0,2}}|[a-z]{SCRIPT}{{1,2}})"
DOTS = r"(?:\.\.\.|…|\\[lc]?dots\b)"
JOIN = r"(?:[ \t$]*,[ \t$]*(?:and[ \t$]+)?|[ \t$]+(?:and|&)[ \t$]+)"
NAMES = rf"(?P<names>(?<![\w\\^_}}]){NAME}(?:{JOIN}(?:{NAME}|{DOTS})){{0,8}})(?![\w^_(']|[ \t]*\\cdot)"
SIZE = r"(?:[0-9]{1,7}|[a-zA-Z](?:_(?:\{[^{}\n]{1,20}(?:\{[^{}\n]{1,20}\})?\}|[A-Za-z0-9]{1,8}))?)"
LIST = rf"(?:\[[ \t]*{SIZE}[ \t]*,[ \t]*{SIZE}[ \t]*\]|\([ \t]*{SIZE}[ \t]*,[ \t]*{SIZE}[ \t]*\))"
TIMES = rf"(?:{SIZE}[ \t]*(?:×|\\times|[ \t]x[ \t]|(?<=[0-9])x(?=[0-9])|[ \t]by[ \t])[ \t]*{SIZE})"
KIND = r"(?:dimensions?|dimensionality|shapes?|sizes?)"
ANY = rf"(?P<shape>{LIST}|{TIMES})(?![ \t$]*(?:,[ \t]*[0-9]|\\times|×|\]|\^))"
SPACED = rf"(?P<shape>{TIMES})(?![ \t$]*(?:\\times|×|[-+*/=]|\^))"
SPACE = (
    r"(?:\\mathbb\{R\}|\\mathbf\{R\}|\\R\b|ℝ|R)[ \t]*\^[ \t]*"
    r"\{(?P<shape>(?:[^{}\n]|\{(?:[^{}\n]|\{[^{}\n]{0,20}\}){0,30}\}){1,80})\}"
)
GAP = r"[ \t$]{1,4}"
SYMBOL = r"(?:[A-Za-z](?:_(?:\{(?:\\text\{)?[a-z]{1,8}\}?\}|[a-z]{1,6}))?)"

_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{NAMES}{GAP}(?:(?:all|both|each){GAP})?(?:has|have|with|of|having){GAP}(?:(?:a|the){GAP})?"
        rf"{KIND}{GAP}(?:of{GAP}|is{GAP}|=[ \t]*)?{ANY}",
        rf"\b{KIND}[ \t]+(?:of|for)[ \t$]+(?:the[ \t]+)?(?:(?:matrix|matrices|input)[ \t$]+)?{NAMES}"
        rf"{GAP}(?:is|are|=|will be|would be)[ \t$]{{1,4}}{ANY}",
        rf"{NAMES}{GAP}(?:is|are){GAP}(?:an?{GAP}|all{GAP}|both{GAP})?{SPACED}",
        rf"{NAMES}[ \t$]*(?:\\in\b|∈)[ \t$]*{SPACE}",
    )
)
_RESULT = re.compile(
    r"\b(?:output|result)\b[ \t]*(?:of[ \t$]+(?P<of>(?:\\text\{)?[A-Za-z]{3,20}\}?[ \t]*\([^()\n]{1,40}\)"
    r"|(?:the[ \t]+)?(?:self-|scaled dot-product[ \t]+)?attention))?"
    rf"[ \t$*]{{1,6}}(?:has|is|will have|will be|would be|have){GAP}(?:(?:of|a|the){GAP})?"
    rf"(?:{KIND}{GAP}(?:(?:of|is){GAP})?)?{ANY}",
    re.IGNORECASE,
)
_VALUE = re.compile(
    rf"(?<![\w\\^_}}\d])(?P<names>{SYMBOL}(?:[ \t]*[,=][ \t]*{SYMBOL}){{0,3}})"
    r"[ \t$]*=[ \t$]*(?P<value>[0-9]{1,6})(?![0-9.]|,[0-9]|[ \t$]*(?:[-+*/^×·]|\\times|\\cdot|=))"
)
_NAME = re.compile(NAME)


@dataclass(frozen=True)
class Said:
    """A shape that was given to a name, and where."""

    name: str
    shape: str
    place: int


@dataclass
class Sizes:
    """What a section says: shapes of names, sizes of symbols; who is given two different ones has none."""

    shapes: dict[str, Said] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def add(self, said: Said) -> None:
        known = self.shapes.get(said.name)
        if known is not None and normal(known.shape) != normal(said.shape):
            self.dropped.add(said.name)
        if known is None or said.place < known.place:
            self.shapes[said.name] = said

    @property
    def certain(self) -> dict[str, Said]:
        return {name: said for name, said in self.shapes.items() if name not in self.dropped}


def sizes_in(text: str) -> Sizes:
    """Everything that a text says of shapes."""
    found = Sizes()
    bare = text.replace("**", "  ")
    for pattern in _PATTERNS:
        for match in pattern.finditer(bare):
            for name in names_of(match["names"]):
                found.add(Said(name, match["shape"].replace(" by ", " x "), match.start("shape")))
    values: dict[str, set[str]] = {}
    for match in _VALUE.finditer(bare):
        for name in re.split(r"[,=]", match["names"]):
            values.setdefault(tidy(name), set()).add(match["value"])
    found.values = {name: numbers.pop() for name, numbers in values.items() if len(numbers) == 1}
    return found


def results_in(text: str) -> Iterator[tuple[str, str, int]]:
    """`the output of Attention(Q, K, V) has the dimension of [768, 6]`: what of, the shape, and the place."""
    for match in _RESULT.finditer(text.replace("**", "  ")):
        yield match["of"] or "", match["shape"].replace(" by ", " x "), match.start("shape")


def names_of(text: str) -> list[str]:
    """`W^Q, W^K and W^V`; of a family with dots, `Q_1, …, Q_S`, the one with a running index."""
    names = [tidy(match[0]) for match in _NAME.finditer(text)]
    if not re.search(DOTS, text):
        return [name for name in names if not name.endswith(("^T", "^t", "^top"))]
    bases = {re.sub(r"[0-9]+$|[A-Z]$", "", name) for name in names}
    return [f"{base}i" for base in bases if base.endswith(("_", "^"))] if len(bases) == 1 else []


def tidy(name: str) -> str:
    """`d_{\\text{model}}` as `d_model`."""
    return re.sub(r"\\text|\\mathrm|[{}\s$]", "", name)


def normal(shape: str) -> str:
    """A shape without its manner of writing."""
    return re.sub(r"[\s\[\](){}$]", "", shape.replace("\\times", "×").replace(",", "×").replace(" x ", "×").replace(" by ", "×"))
