"""Tokens of LaTeX commands: signs, fractions, roots, text, and names with subscripts."""

from __future__ import annotations

import re

from glassformer.expressions.scanner import Scanner
from glassformer.expressions.vocabulary import (
    FORMULAS,
    MATRICES,
    TEX_ACCENTS,
    TEX_FRACTIONS,
    TEX_LETTERS,
    TEX_PASSED,
    TEX_SIGNS,
    TEX_SKIPPED,
    TEX_SPACES,
    TEX_STYLES,
    TEX_SUMS,
    TEX_TEXT,
    function_called,
)

REPEATING = frozenset(("overline", "bar"))  # 0.\\overline{3}
TRANSPOSES = frozenset(("T", "top", "⊤", "intercal"))
LONGEST_GROUP = 300  # characters between the braces of a subscript or a text
_SUBSCRIPT = re.compile(r"[ \t]*_[ \t]*(?:\\(?P<command>[A-Za-z]+)|(?P<plain>[^\W_]+))?")
_SCRIPT = re.compile(
    r"_(?P<run>[^\W_ᵀ]+)|\^(?P<letter>[^\W\d_])|\^(?P<number>\([0-9]{1,9}\))|[_^]\\(?P<command>[A-Za-z]+) ?|[_^](?=\{)"
)
_MARKUP = re.compile(r"\\(?:[A-Za-z]+|.)|[{}\s$]")
_LIMITS = re.compile(r"\s{0,9}\\(?:no)?limits")
_ONE = re.compile(r"[ \t]*([0-9A-Za-z])")


def command(reader: Scanner, start: int, name: str) -> None:
    """Add the tokens of a command `\\name` with its arguments."""
    if name in TEX_SIGNS:
        reader.add(*TEX_SIGNS[name], start)
    elif name in TEX_SPACES or name in TEX_PASSED:
        reader.gap = True
        reader.place += name in ("left", "right") and reader.text.startswith(".", reader.place)
    elif name in TEX_SKIPPED:
        group(reader)
        reader.gap = True
    elif reader.formula and (name in TEX_TEXT or name in TEX_LETTERS):
        _symbol(reader, start, name)
    elif name in TEX_TEXT or name in TEX_LETTERS:
        _text(reader, start, name)
    else:
        _operand(reader, start, name)


def environment(reader: Scanner, start: int, text: str) -> None:
    """Add the tokens of an environment: `\\begin{bmatrix}` opens a matrix; others are formulas, lists or text."""
    opens = text.startswith("\\begin")
    name = text[text.index("{") + 1 : -1].rstrip("*")
    if name in MATRICES:
        if opens and name == "array":
            group(reader)
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


def escape(reader: Scanner, start: int, sign: str) -> None:
    """Add the token of an escaped sign: `\\%`, `\\{`, `\\(`, `\\$`."""
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


def subscript(reader: Scanner) -> None:
    """Add the subscript of a bracket, a matrix or a function as a separate token."""
    start = reader.place
    label = _raw_subscript(reader)
    if label is not None:
        reader.gap = False
        reader.add("sub", label, start)


def subscript_text(reader: Scanner) -> str:
    """Return the subscript of a name as plain text: `model` for `_{\\text{model}}`."""
    label = _raw_subscript(reader)
    return _MARKUP.sub("", label) if label else ""


def _raw_subscript(reader: Scanner) -> str | None:
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


def scripts(reader: Scanner) -> tuple[list[str], int]:
    """Return the indices of a name in a formula, and how often it is transposed; a numeric exponent is not consumed."""
    labels: list[str] = []
    turned = 0
    digits = len(reader.text[reader.place :]) - len(reader.text[reader.place :].lstrip("0123456789"))
    if digits:
        labels.append(reader.text[reader.place : reader.place + digits])
        reader.place += digits
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


def _script(reader: Scanner, found: re.Match[str]) -> tuple[str, int]:
    """Return the script after `_` or `^`, and its end: a run of letters, one letter as in TeX, a command or a group."""
    braces = _braces(reader.text, found.end()) if found["command"] or found.end() == found.start() + 1 else None
    if braces is not None:
        return reader.text[braces[0] : braces[1] - 1], braces[1]
    return next((part for part in found.groups() if part), ""), found.end()


