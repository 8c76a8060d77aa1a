"""Questions that give numbers of their own, `softmax of [2, 1, 0.1]`: the problem that they state, and what of it is asked."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from glassformer.answers.questions.given_in_words import of_a_position, of_one_product
from glassformer.answers.questions.given_problem import ASKED, ROUNDING, SCALED, WIDTH, GivenNumbers, N, only_scene
from glassformer.answers.questions.number_names import Named, named_numbers
from glassformer.answers.questions.picked import picked, with_brackets
from glassformer.answers.questions.rephrasing import untitled
from glassformer.spec import GlassformerError, shown

LONGEST = 600
ROUNDED = 0.02  # how far rounded weights may be from one together
_UNSCALED = (
    r"\bunscaled\b|\b(?:without|no|ignor\w+|omit\w*|skip\w*|leav\w+ out|do(?:es)? not (?:use|apply)|not us\w+) "
    r"(?:the |any )*scal(?:ing|e)(?: factor)?\b|\bdo not scale\b"
)
# Formulas by the words for them; a root in the divisor is what scales.
_ROOT = r"\s*(?:/|÷|over|divided by)\s*(?:sqrt|√|(?:the )?square root of)\s*[({]*\s*(?:d(?:_?\{?k\}?)?|(?P<under>\d+))\s*[)}]*"
_FORMULAS = (
    (rf"\bsoftmax\s*[({{]+\s*qk\^t{_ROOT}\s*[)}}]*\s*[·*@×]?\s*v\b", " scaled attention output "),
    (rf"\bsoftmax\s*[({{]+\s*qk\^t{_ROOT}\s*[)}}]*", " scaled attention weights "),
    (r"\bsoftmax\s*[({]+\s*qk\^t\s*[)}]+\s*[·*@×]?\s*v\b", " unscaled attention output "),
    (r"\bsoftmax\s*[({]+\s*qk\^t\s*[)}]+", " unscaled attention weights "),
    (rf"\bqk\^t{_ROOT}", " scaled scores "),
    (r"\bqk\^t(?!\w)|\bq ?[·.⋅] ?k\b", " dot products "),
    (r"\battention\s*\(\s*q\s*,\s*k\s*,\s*v\s*\)", " attention output "),
)
_NORM = (
    r"\blayer[- ]?norm(?:ali[sz](?:ation|ed|e|ing)|ed)?\b(?: (?:output|values?|vector|activations?))?"
    r"|\bnormali[sz]ed (?:vector|output|values?)\b"
)
_RMS = r"\brms[- ]?norm(?:ali[sz]ation)?\b"
_PARTS_OF_NORM = {"mean": r"\bmean\b", "variance": r"\bvariance\b", "std": r"\bstandard deviation\b|\bstd\b"}
_CALLED = r"\b(relu|gelu|silu|swish|sigmoid|tanh)\b(?: (?:activation|function))*"
_OF_ONE_NUMBER = re.compile(  # `GELU(1)`
    rf"\b((?:relu|gelu|silu|swish|tanh)(?: activation| function)*)(?: of| at| for|\s*\()(?: x\s*=)?\s*({N})\s*\)?"
    r"(?=\s*(?:[?.=]|$))",
    re.I,
)
_EPS = rf"\b(?:eps(?:ilon)?|ε|ϵ)\s*(?:=|of|is)\s*(10\^\{{?-\d+\}}?|{N}(?:e-?\d+)?)"
_NO_EPS = (
    r"\b(?:ignor\w+|no|without|omit\w*|neglect\w*|assum\w+ no) (?:the )?(?:small )?(?:eps(?:ilon)?"
    r"|ε)\b(?: term)?|\bwithout (?:using )?ε"
)
_AFFINE = (
    r"\b(?:no|without|ignor\w+(?: the)?|before (?:the )?|omit\w*) (?:(?:learnable|learned|trainable|elementwise) )*"
    r"(?:affine|scale and shift|gamma and beta|γ and β|scaling and shifting|gain and bias)"
    r"(?: (?:parameters?|transform\w*|terms?))?\b|\b(?:no|without) (?:gain|scale|gamma|γ)(?:,? (?:and |or )?(?:no |without )?|/)"
    r"(?:bias|shift|beta|β)\b|\b(?:gamma|γ)\s*=\s*1(?:\.0)?\s*(?:,|and|, and)\s*(?:beta|β)\s*=\s*0(?:\.0)?\b"
)
# What LayerNorm does, in words.
_BY_HAND = (
    r"\b(?:that )?(?:the )?mean (?:of )?(?:\w+ )?(?:is |was |gets )?subtracted(?: from (?:it|them|each|every|entry|the|all"
    r"| )*)? and "
    r"(?:the |its )?(?:result|difference|rest)? ?(?:is |was )?(?:then )?divided by (?:the |its )?standard deviation"
    r"(?:,? (?:just )?as (?:in )?layer ?norm(?:alization)? does)?"
    r"|\bnormali[sz]e\b(?= .*\b(?:layer ?norm|layer normali))"
)
_SAMPLE = r"\b(?:unbiased|sample) (?:variance|standard deviation|estimat\w+)\b"
_TEMPERATURE = rf"\btemperature(?: (?:parameter|t|τ))?\s*(?:=|of|is)?\s*(?:t\s*=\s*|τ\s*=\s*)?({N})"
_SCALED_OTHERWISE = r"\bscal\w+ by (?!(?:the |1/)*(?:sqrt|√|square root))"
_ROOT_OF_D_K = r"(?:the )?(?:1/)?(?:sqrt|√|square root(?: of)?)\s*[({]*\s*(?:the )?d_?\{?k\}?\s*[)}]*(?!\w)"
_CAUSAL = r"\b(?:causal|look-?ahead)(?: attention)? mask(?:ing)?\b"
# An operation on what an operation gives, `the softmax of the softmax of`, `LayerNorm and RMSNorm of`.
_OPERATION = rf"(?:{_NORM}|{_RMS}|{_CALLED.replace('(relu', '(?:relu')}|\bsoftmax\b)"
_BETWEEN = (
    r"(?:\s|[(]|\b(?:of|to|on|and|or|then|after|over|for|is|the|an?|its|results?|outputs?|values?|vector|applied|apply)\b)*"
)
_TWICE = re.compile(rf"{_OPERATION}{_BETWEEN}{_OPERATION}")
# One number out of the result, and what is taken of a matrix column by column.
_ONE_OF_THEM = re.compile(
    r"\b(?:positions?|tokens?|rows?|entr(?:y|ies)|elements?|features?|quer(?:y|ies)|keys?|words?|steps?|heads?)"
    r" (?:one|two|three)\b"
)
_DOWN_THE_COLUMNS = re.compile(
    r"\b(?:over|across|along|between)(?: the| all| its)* (?:tokens?|words?|positions?|sequence|quer(?:y|ies)|inputs?)\b"
    r"|\b(?:per|each|every) (?:single )?(?:feature|key|value|element|entry)\b"
)
# The mean of what comes out of a norm is another than the one that the norm takes off.
_OF_THE_RESULT = re.compile(
    rf"\bafter\b|\boutputs?\b|\bresult\w*\b|\bnormali[sz]ed\b"
    rf"|(?:{'|'.join(_PARTS_OF_NORM.values())}) of (?:the |an? )*(?:{_NORM})"
)


def given_numbers(asked: str) -> GivenNumbers | None:
    """The problem that a question states in numbers; None where it states none, or says anything that is not understood."""
    if len(asked) > LONGEST or not re.search(r"\d", asked):
        return None
    text, given = named_numbers(untitled(with_brackets(_OF_ONE_NUMBER.sub(r"\1 of [\2]", asked))))
    text = re.sub(_BY_HAND, " layernorm of ", " ".join(text.split()))
    if given is None:
        return of_a_position(text) or of_one_product(text)
    for formula, words in _FORMULAS:
        text = _in_words(formula, words, text)
    text = re.sub(ROUNDING, " ", text)
    text = re.sub(r"\((?:layer[- ]?norm|rms[- ]?norm|relu|gelu|silu|swish)\)", " ", text)  # `layer normalization (LayerNorm)`
    if _TWICE.search(text) or _ONE_OF_THEM.search(text) or (_matrix(given) and _DOWN_THE_COLUMNS.search(text)):
        return None
    text, place = picked(text)
    found = _norm(text, given) or _activation(text, given) or _attention(text, given, asked)
    return found._replace(place=place) if found else None


def _in_words(formula: str, words: str, text: str) -> str:
    """A text with words for a formula; a number under its root, `QK^T/√16`, is what d_k is."""

    def said(found: re.Match[str]) -> str:
        under = found.groupdict().get("under")
        return f"{words}d_k = {under} " if under else words

    return re.sub(formula, said, text)


def _norm(text: str, given: Named) -> GivenNumbers | None:
    """LayerNorm or RMSNorm of a vector, or what it computes on the way."""
    kind = "rms_norm" if re.search(_RMS, text) else "layer_norm"
    bare = _as_vector(given, "gamma", "beta")
    if not re.search(_RMS if kind == "rms_norm" else _NORM, text) or bare is None:
        return None
    if kind == "rms_norm" and re.search(_NORM, text):
        return None
    of_the_result = _OF_THE_RESULT.search(text) is not None
    document: dict[str, Any] = {"kind": kind} | bare
    text = re.sub(_AFFINE, " ", re.sub(_RMS, " ", re.sub(_NORM, " ", text)))
    if eps := re.search(_EPS, text):
        document["eps"] = float(re.sub(r"10\^\{?(-\d+)\}?", r"1e\1", eps[1]).replace("−", "-"))
    text = re.sub(_NO_EPS, " ", re.sub(_EPS, " ", text))
    if re.search(_SAMPLE, text) and kind == "layer_norm":
        document["variance"], text = "unbiased", re.sub(_SAMPLE, " ", text)
    parts = [name for name, said in _PARTS_OF_NORM.items() if re.search(said, text)]
    for said in _PARTS_OF_NORM.values():
        text = re.sub(said, " ", text)
    text = re.sub(dict(ASKED)["output"], " ", text)
    if (parts and (kind == "rms_norm" or of_the_result)) or not only_scene(re.sub(r"\bused\b", " ", text)):
        return None
    return GivenNumbers(document, parts[-1] if parts else "output", len(parts) > 1)


def _activation(text: str, given: Named) -> GivenNumbers | None:
    """`ReLU of [-1, 2]`."""
    found, bare = re.search(_CALLED, text), _as_vector(given)
    if found is None or bare is None or found[1] == "sigmoid":
        return None
    if len({called.replace("swish", "silu") for called in re.findall(_CALLED, text)}) > 1:
        return None
    text = re.sub(dict(ASKED)["output"], " ", re.sub(_CALLED, " ", text))
    return GivenNumbers({"kind": found[1]} | bare, "output") if only_scene(text) else None


def _attention(text: str, given: Named, asked: str) -> GivenNumbers | None:
    """Scores, weights or the output, from whatever is given: queries and keys, scores, or the weights themselves."""
    text = re.sub(r"\b((?:scaled )?)dot[- ]product(?= (?:self-)?attention)", r"\1", " ".join(text.split()))
    text = re.sub(
        rf"\b(?:i\.e\.,? )?(?:the )?dot[- ]products?(?: scores?)? (?:divided|scaled) by {_ROOT_OF_D_K}", " scaled score ", text
    )
    text = re.sub(rf"(?<!\w)(?:and )?(?:scaled|divided|scaling|dividing)(?: it| them)? by {_ROOT_OF_D_K}", " scaled ", text)
    if re.search(_SCALED_OTHERWISE, text) or len({*re.findall(WIDTH, text)}) > 1:
        return None
    softmax_of = re.search(r"\bsoftmax\b", text) and not re.search(r"\b(?:q|k|quer(?:y|ies)|keys?)\b", text)
    said = _Said(
        scaled=re.search(SCALED, text) is not None,
        unscaled=re.search(_UNSCALED, text) is not None,
        width=_first_number(WIDTH, text),
        temperature=_first_number(_TEMPERATURE, text),
        causal=re.search(_CAUSAL, text) is not None,
    )
    for pattern, word in ((_UNSCALED, "unscaled"), (WIDTH, ""), (_TEMPERATURE, ""), (_CAUSAL, ""), (r"\bscaling\b", "")):
        text = re.sub(pattern, f" {word} ", text)
    divided = re.search(r"\bscaled\b", text) is not None
    wanted, text = _wanted(text, given)
    if wanted and wanted[0] == "dot" and divided:
        return None  # a product that is divided is no product any more
    if wanted is None or not only_scene(text) or (said.scaled and said.unscaled):
        return None
    document: dict[str, Any] = dict(given) | ({} if said.temperature is None else {"temperature": said.temperature})
    if said.causal and not _square(given):
        return None  # which of the keys a query may see depends on where in the sequence it stands
    if len(given) == 1 and set(given) <= {"x", "v", "scores"} and wanted[0] == "weights" and not said.narrows:
        if "scores" not in given and not softmax_of:
            return None
        (numbers,) = given.values()  # the softmax of any vector
        rest = {name: value for name, value in document.items() if name not in given}
        return GivenNumbers(rest | {"kind": "softmax", "x": numbers}, "output")
    document |= {"kind": "attention"} | ({"mask": "causal"} if said.causal else {})
    found = _from_the_middle(document, wanted[0], given, said, asked) or _from_vectors(document, wanted[0], given, said, asked)
    return GivenNumbers(found, wanted[0], len(wanted) > 1) if found else None


class _Said(NamedTuple):
    """What is said of how attention works."""

    scaled: bool
    unscaled: bool
    width: float | None
    temperature: float | None
    causal: bool

    @property
    def narrows(self) -> bool:
        return self.scaled or self.causal or self.width is not None


def _from_the_middle(document: dict[str, Any], wanted: str, given: Named, said: _Said, asked: str) -> dict[str, Any] | None:
    """Weights with values, or scores that are ready for the softmax."""
    if set(given) not in ({"weights", "v"}, {"scores"}, {"scores", "v"}) or said.temperature is not None:
        return None
    if "weights" in given:
        averaged = re.search(r"\baverage\b", asked, flags=re.I) and not _sums_to_one(given["weights"])
        told = wanted == "output" and not averaged and not (said.scaled or said.causal) and said.width is None
        return document if told else None
    if said.scaled or said.width is not None:
        _leaves_open(asked)
    return document


def _from_vectors(document: dict[str, Any], wanted: str, given: Named, said: _Said, asked: str) -> dict[str, Any] | None:
    """Queries and keys, or their products: scaled or not, as it is said."""
    names = set(given)
    if names not in ({"q", "k"}, {"q", "k", "v"}, {"dot"}, {"dot", "v"}) or (wanted == "output" and "v" not in names):
        return None
    if wanted == "dot" or said.unscaled:
        return document | {"scale": "none"}
    if said.width is not None:  # whoever says d_k divides by its root
        return document | {"d_k": int(said.width)}
    if not said.scaled:
        _leaves_open(asked)
    return document if "q" in names else None


def _sums_to_one(weights: list[Any]) -> bool:
    """Whether weights are shares of a whole, as far as their rounding allows."""
    rows = weights if isinstance(weights[0], list) else [weights]
    return all(abs(float(sum(Fraction(str(cell)) for cell in row)) - 1) < ROUNDED for row in rows)


def _matrix(given: Named) -> bool:
    """Whether what is normalized has rows and columns."""
    alone = given["v"] if list(given) == ["v"] else None
    cells = next((given[name] for name in ("x", "scores", "dot") if name in given), alone)
    return cells is not None and isinstance(cells[0], list)


def _square(given: Named) -> bool:
    """Whether there are as many queries as keys."""
    cells = next((given[name] for name in ("scores", "dot", "weights") if name in given), None)
    if cells is not None:
        return isinstance(cells[0], list) and all(len(row) == len(cells) for row in cells)
    if not {"q", "k"} <= set(given):
        return False
    queries, keys = (len(given[name]) if isinstance(given[name][0], list) else 1 for name in ("q", "k"))
    return queries == keys


def _first_number(pattern: str, text: str) -> float | None:
    found = re.search(pattern, text)
    return float(found[1].replace("−", "-")) if found else None


def _leaves_open(asked: str) -> NoReturn:
    raise GlassformerError(
        f"'{shown(asked)}' leaves open whether the scores are divided by √d_k: say 'scaled dot-product attention', or 'without "
        "scaling'."
    )


def _wanted(text: str, given: Named) -> tuple[list[str] | None, str]:
    """What is asked for, the last of the work first, and the text without the words for it."""
    found = []
    for name, said in ASKED:
        if re.search(said, text):
            found.append(name)
            text = re.sub(said, " ", text)
    if not found and re.search(r"\battention\b", text) and "v" in given:  # `compute the scaled dot-product attention`
        found = ["output"]
    if found[:2] == ["output", "weights"] and "v" not in given:  # `the output of the softmax`
        found = found[1:]
    if found and found[0] == "weights" and found[1:] and {"scores", "dot"} & set(given):
        found = found[:1]
    return found or None, text


def _as_vector(given: Named, *besides: str) -> dict[str, Any] | None:
    """The one vector that is given, under whichever name, and these besides."""
    rest = {name: value for name, value in given.items() if name not in besides}
    if len(rest) != 1 or next(iter(rest)) not in ("x", "v"):
        return None
    (vector,) = rest.values()
    return {"x": vector} | {name: given[name] for name in besides if name in given}
