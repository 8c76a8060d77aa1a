"""Questions that give matrices of their own by their shapes, `Q is 5 × 64, K is 7 × 64`: the formula that is asked about."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from glassformer.answers.questions.rephrasing import untitled

Asked = Literal["shape", "elements", "macs", "flops", "params"]


class GivenShapes(NamedTuple):
    """A formula, the shapes of its matrices, and what is asked of its result."""

    formula: str
    shapes: dict[str, str]
    asked: Asked


LONGEST = 400
_NAME = r"(?:W_?\^?\{?[QKVOqkvo]\}?|[XQKVAB])"
_BY = r"\s*(?:[x×,]|\\times|by)\s*"
_SHAPE = rf"[(\[{{]*\s*(\d{{1,6}}){_BY}(\d{{1,6}})\s*[)\]}}]*"
_SPACE = r"(?:\\in|∈)\s*(?:\\mathbb)?\s*\{?[Rℝ]\}?\s*\^\s*"
_IS = (
    r"(?:\s*(?:,|=|:|\bis\b|\bare\b|\bbe\b|\bhas\b|\bhave\b|\bhaving\b|\bwith\b|\bof\b|\ban?\b|\bthe\b|\bboth\b|\bmatri(?:x|ces)\b"
    rf"|\bshapes?\b|\bsizes?\b|\bdimensions?\b|{_SPACE}))+\s*"
)
_GIVEN = re.compile(
    rf"(?<![\w^])(?P<names>{_NAME}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){_NAME})*){_IS}(?P<shape>{_SHAPE})"
    r"(?:\s+(?:matri(?:x|ces))\b)?(?:\s+each\b)?(?!\s*[x×,]\s*\d)"
)
_TWO = re.compile(
    rf"\b(?:multiply(?:ing)?|product of)\s+(?:an?\s+|the\s+)?(?:matrix\s+of\s+(?:shape|size)\s+)?{_SHAPE}(?:\s+matrix)?\s+"
    rf"(?:by|with|and|times)\s+(?:an?\s+|the\s+)?(?:matrix\s+of\s+(?:shape|size)\s+)?{_SHAPE}(?:\s+matrix)?",
    re.I,
)
_FORMULA = re.compile(
    rf"(?:{_NAME}\s*=\s*)?(?:softmax\s*\(?\s*)?\(?{_NAME}(?:\s*(?:\^\{{?(?:T|\\top)\}}?|ᵀ|\.T|@|\*|·|\\cdot|/|\\sqrt|sqrt|√|\\top"
    rf"|\(|\)|\{{|\}}|d_?\{{?k\}}?|{_NAME}|\s))*"
)
# What a result is called that the matrices given lead to.
_MEANT = (
    (r"attention (?:scores?|logits)(?: matrix)?|(?:attention )?score matrix|scores|similarity matrix", ("Q", "K"), "Q K^T"),
    (r"attention (?:weights?|map|matrix|weight matrix)", ("Q", "K"), "softmax(Q K^T)"),
    (r"(?:attention |head |final )*output|context (?:vectors?|matrix)", ("Q", "K", "V"), "softmax(Q K^T) V"),
    (r"(?:the )?(?:quer(?:y|ies)(?: matrix)?(?: Q)?|Q)", ("X", "W_Q"), "X W_Q"),
    (r"(?:the )?(?:keys?(?: matrix)?(?: K)?|K)", ("X", "W_K"), "X W_K"),
    (r"(?:the )?(?:values?(?: matrix)?(?: V)?|V)", ("X", "W_V"), "X W_V"),
)
_ASKED: tuple[tuple[Asked, str], ...] = (
    ("params", r"\b(?:parameters|params|weights)\b"),
    ("flops", r"\b(?:FLOPs?|floating[- ]point operations)\b"),
    ("macs", r"\b(?:scalar |individual )?multipl(?:ications|ies|y-adds)\b|\bMACs\b"),
    ("elements", r"\b(?:how many|number of) (?:entries|elements|scalars|numbers|values)\b"),
    ("shape", r"\b(?:shapes?|sizes?|dimensions?|dimensionality)\b"),
)
_THESE = (
    r"\b(?:in|of|do|for) (?:all (?:of )?)?(?:these|the|those) (?:\w+ )?(?:(?:weight|projection)"
    r" )*matrices(?: together| combined)?\b|\bin total\b"
)
_SCENE = frozenset(
    """what is are the of a an if given let suppose consider compute find determine give for with and to in by when then will
    would be do does it take needed required perform performed computing calculate calculating how many number product matrix
    matrices resulting result assume assuming we have has using where standard naive naively total are there obtained get after
    multiplying multiplication i.e self-attention attention layer single head you output on input query key value cost number
    does uses use learnable trainable each question exercise
    need needs together altogether combined projection weight""".split()
)


def given_shapes(asked: str) -> GivenShapes | None:
    """The formula that a question asks about, where it gives the shapes itself and says nothing else; None otherwise."""
    if len(asked) > LONGEST or not re.search(r"\d", asked):
        return None
    text = re.sub(r"\$|`|\\left|\\right|\\mathbf|\\text", "", " ".join(untitled(asked).split()))
    what = next((name for name, said in _ASKED if re.search(said, text, flags=re.I)), None)
    if what is None:
        return None
    if two := _TWO.search(text):
        rest = f"{text[: two.start()]} {text[two.end() :]}"
        shapes = {"A": f"{two[1]}x{two[2]}", "B": f"{two[3]}x{two[4]}"}
        return GivenShapes("A B", shapes, what) if _only_scene(rest) else None
    shapes = {}
    for found in _GIVEN.finditer(text):
        rows, columns = re.findall(r"\d+", found["shape"])
        for name in re.findall(_NAME, found["names"]):
            if shapes.setdefault(_plain(name), f"{rows}x{columns}") != f"{rows}x{columns}":
                return None
    if len(shapes) < 2:
        return None
    rest = _GIVEN.sub(" ", text)
    if what == "params":
        if {*"XQKV"} & set(shapes):  # what is fed in or comes out is not learned
            return None
        these = re.sub(_THESE, " ", rest)
        return GivenShapes(" + ".join(shapes), shapes, what) if these != rest and _only_scene(these) else None
    formula, rest = _formula(rest, shapes)
    return GivenShapes(formula, shapes, what) if formula and _only_scene(rest) else None


def _formula(text: str, shapes: dict[str, str]) -> tuple[str, str]:
    """The formula in a text, or the one that leads to what it names; and the text without it."""
    for found in _FORMULA.finditer(text):
        names = [_plain(name) for name in re.findall(_NAME, found[0].partition("=")[2] or found[0])]
        if len(names) > 1 and set(names) <= set(shapes):
            body = re.sub(_NAME, lambda name: f" {_plain(name[0])} ", found[0].partition("=")[2] or found[0])
            body = re.sub(r"ᵀ|\.T|\^\{?(?:T|\\top)\}?", "^T", body).replace(" ^T", "^T")
            return body.strip(), f"{text[: found.start()]} {text[found.end() :]}"
    for said, needs, formula in _MEANT:
        if set(shapes) >= set(needs) and (named := re.search(rf"(?<=of )(?:the )?(?:{said})\b", text)):
            return formula, f"{text[: named.start()]} {text[named.end() :]}"
    return "", text


def _plain(name: str) -> str:
    """`W_q`, `WQ`, `W^Q` are `W_Q`."""
    return f"W_{name[-1].strip('}').upper() or name[-2].upper()}" if name.startswith("W") else name


def _only_scene(text: str) -> bool:
    for _, said in _ASKED:
        text = re.sub(said, " ", text, flags=re.I)
    return all(word.lower() in _SCENE for word in re.findall(r"[^\s,.:;()|?!=]+", text))
