"""A claim in one sentence, `BERT-base has 110 million parameters`: the question that it answers, and the answer that it gives."""

from __future__ import annotations

import re

from glassformer.answers.judging.chains import only_sizes, reasoned, with_names
from glassformer.answers.judging.directions import direction_in
from glassformer.answers.judging.sentence_forms import (
    ALOUD,
    BRACKETED,
    BRACKETS,
    BY_SIZES,
    FORMS,
    GROWN,
    GROWTH,
    ITEM,
    JUDGED,
    LEAD,
    LIST,
    NONE,
    NUMBER,
    SCALING,
    SHARE,
    TIMES,
    TWO,
    WITH_A,
)
from glassformer.answers.judging.tidying import LONGEST, tidied


def _small(part: str) -> str:
    """What began the sentence, and now stands inside one."""
    return (
        part[0].lower() + part[1:]
        if re.match(r"(?:The|A|An|Each|Every|One|Its|All|This|Layer|Multi|Self|Training)\b", part)
        else part
    )


_CLAUSE = re.compile(
    r",?\s+(?:while|whereas|but)\s+|(?:[;,]|,?\s+and)\s+(?=(?:the\s+)?[A-Z][\w/-]+(?:\s\w+)?\s+(?:has|have|uses|contains)\b)"
)
_SHARED = re.compile(  # `it has 262,144 entries and takes 1 MB`
    r"(?P<it>.+?) (?P<one>(?:has|have|contains?) .+?),? and (?P<two>(?:takes?|needs?|requires?|occup(?:y|ies)|costs?|weighs?) .+)"
)
_ATTENDING = re.compile(r"^(?:the )?(?:attention comput(?:e|ation)|comput(?:e|ation) of (?:self-)?attention)$", re.I)
_CUT_SHORT = re.compile(rf"(?P<it>.+ (?:has|have|uses?)) (?P<value>{NUMBER})\.?")


def claims_in(sentence: str) -> list[tuple[str, str]]:
    """Every claim of a sentence: `BERT-base has 12 layers, 768 hidden units and 110M parameters` makes three."""
    several = re.split(r"(?<=[a-z)\d])[.!]\s+(?=[A-Z])", " ".join(sentence.split()), maxsplit=9)
    if len(several) > 1:
        return [claim for one in with_names(several) for claim in claims_in(one)]
    text = tidied(JUDGED.sub("", sentence))
    if each := re.fullmatch(r"[Bb]oth ([\w/-]+) and ([\w/-]+) (?:have|use) (.+)", text):  # the same of two encoders
        return [claim for name in (each[1], each[2]) for claim in claims_in(f"{name} has {each[3]}")]
    if found_whole := direction_in(JUDGED.sub("", text)) or _both(text):
        return found_whole
    if chain := reasoned(text, claims_in):
        return chain
    if (both := _SHARED.fullmatch(text)) and all(
        apart := [claims_in(f"{both['it']} {one}") for one in (both["one"], both["two"])]
    ):
        return [claim for claims in apart for claim in claims]
    clauses = _CLAUSE.split(text, maxsplit=5)
    if len(clauses) > 1 and re.search(r"\s(?:has|have|is|are|uses?|contains?|needs?|takes?|costs?)\s", clauses[0]):
        thing = re.search(rf" (?:has|have|uses?) {NUMBER} (?P<thing>[a-z -]+)$", clauses[0])
        if thing:  # `BERT-base has 12 layers, BERT-large has 24`
            clauses = [
                _CUT_SHORT.sub(rf"\g<it> \g<value> {thing['thing']}", clause) if _CUT_SHORT.fullmatch(clause) else clause
                for clause in clauses
            ]
        apart = [claims_in(clause) for clause in clauses]
        return [claim for clause in apart for claim in clause] if all(apart) else []
    if listed := _listed(text):
        return listed
    if single := re.fullmatch(r"(.+? (?:has|have|uses?)) (an? \d+[\w -]* (?:size|dimension|width))\.?", text):
        text = f"{single[1]} {_aloud(single[2])}"
    one = claim_in(text)
    return [one] if one is not None else []


def _listed(text: str) -> list[tuple[str, str]]:
    """The claims of a list: `BERT-base (L=12, H=768)`, `BERT-base has 12 layers and 12 heads`."""
    named = [found for found in BRACKETED.finditer(text) if _items(found["list"])]
    if len(named) > 1:
        claims = [claim_in(f"{found['it']} has {item}") for found in named for item in _items(found["list"])]
        return [claim for claim in claims if claim is not None] if None not in claims else []
    for pattern in (BRACKETS, LIST):
        found = pattern.fullmatch(text) if len(text) <= LONGEST else None
        items = (
            [_aloud(item) for item in re.split(r",\s+(?:and\s+)?|\s+and\s+(?:has\s+)?|\s+with\s+(?=an? )", found["list"])]
            if found
            else []
        )
        if found and len(items) > 1 and all(ITEM.fullmatch(item) for item in items):
            claims = [claim_in(f"{found['it']} has {item}") for item in items]
            return [claim for claim in claims if claim is not None] if None not in claims else []
    return []


