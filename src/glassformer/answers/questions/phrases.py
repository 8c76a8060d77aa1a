"""The turns of phrase of a question, as patterns over small letters: what kind of quantity, of how much, in which unit."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Kind = Literal[
    "params", "share", "shape", "elements", "flops", "macs", "bytes", "tokens", "patches", "width", "scale", "ratio",
    "difference", "crossing", "complexity", "space", "entry", "updates", "masking", "tying", "versus", "change",
    "worked", "reckoned",
]  # fmt: skip
Precision = Literal["float64", "float32", "bfloat16", "float16", "int8", "int4"]


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern that every question is held against: `re` keeps 512, and there are more, so it would compile each every time."""
    return re.compile(pattern)


def _any(words: str) -> str:
    """One of the phrases that commas part."""
    return "(?:" + "|".join(" ".join(word.split()) for word in words.split(",")) + ")"


# The words of each kind, in the order in which they are looked for: `memory of the parameters` asks for bytes.
KINDS: dict[Kind, str] = {
    "space": r"(?:space|memory)[- ]complexity",
    "complexity": r"(?:(?:asymptotic )?(?:time|computational|compute|runtime|algorithmic|asymptotic)(?: and space)? )?complexity"
    r"(?: class| order)?|(?:the )?big[- ]?o(?: notation| complexity)?|order of growth",
    "share": r"(?:percentage|percent|share(?! (?:an?|one|the same|their|its|the) |s? weights| param| all)|fraction|proportion"
    r"|portion)"
    r"(?: (?:of )?(?:(?:the|all|total|model'?s?) )*(?:params?|parameters|weights))?",
    "bytes": r"(?:memory|storage|disk|vram|ram|gpu memory)(?: (?:footprint|consumption|requirements?|usage|use|cost|size|space))?"
    r"|bytes|footprint|(?:model|file|checkpoint) size",
    "macs": r"[kmgt]?macs?|multiply[- ]adds?|multiply[- ]accumulates?(?: operations)?|(?:scalar )?multiplications|multiplies",
    "flops": r"[kmgtp]?flops?(?: counts?)?|floating[- ]point operations|(?:compute|computational) cost|compute|cost",
    "shape": r"shapes?|sizes?|dimensions?|dimensionality|dims?",
    "elements": r"elements|entries|(?:floating[- ]point )?numbers|scalars|cells|values(?= (?:\||of|in|are))",
    "params": r"(?:params?|parameters?)(?: counts?)?|weights count",
    "scale": r"scal(?:e|ing) factor|scal(?:e|ing)|divisor",
    "patches": r"patches",
    "tokens": r"tokens|sequence length|(?:length of the|how long is the) (?:input |token |patch |resulting )*sequence|sequence",
}
OF_PARTS = ("params", "share", "flops", "macs", "bytes")
# Kinds that are one number for the whole encoder, and what may be said besides.
OF_THE_WHOLE: dict[Kind, tuple[str, ...]] = {
    "scale": ("", "attention", "score", "attention score", "dot product", "softmax", "model", "before softmax", "scaled score",
        "scaled dot product attention"),
    "patches": ("", "image", "model", "input", "input image", "one image", "split into", "split", "cut into", "divided into"),
    "tokens": ("", "sequence", "model", "input", "image", "input sequence", "encoder", "transformer", "process", "encoder see"),
}  # fmt: skip
# What may be said besides of the sequence that an image becomes: that it enters the encoder, and with which token.
OF_SEQUENCES = (
    r"(?:\b(?:count|counting|include|patch|along|and|plus|including|with|one|class|cls|token|after|adding|enter|entering|encoder|transformer"
    r"|input|seen?|by|image|process|receive|get"
    r"|fed|to|into|model|sequence)\b ?)*"
)
OF_IMAGES = (  # the same of the patches that it is cut into
    r"(?:\b(?:each|every|image|input|sequence|encoder|transformer|model|process|processed|receive|received|produce|produced|see|seen"
    r"|get|create"
    r"|created|obtain|obtained|result|split|cut|divided|into|one|by|from|in|to|fed|resulting|non overlapping)\b ?)*"
)
# What a complexity may be said to depend on; it is given in all of it.
DEPENDING = (
    r"\b(?:with respect to|w\.?r\.?t\.?|in terms of|as a function of|in|on|for) (?:an? |the )?(?:input |sequence |context "
    r")*(?:(?:sequence|input|context) of )?"
    r"(?:length|n)(?: n)?(?: and (?:the )?(?:d|d_model|(?:(?:hidden|model|embedding|representation) )?(?:dimension"
    r"|size)(?: d)?))?\b"
)
CELLS = (
    "score", "attention logit", "attention score", "attention weight", "attention coefficient", "attention probability",
    "dot product", "query key dot product", "query key product",
)  # fmt: skip
# What is counted by itself, where a question asks how many there are.
COUNTED = {
    "dimension": "d_model", "hidden layer": "layers", "hidden unit": "d_model", "attention matrix": "all_heads",
    "attention map": "all_heads", "layernorm": "norms", "norm": "norms",
}  # fmt: skip
KEPT = r"\b(?:kv|key[- ]value) cache\b|\boptimi[sz]er states?\b"  # kept in memory: asks for bytes by itself

