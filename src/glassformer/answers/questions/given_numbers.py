"""Questions that give numbers of their own, `softmax of [2, 1, 0.1]`: the problem that they state, and what of it is asked."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from glassformer.answers.questions.number_names import Named, named_numbers
from glassformer.answers.questions.rephrasing import untitled
from glassformer.spec import GlassformerError, shown


class GivenNumbers(NamedTuple):
    """A problem as a file would state it, the quantity asked for, and whether others are asked for besides."""

    document: dict[str, Any]
    asked: str
    also: bool = False


LONGEST = 600
ROUNDED = 0.02  # how far rounded weights may be from one together
MOST_POSITIONS = 32  # features of a position that are worth writing out

_N = r"[-−+]?\d+(?:\.\d+)?"
_SCALED = (
    r"\bscaled\b|\b(?:after|with|apply\w*|before|and|by) (?:the )?scaling\b|(?:/|divided by|scaled by|dividing"
    r" by)\s*(?:the )?(?:sqrt|√|square root)"
    r"|\b(?:scal(?:e|ing) (?:by|factor)|divid\w+ by) (?:the )?(?:of )?(?:1/)?(?:sqrt|√|square root)"
)
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
# What may be asked for, by the words for it; what comes later in the work comes first here.
_ASKED = (
    ("output", r"\b(?:(?:final|attention|self-attention|head|context|attended|resulting|layer) )*(?:outputs?|context vectors?)"
        r"(?: vectors?| matrix)?\b|\bweighted (?:sum|average|combination)(?: of (?:the )?values?(?: vectors?)?)?\b"),
    ("weights", r"\battention (?:weights?|distribution|probabilit(?:y|ies)|coefficients?|matrix)(?: matrix| vector)?\b"
        r"|\bsoftmax(?: (?:weights|probabilities|output|function|operation|distribution))?\b"),
    ("scores", r"\bscaled (?:attention |dot[- ]product )*(?:scores?|logits|dot[- ]products?|values?)(?: matrix)?\b(?! attention)"
        r"|\b(?:attention |alignment )?(?:scores?|logits)(?: matrix)?\b"),
    ("dot", r"\b(?:raw|unnormali[sz]ed|unscaled) (?:attention )*(?:scores?|logits)\b|\bdot[- ]products?\b(?!(?: |-)attention)"),
)  # fmt: skip
_NORM = (
    r"\blayer[- ]?norm(?:ali[sz](?:ation|ed|e|ing)|ed)?\b(?: (?:output|values?|vector|activations?))?"
    r"|\bnormali[sz]ed (?:vector|output|values?)\b"
)
_RMS = r"\brms[- ]?norm(?:ali[sz]ation)?\b"
_PARTS_OF_NORM = {"mean": r"\bmean\b", "variance": r"\bvariance\b", "std": r"\bstandard deviation\b|\bstd\b"}
_CALLED = r"\b(relu|gelu|silu|swish|sigmoid|tanh)\b(?: (?:activation|function))*"
_OF_ONE_NUMBER = re.compile(  # `GELU(1)`
    rf"\b((?:relu|gelu|silu|swish|tanh)(?: activation| function)*)(?: of| at| for|\s*\()(?: x\s*=)?\s*({_N})\s*\)?"
    r"(?=\s*(?:[?.=]|$))",
    re.I,
)
_EPS = rf"\b(?:eps(?:ilon)?|ε|ϵ)\s*(?:=|of|is)\s*(10\^\{{?-\d+\}}?|{_N}(?:e-?\d+)?)"
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
_TEMPERATURE = rf"\btemperature(?: (?:parameter|t|τ))?\s*(?:=|of|is)?\s*(?:t\s*=\s*|τ\s*=\s*)?({_N})"
_WIDTH = r"\b(?:d_?\{?k\}?|(?:key|head) (?:dimension|size))(?: d_?k)?\s*(?:=|is|of)\s*(\d+)"
_SCALED_OTHERWISE = r"\bscal\w+ by (?!(?:the |1/)*(?:sqrt|√|square root))"
_CAUSAL = r"\b(?:causal|look-?ahead)(?: attention)? mask(?:ing)?\b"
_ROUNDING = (
    r"[,(]? ?\b(?:round(?:ed|ing)?|give|correct|accurate|up|to)\b(?: (?:your )?(?:answers?|results?|it|them))? ?(?:to|with)? "
    r"(?:\d|two|three|four) (?:decimals?(?: places?)?|significant (?:figures|digits)|digits)\)?"
)
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
# Words that set the scene and change nothing; whatever else is said makes it another question.
_SCENE = frozenset(
    """what is are the of a an if given let suppose consider compute calculate find determine evaluate give for with and to in by
    using use we have has then after applying apply applied result results obtained resulting following this that these its their
    on from vector vectors token tokens word words query queries key keys value values matrix matrices attention self-attention
    scaled dot-product dot product mechanism corresponding respectively assume assuming where when each one single be you your as
    show me work out get want row row-wise rows over across per position step operation function elements entries numbers
    scores logits score weights raw between two three input activation activations layer pass passed through feature features
    toy example simple transformer head so unscaled q k v x s corresponding sequence at it do does equal
    computes computed return returns yield yields produce""".split()
)


def given_numbers(asked: str) -> GivenNumbers | None:
    """The problem that a question states in numbers; None where it states none, or says anything that is not understood."""
    if len(asked) > LONGEST or not re.search(r"\d", asked):
        return None
    text, given = named_numbers(untitled(_OF_ONE_NUMBER.sub(r"\1 of [\2]", asked)))
    text = re.sub(_BY_HAND, " layernorm of ", " ".join(text.split()))
    if given is None:
        return _of_a_position(text) or _of_one_product(text)
    for formula, words in _FORMULAS:
        text = _in_words(formula, words, text)
    text = re.sub(_ROUNDING, " ", text)
    text = re.sub(r"\((?:layer[- ]?norm|rms[- ]?norm|relu|gelu|silu|swish)\)", " ", text)  # `layer normalization (LayerNorm)`
    if _TWICE.search(text) or _ONE_OF_THEM.search(text) or (_matrix(given) and _DOWN_THE_COLUMNS.search(text)):
        return None
    return _norm(text, given) or _activation(text, given) or _attention(text, given, asked)


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
    text = re.sub(dict(_ASKED)["output"], " ", text)
    if (parts and (kind == "rms_norm" or of_the_result)) or not _only_scene(re.sub(r"\bused\b", " ", text)):
        return None
    return GivenNumbers(document, parts[-1] if parts else "output", len(parts) > 1)


def _activation(text: str, given: Named) -> GivenNumbers | None:
    """`ReLU of [-1, 2]`."""
    found, bare = re.search(_CALLED, text), _as_vector(given)
    if found is None or bare is None or found[1] == "sigmoid":
        return None
    if len({called.replace("swish", "silu") for called in re.findall(_CALLED, text)}) > 1:
        return None
    text = re.sub(dict(_ASKED)["output"], " ", re.sub(_CALLED, " ", text))
    return GivenNumbers({"kind": found[1]} | bare, "output") if _only_scene(text) else None


def _attention(text: str, given: Named, asked: str) -> GivenNumbers | None:
    """Scores, weights or the output, from whatever is given: queries and keys, scores, or the weights themselves."""
    text = re.sub(r"\b((?:scaled )?)dot[- ]product(?= (?:self-)?attention)", r"\1", text)
    if re.search(_SCALED_OTHERWISE, text) or len({*re.findall(_WIDTH, text)}) > 1:
        return None
    softmax_of = re.search(r"\bsoftmax\b", text) and not re.search(r"\b(?:q|k|quer(?:y|ies)|keys?)\b", text)
    said = _Said(
        scaled=re.search(_SCALED, text) is not None,
        unscaled=re.search(_UNSCALED, text) is not None,
        width=_first_number(_WIDTH, text),
        temperature=_first_number(_TEMPERATURE, text),
        causal=re.search(_CAUSAL, text) is not None,
    )
    for pattern, word in ((_UNSCALED, "unscaled"), (_WIDTH, ""), (_TEMPERATURE, ""), (_CAUSAL, ""), (r"\bscaling\b", "")):
        text = re.sub(pattern, f" {word} ", text)
    wanted, text = _wanted(text, given)
    if wanted is None or not _only_scene(text) or (said.scaled and said.unscaled):
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
    for name, said in _ASKED:
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


_TABLE = r"\b(?:(?:sinusoidal|fixed|absolute) )*(?:position(?:al)? (?:encodings?|embeddings?)|pe)(?: vector)?\b"
_POSITION = r"\bpos(?:ition)?\s*(?:=|:|\bis\b|number|index)?\s*(\d+)\b"
_MODEL = (
    r"\b(?:d_?\{?model\}?|d|(?:embedding |model |hidden )?(?:dimension(?:ality)?|size))\s*(?:=|:|is"
    r"|of)\s*(?:d(?:_?model)?\s*=\s*)?(\d+)\b"
)
# What is no row of the table, but something done with it.
_NO_ROW = r"\b(?:dot|products?|scores?|logits|attention|softmax|weights?|between|two|three|layer|activations?)\b"


def _of_a_position(text: str) -> GivenNumbers | None:
    """`the positional encoding at position 1 for d_model = 4`: all of its features."""
    position, width = re.search(_POSITION, text), re.search(_MODEL, text)
    if not re.search(_TABLE, text) or position is None or width is None or int(width[1]) > MOST_POSITIONS:
        return None
    if len(re.findall(_POSITION, text)) > 1 or len(re.findall(_MODEL, text)) > 1 or re.search(_NO_ROW, text):
        return None
    rest = re.sub(_TABLE, " ", re.sub(_MODEL, " ", re.sub(_POSITION, " ", text)))
    rest = re.sub(r"\bsines?(?: and |/|-)cosines?\b", " ", rest)  # one of the two alone is half of the row
    rest = re.sub(r"\b(?:sinusoidal|original|full|complete|0-indexed|zero-indexed)\b", " ", rest)
    if not _only_scene(rest):
        return None
    return GivenNumbers({"position": int(position[1]), "d_model": int(width[1])}, "pe")


_PRODUCT = (
    rf"\b(?:dot[- ]product(?:s)?(?: (?:between|of) (?:[a-z]+ ){{1,6}}?)?|q ?[·.⋅*] ?k|q\^t ?k|qk\^t)\s*(?:=|is|equals"
    rf"|of)?\s*({_N})"
    r"(?!\w|\.\d)"
)
_OF_THE_MODEL = (
    r"\b(?:in|of|for|and|with|,)? ?(?:an? |the )?(?:(?:model|encoder|transformer) (?:of|with|has|having) (?:an? )?)?"
    r"(?:d_?\{?model\}?|(?:model |hidden |embedding )?(?:width|size|dimension))\s*(?:=|is|of)?\s*(\d+)\b"
)


def _of_one_product(text: str) -> GivenNumbers | None:
    """`a dot product of 16 with d_k = 64`: the scaled score."""
    product, width = re.search(_PRODUCT, text), re.search(_WIDTH, text)
    if product is None or width is None:
        return None
    if re.search(r"\bscaled (?:attention )?$", text[: product.start()]):
        return None  # it is divided already
    rest = re.sub(_WIDTH, " ", f"{text[: product.start()]} {text[product.end() :]}")
    model = re.search(_OF_THE_MODEL, rest)
    rest = f"{rest[: model.start()]} {rest[model.end() :]}" if model else rest
    rest = re.sub(r"\b(?:whose|a head|head|key|query|vectors?)\b", " ", rest)
    if not re.search(_SCALED, rest) or re.search(r"softmax|weight|unscaled|\braw\b|before", rest):
        return None
    rest = re.sub(dict(_ASKED)["scores"], " ", re.sub(_ROUNDING, " ", rest))
    if not _only_scene(rest):
        return None
    document = {"kind": "attention", "dot": [float(product[1].replace("−", "-"))], "d_k": int(width[1])}
    return GivenNumbers(document | ({"d_model": int(model[1])} if model else {}), "scores")


def _only_scene(text: str) -> bool:
    """Whether only words are left that change nothing: no number, no other operation."""
    return all(word in _SCENE for word in re.findall(r"[^\s,.:;()|?!=$]+", text))
