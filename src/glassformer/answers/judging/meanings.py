"""What a claim can mean: a number in the digits of any country or in words, a formula in the spec's letters, a shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from glassformer.answers.claimed import ABOUT, MOST_SIZES, Number, Shape, parse_number, parse_shape
from glassformer.answers.expressions import Array, NotUnderstoodError, evaluate, exactly
from glassformer.answers.expressions.exact import Real
from glassformer.program import Program
from glassformer.spec import GlassformerError

MOST_CHARACTERS = 400
MANY_ZEROS = 3
ROUGHLY = 10  # `about half`: within a tenth of it

_ONES = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
        eighteen nineteen""".split()
    )
}
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_FRACTIONS = {
    "half": Fraction(1, 2), "a half": Fraction(1, 2), "one half": Fraction(1, 2), "one third": Fraction(1, 3),
    "a third": Fraction(1, 3), "two thirds": Fraction(2, 3), "a quarter": Fraction(1, 4), "one quarter": Fraction(1, 4),
    "three quarters": Fraction(3, 4), "one fifth": Fraction(1, 5), "a fifth": Fraction(1, 5),
}  # fmt: skip

_EUROPEAN = re.compile(r"([+-]?)(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d+))?(?![\d.,])(.*)", flags=re.S)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def numbers_meant(text: str, program: Program, unit: str = "") -> list[Number]:
    """The numbers that a claim can mean, the likeliest first; `unit` is what a bare number is meant in."""
    said = cleaned(text)
    sides = [side.strip() for side in re.split(r"=|≈|≃|\\approx", said) if side.strip()]
    last = sides[-1] if sides else ""
    found = side_meant(last, program, unit)
    if unit in ("percent", "%"):  # 0.22 for 22 %
        found += [number for number in side_meant(last, program) if abs(number.value) <= 1]
    loosely = re.search(r"≈|≃|\\approx", said) is not None and len(sides) == 1
    numbers = [_rounded(number) if loosely and number.exact else number for number in found]
    numbers += [_rounded(number) for number in numbers if _plainly_rounded(number)]
    unique: dict[tuple[Fraction, Fraction], Number] = {}
    for number in numbers:
        unique.setdefault((number.value, number.room), Number(number.value, number.room, text))
    if not unique:
        parse_number(text)  # says how a number is written
        raise GlassformerError(f"'{text}' cannot be judged.")
    return list(unique.values())


def side_meant(text: str, program: Program, unit: str = "") -> list[Number]:
    """The numbers that one side of a chain can mean, the likeliest first; none where it is not understood."""
    found = [_in_digits(text, unit), _european(text, unit), _in_words(text), _worked_out(text, program)]
    return [number for number in found if number is not None]


def shape_meant(text: str, program: Program) -> Shape:
    """A shape in numbers or in the spec's own letters: `n × d_model`, `(batch, heads, t, t)`, `R^{10×64}`."""
    plain = cleaned(text).rpartition("=")[2]
    plain = re.sub(r"torch\.size|\bshape\b|\\in\b|∈", " ", plain, flags=re.I)
    plain = re.sub(r"^\s*(?:[a-z]\w*\s+)?\\?(?:mathbb|mathbf)?\{?[rℝ]\}?\s*\^\s*", "", plain, flags=re.I)
    plain = re.sub(r"\\times|\\cdot", "×", plain).strip().strip("[](){} ")
    words = [word.strip() for word in re.split(r"\s*(?:,|×|\*|\bx\b|(?<=\d)x(?=\d)|\bby\b)\s*", plain) if word.strip()]
    sizes = [_size(word, program) for word in words]
    if 0 < len(sizes) <= MOST_SIZES and len(text) <= MOST_CHARACTERS and all(size is not None for size in sizes):
        return Shape(tuple(size for size in sizes if size is not None), text)
    return parse_shape(text)


def letters(program: Program) -> dict[str, int]:
    """The letters that people write for the sizes of an encoder; those that mean two things (H, N) are left out."""
    spec, sizes = program.spec, program.sizes
    pairs = [
        (spec.d_model, "d D d_model d_{model} dmodel hidden_size"),
        (spec.heads, "h heads n_heads num_heads n_h"),
        (spec.head_k, "d_k dk d_{k} d_h d_head head_dim"),
        (spec.head_v, "d_v dv d_{v}"),
        (spec.ffn_width, "d_ff dff d_{ff} d_f f"),
        (spec.layers, "L layers n_layers num_layers"),
        (sizes.t, "n t T S s l seq seq_len sequence_length length tokens"),
        (sizes.batch, "b B batch batch_size"),
        (spec.classes, "C K classes num_classes"),
        *([(spec.vocab, "V vocab vocab_size")] if spec.vocab else []),
    ]
    return {name: size for size, names in pairs for name in names.split()}


def cleaned(text: str) -> str:
    """Without what only sets a number: dollar signs, thin spaces, apostrophes between digits, raised figures."""
    plain = text.replace("$", "").replace("{,}", "").replace("\\,", "").replace("−", "-").strip()
    plain = re.sub(r"(?<=\d)['’\u2009\u202f\u00a0](?=\d{3}(?!\d))", "", plain)
    plain = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda raised: f"^{raised[0].translate(_SUPERSCRIPTS)}", plain)
    return re.sub(r"\\(?:left|right|text|mathrm)\b", "", plain).rstrip(".;").strip()


