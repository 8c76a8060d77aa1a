"""Questions whose own numbers are all they need: tokens seen in training, cells of a causal mask, the spread of a dot product."""

from __future__ import annotations

import re

from glassformer.answers.questions.corpora import ROWS, of_a_corpus, whole
from glassformer.answers.questions.padding import padding
from glassformer.answers.questions.question import Question
from glassformer.answers.questions.two_sequences import of_two_sequences

_NUMBER = r"(\d[\d,_]*(?:\.\d+)?)(?: ?(k|m|million|thousand|billion))?"
_IS = r"(?:\s*(?:=|:)\s*| (?:of|is|was) (?:size )?| )"
_SEEN = {
    "steps": rf"{_NUMBER} (?:training |optimi[sz]er |gradient |parameter |weight |update |optimi[sz]ation"
    rf" )*(?:steps|updates|iterations)\b",
    "batch": rf"\b(?:mini-?)?batch(?:es)?(?:[ _]size)?{_IS}{_NUMBER}(?: {ROWS})?",
    "length": rf"\b(?:(?:maximum |max |input )?sequence length|seq(?:uence)?_len(?:gth)?){_IS}{_NUMBER}(?: tokens)?"
    rf"|\b(?:of|with) (?:length )?{_NUMBER} tokens(?: each| per {ROWS}| in each {ROWS})?",
}
_TOKENS = r"\bhow many tokens\b|\b(?:total )?number of (?:training )?tokens\b"
_ONE_BATCH = r"\b(?:in|per|of) (?:one |a |each |every |a single )?(?:batch|step|update)\b"
_ASKED_OF_ONE = rf"(?:{_TOKENS})[^,.;:?\d]*?\b(?:in|per|of|for) (?:one |a |an |each |every |a single )?(?P<one>\w+)"
_MASK = r"\b(?:causal|look-?ahead|subsequent|(?:lower |upper )?triangular|autoregressive)(?: attention| self-attention)? masks?\b"
_MASKED = (
    r"\b(?:masked(?: out)?|hidden|blocked|disallowed|forbidden|zeroed(?: out)?|ignored|set to (?:-|minus "
    r"|negative )?(?:inf(?:inity)?|∞))"
)
_VISIBLE = r"\b(?:unmasked|not masked(?: out)?|visible|allowed|kept|left unmasked|non-?masked|permitted)\b"
_CELLS = (
    r"\b(?:entries|positions|elements|cells|scores|attention scores|(?:query-key )?pairs|values|attention weights|connections)\b"
)
_LENGTH = (
    r"\b(?:sequence|input|sentence)?s? ?(?:of )?(?:length|len)?\s*(?:=|of|is)?\s*(?:n ?= ?|t ?="
    r" ?)?(\d+)\b(?: tokens)?|\b(\d+)[- ]tokens?\b"
)
_OF_ONE_QUERY = (  # a row of the mask, or several masks
    r"\b(?:tokens?|quer(?:y|ies)|keys?|positions?|rows?|words?|steps?) (?:number |[a-z] ?= ?)?\d"
    r"|\b(?:per|each|every|one|single|an?|any|last) (?:single )?(?:token|query|key|row|word|position)\b(?! mask)|\btwo\b"
    r"|\d (?:sequences|sentences|batches|heads|layers)\b"
)
_OF_A_COMPONENT = (
    r"(?:variance|deviation) of (?:each|every|an?|one|the|any|single|individual| )*(?:component|entr|element|coordinate)"
)
_SCALING = r"(?<!before )(?<!before the )(?<!without )(?<!no )\bscaling\b|\b(?:variance|deviation)(?: of| is)? two\b"
_PRODUCT = r"\b(?:their )?dot[- ]products?\b|\bq ?[·⋅.] ?k\b|\bq\^t ?k\b"
_DOT = rf"{_PRODUCT}|\battention (?:scores?|logits)\b"
_SPREAD = {"standard deviation of a dot product": r"\bstandard deviation\b|\bstd\b", "variance of a dot product": r"\bvariance\b"}
_WIDTH = r"\b(?:d_?\{?k\}?|(?:key|head|vector) (?:dimension|size))(?: d_?k)?\s*(?:=|is|of)\s*(\d+)|\b(\d+)-dimensional\b"
_UNIT = (
    r"\b(?:mean (?:of )?(?:0|zero)|zero[- ]mean|mean 0)(?: and|,)? (?:unit[- ]variance|(?:a )?variance (?:of"
    r" )?(?:1|one)|variance 1)\b"
    r"|\bunit variance\b|\bstandard normal\b|\bn\(0, ?1\)|\bzero mean\b"
)
_SCENE = frozenset(
    """how many what is are was were the of a an in for with and if we you it its to at by on per each total altogether
    overall does do did will would see sees seen process processed processes during training pre-training pretraining trained
    train model bert transformer over after using used use has have there entire whole run full every step steps sequence
    sequences sentence length let suppose assume given consider be batch batches one
    matrix attention mask when applied apply applying self-attention which number out score scores that
    components component entries elements random variables independent independently distributed iid i.i.d drawn from two
    vectors vector q k query key queries keys their scaling scaled before unscaled then so
    """.split()
)


