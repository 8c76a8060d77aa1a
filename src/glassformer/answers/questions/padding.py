"""Questions about padding: sentences of these lengths in one batch, filled up to the longest or to a length that is said."""

from __future__ import annotations

import re

from glassformer.answers.questions.question import Question

MOST_SENTENCES = 32

_LIST = re.compile(
    r"(?:[\[({]\s*)?(?<![\d.,x×-])(\d+(?:(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*)\d+)+)(?![\d%]|\.\d|\s*[x×])(?:\s*[\])}])?"
)
_ROWS = (
    r"(?:sentences?|sequences?|texts?|examples?|samples?|inputs?|reviews?|documents?|tweets?|rows?|strings?|questions?|items?"
    r"|utterances?|comments?|posts?|paragraphs?|passages?|messages?|titles?|queries|lines?)"
)
_TOKENS = r"(?:tokens?|words?|sub-?words?|word ?-?pieces?)"
_WORD_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_MANY = rf"(\d+|{'|'.join(_WORD_NUMBERS)})"
_HOW_MANY_ROWS = re.compile(
    rf"\b(?:batch(?: size)?(?: of| is| =|=)?|of|has|with|holds|contains|the|these)? ?{_MANY} (?:(?:short"
    rf"|different|input|tokeni[sz]ed|training) )*{_ROWS}\b|\bbatch(?: size)?\s*(?:of|is|=)?\s*{_MANY}\b"
)
_TO_A_LENGTH = re.compile(
    r"(?:\b(?:all |each |every \w+ )?(?:is |are |gets? |being )?(?:padded|pad(?:ding)?)(?: (?:them|it|all|each|every|everything"
    rf"|{_ROWS}|of|the|up|out|always))* to (?:an? |the )?(?:(?:fixed|common|maximum|max|model's|full|static"
    rf"|constant) )*(?:sequence )?(?:length)?"
    r"(?: of| =)? ?|\bmax(?:imum)?[_ ](?:sequence )?length(?: of| is)?\s*=?\s*)(\d+)\b"
    rf"(?: {_TOKENS}| positions)?(?: each| long| in length)?"
)
_TO_THE_LONGEST = re.compile(
    r"\b(?:to|up to|as long as|to match|to the length of|to the size of|the length of) (?:the )?(?:(?:length of"
    r"|size of|same as) (?:the )?)?"
    rf"(?:longest|largest|maximum|max|biggest)(?: (?:one|length|{_ROWS}|of them|of the {_ROWS}|in (?:the|this"
    rf"|its) batch|among them|in it))*"
    r"|\bto (?:the |a )?(?:same|common|equal) length\b|\bdynamic(?:ally)?(?= pad)|\bof (?:the )?longest\b"
)
_WASTED = (
    r"\b(?:wasted|waste|for nothing|useless(?:ly)?|unnecessar(?:y|ily)|unneeded|in vain|spent on pad\w*"
    r"|involv(?:e|es|ing) (?:an? |at least one |some )*pad\w*"
    r"(?: tokens?| positions?)?|lost)\b"
)
_PAD = r"(?:\[pad\]|<pad>|pad(?:ding|ded)?)"
_SHARE = (
    r"\b(?:what|which|how much|compute|give|find)?\s*(?:the |is )*(?:percentage|percent|share|fraction"
    r"|proportion|portion|ratio|part)\b"
)
_SCORES = (
    r"\b(?:(?:self-)?attention |query-key |pairwise )*(?:scores|score entries|weights|pairs|dot products)\b"
    r"|\b(?:attention|score) (?:matrix|matrices)(?: entries)?\b|\bself-attention\b"
)
_REAL = r"\b(?:real|actual|non-?pad(?:ding|ded)?|useful|true|genuine|meaningful)\b"
_SHAPE = r"\b(?:shape|dimensions)\b"
_AFTER = (
    r"\bpadded (?:batch|tensor|input)\b|\b(?:after|including|with|counting|once) (?:the |dynamic |all"
    r" )*padding\b(?! (?:tokens|positions|to))"
)
_OF_ONE = r"\b(?:per|each|every|average|mean|first|second|third|last|shortest)\b"
_FILLED = (
    r"(?:\[pad\]|<pad>|\bpad(?:ding)?) (?:tokens?|positions?|symbols?|entries|slots)\b|\b(?:are|is|being|be)"
    r" (?:just |only )?(?:\[pad\]|padding|pad)"
    r"|\bhow much padding\b|\[pad\]"
)
_HEADS = re.compile(r"\b(?:(?:with|and|for|of|over|across|in)? ?(?:all )?)(\d+) (?:attention )?heads\b")
_SCENE = frozenset(
    """how many much what which is are was were the of a an in into for with and if we you they it its to at by on each every
    total altogether overall does do did will would there that this these those their them has have having holds hold
    contains contain containing contained put placed make makes up batch mini-batch minibatch one padded pad padding
    tokens token positions position length lengths long consists consisting comprises consider suppose assume given
    let your our so then when all together number tokenized tokenised tokenizer input inputs inserted added add needed
    needs need used uses using must be been shorter same resulting after before computed compute computation
    calculations calculation attention layer head single model bert transformer encoder self-attention sequence
    sequences sentence sentences text texts example examples respectively entries slots cells places get gets as
    tensor input_ids ids attention_mask mask matrix wasted spent symbols filler processed process processes going go
    goes fed feed only just static fixed dynamic because collator dataloader out exactly words word count calculate
    find give state determine different lengths: following being including counting means mean lead leads stacked
    batched combined grouped""".split()
)


