"""LaTeX commands as tokens: signs, fractions, roots, text, names with their subscripts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from glassformer.answers.expressions.vocabulary import (
    FUNCTIONS,
    MATRICES,
    OPENING,
    TEX_ACCENTS,
    TEX_BRACKETS,
    TEX_DOTS,
    TEX_FRACTIONS,
    TEX_LETTERS,
    TEX_OPERATORS,
    TEX_OTHER_RELATIONS,
    TEX_PASSED,
    TEX_RELATIONS,
    TEX_SKIPPED,
    TEX_SPACES,
    TEX_STYLES,
    TEX_TEXT,
)

if TYPE_CHECKING:
    from glassformer.answers.expressions.tokens import Kind, Tokenizer

REPEATING = frozenset(("overline", "bar"))  # 0.\\overline{3}
LONGEST_GROUP = 300  # characters between the braces of a subscript or a text
_BRACE = re.compile(r"[{}]")
_SPACES = re.compile(r"[ \t\n]*")
_SUBSCRIPT = re.compile(r"[ \t]*_[ \t]*(?:\\(?P<command>[A-Za-z]+)|(?P<plain>[^\W_]+))?")
_SCRIPT = re.compile(
    r"_(?P<run>[^\W_ᵀ]+)|\^(?P<letter>[^\W\d_])|\^(?P<number>\([0-9]{1,9}\))|[_^]\\(?P<command>[A-Za-z]+) ?|[_^](?=\{)"
)
_MARKUP = re.compile(r"\\(?:[A-Za-z]+|.)|[{}\s$]")
_SUMS = frozenset(("sum", "prod", "int", "lim", "argmax", "argmin", "bigcup", "bigoplus", "coprod"))
_LIMITS = re.compile(r"\s{0,9}\\(?:no)?limits")
_SIGNS: dict[str, tuple[Kind, str]] = {
    "quad": ("wall", "quad"), "qquad": ("wall", "quad"),
    "top": ("name", "T"), "intercal": ("name", "T"), "infty": ("name", "∞"), "prime": ("prime", "'"),
    **{name: ("unknown", name) for name in "pm mp over choose mid vert Vert lvert rvert".split()},
}  # fmt: skip
_DIGIT, _DIGITS, _LETTER = re.compile(r"[ \t]*([0-9])"), re.compile("[0-9]{1,20}"), re.compile(" ?([A-Za-z])")
TRANSPOSES = frozenset(("T", "top", "⊤", "intercal"))


def command(reader: Tokenizer, start: int, name: str) -> None:
    """`\\name` with whatever belongs to it."""
    if name in TEX_SPACES:
        _space(reader, name)
    elif name in TEX_OPERATORS:
        reader.add("operator", TEX_OPERATORS[name], start)
    elif name in TEX_RELATIONS:
        reader.add("relation" if TEX_RELATIONS[name] != "∉" else "wall", TEX_RELATIONS[name], start)
    elif name in TEX_OTHER_RELATIONS:
        reader.add("wall", "<", start)
    elif name in TEX_BRACKETS:
        reader.add("open" if TEX_BRACKETS[name] in OPENING else "close", TEX_BRACKETS[name], start)
    elif name in TEX_DOTS:
        reader.add("dots", "…", start)
    elif name in TEX_TEXT or name in TEX_LETTERS:
        (_symbol if reader.formula else _text)(reader, start, name)
    elif name in TEX_SKIPPED:
        _group(reader)
        reader.gap = True
    elif name in TEX_PASSED:
        reader.gap = True
    else:
        _operand(reader, start, name)


def environment(reader: Tokenizer, start: int, text: str) -> None:
    """`\\begin{bmatrix}` opens a matrix; other environments are formulas, lists or text."""
    opens = text.startswith("\\begin")
    name = text[text.index("{") + 1 : -1].rstrip("*")
    if name in MATRICES:
        if opens and name == "array":
            _group(reader)
        reader.add("begin" if opens else "end", name, start)
        if not opens:
            subscript(reader)
    elif name in FORMULAS:
        reader.add("edge", "\\", start)
        if opens:
            reader.outside.append(reader.math)
        reader.math = opens or (reader.outside.pop() if reader.outside else False)
    else:
        reader.add("wall", name, start)


FORMULAS = frozenset("equation align aligned gather gathered split multline eqnarray alignat math displaymath flalign".split())


def escape(reader: Tokenizer, start: int, sign: str) -> None:
    """A backslash before a sign: `\\%`, `\\{`, `\\(`, `\\$`."""
    if sign == "%":
        reader.add("percent", "%", start)
    elif sign in "{}":
        reader.add("open" if sign == "{" else "close", "⟨" if sign == "{" else "⟩", start)
        if sign == "}":
            subscript(reader)
    elif sign in "()[]":
        reader.add("edge", "\\" + sign, start)
        reader.math = sign in "(["
    elif sign == "*":
        reader.add("operator", "*", start)
    elif sign in "$_/-\n":
        reader.gap = True
    elif sign in "&#":
        reader.add("wall", sign, start)
    else:
        reader.add("unknown", sign, start)


def subscript(reader: Tokenizer) -> None:
    """The subscript of a bracket, a matrix or a function, as a token of its own."""
    start = reader.place
    label = _raw_subscript(reader)
    if label is not None:
        reader.gap = False
        reader.add("sub", label, start)


def subscript_text(reader: Tokenizer) -> str:
    """The subscript of a name, plain: `_{\\text{model}}` is `model`."""
    label = _raw_subscript(reader)
    return _MARKUP.sub("", label) if label else ""


def _raw_subscript(reader: Tokenizer) -> str | None:
    match = _SUBSCRIPT.match(reader.text, reader.place)
    if match is None:
        return None
    if match["plain"]:
        reader.place = match.end()
        return match["plain"]
    braces = _braces(reader.text, match.end())
    if braces is None:
        return None
    reader.place = braces[1]
    return reader.text[braces[0] : braces[1] - 1]


def scripts(reader: Tokenizer) -> tuple[list[str], int]:
    """The indexes of a name in a formula, and how often it is transposed; an exponent that is a number is left there."""
    labels: list[str] = []
    turned = 0
    digits = _DIGITS.match(reader.text, reader.place)
    if digits is not None:
        labels.append(digits[0])
        reader.place = digits.end()
    while (found := _SCRIPT.match(reader.text, reader.place)) is not None:
        raw, end = _script(reader, found)
        plain = _MARKUP.sub("", raw)
        words = plain.strip("()").split(",")
        exponent = found[0][0] == "^"
        if exponent and (plain == "T" or raw.strip(" \\") in TRANSPOSES):
            turned += 1
        elif all(map(str.isalnum, words)) and not (exponent and plain.isdecimal()) and "\\frac" not in raw:
            labels += words
        else:
            break
        reader.place = end
    return labels, turned


def _script(reader: Tokenizer, found: re.Match[str]) -> tuple[str, int]:
    """What stands after `_` or `^`, and where it ends: a run of letters, one letter as in TeX, a command or a group."""
    braces = _braces(reader.text, found.end()) if found["command"] or found.end() == found.start() + 1 else None
    if braces is not None:
        return reader.text[braces[0] : braces[1] - 1], braces[1]
    return next((part for part in found.groups() if part), ""), found.end()


def _symbol(reader: Tokenizer, start: int, name: str) -> None:
    """A name of a formula in some font: `\\mathbf{W}` is W, `\\text{softmax}` is softmax, `\\hat{Q}` is another name than Q."""
    content = _group(reader)
    if content is None:
        letter = _LETTER.match(reader.text, reader.place)
        content = letter[1] if letter else ""
        reader.place = letter.end() if letter else reader.place
    base, *indexes = _MARKUP.sub("", content).split("_")
    accents = [name.removeprefix("wide")] if name in TEX_ACCENTS else []
    reader.symbol(start, base, [*indexes, *accents]) if base.isalpha() else reader.add("unknown", name, start)


def _space(reader: Tokenizer, name: str) -> None:
    reader.gap = True
    if name in ("left", "right") and reader.text.startswith(".", reader.place):
        reader.place += 1


def _text(reader: Tokenizer, start: int, name: str) -> None:
    """Words within a formula; in running text bold or italic type changes nothing."""
    if not reader.math and name in TEX_STYLES:
        reader.gap = True
        return
    content = _group(reader)
    if content is None:
        reader.add("unknown", name, start)
        return
    plain = content.strip()
    if plain.lower() in FUNCTIONS:
        reader.add("function", FUNCTIONS[plain.lower()], start)
        subscript(reader)
    elif name in TEX_LETTERS or (name.startswith("math") and plain.isalpha() and len(plain) == 1):
        _letters(reader, start, name, plain)
    else:
        reader.add("text", content, start)
        subscript(reader)


def _letters(reader: Tokenizer, start: int, name: str, plain: str) -> None:
    if plain.replace(".", "").isdecimal() and plain.isascii():
        reader.add("unknown" if name in REPEATING else "number", plain, start)
    else:
        reader.name(start, _MARKUP.sub("", plain))


def _operand(reader: Tokenizer, start: int, name: str) -> None:
    if name in TEX_FRACTIONS:
        _fraction(reader, start)
    elif name in _SUMS:
        if limits := _LIMITS.match(reader.text, reader.place):
            reader.place = limits.end()
        _raw_subscript(reader)
        reader.add("command", "sum", start)
    elif name.lower() in FUNCTIONS and not (reader.formula and name != "sqrt"):
        reader.add("function", FUNCTIONS[name.lower()], start)
        subscript(reader)
    elif name == "mathbb":
        content = (_group(reader) or "").strip()
        if content == "R":
            reals(reader, start)
        else:
            (reader.symbol if reader.formula else reader.name)(start, content)
    elif name in _SIGNS:
        reader.add(*_SIGNS[name], start)
    elif reader.formula:
        reader.symbol(start, name)
    else:
        reader.name(start, name)


def reals(reader: Tokenizer, start: int) -> None:
    """`R^{768 x 6}`: between the braces stand sizes, where an x is a product sign."""
    reader.add("command", "reals", start)
    place = reader.place
    if reader.formula and reader.text.startswith("^{", place) and (content := _group_at(reader, place + 1)) is not None:
        inner = type(reader)(content, reader.offset + place + 2, names=True)
        reader.add("operator", "^", place)
        reader.add("open", "{", place + 1)
        reader.found.extend(inner.run())
        reader.add("close", "}", reader.place - 1)


def _group_at(reader: Tokenizer, place: int) -> str | None:
    braces = _braces(reader.text, place)
    if braces is None:
        return None
    reader.place = braces[1]
    return reader.text[braces[0] : braces[1] - 1]


def _fraction(reader: Tokenizer, start: int) -> None:
    reader.add("command", "frac", start)
    for _ in range(2):  # \frac12 is one half
        digit = _DIGIT.match(reader.text, reader.place)
        if digit is None:
            break
        reader.place = digit.end()
        reader.add("number", digit[1], digit.start(1))


def _group(reader: Tokenizer) -> str | None:
    """The content of the braces that follow, which are passed."""
    return _group_at(reader, reader.place)


def _braces(text: str, place: int) -> tuple[int, int] | None:
    """Where the content of the next braces begins, and the place after them; None where they are missing or too long."""
    match = _SPACES.match(text, place)
    place = match.end() if match else place
    if not text.startswith("{", place):
        return None
    depth = 0
    for brace in _BRACE.finditer(text, place, place + LONGEST_GROUP):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return place + 1, brace.end()
    return None