def reckoned(text: str, asked: str) -> Question | None:
    """The question, where it has one of these forms and says nothing else; `text` is the question in plain words."""
    found = (form(text, asked) for form in (padding, _tokens_seen, _mask_cells, _spread, of_a_corpus, of_two_sequences))
    return next((question for question in found if question is not None), None)


def _tokens_seen(text: str, asked: str) -> Question | None:
    """`256 sequences of 512 tokens in a batch, 1,000,000 steps`: steps · batch · length."""
    if not re.search(_TOKENS, text) or re.search(r"image|patch|epoch|pad|mask|\bgpus?\b|accumulat|devices", text):
        return None
    one = re.search(_ASKED_OF_ONE, text)
    if one and re.fullmatch(ROWS, one["one"]):
        return None
    rest, given = re.sub(_TOKENS, " ", text), {}
    for name, pattern in _SEEN.items():
        if found := re.search(pattern, rest):
            given[name] = whole(found)
            rest = f"{rest[: found.start()]} {rest[found.end() :]}"
    if one and re.fullmatch(r"(?:mini-?)?batch|step|update|iteration", one["one"]):  # whatever the number of steps
        given["steps"] = 1
    if "steps" not in given and re.search(_ONE_BATCH, f"{rest} {'in a batch' if 'batch' in text else ''}"):
        given["steps"] = 1
    if given.keys() != _SEEN.keys() or not _only_scene(re.sub(_ONE_BATCH, " ", rest)):
        return None
    return _question("tokens seen", asked, given)


def _mask_cells(text: str, asked: str) -> Question | None:
    """`How many entries of a causal mask are masked for 10 tokens?`"""
    visible, masked = re.search(_VISIBLE, text), re.search(_MASKED, text)
    if not re.search(_MASK, text) or not re.search(r"\bhow many\b|\bnumber of\b", text) or not (visible or masked):
        return None
    if re.search(_OF_ONE_QUERY, text):
        return None
    rest = re.sub(_VISIBLE, " ", re.sub(_MASK, " ", text))
    rest = re.sub(_MASKED, " ", rest) if not visible else rest
    rest = re.sub(r"\b(\d+)(?: ?[x×] ?|[- ]by[- ])\1\b", r" length \1 ", rest)
    cells = {int(number) for number in re.findall(rf"\b(\d+)(?= {_CELLS})", rest)}  # `of the 100 entries`
    numbers = [int(number) for number in re.findall(r"\d+", rest)]
    rest = re.sub(_CELLS, " ", rest)
    length = next((number for number in numbers if {*numbers} - {number} <= {number * number} & cells), 0)
    rest = re.sub(r"\b\d+\b", " ", re.sub(r"\btokens?\b|\bwords?\b", " ", rest))
    if not length or not _only_scene(rest):
        return None
    return _question("visible cells" if visible else "masked cells", asked, {"length": length})


def _spread(text: str, asked: str) -> Question | None:
    """`the variance of q · k for d_k = 64`, where every component has mean 0 and variance 1."""
    width = re.search(_WIDTH, text)
    if width is None or not re.search(_UNIT, text) or not re.search(_DOT, text) or re.search(r"softmax|divid|√|sqrt|after", text):
        return None
    rest = re.sub(_UNIT, " ", re.sub(_WIDTH, " ", text))
    if re.search(f"{_SCALING}|{_OF_A_COMPONENT}", rest):
        return None
    if not re.search(rf"{_PRODUCT}|unscaled|before", rest):  # the scores may be scaled
        return None
    target = next((name for name, said in _SPREAD.items() if re.search(rf"(?:{said})(?! 1| of 1| one)", rest)), None)
    if target is None or re.search(r"\bscaled\b", rest):
        return None
    for said in (*_SPREAD.values(), _DOT, r"\bdot\b", r"\bproducts?\b"):
        rest = re.sub(said, " ", rest)
    return _question(target, asked, {"d_k": int(width[1] or width[2])}) if _only_scene(rest) else None


def _question(target: str, asked: str, given: dict[str, int]) -> Question:
    return Question("reckoned", target, one_layer=False, one_head=False, text=asked, given=tuple(given.items()))


def _only_scene(text: str) -> bool:
    return all(word in _SCENE for word in re.findall(r"[^\s,.:;()|?!]+", text))
