"""Questions that compare: one encoder with another, or an encoder with itself after a size was changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from glassformer.answers.questions.encoders import full_name, letters, presets_of
from glassformer.answers.questions.glossary import PART_NAMES, PRODUCT_NAMES, SETTINGS, TENSOR_NAMES
from glassformer.answers.questions.name_matching import looked_up, plain
from glassformer.answers.questions.phrases import MODEL
from glassformer.answers.questions.question import Change, Question
from glassformer.spec import GlassformerError, shown

Parse = Callable[[str], Question]

# How two numbers are compared, by the words for it; the first that is found.
_LESS = r"(?:less|fewer|smaller|lower|shallower|lighter|cheaper|reduces?|shrinks?)"
_MORE = (
    r"(?:more|larger|bigger|greater|higher|deeper|wider|heavier|exceeds?|outnumbers?|surpass(?:es)?|as"
    r" (?:many|much|large|big|deep|wide))"
)
COMPARED: tuple[tuple[str, str], ...] = (
    ("percent less", rf"\b(?:by )?(?:what|how many|which) percent(?:age)?\b(?=.*\b{_LESS}\b)"),
    ("percent more", rf"\b(?:by )?(?:what|how many|which) percent(?:age)?\b(?=.*\b{_MORE}\b)"),
    ("times less", rf"\b(?:how many times|(?:by )?(?:what|which) factor)\b(?=.*\b{_LESS}\b)"),
    ("times more", r"\b(?:how many times|(?:by )?(?:what|which) factor)\b|\bratio\b"),
    ("less", rf"\b(?:(?:by )?how (?:many|much) )?{_LESS}\b"),
    ("more", rf"\b(?:(?:by )?how (?:many|much) )?{_MORE}\b|\bdifference\b"),
)
_BETWEEN = r"\b(?:than|compared (?:to|with)|relative to|versus|vs\.?|over|and|to|as|does|do|in)\b"
_COMPARING_WORDS = rf"\b(?:{_LESS}|{_MORE}|between|compared|difference|ratio|than)\b"

_WIDE = r"(?:size|dimension(?:ality)?|dim|width)"
_SIZE = (
    r"(?:the |its |our |your )?(?P<size>(?:number of )?(?:attention |self-attention )?heads|(?:number of )?(?:encoder "
    r"|transformer )?layers"
    r"|depth|(?:input |maximum |max )?(?:sequence|context|input)(?: (?:length|window))?|(?:number of )?(?:input )?tokens"
    r"|length|d_?model|d_?ff|d_?k"
    rf"|(?:hidden|model|embedding) {_WIDE}|(?:ffn|feed-?forward|intermediate|inner) {_WIDE}|head {_WIDE}|batch(?: size)?"
    rf"|vocab(?:ulary)?(?: size)?|patch {_WIDE}|image {_WIDE}|(?:image )?resolution|width|(?<![a-z_])[nhdl](?![a-z_]))"
    r"(?: (?:of|in) (?:the |an? |each )?(?:transformer |encoder )?(?:model|encoder|transformer|layer|network|attention|input))?"
)
_FACTORS = {"double": 2, "doubling": 2, "triple": 3, "tripling": 3, "quadruple": 4, "quadrupling": 4, "twice": 2, "two": 2,
    "three": 3, "four": 4, "eight": 8, "ten": 10}  # fmt: skip
_HALVE = r"(?:halve|halving|cut in half|half)"
_VERB = rf"(double|doubling|triple|tripling|quadruple|quadrupling|{_HALVE})"
_WHEN = r"(?:\b(?:if|when|once|as|after|by|suppose|assume|assuming|while)\b )?(?:that )?(?:we |you |one |i )?"
_GROWS = (
    r"(?:is |are |gets? |be |were |was )?(?:increase[sd]?|grow[sn]?|grew|goes|go|changes?d?|raised|rises?|extended"
    r"|scaled|reduced|decrease[sd]?|shrinks?|(?:double|triple|quadruple|halve)[sd]?)"
)
_SHRINKS = r"\b(?:reduced|decrease[sd]?|shrinks?)\b"
_END = (
    r"(?=\s*(?:[,.|]|$|(?:by what|how|what|while|but|and keep|keeping|holding|leaving|with|change|increase|affect|alter"
    r"|reduce|double|quadruple|make)s?\b|\())"
)
# A size and what becomes of it: (pattern, group of the size, groups of the factor or of the old and the new value).
CHANGES: tuple[tuple[str, str], ...] = (
    ("from", rf"{_WHEN}{_SIZE} {_GROWS} from (?P<old>\d[\d,]*)(?: tokens)? to (?P<new>\d[\d,]*)(?: tokens)?"),
    (
        "from",
        rf"{_WHEN}(?:going|moving|(?:increas|chang|rais|reduc|extend|scal)(?:e|ing)|grow(?:ing)?"
        rf"|extend) {_SIZE} from (?P<old>\d[\d,]*)(?: tokens)? to (?P<new>\d[\d,]*)(?: tokens)?",
    ),
    (
        "times",
        rf"{_WHEN}{_SIZE} (?:(?:{_GROWS} by a factor of|(?:is|are) multiplied by) (?P<factor>\d+|two|three|four|eight|ten)"
        rf"|{_GROWS} (?:by )?(?P<fold>\d+|two|three|four|eight|ten)(?: ?x| times|-?fold)){_END}",
    ),
    (
        "from",
        rf"{_WHEN}(?:go|going|moving|scaling|extending|chang(?:e|ing)|switch(?:ing)?)(?: up)? from (?P<old>\d[\d,]*)"
        r"(?: tokens?| heads?| layers?)? to "
        r"(?P<new>\d[\d,]*) (?P<size>tokens|heads|layers)",
    ),
    ("depends", rf"\b(?:depends?|vary|varies) (?:up)?on {_SIZE}{_END}"),
    ("halved", rf"{_WHEN}cut(?:ting)? {_SIZE} (?:in|by) half{_END}"),
    ("verb", rf"{_WHEN}{_VERB} {_SIZE}{_END}"),
    ("verb", rf"{_WHEN}{_SIZE} (?:is |are |gets? |be )?{_VERB}[ds]?(?:{_END}|\b)"),
    (
        "twice",
        rf"(?:{_WHEN}|with |for |using )(?:use |have |take |had |has )?(?P<factor>twice|two times|three times|four times"
        rf"|\d+ ?(?:x"
        rf"|times)) (?:as (?:many"
        rf"|long|large|wide) )?{_SIZE}{_END}",
    ),
)
_FIXED = (
    r"[(,]? ?\b(?:with |keeping |for |and )*(?:the )?same (?:number of )?(?:heads|layers|d_?model|d_?k|width|hidden size"
    r"|batch(?: size)?)\)?|"
    r"[(,]? ?\b(?:(?:but|while|and|with|when) )?(?:keep(?:ing)?|hold(?:ing)?|leav(?:e|ing)) (?:[a-z_-]+ ){1,5}?"
    r"(?:fixed|constant|the same|unchanged|equal|as (?:it|they) (?:is|are))(?: (?:at|to) \d+)?\)?|"
    r"[(,]? ?\b(?:while |with |and |but |keeping |assuming )*(?:(?:the )?(?:d_?\{?model\}?|[a-z_]+)(?: size| dimension"
    r"| length)? (?:is |are "
    r"|stays? |being |held |kept |remains? )*"
    r"(?:fixed|constant|the same|unchanged)|(?:fixed|constant|the same|unchanged) [a-z_]+)\)?"
)
# Sizes that follow the one that is changed: held fixed in words, they make it another question.
_FOLLOWS = {
    "heads": r"\bd_?k\b|\bhead (?:size|dim\w*|width)",
    "d_model": r"\bd_?ff\b|\bffn|\bfeed-?forward|\bintermediate|\binner",
}
_ASKS_CHANGE = (
    r"\b(?:by how much|(?:by )?(?:what|which) factor|how many times|how much|what happens (?:to|with)|what is the effect "
    r"on|how|what)\b|"
    r"\b(?:its|does|do|will|would|must|is|are|the effect on)\b|"
    r"\b(?:more|less|fewer|larger|bigger|longer|smaller|change[sd]?|scales?|grows?|increase[sd]?|decrease[sd]?|needs?"
    r"|needed|require[sd]?|takes?|becomes?|affected|multiplied|gets?|affects?|alters?|reduces?|shrinks?|you|we|saved?|added|adds?|lose|gain)\b"
)
FIELDS = {"d_model", "heads", "layers", "d_ff", "vocab", "t", "batch", "d_k", "patch", "image"}
LENGTHS = tuple(
    " ".join(part.split())
    for part in """sequence length, input length, length, context length, context, n, number of token, token, input sequence
    length, sequence, context window, input, long sequence, input sequence, length of sequence, length of input""".split(",")
)
OTHER_SIZES = {
    "batch size": "batch", "batch": "batch", "patch size": "patch", "image size": "image", "resolution": "image",
    "dimension": "d_model", "d": "d_model", "h": "heads", "l": "layers", "hidden width": "d_model", "vocabulary": "vocab",
    "embedding width": "d_model",
}  # fmt: skip


def compared(text: str, asked: str, parse: Parse) -> Question | None:
    """`How many more parameters does BERT-large have than BERT-base?` `text` is the question in plain words."""
    names = list(re.finditer(rf"{full_name()}|{MODEL}", text))
    families = [presets_of(letters(name[0].removesuffix("'s"))) for name in names]
    if len(names) != 2 or families[0] == families[1] or not all(families):
        return None
    how = next(((how, pattern) for how, pattern in COMPARED if re.search(pattern, text)), None)
    if how is None:
        return None
    rest = f"{text[: names[0].start()]} | {text[names[0].end() : names[1].start()]} | {text[names[1].end() :]}"
    rest = re.sub(r"\b(?:in terms of|in number of|measured in|with respect to)\b", " | ", rest)
    rest = re.sub(rf"{_BETWEEN}\s*(?=\|)|(?<=\|)\s*{_BETWEEN}", " ", rest)
    rest = re.sub(_COMPARING_WORDS, " | ", re.sub(how[1], " | ", rest))
    rest = re.sub(r"\b(?:have|has|contain|contains|use|uses|need|needs|is|are|does|do|of|in|by|the)\b\s*(?=\||$)", " ", rest)
    factor = how[0] not in ("more", "less")  # of families only how they compare, and for their base models
    meant = [[name for name in family if len(family) == 1 or (factor and name.endswith("-base"))] for family in families]
    for family, names_of in zip(families, meant, strict=True):
        if len(names_of) != 1:
            raise GlassformerError(f"'{shown(asked)}' leaves open which encoder: say one, as in {', '.join(family[:3])}.")
    inner = parse(_named_once(rest) or "params")
    first, second = (names_of[0] for names_of in meant)
    open_names = tuple(name for family in families if len(family) > 1 for name in family)
    return Question("versus", inner.target, one_layer=inner.one_layer, one_head=inner.one_head, text=asked, measure=inner.kind,
        inner=replace(inner, text=asked), compared=how[0], over=second, model=letters(first), stated=inner.stated,
        family=open_names)  # fmt: skip


def _named_once(text: str) -> str:
    words = " ".join(part.strip(" ,.?") for part in text.split("|") if part.strip(" ,.?"))
    return "" if re.fullmatch(r"(?:what|how|by|is|are|in|the|size|of|a|model|\s)*", words) else words


def changed(text: str, asked: str, parse: Parse) -> Question | None:
    """`If the sequence length doubles, how much more memory does the attention matrix need?`"""
    names = list(re.finditer(rf"(?:\b(?:of|in|for) (?:an? |the )?)?(?:{full_name()}|{MODEL})", text))
    whose = re.sub(r"^(?:of|in|for) (?:an? |the )?|'s$", "", names[0][0]) if len(names) == 1 else ""
    text = " ".join(text.replace(names[0][0], " ").split()) if whose else text
    for how, pattern in CHANGES:
        for found in re.finditer(pattern, text):
            field = _field(found)
            if field is None:
                continue
            change = _change(field, how, found)
            rest = f"{text[: found.start()]} | {_TIMES.sub(_unless(change), text[found.end() :])}"
            held = next((said[0] for said in re.finditer(_FIXED, rest) if re.search(_FOLLOWS.get(field, "(?!)"), said[0])), "")
            if held:
                raise GlassformerError(
                    f"'{shown(asked)}' holds fixed what follows {field} otherwise: ask for each of the two encoders by itself."
                )
            if _A_VALUE.search(rest) or (whose and _AN_AMOUNT.search(rest)):
                raise GlassformerError(
                    f"'{shown(asked)}' asks for a size after a change, not for how much it changes: say the new size alone."
                )
            rest = _HOW_MANY_MORE.sub(lambda said: f" | {said['things'] or ''}", rest)
            rest = re.sub(_ASKS_CHANGE, " | ", re.sub(_FIXED, " | ", rest))
            words = " ".join(part.strip(" ,.?") for part in rest.split("|") if part.strip(" ,.?"))
            words = re.sub(r"^(?:an?|the|our|this) (?:model|encoder|transformer|network)\b(?! \w+$) ?", "", words)
            words = re.sub(r"\bexpensive\b|\bcostly\b|\bcomput(?:e|ations?)\b|\bruntime\b|\bslower\b", "cost", words)
            if field == "d_model":
                words = re.sub(r"\(?\band (?:also )?(?:the )?(?:d_?ff|ffn width)(?: too)?\)?", " ", words)
            if not words.strip():
                return None
            inner = parse(f"{_with_kind(words)} of {whose}" if whose else _with_kind(words))
            if inner.inner is not None:
                raise GlassformerError(f"'{shown(asked)}' changes several things at once: ask for each by itself.")
            whole = inner.target in (None, "model") or (
                inner.target in ("attention", "ffn", "layers") and not re.search(r"weight|param", asked.lower())
            )
            if inner.kind == "bytes" and whole and field in ("t", "batch"):
                raise GlassformerError(
                    f"'{shown(asked)}' leaves open which memory: say 'of the weights' or 'of the attention matrix'."
                )
            kind = {"shape": "elements", "complexity": "macs", "space": "elements"}.get(inner.kind, inner.kind)
            inner = replace(inner, kind=kind, text=asked)  # type: ignore[arg-type]
            stated = ((field, str(int(found["old"].replace(",", "")))),) if how == "from" else ()
            how_many = "difference" if _HOW_MANY_MORE.search(text) else ""
            return Question("change", inner.target, one_layer=inner.one_layer, one_head=inner.one_head, text=asked,
                compared=how_many, measure=inner.kind, inner=inner, change=change, stated=(*inner.stated, *stated),
                layers=inner.layers, model=inner.model)  # fmt: skip
    return None


_A_VALUE = re.compile(
    r"\bwhat (?:is|are|will be|would be) (?:the |its )?(?!.*\b(?:factors?|effect|changes?|ratio|impact|increases?|growth|grows?"
    r"|more|times|affect|scales?|multipl\w+|larger|bigger|higher|complexity|become)\b)"
)
_AN_AMOUNT = re.compile(
    r"\bhow (?:much|many) (?!more|less|fewer|larger|bigger|longer|times|extra|additional)"
    r"(?!.*\b(?:change[sd]?|grows?|increase[sd]?|decrease[sd]?|shrinks?|saved?|added|adds?|lose|gain|more|less|fewer|reduce[sd]?)\b)"
)
# Asks for the difference of two numbers, and not for their ratio.
_HOW_MANY_MORE = re.compile(
    r"\b(?:by )?how many (?:(?:more|fewer|additional|extra|less|new)\b(?! times)"
    r"|(?P<things>parameters|params|weights|tokens|patches|flops)\b"
    r"(?=.*\b(?:grows?|increases?|saved?|added|adds?|decreases?|shrinks?|removed?|lose|gain)\b))"
)
_TIMES = re.compile(
    r"\s*[(,] ?(?:an? |i\.e\.,? )?(\d+)(?: ?x| ?×|-?fold| times)(?: (?:increase|longer|larger|more|growth))?\b\)?"
)


def _unless(change: Change) -> Callable[[re.Match[str]], str]:
    """Nothing for a bracket that says the factor again, `(a 100x increase)`; the bracket itself where it says another."""
    return lambda found: " |" if Fraction(int(found[1])) == Fraction(change[1], change[2]) else found[0]


def _with_kind(words: str) -> str:
    """A tensor or a part by itself: its elements, or its parameters."""
    name = re.sub(r"^(?:the|an?) ", "", words.strip())
    if looked_up(name, TENSOR_NAMES) is not None:
        return f"size of {name}"
    return f"params of {name}" if looked_up(name, PART_NAMES) is not None and looked_up(name, PRODUCT_NAMES) is None else words


def _field(found: re.Match[str]) -> str | None:
    """Which size is spoken of."""
    said = found["size"]
    name = plain(re.sub(r"^(?:the |number of )+", "", said.strip()))
    if name in LENGTHS or plain(said) in LENGTHS:
        return "t"
    field = OTHER_SIZES.get(name) or SETTINGS.get(name)
    return field if field in FIELDS else None


def _change(field: str, how: str, found: re.Match[str]) -> Change:
    if how == "from":
        ratio = Fraction(int(found["new"].replace(",", "")), int(found["old"].replace(",", "")) or 1)
        return field, ratio.numerator, ratio.denominator
    if how == "halved":
        return field, 1, 2
    if how == "depends":
        return field, 2, 1
    if how in ("times", "twice"):
        said = found["factor"] or found["fold"] if how == "times" else found["factor"]
        word = re.sub(r" ?(?:x|times|fold)$", "", said)
        factor = int(word) if word.isdecimal() else _FACTORS[word]
        return (field, 1, factor) if re.search(_SHRINKS, found[0]) else (field, factor, 1)
    verb = next(group for group in found.groups() if group and (group in _FACTORS or re.fullmatch(_HALVE, group)))
    return (field, 1, 2) if re.fullmatch(_HALVE, verb) else (field, _FACTORS[verb], 1)
