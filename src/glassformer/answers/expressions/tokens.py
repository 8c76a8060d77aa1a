"""Text, Markdown and LaTeX cut into tokens: numbers, names, words, signs and brackets, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple
from unicodedata import category

from glassformer.answers.expressions import numerals, tex
from glassformer.answers.expressions.vocabulary import (
    BARE_FUNCTIONS,
    BRACKETS,
    CONSTANT_SIGNS,
    FUNCTIONS,
    GREEK,
    OPENING,
    OPERATORS,
    OTHER_RELATIONS,
    RELATIONS,
    SUPERSCRIPTS,
    WORD_OPERATORS,
    WORD_RELATIONS,
)

Kind = Literal[
    "number", "name", "word", "text", "function", "operator", "relation", "open", "close", "comma", "wall", "stop", "edge",
    "sub", "row", "cell", "begin", "end", "command", "percent", "prime", "dots", "about", "note", "scale", "unit",
    "unknown",
]  # fmt: skip
OPERAND_ENDS = frozenset(
    ("number", "name", "close", "end", "note", "word", "text", "percent", "sub", "prime", "dots", "scale", "unit")
)
OPERAND_STARTS = frozenset(("number", "name", "function", "open", "begin", "command", "text", "word", "about"))


class Token(NamedTuple):
    """A piece of text with its meaning as far as it is known without its neighbours."""

    kind: Kind
    text: str  # the sign that the grammar knows; for numbers, names and words what was written
    start: int
    end: int
    math: bool = False  # between dollar signs, or in a LaTeX environment
    gap: bool = False  # white space before it
    numeral: numerals.Numeral | None = None  # once its reading is settled
    named: bool = False  # of the language of quantities, where a name before a bracket takes arguments


# Groups of the pattern, and signs, that mean the same wherever they stand.
FIXED: dict[str, tuple[Kind, str]] = {
    "row": ("row", "\\\\"), "power": ("operator", "^"), "floor": ("operator", "//"), "dots": ("dots", "…"),
    "quote": ("edge", "`"), "tilde": ("relation", "~"),
}  # fmt: skip
PUNCTUATION: dict[str, tuple[Kind, str]] = {
    ",": ("comma", ","), ".": ("stop", "."), "?": ("stop", "?"), "–": ("wall", "–"), "—": ("wall", "–"), "%": ("percent", "%"),
    "&": ("cell", "&"), "~": ("about", "~"), "：": ("wall", ":"), "；": ("wall", ";"), "，": ("comma", ","), "、": ("comma", ","),
    "│": ("wall", "|"), "┃": ("wall", "|"), "。": ("stop", "."), "！": ("stop", "."), "？": ("stop", "."), "।": ("stop", "."),
    **{sign: ("wall", sign) for sign in f";#{OTHER_RELATIONS}"},
}  # fmt: skip

_PATTERNS = (
    r"(?P<space>[\s\u200b]+|\\[,;:!> ]|~(?=[\\$]))",
    rf"(?P<number>{numerals.PATTERN})",
    r"(?P<row>\\\\(?:\[[0-9.]+[a-z]{2}\])?)|(?P<environment>\\(?:begin|end)\{[A-Za-z]+\*?\})|\\(?P<command>[A-Za-z]+)|\\(?P<escape>.)",
    r"(?P<equals>==|:=|=~|~=)|(?P<tilde>(?<=[\w)\]$] )~(?= ?[0-9]))"
    r"|(?P<wall>[<>!+\-*/|]=|&&|<-)|(?P<arrow>-{1,2}>|=>)|(?P<power>\*\*)|(?P<floor>//)",
    r"(?P<dots>\.\.\.|…)|(?P<edge>\${1,2})|(?P<quote>[`\"“”«»])",
)
_SMALL = "".join([*SUPERSCRIPTS, *numerals.FRACTIONS])  # Python counts these among the letters
_L, _A = rf"[^\W\d_{_SMALL}]", rf"[^\W_{_SMALL}]"
_WORD = (
    r"(?:(?:np|numpy|math|torch|jnp|F)\.(?=[a-z]))?"
    rf"(?P<word>{_L}{_A}*(?:\\?_{_A}+)*(?:['’]{_L}+)*(?:-(?={_L}){_A}+)*)"
)
_LETTERS = rf"(?P<letters>{_L}+)"
_GREEK = "".join(GREEK)
_MARKS = (
    r"(?P<line>\s*\n\s*)|(?P<turned>\.(?:mT|T|t\(\)|transpose\([-0-9, ]{0,12}\))(?![A-Za-z0-9]))"
    r"|(?P<equal>←)|(?P<each>\.\*|⊗|\\otimes(?![A-Za-z]))"
)
_SYMBOL = (  # K.T, torch.softmax; a Greek letter is a name by itself
    rf"(?:(?:torch\.nn\.functional|torch|numpy|np|jnp|math|nn|F)\.(?=[A-Za-z]))?(?P<word>[{_GREEK}]|[^\W\d_{_SMALL}{_GREEK}]+)"
)
_PATH = rf"(?P<word>{_L}{_A}*(?:_{_A}+)*(?:\.(?:{_A}+|\*)(?:_{_A}+)*)*)"  # layers.0.attention.scores
_TIMES = (
    r"(?P<times>[xXх](?=[ \t]*(?:[0-9(\[√]|\\(?:sqrt|frac|left|begin|text)\b))|(?<=[\s])[xXх](?=[ \t]+-[0-9])"
    r"|(?<=[\w)\]][ \t])[xXх](?=[ \t]+[^\W\d_]))"
)
TEXT_MODE = re.compile("|".join([*_PATTERNS, _TIMES, _WORD, r"(?P<sign>.)"]), re.DOTALL)
MATH_MODE = re.compile("|".join([*_PATTERNS, _TIMES, _LETTERS, r"(?P<sign>.)"]), re.DOTALL)
FORMULA_MODE = re.compile(
    "|".join([_MARKS, *_PATTERNS, r"(?P<times>(?<=[0-9])[xX](?=[0-9]))", _SYMBOL, r"(?P<sign>.)"]), re.DOTALL
)
NAME_MODE = re.compile("|".join([*_PATTERNS, _TIMES, _PATH, r"(?P<sign>.)"]), re.DOTALL)
_TEXT_LETTERS, _MATH_LETTERS, _NAME_LETTERS = re.compile(_WORD), re.compile(_LETTERS), re.compile(_PATH)
_AFTER_FUNCTION = re.compile(r"\s{0,9}(?:\\left)?\s{0,9}(?:[(\[{0-9.√_]|\\sqrt|\\frac|-[0-9])")
_BRACKET_FOLLOWS = re.compile(r"[ \t]?(?:\\left)?[ \t]?[(\[]|_|\{")
_BY = re.compile(r"[ \t]+by\b")
_EQUAL_TO = re.compile(r"[ \t]+(?:exactly[ \t]+)?(?:equal[ \t]+to|the[ \t]+same[ \t]+as)\b")
_NAME = re.compile(rf"{_L}(?:[0-9]+|['’])?|{_L}{_A}*(?:_{_A}+)+")
_LOGARITHM = re.compile(r"(log|Log)_([0-9]{1,3})")
_ARTICLES = frozenset(("a", "A", "I"))


class Tokenizer:
    """Reads left to right; what a sign means may hang on the token before it and the character after it."""

    def __init__(self, text: str, start: int = 0, *, math: bool = False, names: bool = False, formula: bool = False) -> None:
        self.text, self.place, self.math, self.gap = text, 0, math, False
        self.names = names  # every word is a name: the language of quantities, which has no prose
        self.formula = formula  # the same for a formula of matrices, where a name is one letter with its indexes
        self.offset = start
        self.found: list[Token] = []
        self.outside: list[bool] = []  # whether it was math before each open LaTeX environment

    def run(self) -> list[Token]:
        while self.place < len(self.text):
            pattern = FORMULA_MODE if self.formula else NAME_MODE if self.names else MATH_MODE if self.math else TEXT_MODE
            match = pattern.match(self.text, self.place)
            if match is None:  # cannot happen: the last alternative takes any character
                break
            kind = str(match.lastgroup)
            start, self.place = self.place, match.end()
            if kind == "space":
                self.gap = True
                continue
            count = len(self.found)
            if kind in FIXED:
                self.add(*FIXED[kind], start)
            else:
                getattr(self, f"_on_{kind}")(start, match[kind])
            if len(self.found) > count:
                self.gap = False
        return self.found

    def add(self, kind: Kind, text: str, start: int) -> None:
        self.found.append(Token(kind, text, start + self.offset, self.place + self.offset, self.math, self.gap, None, self.names))

    @property
    def before(self) -> Token | None:
        return self.found[-1] if self.found else None

    def after_operand(self) -> bool:
        return self.before is not None and self.before.kind in OPERAND_ENDS

    def _on_number(self, start: int, text: str) -> None:
        self.add("number", text, start)

    def _on_environment(self, start: int, text: str) -> None:
        tex.environment(self, start, text)

    def _on_command(self, start: int, text: str) -> None:
        tex.command(self, start, text)

    def _on_escape(self, start: int, text: str) -> None:
        tex.escape(self, start, text)

    def _on_equals(self, start: int, text: str) -> None:
        self.add("relation", "≈" if "~" in text else "=", start)

    def _on_wall(self, start: int, text: str) -> None:
        self.add("wall", text, start)

    def _on_arrow(self, start: int, text: str) -> None:
        self.add("relation", "⇒" if text == "=>" else "→", start)

    def _on_edge(self, start: int, text: str) -> None:
        self.add("edge", text, start)
        self.math = not self.math

    def _on_line(self, start: int, _: str) -> None:
        self.add("wall", "\n", start)

    def _on_turned(self, start: int, _: str) -> None:
        self.add("prime", "'", start)

    def _on_equal(self, start: int, _: str) -> None:
        self.add("relation", "=", start)

    def _on_each(self, start: int, _: str) -> None:
        self.add("operator", "⊙", start)

    def _on_times(self, start: int, text: str) -> None:
        """An x before a number: a product sign where an operand stands before it, else a letter as any other."""
        follows = self.text[start + len(text) : start + 20].lstrip()[:1]
        if self.before and self.after_operand() and not (self.before.kind == "word" and follows.isalpha()):
            self.add("operator", "×", start)
            return
        letters = _NAME_LETTERS if self.names else _MATH_LETTERS if self.math else _TEXT_LETTERS
        match = letters.match(self.text, start)
        self.place = match.end() if match else self.place
        (self._on_letters if self.math and not self.names else self._on_word)(start, self.text[start : self.place])

    def _on_letters(self, start: int, text: str) -> None:
        """Letters in a formula: a function, a product sign between numbers, or a name with its subscript."""
        if text.lower() in FUNCTIONS and _AFTER_FUNCTION.match(self.text, self.place):
            self.add("function", FUNCTIONS[text.lower()], start)
            tex.subscript(self)
        else:
            self.name(start, text)

    def _on_word(self, start: int, text: str) -> None:
        """Letters in prose: an operator, a relation or a function in words, a name, or just a word."""
        lower = text.lower()
        if self.formula:
            self.symbol(start, text)
        elif self.names and not (lower in FUNCTIONS and self._calls(lower)):
            self.name(start, text)
        elif logarithm := _LOGARITHM.fullmatch(text):
            self.add("function", "log", start)
            self.add("sub", logarithm[2], start)
        elif lower in WORD_OPERATORS and self.after_operand():
            self.add("operator", WORD_OPERATORS[lower], start)
        elif lower in ("multiplied", "divided") and (by := _BY.match(self.text, self.place)):
            self.place = by.end()
            self.add("operator", "×" if lower == "multiplied" else "/", start)
        elif lower in WORD_RELATIONS:
            equal = _EQUAL_TO.match(self.text, self.place) if lower in ("is", "are") else None
            self.place = equal.end() if equal else self.place
            self.add("relation", "=" if equal else WORD_RELATIONS[lower], start)
        elif lower in FUNCTIONS and self._calls(lower):
            self.add("function", FUNCTIONS[lower], start)
            tex.subscript(self)
        elif (_NAME.fullmatch(text.replace("\\", "")) and text not in _ARTICLES) or self.text.startswith(("(", "["), self.place):
            self.name(start, text.replace("\\", ""))
        else:
            self.add("word", text.replace("\\", ""), start)

    def _calls(self, lower: str) -> bool:
        """In prose `sum` is a word; before a bracket it is a function, as `exp` is before a number."""
        if _BRACKET_FOLLOWS.match(self.text, self.place):
            return True
        return lower in BARE_FUNCTIONS and _AFTER_FUNCTION.match(self.text, self.place) is not None

    def name(self, start: int, text: str) -> None:
        """A name takes its subscript and its primes with it."""
        label = tex.subscript_text(self)
        while self.text.startswith(("'", "’"), self.place):
            self.place += 1
            label += "'"
        self.add("name", f"{text}_{label}" if label.strip("'") else text + label, start)

    def symbol(self, start: int, text: str, accents: Iterable[str] = ()) -> None:
        """A name of a formula with its indexes; `K^T_h` is K_h transposed, and `γ` is gamma."""
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

    def _on_sign(self, start: int, sign: str) -> None:
        if self.formula and sign in "⊤⊺_":
            kind: Kind = "unknown" if sign == "_" else "name" if self.before and self.before.text == "^" else "prime"
            self.add(kind, "T" if kind == "name" else sign, start)
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
            self.add("edge", sign, start)  # emoji, bullets and marks without width say nothing
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


def tokens(text: str, start: int = 0, *, math: bool = False, names: bool = False, formula: bool = False) -> list[Token]:
    """The tokens of a text; `start` is added to every place; with `names` or `formula`, no word is prose."""
    return Tokenizer(text, start, math=math, names=names, formula=formula).run()
