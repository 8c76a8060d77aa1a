"""Questions about a corpus and a batch in tokens: how many steps so many passes take, how many passes so many steps make."""

from __future__ import annotations

import re

from glassformer.answers.questions.question import Question

_NUMBER = r"(\d[\d,_]*(?:\.\d+)?)(?: ?(k|m|b|million|thousand|billion|trillion))?"
ROWS = r"(?:training |input )*(?:sequences?|sentences?|examples?|samples?|documents?|texts?|inputs?)"
_IS = r"(?:\s*(?:=|:)\s*| (?:of|is|was|with) (?:size )?| )"
_EACH = rf"(?: (?:each|long|per {ROWS}|in each {ROWS}))?"
_STEPS = r"(?:(?:training|optimi[sz]er|optimi[sz]ation|gradient|parameter|weight|update|sgd|adam) )*(?:steps|updates|iterations)"
_CORPUS = r"(?:(?:pre-?training|training|text|english|whole|large) )*(?:corpus|data ?set|data|corpora|text)"
_GIVEN = {
    "length": rf"\b(?:of|with|x|×) (?:length )?{_NUMBER}(?: tokens{_EACH})(?=[ ,.?)]|$)(?<!tokens)|"
    rf"\b(?:sequence|context|input) length{_IS}{_NUMBER}(?: tokens)?|\b(?:of|with|each) (?:length |having )?{_NUMBER} tokens"
    rf"(?: (?:each|long|per {ROWS}|in each {ROWS}))",
    "batch tokens": rf"\bbatch(?:es)?(?:[ _]size)?{_IS}{_NUMBER} tokens",
    "batch": rf"\b(?:mini-?)?batch(?:es)?(?:[ _]size)?{_IS}{_NUMBER}(?: {ROWS})?",
    "epochs": rf"{_NUMBER} (?:epochs|passes|full passes)(?: over (?:the |an? )?{_CORPUS})?",
    "steps": rf"{_NUMBER} {_STEPS}\b",
    "corpus": rf"(?:{_CORPUS} (?:of|with|has|contains|holds|containing|totall?ing|=) (?:about |roughly |some )?)?{_NUMBER} "
    rf"(?:training )?"
    r"(?:tokens|words)\b",
}
_ASKS = {
    "steps over a corpus": rf"\bhow many {_STEPS}\b|\b(?:total )?number of {_STEPS}\b",
    "passes over a corpus": rf"\bhow (?:many (?:epochs|passes|times)|often)\b(?: over (?:the |an? )?{_CORPUS})?|\bnumber "
    rf"of epochs\b",
}
_SCENE = frozenset(
    """how many what is are was were the of a an in for with and if we you it its to at by on per each that this does do did will
    would take takes taken make makes made need needed needs see sees seen during training pre-training pretraining trained train
    model bert transformer encoder over after using used use has have there one full whole corpus data dataset text tokens token
    let suppose assume given consider be corresponds correspond amount amounts approximately about roughly then run length
    sequence sequences batch batches epoch epochs""".split()
)


def of_a_corpus(text: str, asked: str) -> Question | None:
    """`3.2 billion tokens, 10 epochs, batches of 256 sequences of 512 tokens: how many steps?`, and the other way round."""
    target = next((name for name, said in _ASKS.items() if re.search(said, text)), None)
    if (
        target is None
        or not re.search(rf"\b{_CORPUS}\b", text)
        or re.search(r"\bgpus?\b|accumulat|devices|image|patch|pad", text)
    ):
        return None
    rest, given = re.sub(_ASKS[target], " ", text), {}
    for name, pattern in _GIVEN.items():
        if name == "batch" and "batch tokens" in given:
            continue
        if found := re.search(pattern, rest):
            given[name] = whole(found)
            rest = f"{rest[: found.start()]} {rest[found.end() :]}"
    together = given.pop("batch tokens", 0) or given.pop("batch", 0) * given.pop("length", 0)
    if target.startswith("steps"):
        given.setdefault("epochs", 1)
    due = {"corpus", "epochs"} if target.startswith("steps") else {"corpus", "steps"}
    if not together or given.keys() != due or not all(word in _SCENE for word in re.findall(r"[^\s,.:;()|?!]+", rest)):
        return None
    return Question(
        "reckoned", target, one_layer=False, one_head=False, text=asked, given=(*given.items(), ("together", together))
    )


def whole(found: re.Match[str]) -> int:
    """The number that a match holds, with the word behind it: `3.2 billion`."""
    digits, suffix = next((found[place], found[place + 1]) for place in range(1, found.re.groups, 2) if found[place])
    power = {"k": 1, "thousand": 1, "m": 2, "million": 2, "b": 3, "billion": 3, "trillion": 4}.get(suffix or "", 0)
    return round(float(re.sub(r"[,_]", "", digits)) * 1000.0**power)
