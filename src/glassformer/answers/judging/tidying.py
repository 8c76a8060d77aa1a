"""A sentence without what says nothing: lead words, brackets that explain, clauses that tell why."""

from __future__ import annotations

import math
import re

from glassformer.answers.questions.asides import changes_nothing
from glassformer.answers.questions.encoders import full_name
from glassformer.answers.questions.phrases import compiled

LONGEST = 400
ABOUT = r"(?:(?:about|approximately|approx\.?|roughly|around|circa|ca\.|nearly|almost|exactly|~|≈)\s*)?"
_WORDS = dict(
    zip("two three four six eight nine twelve sixteen twenty-four".split(), "2 3 4 6 8 9 12 16 24".split(), strict=True)
)
# Words that begin a sentence or stand in it, and say nothing.
_LOOSE = (
    (
        r"(?i)^(?:for (?:instance|example)|in general|in other words|in practice|in total|therefore|thus|hence|so|then|that is"
        r"|note that|recall that|remember that|as a result|e\.g\.|i\.e\.)\b,? ?",
        "",
    ),
    (r"^[-*•\d.)\s]+(?=[A-Za-z])|[*_]{2}|[`“”\"]", ""),
    (r",? \(?(?<!no )(?<!without )(?<!any )(?:the |all |its )*(?<!no )(?<!without )(?<!any )bias(?:es| terms?|"
        r" vectors?)? (?:are |is )?(?:included|counted)\)?(?=[.\s]*$)", " including biases"),
    (r", (?=(?:without|excluding|including|ignoring|not counting) (?:the |all |any )*(?:bias|layer ?norm|embedding))", " "),
    (r",? (?:each |all )?stacked (?:one )?on top of (?:the|each|one) (?:an)?other", ""),
    (r"\s*(?:→|->|⇒|=>|⟶)\s*(?=(?:so |then )?(?:each|every|the) )", ", so "),
    (r"\s*(?:→|->|⇒|=>|⟶)\s*", " yields "),
    (r"\b(?:processes|sees|receives|gets|handles) (?=\d+ (?:image )?patch(?:es| tokens) (?:\+|plus|and) )", "has "),
    (r"\b(\d+) (?:image )?patch(?:es| tokens) (?:\+|plus|and) (?:1|one|an?|the) (?:\[?CLS\]?"
        r"|class(?:ification)?) token(?: =|, i\.e\.,?|, so|, or|,? for"
        r" a total of|,? giving|,? that is,?) (\d+ tokens)(?: in total| altogether)?", r"\1 patches and \2"),
    (r"(?<=heads), each (?:working|operating|acting|attending)?(?: on| with| in)? ?(?:vectors? )?(?:of )?(?:length|size|dimension"
        r"|width) (?:\d+ ?/ ?\d+ ?= ?)?(?=\d)", " and a head dimension of "),
    (rf"(?i)^(in (?:{full_name()})) (?=(?:the|each|every|its) )", r"\1, "),
    (r"^((?:For|With|At|Given) [^,]*?\d[\d,]* (?:tokens|heads|layers|words|patches)) (?=(?:the|each|its) )", r"\1, "),
    (r"^((?:For|With|At|Given) d_?[kv] ?= ?\d+) (?=(?:the|each|its) )", r"\1, "),
    (r"\b(patch tokens|patches) \((?:[+]|plus|without|not counting)[^()\d]*(?:class|cls)[^()\d]*\)", r"\1"),
    (r" ?\((d_?(?:k|head) ?= ?\d+)(?: (?:per|each|for each) head)?\)", r", \1"),
    (r"\b(\d+) layers of (?:the )?(?:transformers?|encoder) blocks?\b", r"\1 layers"),
    (r"\bnumber of ((?:self-)?(?:attention )?heads|layers) as (\d+)", r"\2 \1"),
    (r"^([A-Za-z][\w/.-]*(?: [\w/.-]+){0,3}): (?=[~≈]?\d)", r"\1 has "),
    (r" \((?:compared|in comparison|as opposed|vs\.?|versus|up from|down from)\b[^()]*\)", ""),
    (r"\bheads of (?:size|dimension|width) (\d+)(?: each)?", r"heads and a head dimension of \1"),
    (r"^((?:In|For|With|Within|At) [^,]+?) (?=there (?:are|is) )", r"\1, "),
    (r"\bheads (?:with|of) (\d+)[- ](?:dimension(?:s|al)?|dims?|features)(?: each)?", r"heads with d_k = \1"),
    (
        r" is an? [a-z][a-z ,-]*?(?:version|variant|model|encoder|transformer)(?: of [A-Z][\w-]*| model)? (?:with|that has"
        r"|having|using) (?=~?\d)",
        " has ",
    ),
    (r",? which (?![^.]*(?:\d|exclu|includ|without|only|not |embed|bias|norm))[^.]*", lambda found: _idle(found[0])),
    (r"(?<=layers| heads),? with (?=d_?model ?=)", ", "),
    (r"^((?:[a-z]_?[a-z]* ?= ?\d+(?:, | and )?){1,5}): ", r"With \1, "),
    (r" comes with (?=an? |~?\d)", " has "),
    (r",? (?:totall?i?[sz]?ing|(?:for|with|and) a total of|resulting in) (?=[~≈]?\d)", ", "),
    (r"\b(?:pre-?trained|publicly available|popular) (?=model\b)", ""),
    (r" (?:only|just) (?=[~≈]?\d)", " "),
    (r",? (?:versus|vs\.?|compared (?:to|with)) [A-Z][\w-]*'s (?![^.]*(?:exclu|without|embed))[^.]*", ""),
    (r" [—–] (?![^.]*(?:exclu|includ|without|only|not |embed|bias|norm|each|per ))[^.]*", lambda found: _idle(found[0])),
    (r"\b(fewer|more|smaller|larger)( parameters| layers| heads)? compared (?:to|with) ", r"\1\2 than "),
    (r", i\.e\.,? [\d\s×x*·()+,]+(?=\.?$)", ""),
    (r"^(Stored|Saved|Loaded) in ((?:fp|float|bf|int)\d+), (.+?) (takes?|needs?|occup\w+) (.+?)\.?$", r"\3 \4 \5 in \2"),
    (r"\bthe [~≈]?\d+(?:\.\d+)? ?[MB] parameters of ([\w/-]+) (?=takes?|needs?|occup)", r"the parameters of \1 "),
    (r", (?:i\.e\.|that is|in total|altogether),? (?=[~≈]?\d[\d.,]* ?(?:million |billion |[MB] ?)?(?:parameters|params))", ", "),
    (r"\b(\d+(?:\.\d+)?) ?[x×] (?=fewer|more|smaller|larger|bigger)", r"\1 times "),
    (r"^(?:Compared|Relative) (?:to|with) ([\w/-]+), ([\w/-]+) has (half|twice|double) (?:the |as many )?(layers"
        r"|parameters|heads)",
        r"\2 has \3 the \4 of \1"),
    (r" reduces the size of ([\w/-]+) by ([~≈]?\d+(?:\.\d+)? ?%)", r" is \2 smaller than \1"),
    (r", (?:keeping|making|allowing|thereby|so that|meaning|thus|hence|giving it|which (?:is|makes"
        r"|means))\b[^.\d]*(?=\.?$)", lambda found: _idle(found[0])),
    (r"(?<=patches) ?(?:\+|plus|and) (?:1|one|an?|the) (?:additional |extra |learnable )?\[?(?:CLS"
        r"|class)\]?(?: tokens?)?(?=\.?$)", ""),
    (r"\b(\d+)-dim(?:ensional)? (?:token |word )?(?:embedding|representation)(?: vector)?s?(?=\.?$"
        r"|,| and|;)", r"hidden size of \1"),
    (r" (?:is|was) (?:really |very |so |quite )?(?:big|large|huge|small|deep|tiny|compact)(?:[:;,]|\s?[–—-]|\.{3}) (?:it "
        r"|which )?has ",
        " has "),
    (r"\b(\d+)-(layers|heads|parameters)\b", r"\1 \2"),
    (r" (?:was|were|is|are|came|comes?)(?: originally| first)? (?:released|published|introduced|trained"
        r"|available)?(?:(?<= )| )with "
        r"(?=[~≈]?\d)", " has "),
    (r"(?<=\w), (?:and )?([A-Z][\w/-]*[a-z\d]) with (?=[~≈]?\d)", r", \1 has "),
    (r"^With ([~≈]?\d[\w.,]* ?(?:million |billion )?(?:parameters|params)), (?:the )?([A-Z][\w/-]+(?: [a-z]+)?) has ",
        r"\2 has \1, "),
    (r",? because [^.\d]*(?=\.?$)", lambda found: _idle(found[0])),
    (r" (?:is|are) (?:defined|built|configured|designed|equipped|made|shipped) with (?=an? |~?\d)", " has "),
    (r" and (?:was|is|were|has been|can|makes|therefore|thus)\b[^.\d]*(?=\.?$)", lambda found: _idle(found[0])),
    (rf" \(({ABOUT}\d[\d,.]* ?[kKMB]? (?:params|parameters))\)", r", \1"),
    (r"(?i)\b(if|when) (?:you|we|one) (doubl|tripl|quadrupl|halv)e (?:the |your )?((?:sequence|context|input) length)"
        r"(?: from [\d,]+ to [\d,]+ tokens)?", r"\1 the \3 \2es"),
    (r"\b(two|three|four|eight|nine|sixteen) times\b", lambda found: f"{_WORDS[found[1]]} times"),
    (r"\b(\d+) ((?:encoder |transformer )?(?:layers|blocks)) with (\d+ (?:attention )?heads)\b", r"\1 \2 and \3"),
    (r"\b(heads) (?:each|per layer|per block)(?:, (?:or |so |for )?(?:a total of )?(\d+)(?: heads)? (?:in all|in total|altogether"
        r"|overall))", r"\1 and \2 \1 in total"),
    (r"(?<=\d heads) each\b", ""),
    (r"\b(kilo|mega|giga|tera)bytes\b", lambda found: f"{found[1][0].upper()}B"),
    (r"(?i)\b(doubl|tripl|quadrupl|halv)(ing (?:the |its )?[a-z ]+?) from (\d[\d,]*) to (\d[\d,]*)(?: tokens)?", lambda found:
        f"{found[1]}{found[2]}" if _as_said(found) else found[0]),
    (r"(?i)^(?:adding )?the \[?(?:cls|class)\]? token (?:of|in|to) (.+?) makes the (?:input |token )?sequence (\d+) tokens long",
        r"\1 has \2 tokens with the class token"),
    (r"\bexactly (?=\d)", ""),
    (r"\b(give|lead|map|project)s? back (?:to )?(?=(?:exactly )?\d)", "gives "),
    (r"(?<=parameters)([;,].* with (?:~|about )?\d+ ?(?:million|M))(?=\.?$)", r"\1 parameters"),
    (r",? with (?=(?:~|about )?\d+ ?(?:million|M) parameters)", ", "),
    (r"\bfactor of (two|three|four|eight|nine|sixteen)\b", lambda found: f"factor of {_WORDS[found[1]]}"),
    (r"(?i)^((?:with|including|counting|after adding) (?:the |an? )?(?:\[?cls\]?|class(?:ification)?) token),? (.+?)\.?$",
        r"\2 \1"),
    (rf"\b({'|'.join(_WORDS)})(?= (?:\w+ )?(?:layers|heads|blocks|layer ?norms|norms)\b)", lambda found: _WORDS[found[1]]),
    (r"⅔", "2/3"), (r"⅓", "1/3"), (r"½", "1/2"), (r"¾", "3/4"), (r"¼", "1/4"),
)  # fmt: skip
_EXPLAINS = re.compile(r" \(([^()]*\d[^()]*)\)")


