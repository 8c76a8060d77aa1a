"""A question with somebody's answer behind it, `A student gets 30,976`: the question, and what was answered."""

from __future__ import annotations

import re

from glassformer.answers.judging.sentences import claims_in
from glassformer.answers.judging.stated_numbers import stated_numbers

Claims = list[tuple[str, str]]
LONGEST = 900

_PERSON = (
    r"(?:(?:an?|one|the|another|your|my|this|our) )?(?:(?:fellow|second|other|junior|first-year) )?(?:student|classmate|colleague"
    r"|friend|candidate|learner|intern|engineer|peer|pupil|teammate|applicant|coworker|interviewee|blog post|forum post|slide)"
    r"|someone|somebody|(?:he|she|they)(?= )"
)
_SAYS = (
    r"(?:says|said|claims|claimed|writes|wrote|answers|answered|states|stated|argues|argued|reports|reported|thinks|believes"
    r"|replies|replied|concludes|concluded|asserts|insists|notes|proposes|suggests|tells you)"
)
_FINDS = (
    r"(?:gets|got|obtains|obtained|finds|found|arrives at|arrived at|comes up with|came up with|ends up with|gives|gave|counts"
    r"|counted|computes|computed|calculates|calculated|works out|worked out|derives|derived|estimates|estimated|puts down"
    rf"|submits|submitted|offers|{_SAYS[3:-1]})"
)
_WORKS = (
    r"(?:computes|computed|calculates|calculated|counts|counted|works out|worked out|estimates|estimated|determines|determined"
    r"|derives|derived|evaluates|evaluated|adds up|(?:is|was) asked (?:for|to (?:compute|find|give|count|state|calculate)))"
)
_THEIR = rf"(?:(?:{_PERSON})['’]s?|their|his|her|my|the|student|proposed|submitted|given)"
_VALUE = (
    r"(?P<value>(?:about |approximately |roughly |around |~ ?|≈ ?)?(?:O\([^()]*\)|[\[(][-\d.,;\s\[\]()x×−]+[\])]"
    r"|[-−]?\d[\d,._]*(?<![.,])(?:\s*(?:[x×*·+/=-]|by)\s*[-−]?\d[\d,._]*(?<![.,]))*"
    r"(?:\s?(?:million|billion|thousand|percent|%|[kKMB](?!\w)|[KMGT]i?B|bytes|[KMGT]?FLOPs?))?))"
)
_UNIT = r"(?: (?:parameters|params|weights|flops|macs|bytes|tokens|patches|elements|entries|scores|steps|in total|numbers))*"
# What is asked about the answer, and says nothing of it.
_ABOUT_IT = re.compile(
    r"\s*(?:(?:is|was|are) (?:this|that|it|he|she|they|the (?:student|answer|claim|statement|result|count|number)|(?:his"
    r"|her|their) "
    r"(?:\w+ )?(?:answer|result|count|claim)|(?:the )?student)(?: (?:answer|result|number|claim|count))?"
    r" (?:right|correct|true|wrong|incorrect|accurate)(?: or (?:wrong|not|false|incorrect))?[^.?!]{0,60}\?"
    r"|(?:what|where|which|why|how)\b[^.?!]*\b(?:forg[eo]t\w*|mistakes?|wrong|errors?|miss(?:ed|ing)?|overlook\w*|left out"
    r"|misunder\w+|confus\w+|slip)\b[^.?!]*[.?!]"
    r"|(?:find|identify|name|explain|spot|describe|point out|diagnose|correct)\b[^.?!]*\b(?:mistake|error|slip"
    r"|misconception|wrong)\b[^.?!]*"
    r"[.?!]?|(?:true or false|correct|right|agree|do you agree)\s*\?)\s*$",
    re.I,
)
_BEHIND = re.compile(
    rf"(?P<question>.*[?.:])\s*(?:\(?{_THEIR} (?:answer|result|solution|response|reply|value|claim)\)?(?: is| was|:| =| –| —)*"
    rf"|(?:answer(?: given)?|ans?\.?|{_PERSON}):|(?:{_PERSON}) {_FINDS}(?: down)?:?)\s*(?:that )?"
    rf"(?:(?:the answer|it|this|the result|there) (?:is|are|equals|should be) )?[\"“]?{_VALUE}{_UNIT}[\"”]?\s*[.!]?\s*",
    re.I | re.S,
)
_THAT = re.compile(
    rf"(?P<before>(?:.*[.:] )?)(?:{_PERSON}) {_SAYS}(?: that|:|,)? ?[\"“]?(?P<said>.+?)[.!]?[\"”]?\s*", re.I | re.S
)
_AND_GETS = re.compile(
    rf"(?P<before>(?:.*[.:] )?)(?:{_PERSON}) {_WORKS} (?P<what>(?:the|an?|how|all|its|each|what)\b.+?|\w+ ?\(.+?\)),? "
    rf"(?:and (?:then )?(?:{_FINDS})|as|to be|at|obtaining|getting|, getting) (?:an answer of |a total of |a result of "
    rf")?{_VALUE}{_UNIT}"
    rf"(?P<rest>(?: \([^()]*\)|,? (?:with|for|without|including|in|when) [^.?!]*)?)\s*[.!]?\s*",
    re.I | re.S,
)
_FOR = re.compile(
    rf"(?P<before>(?:.*[.:] )?)(?:{_PERSON}) {_FINDS} (?:an? (?:answer|total) of )?{_VALUE} "
    r"(?P<things>parameters|params|weights|flops|macs|bytes|tokens|patches|elements|entries|scores) (?:for|in) "
    r"(?P<what>(?:the |an? |one |its )?.+?)\s*[.!]?\s*",
    re.I | re.S,
)
_FOR_WHAT = re.compile(
    rf"(?P<before>(?:.*[.:] )?)(?:{_PERSON}) {_FINDS} (?:an? (?:answer|total) of )?{_VALUE} (?:for|as) "
    r"(?P<what>the (?:(?:total )?number of |size of |shape of |memory of |mean of |variance of )?.+?)\s*[.!]?\s*",
    re.I | re.S,
)
_NUMBERED = re.compile(r"^\s*q(?:uestion)?\.?(?: ?\d+)? ?[.:)]\s*", re.I)
_QUOTED = re.compile(r"\s*[\"“](?P<said>[^\"“”]+?)[.!]?[\"”]\s*")


