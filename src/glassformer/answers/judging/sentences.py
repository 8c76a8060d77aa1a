"""A claim in one sentence, `BERT-base has 110 million parameters`: the question that it answers, and the answer that it gives."""

from __future__ import annotations

import re

from glassformer.answers.judging.bounds import BOUND
from glassformer.answers.judging.directions import direction_in
from glassformer.answers.judging.tidying import ABOUT as _ABOUT
from glassformer.answers.judging.tidying import LONGEST, tidied

_UNIT = (
    r"(?:\s?(?:million|billion|thousand|trillion|[kKMB](?![\w])|%|percent|[KMGT]i?B|bytes|[MGT]?FLOPs?|[MG]MACs?"
    r"|megabytes|gigabytes))?"
)
_NUMBER = rf"(?:{BOUND} )?{_ABOUT}\d[\d,_]*(?:\.\d+)?(?:e\d+)?{_UNIT}"
_PART = (
    rf"(?P<value>{_ABOUT}(?:\d+ ?/ ?\d+|(?:a|one|two|three) (?:half|thirds?|quarters?|fifths?)|half"
    r"|\d+(?:\.\d+)? ?(?:%|percent)))"
)
_SHAPE = r"[\[(]?\s*\d+\s*(?:(?:[x×,]|by|\\times)\s*\d+\s*)+[\])]?"
_CHAIN = r"\d[\d,]*(?: ?(?:[x×*·+]|\\times) ?\d[\d,]*)+ ?= ?\d[\d,]*"
_CLASS = r"O\([^()]*(?:\([^()]*\)[^()]*)*\)"
_VALUE = rf"(?P<value>{_CLASS}|{_CHAIN}|{_SHAPE}|\d+ ?/ ?\d+(?! ?[/=])|{_NUMBER}|\d+(?:\.\d+)?)"
_JUDGED = re.compile(
    r"^\s*(?:(?:\(?(?:true or false|true/false|t/f|t or f)\)?|claim|statement|answer)\s*(?:[:.?]|(?<=\)))\s*)+", re.I
)
_LEAD = re.compile(
    r"^(?P<lead>(?:if|with|for|in|when|given|assuming|suppose|using|at|on|because|since|per)\b[^.?]*?),\s+(?:then\s+)?"
    r"(?=(?:the|a|an|each|every|one|there|all|its|we|this|multi|self|layer|q|k|v|w|d_?[kv]|d_?head|head_dim|(?:distil|ro|al"
    r"|modern|distilro|xlm-ro)?bert|vit|deit|electra"
    r"|\d|\[)\S*\s)",
    re.I,
)
_IMAGE = r"(?P<image>\d+ ?[x×] ?\d+)(?: pixels?)?(?: rgb| colou?r| input)? image"
_PATCHES = (
    r"(?:(?:non-overlapping|patch|vision|image|visual) )*(?:\d+ ?[x×] ?\d+ )?(?:patch(?:es)?(?: tokens?)?|tokens?|vision tokens?)"
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
    r"|adds?|holds?|computes?|gives?|yields?|results? in|is (?:split|cut|divided) into)"
)
_ATTRIBUTE = (
    r"(?:native |maximum |max )?(?P<attribute>(?:context|sequence|input) length|(?:embedding|hidden) (?:size|dimension)"
    r"|dimension(?:ality)?|intermediate size|inner dimension|size|width|length|shape|depth|hidden size"
    r"|head dimension|head size|vocabulary size|vocabulary"
    r"|vocab size|complexity|time complexity)"
)
_TAIL = r"(?P<tail>(?:\s+(?:in|of|for|with|per|when|if|at|without|excluding|including|ignoring|using)\b[^.?!]*)?)"
_END = r"\s*[.!]?\s*$"

FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern + _END, re.I), question)
    for pattern, question in (
        (rf"(?:an? |the )?{_IMAGE} (?:with|and|using|cut into|split into) (?P<patch>\d+ ?[x×] ?\d+)(?: pixel)? patches "
            rf"(?:yields?|gives?|produces?|becomes?|makes?|has|results? in|means) (?:an? )?"
            rf"(?:\d+ ?[x×] ?\d+ ?= ?)?(?P<value>\d+)[- ]?{_PATCHES}"
            r"(?: grid)?",
            "How many patches does a {image} image with {patch} patches have?"),
        (rf"(?:an? |the )?{_IMAGE} is (?:sliced|split|cut|divided|chopped) into (?:\d+ ?[x×] ?\d+ ?= ?)?(?P<value>\d+) "
            r"(?:non-overlapping )?(?P<patch>\d+ ?[x×] ?\d+)(?: pixel)? patches",
            "How many patches does a {image} image with {patch} patches have?"),
        (r"(?:each|every) (?:of the \d+ )?(?:attention )?heads? (?:has|gets|receives|operates|works|acts|attends"
            r"|projects(?: down)?|is projected)(?: down)?(?: in| on| with| within| to| into| inside)* (?:an? |its own )?"
            r"(?:d_?k ?= ?(?:d_?v ?= ?)?(?:\d+ ?/ ?\d+ ?= ?)?)?(?P<value>\d+)(?:[- ]?(?:dimensional|dimensions|dims?)"
            r"(?: (?:sub)?spaces?| (?:vectors|q, k,? and v vectors|queries|keys))*)?",
            "What is the dimension of each head?"),
        (rf"(?:each|every) (?:input )?(?:token|word|position) (?:is|gets) (?:represented|embedded|mapped|encoded"
            rf"|described) (?:by|as|to|into) "
            rf"an? (?P<value>\d[\d,]*)-dim(?:ensional)? (?:vector|embedding|representation){_TAIL}",
            "What is the hidden size{tail}?"),
        (r"(?:going|moving|scaling|growing) from (?P<old>\d[\d,]*)(?: tokens)? to (?P<new>\d[\d,]*) tokens (?:makes"
            r"|increases|grows|scales) "
            r"(?P<it>.+?) (?:by (?:a factor of )?)?(?P<value>\d+) ?(?:times|x|×)?(?: (?:larger|bigger|as large|as big"
            r"|more expensive))?",
            "By what factor does {it} grow when the sequence length goes from {old} to {new}?"),
        (r"(?:splitting|dividing) (?:the )?(?P<width>\d+)[- ](?:dimensions|features|dimensional \w+) (?:over|across|into"
            r"|among|between|by) "
            r"(?P<heads>\d+) heads (?:leaves|gives|yields|means|results in) (?P<value>\d+) (?:dimensions|features) (?:per"
            r"|for each|each|in each)"
            r"(?: head)?",
            "With d_model = {width} and {heads} heads, what is the dimension of each head?"),
        (r"(?:d_?k|d_?head|head_dim) ?= ?(?:d_?v ?= ?)?(?:d_?model ?//? ?(?:h|(?:n_|num_)?heads) ?= ?)?(?P<value>\d+)",
            "What is d_k?"),
        (rf"(?P<it>.+?) (?:uses?|has|have) (?:an? )?(?:wordpiece|bpe|sub-?word) (?:embeddings?|vocabulary|tokeni[sz]er)(?:"
            rf" with| that"
            rf" ha[sv]e?| of)*(?: a vocabulary of)? {_VALUE} (?:tokens|words|entries|pieces)",
            "What is the vocabulary size of {it}?"),
        (rf"(?P<it>.+?) can (?:take|process|handle|read|accept) (?:an? )?(?:(?:max(?:imum)?|input) )?sequence length of "
            rf"(?:up to )?{_VALUE}",
            "What is the maximum sequence length of {it}?"),
        (rf"(?:the )?total (?:parameters )?(?:per|in one|for one|in each|for each|of one) (?P<it>[^:()]+?)"
            rf"(?: ?\((?P<sizes>[^()]+)\))? ?[:=] ?"
            rf"{_VALUE} (?:parameters|params|weights)",
            "With {sizes}, how many parameters does one {it} have?"),
        (rf"there (?:are|is) (?:a total of |exactly )?{_VALUE} {_THINGS}{_TAIL}", "How many {thing} are there{tail}?"),
        (rf"(?P<it>.+?) {_VERB} (?:a total of )?{_VALUE} (?:of )?(?P<memory>(?:gpu )?memory|storage|vram|ram){_TAIL}",
            "How much memory does {it} need{tail}?"),
        (rf"(?P<it>.+?) (?:occup(?:y|ies)|weighs?|needs?|requires?|takes?(?: up)?"
            rf"|uses?) (?P<value>{_ABOUT}\d[\d,]*(?:\.\d+)? ?[KMGT]i?B)"
            rf"(?: on disk| of space| of (?:gpu )?memory| of disk space| of v?ram)?{_TAIL}",
            "How much memory does {it} need{tail}?"),
        (rf"(?P<it>.+?) {_VERB} (?:a total of |only )?{_VALUE}(?<=B) (?:to|for)? ?(?P<what>stor\w+|train\w*){_TAIL}",
            "How much memory does {it} need for {what}{tail}?"),
        (rf"(?P<it>.+?) {_VERB} (?:a total of |only |just )?(?P<value>{_ABOUT}\d[\d,_]*(?:\.\d+)? ?[MGT]FLOPs?){_TAIL}",
            "How many FLOPs does {it} need{tail}?"),
        (rf"(?P<it>.+?) (?:is|are) an? (?P<value>{_SHAPE}) (?:matrix|tensor|array){_TAIL}", "What is the shape of {it}{tail}?"),
        (rf"(?P<it>.+?)'s vocabulary (?:contains|has|holds|consists of|comprises) {_VALUE} "
            r"(?:wordpiece |sub-?word |unique )?(?:tokens|words|entries|word-?pieces)",
            "What is the vocabulary size of {it}?"),
        (rf"(?P<it>.+?) {_VERB} (?:a total of |only |just )?{_VALUE} {_THINGS}{_TAIL}", "How many {thing} does {it} have{tail}?"),
        (rf"(?P<it>.+?) (?:has|have|uses?|employs?|is of|are of) (?:an? |the )?{_ATTRIBUTE} (?:of |is "
            rf"|= ?)?(?:up to )?(?:size )?{_VALUE}"
            rf"(?: (?:tokens|words|entries|word-?pieces|sub-?words|features|dimensions|units))?{_TAIL}",
            "What is the {attribute} of {it}{tail}?"),
        (rf"(?P<it>.+?) (?:splits?|divides?|cuts?|turns?) an? (?P<image>\d+ ?[x×] ?\d+)(?: pixels?)? image into {_VALUE} "
            r"(?:non-overlapping )?patches",
            "How many patches does {it} have for a {image} image?"),
        (rf"(?P<it>.+?) (?:supports?|accepts?|handles?|takes?|can (?:take|process|handle|read)) "
            rf"(?:(?:sequences?|inputs?|texts?) )?(?:of )?(?:up to|at most|a maximum of) {_VALUE} tokens",
            "How many tokens can {it} take?"),
        (rf"(?:the )?(?:computational |time |runtime )?(?:cost|complexity) of (?P<it>.+?) (?:is|grows as"
            rf"|scales as) (?P<value>{_CLASS})",
            "What is the complexity of {it}?"),
        (r"(?P<it>(?:.*\b)?(?:W_?\w|[QKV]|matrix|scores|weights)\b.*?) (?:is"
            r"|are) (?P<value>\d+ ?[x×] ?\d+)", "What is the shape of {it}?"),
        (rf"(?P<it>(?!.*complexity).+?) (?:is|are|scales as|scales with|runs in|costs) (?P<value>{_CLASS})(?: time| operations)?",
            "What is the complexity of {it}?"),
        (rf"(?P<it>.+?) (?:masks|hides) {_VALUE} of (?:the |its |all )?(?:input )?tokens{_TAIL}",
            "What percentage of tokens is masked in {it}{tail}?"),
        (rf"{_PART} of (?P<it>.+? (?:parameters|weights|params|flops)) (?:are|is|lie|come|sit|belong|go) (?P<place>(?:in"
            rf"|from|to) .+?)",
            "What fraction of {it} are {place}?"),
        (rf"{_VALUE} of (?P<it>.+? (?:parameters|weights|params|flops))(?P<where>.*?) (?:are|is|lie|come|sit|belong|go) "
            rf"(?P<place>(?:in|from|to) .+?)",
            "What percentage of {it}{where} are {place}?"),
        (rf"(?P<it>.+?) (?:accounts? for|makes? up|holds?|contains?|represents?|comprises?|has|have) (?:nearly |over"
            rf" )?{_PART} of (?P<where>.+?)",
            "What fraction of {where} does {it} account for?"),
        (rf"(?P<it>.+?) (?:is|are) (?P<factor>{_NUMBER}) times (?P<more>larger|bigger|smaller|deeper|wider) than (?P<other>.+?)",
            "How many times {more} is {it} than {other}?"),
        (rf"(?P<it>.+?) {_VERB} (?P<factor>{_NUMBER}) times (?P<more>more|fewer|as many|as much) (?P<thing2>parameters|weights"
            rf"|layers|heads|memory) (?P<than>than|as) (?P<other>.+?)",
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
        (rf"(?P<it>(?:the |each |every |its )?\S.*?) (?:is|are|equals|equal|=|will be|must be|would be|should be|is given by) "
            rf"(?:exactly |equal to )?(?:an? )?{_VALUE}"
            rf"(?: (?:dimensions|features|tokens|parameters|params|matrix|-dimensional|dimensional|flops|bytes))?{_TAIL}",
            "What is {it}{tail}?"),
    )
)  # fmt: skip
_TIMES = {"doubles": "2", "triples": "3", "quadruples": "4", "halves": "0.5", "half": "0.5", "twice": "2", "double": "2"}
_SHARE = re.compile(
    r"(?P<it>.+?) (?:has|have|uses?) (?:about |roughly |exactly |approximately |nearly )?"
    r"(?P<times>half|twice|double|\d+(?:\.\d+)? ?(?:x|×))(?: of)?(?: the| as many)?(?: number of)? "
    r"(?P<thing>(?:encoder |attention )?(?:parameters|weights|layers|heads)) (?:of|as|in|than) (?P<other>.+?)" + _END,
    re.I,
)
_GROWTH = re.compile(
    r"(?P<it>.+?) (?:has|is|scales|grows|have|are)(?: an?)? (?P<how>linear|quadratic|cubic)(?:al)?(?:ly)?(?: time)?"
    r"(?: complexity)? (?:in|with|with respect to) (?:the )?"
    r"(?:(?:sequence|input|context) length|length of the (?:sequence|input)|number of (?:input )?tokens|n)" + _END,
    re.I,
)
_LIST = re.compile(rf"(?P<it>.+?) (?:has|have|uses?|consists? of|comprises?|contains?) (?P<list>.+?){_END}", re.I)
_BRACKETS = re.compile(rf"(?P<it>[^()]{{2,60}}?) ?\((?P<list>[^()]+)\){_END}")
_BRACKETED = re.compile(r"(?P<it>[A-Z][\w/.-]*(?: [a-z]+)?) \((?P<list>[^()]*\d[^()]*)\)")
_ITEM = re.compile(
    rf"(?:and )?(?:an? |the )?(?:{_NUMBER} [a-z][a-z -]{{3,40}}|[a-z][a-z -]{{3,40}} (?:of |= ?|: ?)?{_NUMBER})", re.I
)
# How the letters and words of such a list are said aloud.
_ALOUD = tuple(
    (re.compile(pattern, re.I), said)
    for pattern, said in (
        (r"^(?:and )?L ?= ?(\d+)$", r"\1 layers"),
        (r"^(?:and )?(?:[HD]|d_?model|hidden size) ?= ?(\d+)$", r"a hidden size of \1"),
        (r"^(?:and )?d_?k ?= ?(\d+)$", r"a head dimension of \1"),
        (r"^(?:and )?A ?= ?(\d+)$", r"\1 attention heads"),
        (r"^(?:and )?(?:an? )?(\d+)-(layer|head)s?$", r"\1 \2s"),
        (r"^(?:and )?(\d+)(?:-dim(?:ensional)?)? (?:hidden |model )?dimension$", r"a hidden size of \1"),
        (
            r"^(?:and )?(?:an? |the )?(\d+)(?:-dim(?:ensional)?)? (?:hidden|model) (?:units|dimensions|features|states"
            r"|nodes|neurons|size)$",
            r"a hidden size of \1",
        ),
        (
            r"^(?:and )?(?:an? |the )?(\d+)(?:-dim(?:ensional)?)? embedding (?:units|dimensions?|features|size)$",
            r"an embedding size of \1",
        ),
        (rf"^(?:and )?(?:total )?(?:number of )?(parameters|params|layers|heads) ?[=:] ?({_NUMBER})$", r"\2 \1"),
    )
)
# Sentences that make two claims about one thing: questions and claims by the groups of the pattern.
_TWO = tuple(
    (re.compile(pattern + _END, re.I), questions)
    for pattern, questions in (
        (rf"(?P<it>\S+(?: \S+)?) has (?P<a>{_NUMBER}) of its (?P<b>{_NUMBER}) (?:parameters|params|weights) in (?P<place>.+?)"
            r"(?: alone| only)?",
            (("How many parameters does {place} of {it} have?", "a"), ("How many parameters does {it} have?", "b"))),
        (rf"(?:out )?of (?:the |its )?(?P<b>{_NUMBER}) (?:parameters|params|weights) (?:of|in) (?P<it>[^,]+?), (?P<a>{_NUMBER}) "
            r"(?:of them )?(?:belong to|are in|lie in|come from|sit in|are part of|are due to) (?P<place>.+?)",
            (("How many parameters does {place} of {it} have?", "a"), ("How many parameters does {it} have?", "b"))),
        (r"(?P<it>\S+(?: \S+)?) (?:keeps|has|retains|uses) (?:only )?(?P<a>\d+) of (?P<other>\S+)'s (?P<b>\d+) "
            r"(?P<things>(?:encoder |transformer )?layers|heads)",
            (("How many {things} does {it} have?", "a"), ("How many {things} does {other} have?", "b"))),
        (rf"(?P<it>.+?) (?:runs in|takes|needs|has|requires|costs|is) (?P<a>{_CLASS})(?: time| operations| compute)? and "
            rf"(?:needs |requires |uses |takes )?(?P<b>{_CLASS}) (?:memory|space)(?: complexity)?",
            (("What is the complexity of {it}?", "a"), ("What is the space complexity of {it}?", "b"))),
    )
)  # fmt: skip
_GROWN = re.compile(
    r"(?:if|when|as|once) (?P<change>(?:the |your |our )?(?:input |sequence |context )*(?:length|window|size|sequence"
    r"|context|heads|layers|d_model"
    r"|hidden size|batch size) (?:doubles|triples|quadruples|halves|is doubled|is tripled|is halved)),? (?P<it>.+?) "
    r"(?P<verb>(?:also )?(?:doubles?|triples?|quadruples?|halves)|(?:becomes?|is|gets|grows?|increases?|rises?|needs?|takes?"
    r"|costs?)(?: by)?"
    rf"(?: (?:{_ABOUT.strip()}))?(?: a factor of)?\s*(?P<times>\d+) ?(?:times|x|×|-?fold)?)"
    r"(?: as much| as many)?(?: larger| more(?: expensive| costly| memory| compute)?| bigger| slower| longer| as (?:large"
    r"|expensive|costly))?" + _END,
    re.I,
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


_CLAUSE = re.compile(
    r",?\s+(?:while|whereas|but)\s+|(?:[;,]|,?\s+and)\s+(?=(?:the\s+)?[A-Z][\w/-]+(?:\s\w+)?\s+(?:has|have|uses|contains)\b)"
)
_CUT_SHORT = re.compile(rf"(?P<it>.+ (?:has|have|uses?)) (?P<value>{_NUMBER})\.?")


def claims_in(sentence: str) -> list[tuple[str, str]]:
    """Every claim of a sentence: `BERT-base has 12 layers, 768 hidden units and 110M parameters` makes three."""
    several = re.split(r"(?<=[a-z)\d])\.\s+(?=[A-Z])", " ".join(sentence.split()), maxsplit=9)
    if len(several) > 1:
        return [claim for one in several for claim in claims_in(one)]
    text = tidied(sentence)
    if each := re.fullmatch(r"[Bb]oth ([\w/-]+) and ([\w/-]+) (?:have|use) (.+)", text):  # the same of two encoders
        return [claim for name in (each[1], each[2]) for claim in claims_in(f"{name} has {each[3]}")]
    if found_whole := direction_in(_JUDGED.sub("", text)) or _both(text):
        return found_whole
    clauses = _CLAUSE.split(text, maxsplit=5)
    if len(clauses) > 1 and re.search(r"\s(?:has|have|is|are|uses?|contains?|needs?|takes?|costs?)\s", clauses[0]):
        thing = re.search(rf" (?:has|have|uses?) {_NUMBER} (?P<thing>[a-z -]+)$", clauses[0])
        if thing:  # `BERT-base has 12 layers, BERT-large has 24`
            clauses = [
                _CUT_SHORT.sub(rf"\g<it> \g<value> {thing['thing']}", clause) if _CUT_SHORT.fullmatch(clause) else clause
                for clause in clauses
            ]
        apart = [claims_in(clause) for clause in clauses]
        return [claim for clause in apart for claim in clause] if all(apart) else []
    named = [found for found in _BRACKETED.finditer(text) if _items(found["list"])]
    if len(named) > 1:
        return [claim for found in named for item in _items(found["list"]) if (claim := claim_in(f"{found['it']} has {item}"))]
    for pattern in (_BRACKETS, _LIST):
        found = pattern.fullmatch(text) if len(text) <= LONGEST else None
        items = (
            [_aloud(item) for item in re.split(r",\s+(?:and\s+)?|\s+and\s+(?:has\s+)?|\s+with\s+(?=an? )", found["list"])]
            if found
            else []
        )
        if found and len(items) > 1 and all(_ITEM.fullmatch(item) for item in items):
            claims = [claim_in(f"{found['it']} has {item}") for item in items]
            return [claim for claim in claims if claim is not None]
    if single := re.fullmatch(r"(.+? (?:has|have|uses?)) (an? \d+[\w -]* (?:size|dimension|width))\.?", text):
        text = f"{single[1]} {_aloud(single[2])}"
    one = claim_in(text)
    return [one] if one is not None else []


def _both(text: str) -> list[tuple[str, str]]:
    """The two claims of a sentence that makes two about one thing."""
    for pattern, asked in _TWO:
        if found := pattern.fullmatch(text):
            about = {name: _small(part) for name, part in found.groupdict().items()}
            return [(question.format(**about), found[value]) for question, value in asked]
    return []


def _items(text: str) -> list[str]:
    """The things of a list, said aloud; none where one of them is no number of something."""
    parts = re.split(r",\s+(?:and\s+)?|\s+and\s+(?:has\s+)?|\s+with\s+(?=an? )", text)
    items = [_aloud(item) for item in parts if re.search(r"\d", item)]
    return items if all(_ITEM.fullmatch(item) for item in items) else []


def _aloud(item: str) -> str:
    for pattern, said in _ALOUD:
        item = pattern.sub(said, item.strip())
    return item


def claim_in(sentence: str) -> tuple[str, str] | None:
    """Question and claim, where a sentence has one of the forms; nothing else is guessed."""
    text = _JUDGED.sub("", " ".join(sentence.split()))
    if not text or len(text) > LONGEST or "?" in text:
        return None
    if grown := _GROWN.fullmatch(text):
        about = re.sub(r" (?:needs?|requirements?|usage|cost)$", "", _small(grown["it"]))
        about = re.sub(
            r"^(?:the )?attention(?: comput(?:e|ation)s?)?$"
            r"|^(?:the )?comput(?:e|ation)s? (?:required |needed )?(?:for|of|by|in) attention$",
            "the cost of attention",
            about,
        )
        about = re.sub(r"^attention memory$|^(?:the )?memory (?:of|for) attention$", "the memory of the attention matrix", about)
        verb = re.sub(r"^also ", "", grown["verb"].lower())
        times = grown["times"] or _TIMES[verb if verb.endswith("s") else f"{verb}s"]
        return f"If {grown['change'].lower()}, by what factor does {about} grow?", times
    if scaling := _SCALING.match(text):
        return f"By what factor does {scaling['it']} grow when {scaling['change'].lower()}?", _TIMES[scaling["verb"].lower()]
    if share := _SHARE.match(text):
        times = _TIMES.get(share["times"].lower()) or share["times"].rstrip("xX× ")
        return f"How many times as many {share['thing']} does {_small(share['it'])} have as {share['other']}?", times
    if growth := _GROWTH.match(text):
        about = re.sub(r"^the (?:time |computational )?(?:complexity|cost) of ", "", _small(growth["it"]), flags=re.I)
        bare = re.sub(
            r"^(?:the )?memory(?: usage| use| cost| footprint| needed| required)? (?:of|in|for|by) |'s memory(?: usage| use"
            r"| cost| footprint)?$",
            "",
            about,
        )
        kind = "complexity" if bare == about else "space complexity"
        return f"What is the {kind} of {bare}?", f"{growth['how'].lower()} in n"
    lead = _LEAD.match(text)
    main = text[lead.end() :] if lead else text
    for pattern, question in FORMS:
        found = pattern.match(main)
        if found and not re.match(r"(?:if|with|for|in|when|given|at|on|per)\b[^,]*, ", main[found.start() :], flags=re.I):
            said = {name: _small(part or "") for name, part in found.groupdict().items()}
            asked = question.format(**said).replace("With , how", "How")
            value = said.get("value") or said.get("factor") or ""
            return (f"{lead['lead']}, {asked[0].lower()}{asked[1:]}" if lead else asked), value.strip()
    return None
