"""Questions that another command answers: the shapes of given matrices, the value of given numbers, a claim."""

from __future__ import annotations

import re

from glassformer.spec import GlassformerError, shown

_GIVEN = re.compile(
    r"\b(?P<name>W_?[QKVO]|[XQKV])\b(?:,? (?:is|are|be|has|have|with|of|an?|the|matrix|shape|size|dimensions?)\b)* "
    r"[\[(]?(?P<rows>\d{1,9}) ?[x×,] ?(?P<columns>\d{1,9})[\])]?",
    re.I,
)
_NUMBERS = re.compile(r"\[\s*-?\d+(?:\.\d+)?(?:\s*,\s*-?\d+(?:\.\d+)?)+\s*\]")
_CLAIM = re.compile(r"(?:true or false|true/false|t/f)\b", re.I)


def say_where(asked: str) -> None:
    """Refuse such a question with the command that answers it."""
    if _CLAIM.match(asked):
        raise GlassformerError(f"'{shown(asked)}' is a claim, not a question: glassformer check judges it.")
    given = {found["name"].upper().replace("_", ""): (found["rows"], found["columns"]) for found in _GIVEN.finditer(asked)}
    if len(given) > 1:
        names = {name: f"W_{name[1:]}" if name.startswith("W") else name for name in given}
        shapes = " ".join(f"{names[name]}={rows}x{columns}" for name, (rows, columns) in given.items())
        formula = "Q K^T" if {"Q", "K"} <= set(given) else "X W_Q" if {"X", "WQ"} <= set(given) else "your formula"
        raise GlassformerError(
            f"'{shown(asked)}' gives matrices of its own: their shapes are followed by glassformer algebra '{formula}' {shapes}"
        )
    if _NUMBERS.search(asked) and re.search(r"softmax|norm|dot|product|attention|scores?|weights|output", asked, flags=re.I):
        raise GlassformerError(
            f"'{shown(asked)}' gives numbers of its own: glassformer work takes them from a problem file, and glassformer check "
            "judges an equality such as softmax([1, 2, 3]) = [0.09, 0.24, 0.67] in a .md file."
        )