# A ratio of two parts, and what stands between them.
DIFFERENCE = r"\b(?:how (?:many|much) )?(?:more|fewer)\b(?=.*\bthan\b)|\bdifference (?:in|between)"
RATIO = (
    r"\bratio (?:of|between)?|\b(?:how many )?times (?:more|larger|bigger|greater|as (?:many|much|large|big|expensive)|fewer)\b"
    r"|\b(?:by what|which) factor\b(?: (?:more|larger|bigger))?"
)
COMPARING: dict[Kind, str] = {"ratio": RATIO, "difference": DIFFERENCE}
AGAINST = r"\b(?:than|to|compared (?:to|with)|relative to|versus|vs\.?|over|and|as)\b([^|]+)"
LYING = (
    r"\b(?:(?:are|is|comes?|belongs?|goes|go|lies?|resides?|sits?|live|spent|used|taken|consumed|held|contained|found|located|due"
    r"|attributable|devoted|account(?:s|ed)? for|made up|make up)\b ?)+(?:(?:up|from|to|in|on|by|for|of|inside|within)\b ?)*"
)
CROSSING = (
    r"\b(?:sequence length|context length|length|number of tokens|n|t)(?: n| t)? (?:do|does|will|would|is|are) (?:the )?(.+?) "
    r"(?:(?:cost |become |be |get |start to )?(?:equals?|match(?:es)?|exceeds?|overtakes?|dominates?"
    r"|(?:just )?(?:as (?:much|many(?: flops)?|expensive|costly) as|the same(?: number of flops)? as|equal to"
    r"|more(?: expensive| costly)? than))) (?:the )?(.+)$"
)

OUTPUTS = r"\b(?:output (?:neurons?|units?|nodes?|classes|values?)|outputs|classes|labels)\b"
EVERYWHERE = (
    r"\b(?:in total|in all|overall|altogether|total(?: number of)?|all (?:\d+ |the )*(?:layers|blocks)|(?:whole|entire|full) "
    r"(?:model|network|encoder|stack|bert))\b"
)

HOW_BIG = r"\bhow (?:big|large) (?:is|are)\b"
ASKING = (
    r"(?:^|[|,] ?)(?:please |and )?(?:(?:at|by|for|from|with|in|into) )?(?:"
    r"what(?:'s| is) the value of|what(?:'s| is| are| will be| would be)?|how (?:many|much|large|big|long) ?(?:is|are)?|"
    + _any(
        """which number, which, work out, do the math, tell me, show, list, name, calculate, compute, evaluate, find, determine,
        derive, give, state, estimate, count, report, write down"""
    )
    + r")\b"
)
NUMBER = (
    r"\b(?:(?:the )?(?:total |overall |exact |approximate )*(?:number|count|amount) of|"
    + _any("how many, total, overall, in total, altogether, together")
    + r")\b"
)
# Words that change nothing.
EMPTY = (
    r"\b"
    + _any(
        r"""are there, is there, there are, are needed, is needed, are required, is required, needed, required, do we need,
        trainable, learnable, learned, learnt, must be learned, are used, used, are stored, stored, to store, storing, to
        hold, (?:whole|entire|full|complete|single) forward pass, forward pass, one forward pass, a forward pass, before
        w_o, inference, only, alone, through, are computed, is computed, computed, computing, to compute, calculating,
        (?:include|including|incl\.?|counting|count) (?:all |the )?bias(?:es| terms)?(?! and)(?! &),
        (?:to )?load(?:ing)?(?: it)?, do (?:we|you) get, equals?(?: to)?,
        (?:for|of|in|across|over) all (?:the )?(?:attention )?heads, combined,
        summed, on top(?= \||$), on top of(?: it)?, (?:including|with|plus) (?:its|their|the) bias(?:es)?(?! and)(?! &), exactly,
        approximately, approximate, roughly, in practice, by itself, you, contains, (?:are|is)
        (?:used|stored|held|present|found|involved|contained|computed|performed), bias(?:es)? included, (?:are |is
        )?(?:spent|needed|used) (?:on|in|by), (?:with )?(?:no|without|excluding|ignoring|not counting) activations, we(?! )"""
    )
    + r"\b"
)
SMALL = _any(
    """be, would, will, of, in, for, the, a, an, is, are, does, do, have, has, at, with, on, by, to, from, there, it, and, inside,
    within"""
)
SMALLER = _any("its, all, as, using, when, if")
HAVE = (
    r"\b(?:does|do|will|would|must|can) (.+?) "
    + _any(
        """have, has, need, needs, contain, use, require, take(?: up)?, occupy, hold, add, process, see, receive, produce, get,
        compute, store, keep, cost, consume, perform, account for, make up, represent, contribute, comprise, give, yield,
        introduce, bring, include, involve, employ, span"""
    )
    + r"\b"
)

