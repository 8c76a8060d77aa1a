"""Vectors and matrices in a sentence, `q = [1, 0]`, `values [1, 0] and [0, 1]`: each under the one name that it is given by."""

from __future__ import annotations

import re
from typing import Any

from glassformer.numbers.by_hand.pasted import pasted
from glassformer.spec import GlassformerError

Named = dict[str, Any]

MOST_NUMBERS = 8
_CELL = r"[-−+]?(?:\d+(?:\.\d*)?|\.\d+)(?:/\d+)?"
_LATEX = r"\\begin\{[a-z]*matrix\}.*?\\end\{[a-z]*matrix\}"
_ROW = rf"\[\s*{_CELL}(?:\s*[,;\s]\s*{_CELL})*\s*\]"
_ARRAY = re.compile(
    rf"(?:{_LATEX}|\[\s*{_ROW}(?:\s*[,;]?\s*{_ROW})*\s*\]|{_ROW}|[({{⟨]\s*{_CELL}(?:\s*,\s*{_CELL})+\s*[)}}⟩])"
    r"(?P<turned>\s*(?:\^\{?(?:T|\\top|⊤)\}?|ᵀ|\.T\b))?",
    re.S,
)
# `[1,000, 2,500]`: these commas part no cells, or nobody can tell.
_THOUSANDS = re.compile(r"\d,0\d\d(?!\d)|\d,\d{3}(?!\d)[^][]*, |, [^][]*\d,\d{3}(?!\d)")
_MARK, _TAKEN = "§", "¤"
_ARE = r"\s*(?:=|:|\bis\b|\bare\b|\bbe\b|\bof\b|\bbeing\b)?\s*(?:the )?(?:vectors? )?"
_SCORES = (
    r"(?:(?:the |its |attention |alignment |pre-softmax |similarity )*(?:scores?|logits)(?: vector)?(?: [sez])?(?:"
    r" (?:for|of) (?:an? |one |the )?(?:single )?(?:token|query|word))?)"
)
# How each is called, right before its numbers; a number behind a letter is that of a row.
_NAMES = (
    ("scores", r"(?:the )?scaled dot[- ]products"),
    ("dot", rf"(?:raw|unnormali[sz]ed|unscaled) {_SCORES}|(?:the )?(?:raw |query-key )?dot[- ]products"),
    ("scores", _SCORES),
    ("weights", r"(?:the )?(?:softmax |attention )?(?:weights|distribution|probabilities|coefficients)"),
    ("gamma", r"(?:gain |scale )?(?:gamma|γ|\\gamma)"),
    ("beta", r"(?:bias |shift )?(?:beta|β|\\beta)"),
    ("q", r"(?:(?:the |a |an )?(?:query|queries)(?: vectors?| matrix)?(?: q(?:_?\{?\d\}?)?)?|q(?:_?\{?\d\}?)?)"),
    ("k", r"(?:(?:the |two |three |four |its |and )*keys?(?: vectors?| matrix)?(?: k(?:_?\{?\d\}?)?)?|k(?:_?\{?\d\}?)?)"),
    ("v", r"(?:(?:the |two |three |four |its |and |corresponding )*values?(?: vectors?| matrix)?(?:"
        r" v(?:_?\{?\d\}?)?)?|v(?:_?\{?\d\}?)?)"),
    ("x", r"(?:(?:the |a |an |input |hidden |token |activation |feature )*(?:vector|input|activations?|features|hidden state"
        r"|embedding|representation|logits|numbers)(?: vector)?(?: [xzh])?|[xzh])"),
)  # fmt: skip
_SAME = re.compile(r"(?<!\w)(?:[qkv]\s*=\s*){2,3}$")  # `Q = K = V = …`
_OF_ROWS = re.compile(r"(?:\b[QKV]|\b(?:[Qq]ueries|[Kk]eys|[Vv]alues)|[Mm]atrix(?: [QKV])?)\s*(?:=|:|is|are|be|of)?\s*$")
_APPLIED = (
    r"\b(normali[sz]e|softmax|layer ?norm(?:alization)?|rms ?norm|relu|gelu|silu|tanh|ln|mean|variance|standard"
    r" deviation)\s*(?:\(|of|on|to)?\s*$"
)


