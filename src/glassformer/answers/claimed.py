"""What somebody says the answer is: a number, a shape or a matrix, judged at its own precision."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from glassformer.spec import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.answers.asked.growth import Growth

MOST_CHARACTERS = 20_000
MOST_NUMBERS = 4096
MOST_SIZES = 8

SUFFIXES: dict[str, int | Fraction] = {
    "k": 10**3,
    "thousand": 10**3,
    "m": 10**6,
    "mio": 10**6,
    "mn": 10**6,
    "million": 10**6,
    "millions": 10**6,
    "millionen": 10**6,
    "b": 10**9,
    "bn": 10**9,
    "g": 10**9,
    "billion": 10**9,
    "billions": 10**9,
    "mrd": 10**9,
    "milliarden": 10**9,
    "milliards": 10**9,
    "t": 10**12,
    "trillion": 10**12,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
    "kilobytes": 10**3,
    "megabytes": 10**6,
    "gigabytes": 10**9,
    "mebibytes": 2**20,
    "gibibytes": 2**30,
    "gflops": 10**9,
    "gflop": 10**9,
    "tflops": 10**12,
    "tflop": 10**12,
    "mflops": 10**6,
    "mflop": 10**6,
    "gmacs": 10**9,
    "gmac": 10**9,
    "mmacs": 10**6,
    "percent": Fraction(1, 100),
    "%": Fraction(1, 100),
}
# Words that carry no size.
FILLERS = frozenset(
    """params parameters parameter flops flop macs weights bytes elements in total multiply-adds tokens trainable learnable
    entries numbers features dimensions patches of memory floats""".split()
)
ABOUT = {"about", "approximately", "approx", "approx.", "roughly", "around", "circa", "ca.", "nearly", "almost", "~", "≈"}
_GROUPED = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d+)?")  # thousands, or lakhs


@dataclass(frozen=True)
class Number:
    """A number and how far the truth may lie from it for the claim to be right: half a unit of its last digit."""

    value: Fraction
    room: Fraction
    text: str

    def allows(self, truth: Fraction | int | float) -> bool:
        """Whether the truth rounds to what was claimed (a hair of room for floats, and for rounding a 5 either way)."""
        gap = abs(Fraction(truth) - self.value)
        hair = Fraction(1, 10**9) * max(abs(self.value), Fraction(1)) if isinstance(truth, float) else 0
        return gap <= self.room + hair

    @property
    def exact(self) -> bool:
        return self.room == 0


@dataclass(frozen=True)
class Shape:
    """The sizes of a tensor, as claimed."""

    sizes: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Grid:
    """A vector or a matrix of numbers, each with its own precision."""

    cells: tuple[tuple[int, ...], ...]  # index of each number
    numbers: tuple[Number, ...]
    text: str

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(max(index[axis] for index in self.cells) + 1 for axis in range(len(self.cells[0])))


@dataclass(frozen=True)
class Class:
    """A complexity class, as claimed."""

    growth: Growth
    text: str


Claim: TypeAlias = Number | Shape | Grid


def parse_number(text: str) -> Number:
    """`27648`, `27,648`, `about 110 million`, `110M`, `0.62`, `1.1e8`, `2.5 × 10^6`."""
    found = _number(text)
    if found is None:
        raise GlassformerError(
            f"'{shown(text)}' is not a number that can be judged: write 27648, 27,648, 0.62, 110M or 'about 110 million'."
        )
    return found


def parse_shape(text: str) -> Shape:
    """`[1, 5, 768]`, `(5, 768)`, `64 x 32`, `64 × 32`, `64 by 32`."""
    body = text.strip().strip("[](){}").strip()
    words = re.split(r"\s*(?:,|x|X|×|\*|\bby\b)\s*", body)
    if len(text) > 400 or not 0 < len(words) <= MOST_SIZES or not all(re.fullmatch(r"[0-9_]{1,12}", word) for word in words):
        raise GlassformerError(f"'{shown(text)}' is not a shape: write 64 x 32 or [1, 5, 768].")
    return Shape(tuple(int(word.replace("_", "")) for word in words), text)


def parse_grid(text: str) -> Grid:
    """`[0.8044, 0.1956]`, `[[1, 2], [3, 4]]`; a bare number is a grid of one."""
    if len(text) > MOST_CHARACTERS:
        raise GlassformerError(f"the claim has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read.")
    found = list(_grid(text))
    if not found or len({len(index) for index, _ in found}) != 1:
        raise GlassformerError(
            f"'{shown(text)}' is not a vector or matrix of numbers: write [0.6089, 0.6089] or [[1, 2], [3, 4]]."
        )
    return Grid(tuple(index for index, _ in found), tuple(number for _, number in found), text)


def _number(text: str) -> Number | None:
    words = text.strip().replace("−", "-").replace("\u202f", "").replace("\u00a0", " ").replace("$", "").lower()
    if len(words) > 200:
        return None
    about, words = _without_about(words)
    matched = re.match(r"([+-]?(?:\d[\d_, ]*\d|\d)?(?:\.\d+)?)(?:e([+-]?\d{1,3}))?(.*)$", words, flags=re.S)
    if matched is None or not re.search(r"\d", matched[1]) or len(matched[1]) > 60:
        return None
    digits = re.sub(r"[_, ]", "", matched[1])
    if "," in matched[1] and (matched[2] or not _GROUPED.fullmatch(matched[1].strip())):
        return None
    factor = _factor(matched[3].strip())
    if factor is None:
        return None
    factor *= Fraction(10) ** int(matched[2] or 0)
    decimals = len(digits.partition(".")[2])
    unit = Fraction(1, 10**decimals)
    rounded = about or decimals > 0 or factor != 1
    if rounded and decimals == 0 and digits.strip("+-0"):  # zeros at the end of a rounded number say nothing: 110M, 340M
        unit = Fraction(10 ** (len(digits) - len(digits.rstrip("0"))))
    return Number(Fraction(digits) * factor, unit * factor / 2 if rounded else Fraction(0), text)


def _without_about(words: str) -> tuple[bool, str]:
    """Whether the number is said to be approximate, and the text without those words."""
    about = False
    pattern = r"^(?:[~≈=]|" + "|".join(re.escape(word) for word in sorted(ABOUT, key=len, reverse=True)) + r")\s*"
    while (stripped := re.sub(pattern, "", words)) != words:  # `about ~ 110`
        about, words = about or not words.startswith("="), stripped
    return about, words


def _factor(rest: str) -> Fraction | None:
    """What follows the digits: a power of ten, a suffix, words without a size; None where it is something else."""
    factor = Fraction(1)
    power = re.match(r"(?:[x×*·]|\\times|\\cdot)\s*10\s*\^?\s*\{?([+-]?\d{1,3})\}?", rest)
    if power:
        factor, rest = Fraction(10) ** int(power[1]), rest[power.end() :].strip()
    for word in rest.split():
        if word.rstrip(".") in SUFFIXES:
            factor *= Fraction(SUFFIXES[word.rstrip(".")])
        elif word.rstrip(".,") not in FILLERS:
            return None
    return factor


def _grid(text: str, depth: int = 0) -> Iterator[tuple[tuple[int, ...], Number]]:
    body = text.strip()
    if depth > 6:
        return
    if not body.startswith(("[", "(")):
        number = _number(body)
        if number is not None:
            yield (), number
        return
    for place, part in enumerate(_split(body[1:-1])):
        for index, number in _grid(part, depth + 1):
            yield (place, *index), number


def _split(body: str) -> Sequence[str]:
    """The parts between commas (or semicolons, or blanks) at the outermost level."""
    parts, depth, start = [], 0, 0
    for position, sign in enumerate(body):
        depth += (sign in "[(") - (sign in "])")
        if sign in ",;" and depth == 0:
            parts.append(body[start:position])
            start = position + 1
    parts.append(body[start:])
    if len(parts) == 1 and not re.search(r"[\[(]", body):
        parts = body.split()
    if len(parts) > MOST_NUMBERS:
        return []
    return [part for part in parts if part.strip()]
