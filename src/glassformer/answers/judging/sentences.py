"""A claim in one sentence, `BERT-base has 110 million parameters`: the question that it answers, and the answer that it gives."""

from __future__ import annotations

import re

LONGEST = 400
_ABOUT = r"(?:(?:about|approximately|approx\.?|roughly|around|circa|ca\.|nearly|almost|exactly|~|≈)\s*)?"
_UNIT = (
    r"(?:\s?(?:million|billion|thousand|trillion|[kKMB](?![\w])|%|percent|[KMGT]i?B|bytes|[MGT]?FLOPs?|[MG]MACs?"
    r"|megabytes|gigabytes))?"
)
_NUMBER = rf"{_ABOUT}\d[\d,_]*(?:\.\d+)?{_UNIT}"
_SHAPE = r"[\[(]?\s*\d+\s*(?:(?:[x×,]|by|\\times)\s*\d+\s*)+[\])]?"
_CLASS = r"O\([^()]*(?:\([^()]*\)[^()]*)*\)"
_VALUE = rf"(?P<value>{_CLASS}|{_SHAPE}|{_NUMBER}|\d+(?:\.\d+)?)"
_JUDGED = re.compile(r"^\s*(?:(?:true or false|true/false|t/f|claim|statement|answer)\s*[:.?]\s*)+", re.I)
_LEAD = re.compile(
    r"^(?P<lead>(?:if|with|for|in|when|given|assuming|suppose|using|at|on|because|since)\b[^.?]*?),\s+(?:then\s+)?"
    r"(?=(?:the|a|an|each|every|one|there|all|its|we|this|multi|self|layer|q|k|v|w|bert|\d|\[)\S*\s)",
    re.I,
)
_THINGS = (
    r"(?P<thing>(?:(?:trainable|learnable|total|different|encoder|transformer|attention|self-attention|model|output|input"
    r"|special)\s)*"
    r"(?:parameters|params|weights|layers|blocks|heads|flops|macs|multiply-adds|tokens|patches|dimensions|features"
    r"|elements|entries"
    r"|scores|attention scores|matrices|segments|layer ?norms|bytes|classes|outputs|biases))"
)
_VERB = (
    r"(?:has|have|contains?|uses?|needs?|requires?|takes?(?: up)?|costs?|performs?|consists? of|comprises?|produces?"
    r"|adds?|computes?|gives?|yields?|results? in|is (?:split|cut|divided) into)"
)
_ATTRIBUTE = (
    r"(?P<attribute>dimension(?:ality)?|size|width|length|shape|depth|hidden size|vocabulary size|vocabulary"
    r"|vocab size|complexity|time complexity)"
)
_TAIL = r"(?P<tail>(?:\s+(?:in|of|for|with|per|when|if|at|without|excluding|including|ignoring|using)\b[^.?!]*)?)"
_END = r"\s*[.!]?\s*$"

FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern + _END, re.I), question)
    for pattern, question in (
        (rf"there (?:are|is) (?:a total of |exactly )?{_VALUE} {_THINGS}{_TAIL}", "How many {thing} are there{tail}?"),
        (rf"(?P<it>.+?) {_VERB} (?:a total of )?{_VALUE} (?:of )?(?P<memory>(?:gpu )?memory|storage|vram|ram){_TAIL}",
            "How much memory does {it} need{tail}?"),
        (rf"(?P<it>.+?) {_VERB} (?:a total of |only )?{_VALUE}(?<=B) (?:to|for)? ?(?P<what>stor\w+|train\w*){_TAIL}",
            "How much memory does {it} need for {what}{tail}?"),
        (rf"(?P<it>.+?) {_VERB} (?:a total of |only |just )?(?P<value>{_ABOUT}\d[\d,_]*(?:\.\d+)? ?[MGT]FLOPs?){_TAIL}",
            "How many FLOPs does {it} need{tail}?"),
        (rf"(?P<it>.+?) (?:is|are) an? (?P<value>{_SHAPE}) (?:matrix|tensor|array){_TAIL}", "What is the shape of {it}{tail}?"),
        (rf"(?P<it>.+?)'s vocabulary (?:contains|has|holds|consists of|comprises) {_VALUE} (?:tokens|words|entries|word-?pieces)",
            "What is the vocabulary size of {it}?"),
        (rf"(?P<it>.+?) {_VERB} (?:a total of |only |just )?{_VALUE} {_THINGS}{_TAIL}", "How many {thing} does {it} have{tail}?"),
        (rf"(?P<it>.+?) (?:has|have|uses?|employs?|is of|are of) (?:an? |the )?{_ATTRIBUTE} (?:of |is |= ?)?(?:size )?{_VALUE}"
            rf"(?: (?:tokens|words|entries|word-?pieces|sub-?words|features|dimensions|units))?{_TAIL}",
            "What is the {attribute} of {it}{tail}?"),
        (rf"(?P<it>.+?) (?:splits?|divides?|cuts?|turns?) an? (?P<image>\d+ ?[x×] ?\d+)(?: pixels?)? image into {_VALUE} "
            r"(?:non-overlapping )?patches",
            "How many patches does {it} have for a {image} image?"),
        (rf"(?P<it>.+?) (?:supports?|accepts?|handles?|takes?|can (?:take|process|handle|read)) "
            rf"(?:(?:sequences?|inputs?|texts?) )?(?:of )?(?:up to|at most|a maximum of) {_VALUE} tokens",
            "How many tokens can {it} take?"),
        (rf"(?P<it>(?!.*complexity).+?) (?:is|are|scales as|scales with|runs in|costs) (?P<value>{_CLASS})(?: time| operations)?",
            "What is the complexity of {it}?"),
        (rf"(?P<it>.+?) (?:masks|hides) {_VALUE} of (?:the |its |all )?(?:input )?tokens{_TAIL}",
            "What percentage of tokens is masked in {it}{tail}?"),
        (rf"{_VALUE} of (?P<it>.+? (?:parameters|weights|params|flops))(?P<where>.*?) (?:are|is|lie|come|sit|belong|go) "
            rf"(?P<place>(?:in|from|to) .+?)",
            "What percentage of {it}{where} are {place}?"),
        (rf"(?P<it>.+?) (?:account(?:s)? for|make(?:s)? up) {_VALUE} of (?P<where>.+?)",
            "What percentage of {where} does {it} account for?"),
        (rf"(?P<it>.+?) (?:is|are) (?P<factor>{_NUMBER}) times (?P<more>larger|bigger|smaller|deeper|wider) than (?P<other>.+?)",
            "How many times {more} is {it} than {other}?"),
        (rf"(?P<it>.+?) {_VERB} (?P<factor>{_NUMBER}) times (?P<more>more|fewer|as many) (?P<thing2>parameters|weights"
            rf"|layers|heads) (?P<than>than|as) (?P<other>.+?)",
            "How many times {more} {thing2} does {it} have {than} {other}?"),
        (rf"(?P<it>.+?) {_VERB} (?P<factor>{_ABOUT}\d+(?:\.\d+)? ?(?:%|percent)) (?P<more>more|fewer|less) "
            rf"(?P<thing2>parameters|weights|layers|heads) than (?P<other>.+?)",
            "By what percentage does {it} have {more} {thing2} than {other}?"),
        (rf"(?P<it>.+?) (?:is|are) (?P<factor>{_ABOUT}\d+(?:\.\d+)? ?(?:%|percent)) (?P<more>smaller|larger|bigger) than "
            rf"(?P<other>.+?)",
            "By what percentage is {it} {more} than {other}?"),
        (rf"(?P<it>.+?) {_VERB} (?P<factor>{_NUMBER}) (?P<more>more|fewer) (?P<thing2>parameters|weights|layers|heads) "
            rf"than (?P<other>.+?)",
            "How many {more} {thing2} does {it} have than {other}?"),
        (rf"(?P<it>(?:the |each |every |its )?\S.*?) (?:is|are|equals|equal|=|will be|must be|would be|is given by) "
            rf"(?:exactly |equal to )?(?:an? )?{_VALUE}"
            rf"(?: (?:dimensions|features|tokens|parameters|params|matrix|-dimensional|dimensional|flops|bytes))?{_TAIL}",
            "What is {it}{tail}?"),
    )
)  # fmt: skip
_TIMES = {"doubles": "2", "triples": "3", "quadruples": "4", "halves": "0.5", "half": "0.5", "twice": "2", "double": "2"}
_SHARE = re.compile(
    r"(?P<it>.+?) (?:has|have|uses?) (?P<times>half|twice|double)(?: of)?(?: the| as many)?(?: number of)? "
    r"(?P<thing>(?:encoder |attention )?(?:parameters|weights|layers|heads)) (?:of|as|in|than) (?P<other>.+?)" + _END,
    re.I,
)
_GROWTH = re.compile(
    r"(?P<it>.+?) (?:has|is|scales|grows|have|are)(?: an?)? (?P<how>linear|quadratic|cubic)(?:al)?(?:ly)?(?: time)?"
    r"(?: complexity)? (?:in|with|with respect to) (?:the )?"
    r"(?:(?:sequence|input|context) length|length of the (?:sequence|input)|n)" + _END,
    re.I,
)
_LIST = re.compile(rf"(?P<it>.+?) (?:has|have|uses?|consists? of|comprises?|contains?) (?P<list>.+?){_END}", re.I)
_BRACKETS = re.compile(rf"(?P<it>[^()]{{2,60}}?) ?\((?P<list>[^()]+)\){_END}")
_ITEM = re.compile(
    rf"(?:and )?(?:an? |the )?(?:{_NUMBER} [a-z][a-z -]{{3,40}}|[a-z][a-z -]{{3,40}} (?:of |= ?|: ?)?{_NUMBER})", re.I
)
# How the letters and words of such a list are said aloud.
_ALOUD = tuple(
    (re.compile(pattern, re.I), said)
    for pattern, said in (
        (r"^(?:and )?L ?= ?(\d+)$", r"\1 layers"),
        (r"^(?:and )?[HD] ?= ?(\d+)$", r"a hidden size of \1"),
        (r"^(?:and )?A ?= ?(\d+)$", r"\1 attention heads"),
        (
            r"^(?:and )?(?:an? |the )?(\d+) hidden (?:units|dimensions|features|states|nodes|neurons|size)$",
            r"a hidden size of \1",
        ),
        (rf"^(?:and )?(?:total )?(?:number of )?(parameters|params|layers|heads) ?[=:] ?({_NUMBER})$", r"\2 \1"),
    )
)
_SCALING = re.compile(
    r"(?P<change>(?:doubling|tripling|quadrupling|halving) .+?) (?P<verb>doubles|triples|quadruples|halves) (?P<it>.+?)" + _END,
    re.I,
)


