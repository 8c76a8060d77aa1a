"""Splits text, Markdown and LaTeX into tokens: numbers, names, words, signs and brackets, each with its position."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from unicodedata import category

from glassformer.expressions import numerals, tex
from glassformer.expressions.scanner import Kind, Scanner, Token
from glassformer.expressions.vocabulary import (
    BARE_FUNCTIONS,
    BRACKETS,
    CONSTANT_SIGNS,
    GREEK,
    OPENING,
    OPERATORS,
    OTHER_RELATIONS,
    RELATIONS,
    SUPERSCRIPTS,
    WORD_OPERATORS,
    WORD_RELATIONS,
    function_called,
)

OPERAND_STARTS = frozenset(("number", "name", "function", "open", "begin", "command", "text", "word", "about"))


# Groups of the pattern, and signs, whose meaning does not depend on the context.
FIXED: dict[str, tuple[Kind, str]] = {
    "row": ("row", "\\\\"), "power": ("operator", "^"), "floor": ("operator", "//"), "dots": ("dots", "…"),
    "quote": ("edge", "`"), "tilde": ("relation", "~"), "equals": ("relation", "="), "nearly": ("relation", "≈"),
    "arrow": ("relation", "→"), "follows": ("relation", "⇒"), "line": ("wall", "\n"), "turned": ("prime", "'"),
    "each": ("operator", "⊙"),
}  # fmt: skip
PUNCTUATION: dict[str, tuple[Kind, str]] = {
    ",": ("comma", ","), ".": ("stop", "."), "?": ("stop", "?"), "–": ("wall", "–"), "—": ("wall", "–"), "%": ("percent", "%"),
    "&": ("cell", "&"), "~": ("about", "~"), "：": ("wall", ":"), "；": ("wall", ";"), "，": ("comma", ","), "、": ("comma", ","),
    "│": ("wall", "|"), "┃": ("wall", "|"), "。": ("stop", "."), "！": ("stop", "."), "？": ("stop", "."), "।": ("stop", "."),
    **{sign: ("wall", sign) for sign in f";#{OTHER_RELATIONS}"},
}  # fmt: skip

_COMMON = rf"""
      (?P<space>[\s\u200b]+|\\[,;:!>\ ]|~(?=[\\$]))
    | (?P<number>{numerals.PATTERN})
    | (?P<row>\\\\(?:\[[0-9.]+[a-z]{{2}}\])?)
    | (?P<environment>\\(?:begin|end)\{{[A-Za-z]+\*?\}})
    | \\(?P<command>[A-Za-z]+) | \\(?P<escape>.)
    | (?P<equals>==|:=) | (?P<nearly>=~|~=) | (?P<tilde>(?<=[\w)\]$][ ])~(?=[ ]?[0-9]))
    | (?P<wall>[<>!+\-*/|]=|&&|<-) | (?P<arrow>-{{1,2}}>) | (?P<follows>=>) | (?P<power>\*\*) | (?P<floor>//)
    | (?P<dots>\.\.\.|…) | (?P<edge>\${{1,2}}) | (?P<quote>[`\"“”«»])
"""
_SMALL = "".join([*SUPERSCRIPTS, *numerals.FRACTIONS])  # Python classifies these as letters
_L, _A = f"[^\\W\\d_{_SMALL}]", f"[^\\W_{_SMALL}]"
_GREEK = "".join(GREEK)
_FORMULA = r"""
      (?P<line>\s*\n\s*)
    | (?P<turned>\.(?:mT|T|t\(\)|transpose\([-0-9,\ ]{0,12}\))(?![A-Za-z0-9]))
    | (?P<each>\.\*|⊗|\\otimes(?![A-Za-z])) |
"""
_WORDS = {
    "text": rf"(?:(?:np|numpy|math|torch|jnp|F)\.(?=[a-z]))?(?P<word>{_L}{_A}*(?:\\?_{_A}+)*(?:['’]{_L}+)*(?:-(?={_L}){_A}+)*)",
    "math": f"(?P<word>{_L}+)",
    "names": rf"(?P<word>{_L}{_A}*(?:_{_A}+)*(?:\.(?:{_A}+|\*)(?:_{_A}+)*)*)",  # layers.0.attention.scores
    "formula": rf"""(?:(?:torch\.nn\.functional|torch|numpy|np|jnp|math|nn|F)\.(?=[A-Za-z]))?
                    (?P<word>[{_GREEK}]|[^\W\d_{_SMALL}{_GREEK}]+)""",  # a Greek letter is a separate name
}
_MODES = {
    mode: re.compile(f"{_FORMULA if mode == 'formula' else ''}{_COMMON} | {word} | (?P<sign>.)", re.DOTALL | re.VERBOSE)
    for mode, word in _WORDS.items()
}
_TIMES = re.compile(
    r"""[xXх] (?: (?=[ \t]*(?:[0-9(\[√]|\\(?:sqrt|frac|left|begin|text)\b)) | (?<=\s.)(?=[ \t]+-[0-9])
                | (?<=[\w)\]][ \t].)(?=[ \t]+[^\W\d_]) )""",
    re.VERBOSE,
)
_AFTER_FUNCTION = re.compile(r"\s{0,9}(?:\\left)?\s{0,9}(?:(?P<open>[(\[{_])|[0-9.√]|\\sqrt|\\frac|-[0-9])")
_BY = re.compile(r"[ \t]+(?:by|(?:exactly[ \t]+)?(?:equal[ \t]+to|the[ \t]+same[ \t]+as))\b")
_NAME = re.compile(f"{_L}(?:[0-9]+|['’])?|{_L}{_A}*(?:_{_A}+)+")
_ARTICLES = frozenset(("a", "A", "I"))


class Tokenizer(Scanner):
    """Reads from left to right; the meaning of a sign may depend on the previous token and the next character."""

    def run(self) -> list[Token]:
        while self.place < len(self.text):
            mode = "formula" if self.formula else "names" if self.names else "math" if self.math else "text"
            match = _MODES[mode].match(self.text, self.place)
            assert match is not None  # the last alternative matches any character
            kind, count = str(match.lastgroup), len(self.found)
            start, self.place = self.place, match.end()
            if kind == "space":
                self.gap = True
                continue
            if kind in FIXED:
                self.add(*FIXED[kind], start)
            else:
                HANDLERS[kind](self, start, match[kind])
            if len(self.found) > count:
                self.gap = False
        return self.found

    def edge(self, start: int, text: str) -> None:
        self.add("edge", text, start)
        self.math = not self.math

    def word(self, start: int, text: str) -> None:
        """Add a run of letters: a product sign, a name with its subscripts, a function, or prose."""
        if text[0] in "xXх" and self._is_times(start):
            self.place = start + 1
            self.add("operator", "×", start)
        elif self.formula:
            self.symbol(start, text)
        elif (function := function_called(text)) and self._calls(text.lower()):
            self.add("function", function, start)
            tex.subscript(self)
        elif self.names or self.math:
            self.name(start, text)
        else:
            self._prose(start, text)

    def _is_times(self, start: int) -> bool:
        """Return whether an x is a product sign: after an operand and before a number or another operand."""
        if self.before is None or not self.after_operand():
            return False
        if self.formula:
            return self.before.kind == "number" and not self.gap and self.text[start + 1 : start + 2].isdigit()
        follows = self.text[start + 1 : start + 20].lstrip()[:1]
        return _TIMES.match(self.text, start) is not None and not (self.before.kind == "word" and follows.isalpha())

    def _prose(self, start: int, text: str) -> None:
        """Add an operator or a relation in words, a name, or a word."""
        lower, plain = text.lower(), text.replace("\\", "")
        base, _, number = lower.partition("_")
        phrase = _BY.match(self.text, self.place) if lower in ("multiplied", "divided", "is", "are") else None
        by = phrase is not None and phrase[0].endswith("by")
        if base == "log" and number.isdecimal() and len(number) <= 3:
            self.add("function", "log", start)
            self.add("sub", number, start)
        elif lower in WORD_OPERATORS and self.after_operand():
            self.add("operator", WORD_OPERATORS[lower], start)
        elif phrase is not None and by == (lower in ("multiplied", "divided")):
            self.place = phrase.end()
            self.add("operator" if by else "relation", {"multiplied": "×", "divided": "/"}.get(lower, "="), start)
        elif lower in WORD_RELATIONS:
            self.add("relation", WORD_RELATIONS[lower], start)
        elif (_NAME.fullmatch(plain) and text not in _ARTICLES) or self.text.startswith(("(", "["), self.place):
            self.name(start, plain)
        else:
            self.add("word", plain, start)

    def _calls(self, lower: str) -> bool:
        """Return whether a word is a function: `sum` only before a bracket, `exp` also before a number."""
        found = _AFTER_FUNCTION.match(self.text, self.place)
        return found is not None and (
            self.math or lower in BARE_FUNCTIONS or (found["open"] is not None and len(found[0].split("\\left")[0]) <= 2)
        )

    def name(self, start: int, text: str) -> None:
        """Add a name with its subscript and primes."""
        label = tex.subscript_text(self)
        while self.text.startswith(("'", "’"), self.place):
            self.place += 1
            label += "'"
        self.add("name", f"{text}_{label}" if label.strip("'") else text + label, start)

    def symbol(self, start: int, text: str, accents: Iterable[str] = ()) -> None:
        """Add a name in a formula with its indices; `K^T_h` is K_h transposed, and `γ` is gamma."""
        if text == "R" and self.before is not None and self.before.text == "∈":
            tex.reals(self, start)
            return
        labels, turned = tex.scripts(self)
        name = "_".join([GREEK.get(text, text), *labels, *accents])
        while self.text.startswith(("'", "’", "′"), self.place):
            self.place += 1
            name += "'"
        self.add("name", name, start)
        for _ in range(turned):
            self.add("prime", "'", start)

    def sign(self, start: int, sign: str) -> None:
        if self.formula and sign in "⊤⊺_←":
            raised = self.before is not None and self.before.text == "^"
            kind: Kind = "unknown" if sign == "_" else "relation" if sign == "←" else "name" if raised else "prime"
            self.add(kind, {"name": "T", "relation": "="}.get(kind, sign), start)
        elif sign in BRACKETS:
            opens = BRACKETS[sign] in OPENING
            self.add("open" if opens else "close", BRACKETS[sign], start)
            if not opens:
                tex.subscript(self)
        elif sign in OPERATORS:
            self.add("operator", OPERATORS[sign], start)
        elif sign in RELATIONS:
            self.add("relation", RELATIONS[sign], start)
        elif sign in PUNCTUATION:
            self.add(*PUNCTUATION[sign], start)
        elif sign in SUPERSCRIPTS:
            self._superscript(start)
        elif sign in CONSTANT_SIGNS:
            self.add(*CONSTANT_SIGNS[sign], start)
        elif sign in numerals.FRACTIONS:
            self.add("number", sign, start)
        else:
            self._punctuation(start, sign)

    def _punctuation(self, start: int, sign: str) -> None:
        following = self.text[self.place : self.place + 3].strip()
        tight = not self.gap and start > 0 and self.text[self.place : self.place + 1].strip() != ""
        if sign == "!":
            factorial = self.after_operand() and following[:1] in {*OPERATORS, *RELATIONS}
            negated = not self.after_operand() and self.text[self.place : self.place + 1].strip() != ""
            self.add("unknown" if factorial or negated else "stop", sign, start)
        elif sign == ":":
            numbers = self.before is not None and self.before.kind == "number" and following[:1].isdigit()
            ratio = numbers and (tight or self.gap)
            self.add("unknown" if ratio else "wall", ":", start)
        elif sign == "|":
            self.add("unknown" if self.math or tight else "wall", "|", start)
        elif sign in "'’′":
            transposes = self.before is not None and self.before.kind in ("close", "end") and not self.gap
            self.add("prime" if transposes else "edge", "'", start)
        elif sign == "_":
            self.gap = True
        elif category(sign) == "Cf" or (category(sign) == "So" and sign >= "☀") or sign in "€£":
            self.add("edge", sign, start)  # emoji, bullets and zero-width marks have no meaning
        else:
            self.add("unknown", sign, start)

    def _superscript(self, start: int) -> None:
        while self.text[self.place : self.place + 1] in SUPERSCRIPTS and self.place < len(self.text):
            self.place += 1
        digits = "".join(SUPERSCRIPTS[letter] for letter in self.text[start : self.place])
        self.add("operator", "^", start)
        if digits.startswith("-"):
            self.add("operator", "-", start)
        kind: Kind = "name" if "T" in digits else "number"
        self.add(kind, digits.lstrip("-"), start)


HANDLERS: dict[str, Callable[[Tokenizer, int, str], None]] = {
    "number": lambda reader, start, text: reader.add("number", text, start),
    "wall": lambda reader, start, text: reader.add("wall", text, start),
    "environment": tex.environment,
    "command": tex.command,
    "escape": tex.escape,
    "edge": Tokenizer.edge,
    "word": Tokenizer.word,
    "sign": Tokenizer.sign,
}


def tokens(text: str, start: int = 0, *, math: bool = False, names: bool = False, formula: bool = False) -> list[Token]:
    """Return the tokens of a text; `start` is added to every position; with `names` or `formula`, no word is prose."""
    return Tokenizer(text, start, math=math, names=names, formula=formula).run()