def _in_digits(text: str, unit: str) -> Number | None:
    bare = re.fullmatch(r"[\s~≈<>]*(?:about|approx\.?|approximately|roughly|around|circa|ca\.)?[\d\s.,_+-]+", text, flags=re.I)
    try:
        return parse_number(f"{text} {unit}" if unit and bare else text)
    except GlassformerError:
        return None


def _european(text: str, unit: str) -> Number | None:
    """`109.482.240`, `23,4 Mio`, `0,62`: a comma for the decimals, points between the thousands."""
    about, _, rest = text.rpartition(" ") if not re.search(r"\d", text.split(" ")[0]) else ("", "", text)
    found = _EUROPEAN.fullmatch(rest if about else text)
    if not text or found is None:
        words = re.fullmatch(r"([^\d+-]*)(.*)", text, flags=re.S)
        found = _EUROPEAN.fullmatch(words[2]) if words else None
        about = words[1] if words else ""
    if found is None or ("." not in found[2] and found[3] is None):
        return None
    decimals = f".{found[3]}" if found[3] else ""
    return _in_digits(f"{about} {found[1]}{found[2].replace('.', '')}{decimals}{found[4]}".strip(), unit)


def _zeros(number: Number) -> int:
    digits = str(abs(number.value.numerator))
    return len(digits) - len(digits.rstrip("0")) if number.value and number.value.denominator == 1 else 0


def _rounded(number: Number) -> Number:
    """The same number, its last digits that are zero saying nothing."""
    return Number(number.value, max(number.room, Fraction(10 ** _zeros(number), 2)), number.text)


def _plainly_rounded(number: Number) -> bool:
    """`110,000,000`: at least three zeros after at least two digits. That is also, after the exact one, a rounded number."""
    zeros = _zeros(number)
    return number.exact and zeros >= MANY_ZEROS and abs(number.value) >= 10 ** (zeros + 1)


def _in_words(text: str) -> Number | None:
    """`one hundred and ten million`, `sixty-four`."""
    words = re.sub(r"[-,]", " ", text.lower()).split()
    share = _FRACTIONS.get(" ".join(word for word in words if word not in ABOUT))
    if share is not None:
        about = any(word in ABOUT for word in words)
        return Number(share, share / ROUGHLY if about else Fraction(1, 200), text)
    about = bool(words) and words[0] in ("about", "roughly", "around", "approximately", "nearly")
    words = [word for word in words[about:] if word not in ("and", "parameters", "params", "weights")]
    if not words or not all(word in _ONES or word in _TENS or word in _SCALES or word == "hundred" for word in words):
        return None
    whole, part = 0, 0
    for word in words:
        if word in _SCALES:
            whole, part = whole + max(part, 1) * _SCALES[word], 0
        elif word == "hundred":
            part = max(part, 1) * 100
        else:
            part += _ONES.get(word, 0) + _TENS.get(word, 0)
    value = whole + part
    rounded = about or words[-1] in _SCALES
    zeros = len(str(value)) - len(str(value).rstrip("0"))
    return Number(Fraction(value), Fraction(10**zeros, 2) if rounded else Fraction(0), text)


def _worked_out(text: str, program: Program) -> Number | None:
    """`12·L·d²`, `768/12`, `4·768^2`: worked out, with the spec's sizes for its letters."""
    if len(text) > MOST_CHARACTERS or not re.search(r"[-+*/×·^√()]|\\|[A-Za-z]", text):
        return None
    known = letters(program)
    text = re.sub(r"(?<=[\d)\s])[xX](?=[\d(\s])", "×", text)
    parted = re.sub(r"(?<![A-Za-z_\\])[A-Za-z]{2,}(?:_\{?\w+\}?)?", lambda word: _parted(word[0], known), text)
    if not re.search(r"[-+*/×·^√(]|\\", text) and not all(word in known for word in re.findall(r"[A-Za-z][\w{}]*", parted)):
        return None  # `12 apples`
    try:
        value = evaluate(parted, names={name: exactly(size) for name, size in known.items()})
    except NotUnderstoodError:
        return None
    if isinstance(value, Array) or not isinstance(value, Real):
        return None
    return Number(value.middle, Fraction(0) if value.exact else abs(value.middle) / 10**9, text)


def _parted(word: str, known: Mapping[str, int]) -> str:
    """`nd` is n · d and `hd_v` is h · d_v, where neither is a name of its own."""
    if word in known:
        return word
    first, rest = word[0], word[1:]
    parts = _parted(rest, known) if len(rest) > 1 and rest not in known else rest
    return f"{first} {parts}" if first in known and all(part in known for part in parts.split()) else word


def _size(word: str, program: Program) -> int | None:
    if re.fullmatch(r"[0-9][0-9_]{0,11}", word):
        return int(word.replace("_", ""))
    found = _worked_out(word, program) if re.search(r"[A-Za-z]", word) and len(word) <= 40 else None
    return int(found.value) if found is not None and found.value.denominator == 1 and found.value > 0 else None
