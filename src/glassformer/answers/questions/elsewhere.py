"""Questions that another command answers: the shapes of given matrices, the value of given numbers, a claim, a reason."""

from __future__ import annotations

import re

from glassformer.spec import GlassformerError, shown

_GIVEN = re.compile(
    r"\b(?P<name>W_?[QKVO]|[XQKV])\b(?:,? (?:is|are|be|has|have|with|of|an?|the|matrix|shape|size|dimensions?)\b)* "
    r"(?:(?:\\in|∈) ?(?:\\mathbb ?)?\{?[Rℝ]\}? ?\^ ?)?"
    r"[\[({]*(?P<rows>\d{1,9}) ?(?:[x×,]|\\times) ?(?P<columns>\d{1,9})(?!\d| ?, ?\d)[\])}]*",
    re.I,
)
_NUMBERS = re.compile(r"\[\s*-?\d+(?:\.\d+)?(?:\s*,\s*-?\d+(?:\.\d+)?)+\s*\]")
_REASON = re.compile(
    r"(?:so |and )?(?:why|how come|explain (?:why|the (?:purpose|role|idea))"
    r"|what is the (?:purpose|role|intuition|benefit|advantage))\b",
    re.I,
)
_SHOWN = {"scal|sqrt|√|divid": "scaling", "head": "heads", "position|order": "order", "mask|padd": "padding", "norm": "norm"}
_CLAIM = re.compile(r"(?:true or false|true/false|t/f)\b", re.I)


def say_where(asked: str) -> None:
    """Refuse such a question with the command that answers it."""
    if _CLAIM.match(asked):
        raise GlassformerError(f"'{shown(asked)}' is a claim, not a question: glassformer check judges it.")
    if _REASON.match(asked):
        shows = next((name for words, name in _SHOWN.items() if re.search(words, asked, flags=re.I)), "")
        where = (
            f"'glassformer experiment {shows}' shows it on numbers, and" if shows else "'glassformer experiment' shows some, and"
        )
        raise GlassformerError(
            f"'{shown(asked)}' asks for a reason: {where} here quantities are asked for, such as 'params of W_O in one layer'."
        )
    given = {found["name"].upper().replace("_", ""): (found["rows"], found["columns"]) for found in _GIVEN.finditer(asked)}
    if len(given) > 1:
        names = {name: f"W_{name[1:]}" if name.startswith("W") else name for name in given}
        shapes = " ".join(f"{names[name]}={rows}x{columns}" for name, (rows, columns) in given.items())
        formula = "Q K^T" if {"Q", "K"} <= set(given) else "X W_Q" if {"X", "WQ"} <= set(given) else "your formula"
        raise GlassformerError(
            f"'{shown(asked)}' gives matrices of its own: their shapes are followed by glassformer algebra '{formula}' {shapes}"
        )
    padded = re.search(r"\bpad", asked, flags=re.I)  # the lengths of sentences are no vector
    if (
        not padded
        and _NUMBERS.search(asked)
        and re.search(r"softmax|norm|dot|product|attention|scores?|weights|output", asked, flags=re.I)
    ):
        raise GlassformerError(
            f"'{shown(asked)}' gives numbers of its own: glassformer work takes them from a problem file, and glassformer check "
            "judges an equality such as softmax([1, 2, 3]) = [0.09, 0.24, 0.67] in a .md file."
        )
