"""One number out of a result, `the weight of the first key`, `the probability of the second class`: which one is meant."""

from __future__ import annotations

import re

_N = r"[-−+]?(?:\d+(?:\.\d+)?|\.\d+)"
# Numbers without brackets right behind the name of what they are: `scores 2, 1, 0`, `logits of 1 and 3`.
_BARE = re.compile(
    r"(?P<name>\b(?:scores|logits)(?: (?:for|with|against|over|of|to)(?: the| its| each of| these| those)*"
    r"(?: (?:two|three|four|five|\d))? (?:keys?|tokens|classes|words|labels|positions))?"
    r"(?:\s*(?:=|:|\bare\b|\bof\b|\bbeing\b))?\s*)"
    rf"(?P<numbers>(?<![\w.]){_N}(?:(?:\s*,\s*(?:and )?|\s+and\s+){_N})+)(?![\d%]|\.\d|\s*[x×])(?!\s*(?:tokens"
    rf"|heads|layers|keys|classes))"
    rf"(?!\s*(?:,|\band\b)\s*(?:and\s+)?(?:{_N}|[a-z]\b|\.\.|…))",  # the list goes on, with what is no number or unknown
    re.I,
)
_ORDINALS = "first second third fourth fifth sixth seventh eighth".split()
_WHICH = rf"(?P<which>{'|'.join(_ORDINALS)}|1st|2nd|3rd|[4-8]th|last)"
_KEY = r"(?:keys?|tokens?|words?|class(?:es)?|labels?|categor(?:y|ies)|scores?|logits?|options?)(?: (?:vector|token))?"
_WEIGHT = r"\b(?:(?:attention|softmax|predicted|class|resulting|normali[sz]ed) )*(?:weight|probability|attention)\b"
_OF_A_KEY = (
    re.compile(
        rf"(?P<what>{_WEIGHT})(?P<between>(?: (?!weight|probabilit)[a-z'-]+)*?) (?:to |on |for |of )*(?:the |its"
        rf" )?{_WHICH} {_KEY}(?!\w)"
    ),
    re.compile(
        rf"\b(?:the |its )?{_WHICH} {_KEY}(?:'s)?(?P<between>(?: (?:gets?|receives?|has|is|an?|the))*) (?P<what>{_WEIGHT})"
    ),
)
_OF_EVERY = re.compile(
    rf"(?P<what>{_WEIGHT})(?P<between>(?: (?!weight|probabilit)[a-z'-]+)*?) (?:to |on |for |of )*(?:each|every|any) {_KEY}(?!\w)"
)
_COMPONENT = re.compile(
    rf"\b(?:the |its )?{_WHICH} (?:components?|elements?|entr(?:y|ies)|coordinates?|features?|dimensions?"
    rf"|numbers?)(?: of| in)?(?!\w)"
)
_SAID = re.compile(
    r"\b(?:(?:binary|sentiment|text|bert|linear|(?:two|three)-class|softmax|trained)(?= classifier)|for (?:two"
    r"|three|four|five|\d) (?:classes|labels|keys|tokens|words)|predicts|returns|how much|receives?|gets?"
    r"|assign(?:s|ed)?|pays?|paid|put|puts|placed?|places|given to|model|classifier|outputs?)\b"
)


_ALREADY = re.compile(
    r"\(?(?:(?:which|that) (?:are|is|were) )?already (?:been )?(?:scaled|divided)(?: by (?:sqrt|√|the square"
    r" root of)\s*\(?d_?k\)?)?\)?",
    re.I,
)
_WIDE = re.compile(
    r"\b(?:the |each )?(?:query|queries|keys?|head)(?: and (?:the )?keys?)?(?: vectors?)? (?:has|have) (\d+)"
    r" (?:dimensions|components|features)\b",
    re.I,
)
OF_EACH = re.compile(r"\b(?:weight|probability)\b (?:\w+ )?(?:of|for|on|to|does) (?:each|every|any)\b", re.I)


def with_brackets(asked: str) -> str:
    """A question with brackets around numbers that are listed without them; of scores that are scaled already, as of scores."""
    asked = _WIDE.sub(r"d_k = \1", _ALREADY.sub(" ", asked))
    return _BARE.sub(lambda found: f"{found['name']}[{re.sub(r',? and ', ', ', found['numbers'])}]", asked)


def picked(text: str) -> tuple[str, int | None]:
    """The question for all of the result, and which of its numbers is meant, from 0; None where all of them are."""
    if every := _OF_EVERY.search(text):
        return _SAID.sub(" ", f"{text[: every.start()]} attention weight {every['between']} {text[every.end() :]}"), None
    if len(re.findall(rf"\b{_WHICH}\b", text)) != 1:
        return text, None
    for pattern in _OF_A_KEY:
        if found := pattern.search(text):
            rest = f"{text[: found.start()]} attention weight {found['between']} {text[found.end() :]}"
            return _SAID.sub(" ", rest), _place(found["which"])
    if found := _COMPONENT.search(text):
        return f"{text[: found.start()]} {text[found.end() :]}", _place(found["which"])
    return text, None


def _place(which: str) -> int:
    if which == "last":
        return -1
    return _ORDINALS.index(which) if which in _ORDINALS else int(which[0]) - 1