def _small(part: str) -> str:
    """What began the sentence, and now stands inside one."""
    return (
        part[0].lower() + part[1:]
        if re.match(r"(?:The|A|An|Each|Every|One|Its|All|This|Layer|Multi|Self|Training)\b", part)
        else part
    )


def claims_in(sentence: str) -> list[tuple[str, str]]:
    """Every claim of a sentence: `BERT-base has 12 layers, 768 hidden units and 110M parameters` makes three."""
    text = " ".join(sentence.split())
    clauses = re.split(r",?\s+(?:while|whereas|but)\s+", text, maxsplit=5)
    if len(clauses) > 1:
        apart = [claims_in(clause) for clause in clauses]
        return [claim for clause in apart for claim in clause] if all(apart) else []
    for pattern in (_BRACKETS, _LIST):
        found = pattern.fullmatch(text) if len(text) <= LONGEST else None
        items = [_aloud(item) for item in re.split(r",\s+(?:and\s+)?|\s+and\s+", found["list"])] if found else []
        if found and len(items) > 1 and all(_ITEM.fullmatch(item) for item in items):
            claims = [claim_in(f"{found['it']} has {item}") for item in items]
            return [claim for claim in claims if claim is not None]
    one = claim_in(sentence)
    return [one] if one is not None else []


def _aloud(item: str) -> str:
    for pattern, said in _ALOUD:
        item = pattern.sub(said, item.strip())
    return item


def claim_in(sentence: str) -> tuple[str, str] | None:
    """Question and claim, where a sentence has one of the forms; nothing else is guessed."""
    text = _JUDGED.sub("", " ".join(sentence.split()))
    if not text or len(text) > LONGEST or "?" in text:
        return None
    if scaling := _SCALING.match(text):
        return f"By what factor does {scaling['it']} grow when {scaling['change'].lower()}?", _TIMES[scaling["verb"].lower()]
    if share := _SHARE.match(text):
        times = _TIMES[share["times"].lower()]
        return f"How many times as many {share['thing']} does {_small(share['it'])} have as {share['other']}?", times
    if growth := _GROWTH.match(text):
        about = re.sub(r"^the (?:time |computational )?(?:complexity|cost) of ", "", _small(growth["it"]), flags=re.I)
        return f"What is the complexity of {about}?", f"{growth['how'].lower()} in n"
    lead = _LEAD.match(text)
    main = text[lead.end() :] if lead else text
    for pattern, question in FORMS:
        if found := pattern.match(main):
            said = {name: _small(part or "") for name, part in found.groupdict().items()}
            asked = question.format(**said)
            value = said.get("value") or said.get("factor") or ""
            return (f"{lead['lead']}, {asked[0].lower()}{asked[1:]}" if lead else asked), value.strip()
    return None