def padding(text: str, asked: str) -> Question | None:
    """`sentences of 5, 9 and 7 tokens are padded to the longest: how many padding tokens?`; `text` is it in plain words."""
    if not re.search(r"\bpad|\[pad\]", text) or len(lists := list(_LIST.finditer(text))) != 1:
        return None
    found = lists[0]
    lengths = [int(number) for number in re.findall(r"\d+", found[1])]
    if not _lengths_of_sentences(text, found) or re.search(r"\d,\d{3}(?!\d)", found[1]) or len(lengths) > MOST_SENTENCES:
        return None
    behind = re.sub(rf"^ ?{_TOKENS}\b(?: long| each| respectively)*", " ", text[found.end() :])
    rest = f"{text[: found.start()]} {behind}"
    to, rest = _length_after(" ".join(rest.split()), max(lengths))
    rest, heads = _taken(_HEADS, rest)
    rows = [number for pair in _HOW_MANY_ROWS.findall(rest) for number in pair if number]
    rest = _HOW_MANY_ROWS.sub(" ", rest)
    if to < max(lengths) or min(lengths) < 1 or any(_number(number) != len(lengths) for number in rows):
        return None
    if (target := _asked(rest)) is None or (heads and "scores" not in target):
        return None
    for pattern in (_SHARE, _SCORES, _WASTED, _REAL, _SHAPE, _PAD, rf"\b{_ROWS}\b"):
        rest = re.sub(pattern, " ", rest)
    if not all(word in _SCENE for word in re.findall(r"[^\s,.:;()|?!%=\[\]]+", rest)):
        return None
    given = [(f"sentence {place}", length) for place, length in enumerate(lengths, start=1)]
    given += [("to", to), *([("heads", int(heads[1]))] if heads else [])]
    unit = "percent" if re.search(r"percent|%", text) else ""
    return Question("reckoned", target, one_layer=False, one_head=False, text=asked, given=tuple(given), unit=unit)


def _lengths_of_sentences(text: str, found: re.Match[str]) -> bool:
    """Whether the numbers are said to be lengths: tokens stand behind them, or `of lengths` before."""
    behind = re.match(rf"\s*{_TOKENS}\b", text[found.end() :])
    before = re.search(r"\b(?:lengths?|long)\b[^.?!]{0,30}$", text[: found.start()])
    return bool(behind or before)


def _length_after(text: str, longest: int) -> tuple[int, str]:
    """How long every sentence is made, and the text without it: the longest, unless another length is said."""
    rest, fixed = _taken(_TO_A_LENGTH, text)
    return (int(fixed[1]), rest) if fixed else (longest, _TO_THE_LONGEST.sub(" ", text))


def _taken(pattern: re.Pattern[str], text: str) -> tuple[str, re.Match[str] | None]:
    found = pattern.search(text)
    return (f"{text[: found.start()]} {text[found.end() :]}", found) if found else (text, None)


def _number(said: str) -> int:
    return int(said) if said.isdecimal() else _WORD_NUMBERS.index(said)


def _asked(text: str) -> str | None:
    """What is asked for; None where it is nothing of this."""
    asking = re.split(r"[.:;]\s|,\s(?=how|what|which|compute|give|find)", text)[-1]
    share, scores = re.search(_SHARE, asking), re.search(_SCORES, asking)
    if re.search(_OF_ONE, re.sub(r"\b(?:each|every) \w+ (?:is|gets) padded", " ", asking)):
        return None  # a part of the batch
    wasted = re.search(rf"{_WASTED}|{_FILLED}", re.sub(_AFTER, " ", asking))
    real = re.search(_REAL, asking)
    if re.search(r"\b(?:mask|positive|loss|time|faster|speed)\b", asking) and not re.search(_SHAPE, asking):
        return None
    if share:
        return _one_of(scores, wasted, real, "share of scores for nothing", "share of padding", "share of real tokens")
    if not re.search(r"\bhow (?:many|much)\b|\bnumber of\b|\bcount\b", asking):
        return "shape of the batch" if re.search(_SHAPE, asking) and not scores else None
    if scores:
        return "scores for nothing" if wasted and not real else None
    if not wasted and not real and re.search(_AFTER, asking) and re.search(r"\btokens\b|\bpositions\b", asking):
        return "all positions"
    return _one_of(None, wasted, real, "", "padding tokens", "real tokens")


def _one_of(scores: object, wasted: object, real: object, of_scores: str, of_tokens: str, of_real: str) -> str | None:
    """The one thing that is spoken of: padding or real tokens, and not both."""
    if bool(wasted) == bool(real):
        return None
    if real:
        return None if scores else of_real
    return of_scores if scores else of_tokens