def answers_in(text: str) -> Claims:
    """Question and answer, where a text has one of these forms; the claims of a sentence that is quoted or reported."""
    if len(text) > LONGEST:
        return []
    bare = _NUMBERED.sub("", _without_what_is_asked_of_it(" ".join(text.split())))
    if (behind := _BEHIND.fullmatch(bare)) and _asks(behind["question"]):
        return [(behind["question"].strip(), behind["value"])]
    if found := _AND_GETS.fullmatch(bare):
        return [(f"{found['before']}{_asked(found['what'])}{found['rest'] or ''}?", found["value"])]
    if found := _FOR.fullmatch(bare):
        verb = "do" if re.search(r" and |s$", found["what"]) else "does"
        return [(f"{found['before']}How many {found['things']} {verb} {found['what']} have?", found["value"])]
    if found := _FOR_WHAT.fullmatch(bare):
        return [(f"{found['before']}{_asked(found['what'])}?", found["value"])]
    if (found := _THAT.fullmatch(bare)) and not re.search(r"\b(?:not|never)\b|n['’]t\b", found["said"]):
        said = stated_numbers(found["said"]) or claims_in(f"{_capital(found['said'])}.")
        return [(f"{found['before']}{question}", claim) for question, claim in said]
    if bare != _NUMBERED.sub("", " ".join(text.split())) and (
        quoted := _QUOTED.fullmatch(bare) or re.fullmatch(r"(?P<said>[^?]+?)[.!]?", bare)
    ):
        return stated_numbers(quoted["said"]) or claims_in(f"{quoted['said']}.")
    return []


def _without_what_is_asked_of_it(text: str) -> str:
    while (found := _ABOUT_IT.search(text)) and found.start():
        text = text[: found.start()].rstrip()
    return text


def _asks(question: str) -> bool:
    return (
        re.search(r"\?\s*$|\b(?:compute|calculate|find|determine|give|state|evaluate|normali[sz]e|what|how many|how much)\b",
            question, re.I) is not None
    )  # fmt: skip


def _asked(what: str) -> str:
    """`the parameters of one layer`: asked for."""
    if re.match(r"how |what ", what):
        return _capital(re.sub(r"^(how (?:many|much) \w+) (.+?) (has|have|needs?)\b", r"\1 does \2 have", what))
    return f"What is {what}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