_JUDGES = re.compile(
    r"\b(?:than|half|same|equals?|identical|different|larger|smaller|bigger|frozen|shared|decoder|causal|quadratic\w*|linear\w*"
    r"|more|less|fewer|most|least|double\w*|twice|none|no|never|not|gpt\S*|decoders?)\b|(?:bert|vit)\b",
    re.I,
)


def _idle(clause: str) -> str:
    """Nothing, for a clause that claims nothing of its own; the clause where it does, and then the sentence is not understood."""
    return clause if _JUDGES.search(clause) else ""


def _as_said(found: re.Match[str]) -> bool:
    """Whether `doubling … from 2048 to 4096` says the same factor twice."""
    factor = {"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0, "halv": 0.5}[found[1].lower()]
    old, new = (int(found[place].replace(",", "")) for place in (3, 4))
    return new == factor * old


def tidied(sentence: str) -> str:
    """Without the words and brackets that say nothing of their own, arrows and fractions in words."""
    text = " ".join(sentence.split())
    if len(text) > LONGEST:
        return text
    text = re.sub(r" \(([^()]*)\)", lambda bracket: "" if changes_nothing(bracket[1]) else bracket[0], text)
    for pattern, plain in _LOOSE:
        text = compiled(pattern).sub(plain, text)
    return _EXPLAINS.sub(lambda bracket: "" if _repeats(bracket[1], text.replace(bracket[0], "")) else bracket[0], text)


def _repeats(bracket: str, text: str) -> bool:
    """Whether a bracket works out a number that stands outside of it: `a 768-dim vector (16×16×3)`."""
    last = " ".join(re.sub(r"\b(?!x\b)[a-zA-Z]+\b", " ", bracket.rpartition("=")[2]).split())
    if not re.search(r"[=x×*·]", bracket) or not re.fullmatch(r"[\d\s.,x×*·+/-]+(?: [a-z -]+)?", last, flags=re.I):
        return False
    numbers = re.findall(r"\d[\d,]*", last)
    value = math.prod(int(number.replace(",", "")) for number in numbers) if re.search(r"[x×*·]", last) else numbers[-1]
    if re.search(r"[+/]|\d\s*-\s*\d", last) or not numbers:
        return False
    return str(value).replace(",", "") in (number.replace(",", "") for number in re.findall(r"\d[\d,]*", text))