def _symbol(reader: Scanner, start: int, name: str) -> None:
    """Add a name in some font: `\\mathbf{W}` is W, `\\text{softmax}` is softmax; `\\hat{Q}` differs from Q."""
    content = group(reader)
    letter = _ONE.match(reader.text, reader.place) if content is None else None
    if letter is not None:
        content, reader.place = letter[1], letter.end()
    base, *indexes = _MARKUP.sub("", content or "").split("_")
    accents = [name.removeprefix("wide")] if name in TEX_ACCENTS else []
    reader.symbol(start, base, [*indexes, *accents]) if base.isalpha() else reader.add("unknown", name, start)


def _text(reader: Scanner, start: int, name: str) -> None:
    """Add words in a formula; in running text, bold or italic type is ignored."""
    if not reader.math and name in TEX_STYLES:
        reader.gap = True
        return
    content = group(reader)
    if content is None:
        reader.add("unknown", name, start)
        return
    plain = content.strip()
    if function := function_called(plain):
        reader.add("function", function, start)
        subscript(reader)
    elif name in TEX_LETTERS or (name.startswith("math") and plain.isalpha() and len(plain) == 1):
        if plain.replace(".", "").isdecimal() and plain.isascii():
            reader.add("unknown" if name in REPEATING else "number", plain, start)
        else:
            reader.name(start, _MARKUP.sub("", plain))
    else:
        reader.add("text", content, start)
        subscript(reader)


def _operand(reader: Scanner, start: int, name: str) -> None:
    if name in TEX_FRACTIONS:
        _fraction(reader, start)
    elif name in TEX_SUMS:
        if limits := _LIMITS.match(reader.text, reader.place):
            reader.place = limits.end()
        _raw_subscript(reader)
        reader.add("command", "sum", start)
    elif (function := function_called(name)) and not (reader.formula and name != "sqrt"):
        reader.add("function", function, start)
        subscript(reader)
    elif name == "mathbb":
        content = (group(reader) or "").strip()
        if content == "R":
            reals(reader, start)
        else:
            (reader.symbol if reader.formula else reader.name)(start, content)
    elif reader.formula:
        reader.symbol(start, name)
    else:
        reader.name(start, name)


def reals(reader: Scanner, start: int) -> None:
    """Add the tokens of `R^{768 x 6}`; between the braces are sizes, so x is a product sign."""
    reader.add("command", "reals", start)
    place = reader.place
    if not (reader.formula and reader.text.startswith("^{", place)):
        return
    reader.place += 1
    sizes = group(reader)
    if sizes is None:
        reader.place = place
    else:
        reader.add("operator", "^", place)
        reader.add("open", "{", place + 1)
        reader.found.extend(type(reader)(sizes, reader.offset + place + 2, names=True).run())
        reader.add("close", "}", reader.place - 1)


def _fraction(reader: Scanner, start: int) -> None:
    reader.add("command", "frac", start)
    for _ in range(2):  # \frac12 is one half
        digit = _ONE.match(reader.text, reader.place)
        if digit is None or not digit[1].isdigit():
            break
        reader.place = digit.end()
        reader.add("number", digit[1], digit.start(1))


def group(reader: Scanner) -> str | None:
    """Consume the following braces, and return their content."""
    braces = _braces(reader.text, reader.place)
    if braces is None:
        return None
    reader.place = braces[1]
    return reader.text[braces[0] : braces[1] - 1]


def _braces(text: str, place: int) -> tuple[int, int] | None:
    """Return the start of the content of the next braces, and the position after them; None if missing or too long."""
    while text[place : place + 1] in (" ", "\t", "\n"):
        place += 1
    depth = 0
    for end in range(place, min(len(text), place + LONGEST_GROUP)):
        depth += (text[end] == "{") - (text[end] == "}")
        if depth <= 0:
            return (place + 1, end + 1) if end > place else None
    return None