LAYER = (
    r"\b(?:(?:in|of|for|per|from|inside|within|by) )?(?:just |only )?"
    r"(?:one|a|an|each|every|single|a single|each single|the first|the)? ?"
    r"(?:standard |vanilla |typical |usual )?(?:transformer |bert |vit )?(?:encoder )?(?:layer"
    r"|block)\b(?!['’ -]?norm)(?! normali)"
)
LAYER_WORDS = r"\b(?:one|a|an|each|every|single|per|encoder|transformer|the)\b"
ALL_LAYERS = (
    r"\b(?:(?:in|of|for|across|over|from|with) )?(?:(?:all|the|all of the)(?: the)? (\d+ )?|(\d+ ))"
    r"(?:encoder |transformer )?(?:layers|blocks)\b"
)
HEAD = (
    r"\b(?:in|of|for|from|per|by|inside|within) (?:just |only )?(?:one|each|every|single|a single|an individual) "
    r"(?:attention |self-attention )?head\b(?! output)"
    r"|\bper[- ](?:attention )?head\b|\bone head'?s\b|\bof an? (?:attention )?head$|\bof an attention head\b"
    r"|\b(?:one|a single|each) attention head\b"
)
TOKEN = r"\b(?:per|for (?:one|each|a|a single|every)) (?:token|position|word)\b"
MODEL = (
    r"(?<![\w-])((?:distil|modern|distilro|ro|xlm-ro|al|cam\w+)?bert\w*|electra|mpnet|minilm|t5|bart|vit|deit|dinov2|xlm-r)"
    r"((?:[- /]"
    + _any(
        r"""tiny, mini, small, medium, base, large, xlarge, xxlarge, huge, big, uncased, cased, chinese, multilingual, v\d, l?\d+,
        [btslh]/?\d*"""
    )
    + r")*)(?:'s)?(?![\w-])"
)
WITHOUT = (
    r"\b"
    + _any(
        r"""without, excluding, excl\.?, ignoring, not counting, not including, except(?: for)?, omitting, leaving out,
        disregarding, with no, no"""
    )
    + r" (?=(?:(?:the|any|all) )*(?:bias|vector|term|[a-z]*embed|norm|layer|pooler|head|class|output|w_o|posit|segm|token"
    r"|table|param))((?:"
    + _any(
        """the, any, all, and, or, bias(?:es)?, terms?, vectors?, embeddings?, norms?, layer ?norms?, layer, normali[sz]ations?,
        pooler, head, classifier, output projections?, output, w_o, positions?, positional, segments?, token, tables?, params?,
        parameters"""
    )
    + r"\b[, &]*)+)(?!\s*(?:of|in) (?:the |its )?(?:self-|multi-?head )*"
    r"(?:attention|ffn|mlp|feed|query|key|value|output|first|last|norm))"
)
TRAINING = (
    r"\b(?:(?:for|during|in|of|to|when) )?(?:(?:one|a|the|full) )?(?:training|train|forward and backward|backward and forward)"
    r"(?: (?:step|pass|passes|iteration|state|memory))?(?: (?:with|using|under) adamw?)?\b(?: (?=flops|macs))?"
    r"|\b(?:with|using|under) adamw?(?: optimi[sz]er)?\b"
)
WITH_ADAM = r"\b(?:with|using|under) adamw?(?: optimi[sz]er)?\b"
BACKWARD = r"\b(?:(?:for|during|in|of) )?(?:(?:one|a|the) )?(?:backward|backpropagation|backprop)(?: pass)?(?: alone)?\b"
PRECISIONS: dict[Precision, str] = {
    "float64": r"fp64|float64|double precision|64[- ]bit(?: floats?)?",
    "float32": r"fp32|float32|single precision|full precision|32[- ]bit(?: floats?| floating[- ]point)?|float",
    "bfloat16": r"bf16|bfloat16",
    "float16": r"fp16|float16|half precision|16[- ]bit(?: floats?| floating[- ]point)?"
    r"|half(?! (?:of|the|as|an?|its|their)\b| \w+(?:s|ed)\b)",
    "int8": r"int8|8[- ]bit(?: integers?)?",
    "int4": r"int4|4[- ]bit(?: integers?)?",
}
BYTE_UNITS = ("mb", "mib", "gb", "gib", "kb", "kib", "tb", "tib", "mega", "giga", "kilo", "bytes")
FLOP_UNITS = ("gflop", "tflop", "mflop", "gmac")
SHARE_UNITS = ("percent", "%")
COUNT_UNITS = ("million", "billion", "thousand")
UNIT = (
    r"(?:\bin |^\| (?!percent|%))("
    + _any(
        """mb, mib, gb, gib, kb, kib, tb, tib, megabytes, gigabytes, kilobytes, millions?, billions?, thousands, gflops?, tflops?,
        mflops?, gmacs?, percent, %"""
    )
    + r")(?!\w)"
)
SYMBOL = re.compile(r"(?<![\w^])(?!(?:we|be|bc)\b)([wb])[_^]?\{?\s?(q|k|v|o|1|2|3|c|p|e|h|d|patch|vocab)\}?(?![\w^])")