def named_numbers(asked: str) -> tuple[str, Named | None]:
    """The question in small letters without its numbers, and these by name; none where there are none, or one has no name."""
    arrays: list[Any] = []

    def mark(found: re.Match[str]) -> str:
        rows = _rows(found, of_rows=_OF_ROWS.search(found.string[: found.start()]) is not None)
        if rows is None:
            return found[0]
        arrays.append(rows)
        return f" {_MARK}{len(arrays) - 1} "

    text = _ARRAY.sub(mark, re.sub(r"\\left|\\right|\\mathbf|\\vec|\$|`|\*\*", "", asked.replace("−", "-")))
    text = " ".join(text.lower().split())
    text = re.sub(r"\\top\b|ᵀ|\^\{?t\}?(?!\w)|\.t\b", "^t", text.replace("’", "'").replace("\\", ""))
    text = re.sub(r"\bq\s*[·*@]?\s*k\s?\^t", "qk^t", text)
    if not arrays or len(arrays) > MOST_NUMBERS:
        return text, None
    return _named(text, arrays)


def _rows(found: re.Match[str], *, of_rows: bool) -> Any:
    """The numbers of one vector or matrix; a vector that is turned round is the same vector, and so is one column.

    A matrix of queries, keys or values has a token in every row, of one number each where it has one column.
    """
    body = found[0][: found.start("turned") - found.start()] if found["turned"] else found[0]
    body = body.strip()
    if _THOUSANDS.search(body):
        return None
    if body[0] in "({⟨":
        body = f"[{body[1:-1]}]"
    try:
        rows = pasted("numbers", body)
    except GlassformerError:
        return None
    nested = [row for row in rows or () if isinstance(row, list)]
    if nested and found["turned"]:
        return None  # which of the two is meant depends on the convention
    if len(nested) > 1 and not of_rows and all(len(row) == 1 for row in nested):
        return [row[0] for row in nested]  # a column is one vector
    return rows


def _named(text: str, arrays: list[Any]) -> tuple[str, Named | None]:
    given: Named = {}
    last = ""
    for place, rows in enumerate(arrays):
        before, _, after = text.partition(f"{_MARK}{place}")
        if same := _SAME.search(before):
            if not all(_put(given, letter, rows, "=") for letter in re.findall(r"[qkv]", same[0])):
                return text, None
            text, last = f"{before[: same.start()]} {_TAKEN}{after}", ""
            continue
        joined = re.search(rf"{_TAKEN}\s*(?:,|;|and|, and)\s*$", before) if last else None
        name, start = (last, joined.start()) if joined else _name_before(before)
        if name is None or not _put(given, name, rows, "joined" if joined else before[start:]):
            return text, None
        text, last = f"{before[:start]} {_TAKEN}" + after.removeprefix(" )").removeprefix(")"), name
    for name in ("q", "k", "v"):
        if isinstance(given.get(name), _Numbered):
            given[name] = list(given[name])
    if "q" in given and isinstance(given.get("k"), list) and not isinstance(given["k"][0], list):
        given["k"] = [given["k"]]
    return text.replace(_TAKEN, " "), given


def _put(given: Named, name: str, rows: Any, said: str) -> bool:
    """Numbers under a name: all of it, or one more row, listed (`values [1, 0] and [0, 1]`) or numbered (`k_2`)."""
    numbered = re.search(r"_?\{?(\d)\}?\s*(?:=|:|is|of|be)?\s*$", said)
    if said == "joined" or (numbered and name in ("q", "k", "v")):
        return _add_row(given, name, rows, number=int(numbered[1]) if numbered else None)
    if name in given:
        return False
    given[name] = rows
    return True


class _Numbered(list[Any]):
    """Rows that were given one by one."""


def _add_row(given: Named, name: str, rows: Any, *, number: int | None = None) -> bool:
    """One more row under a name; whether it is the next one, and a row at all."""
    if isinstance(rows[0], list):
        return False
    held = given.get(name)
    if held is None:
        held = given[name] = _Numbered()
    elif not isinstance(held, _Numbered):
        if isinstance(held[0], list) or number is not None:
            return False
        held = given[name] = _Numbered([held])
    if number is not None and number != len(held) + 1:
        return False
    held.append(rows)
    return len({len(row) for row in held}) == 1


def _name_before(text: str) -> tuple[str | None, int]:
    """The name that stands right before a place, and where it begins; a function that is applied to it names nothing else."""
    if called := re.search(_APPLIED, text):
        return "x", called.end(1)
    for name, said in _NAMES:
        if found := re.search(rf"(?<![\w]){said}{_ARE}$", text):
            return name, found.start()
    return None, 0