def _both(text: str) -> list[tuple[str, str]]:
    """The two claims of a sentence that makes two about one thing."""
    for pattern, asked in TWO:
        if found := pattern.fullmatch(text):
            about = {name: _small(part) for name, part in found.groupdict().items()}
            return [(question.format(**about), found[value]) for question, value in asked]
    return []


def _items(text: str) -> list[str]:
    """The things of a list, said aloud; none where one of them is no number of something."""
    parts = re.split(r",\s+(?:and\s+)?|\s+and\s+(?:has\s+)?|\s+with\s+(?=an? )", text)
    items = [_aloud(item) for item in parts if re.search(r"\d", item)]
    return items if all(ITEM.fullmatch(item) for item in items) else []


def _aloud(item: str) -> str:
    for pattern, said in ALOUD:
        item = pattern.sub(said, item.strip())
    return item


def claim_in(sentence: str) -> tuple[str, str] | None:
    """Question and claim, where a sentence has one of the forms; nothing else is guessed."""
    text = JUDGED.sub("", " ".join(sentence.split()))
    if not text or len(text) > LONGEST or "?" in text:
        return None
    if grown := GROWN.fullmatch(text):
        about = re.sub(r" (?:needs?|requirements?|usage|cost)$", "", _small(grown["it"]))
        about = re.sub(
            r"^(?:the )?attention(?: comput(?:e|ation)s?)?$"
            r"|^(?:the )?comput(?:e|ation)s? (?:required |needed )?(?:for|of|by|in) attention$",
            "the cost of attention",
            about,
        )
        about = re.sub(r"^attention memory$|^(?:the )?memory (?:of|for) attention$", "the memory of the attention matrix", about)
        verb = re.sub(r"^also ", "", grown["verb"].lower())
        times = grown["times"] or TIMES[verb if verb.endswith("s") else f"{verb}s"]
        return f"If {grown['change'].lower()}, by what factor does {about} grow?", times
    if scaling := SCALING.match(text):
        factor = scaling["times"] or TIMES[f"{scaling['verb'].lower()}s"]
        what = _ATTENDING.sub("the cost of attention", scaling["it"] or scaling["what"])
        return f"By what factor does {what} grow when {scaling['change'].lower()}?", factor
    if share := SHARE.match(text):
        times = TIMES.get(share["times"].lower()) or share["times"].rstrip("xX× ")
        return f"How many times as many {share['thing']} does {_small(share['it'])} have as {share['other']}?", times
    if growth := GROWTH.match(text):
        about = re.sub(r"^the (?:time |computational )?(?:complexity|cost) of ", "", _small(growth["it"]), flags=re.I)
        bare = re.sub(
            r"^(?:the )?memory(?: usage| use| cost| footprint| needed| required)? (?:of|in|for|by) |'s memory(?: usage| use"
            r"| cost| footprint)?$",
            "",
            about,
        )
        kind = "complexity" if bare == about else "space complexity"
        return f"What is the {kind} of {bare}?", f"{growth['how'].lower()} in n"
    if (given := _of_what_is_given(text)) is not None:
        return given
    lead = LEAD.match(text)
    main = text[lead.end() :] if lead else text
    for pattern, question in FORMS:
        found = pattern.match(main)
        if found and not re.match(r"(?:if|with|for|in|when|given|at|on|per)\b[^,]*, ", main[found.start() :], flags=re.I):
            said = {name: _small(part or "") for name, part in found.groupdict().items()}
            asked = question.format(**said).replace("With , how", "How")
            value = said.get("value") or said.get("factor") or ""
            return (f"{lead['lead']}, {asked[0].lower()}{asked[1:]}" if lead else asked), value.strip()
    return None


def _of_what_is_given(text: str) -> tuple[str, str] | None:
    """`Dropout adds no parameters`, `512 tokens with 12 heads lead to … scores`: the sizes that are given, and what follows."""
    if (none := NONE.fullmatch(text)) is not None:
        whole = f" of {none['whole']}" if none["whole"] else ""
        return f"How many parameters does {_small(none['it'])}{whole} have?", "0"
    if (sizes := BY_SIZES.fullmatch(text)) is not None and only_sizes(sizes["it"], alone=True):
        return f"With {_small(sizes['it'])}, how many {sizes['thing']} are there{sizes['tail']}?", sizes["value"]
    if (held := WITH_A.fullmatch(text)) is not None and only_sizes(held["it"], alone=True):
        return f"With {_small(held['it'])}, how many {held['thing']} does the {held['what']} have?", held["value"]
    return None
