"""The turns of phrase of a question, as patterns over small letters: what kind of quantity, of how much, in which unit."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["params", "share", "shape", "elements", "flops", "macs", "bytes", "tokens", "patches", "width", "scale"]
Precision = Literal["float64", "float32", "bfloat16", "float16", "int8", "int4"]


def _any(words: str) -> str:
    """One of the phrases that commas part."""
    return "(?:" + "|".join(" ".join(word.split()) for word in words.split(",")) + ")"


# The words of each kind, in the order in which they are looked for: `memory of the parameters` asks for bytes.
KINDS: dict[Kind, str] = {
    "share": r"(?:percentage|percent|share|fraction|proportion)"
    r"(?: (?:of )?(?:(?:the|all|total|model'?s?) )*(?:params?|parameters|weights))?",
    "bytes": r"(?:memory|storage|disk|vram|ram|gpu memory)(?: (?:footprint|consumption|requirements?|usage|use|cost|size|space))?"
    r"|bytes|footprint|(?:model|file|checkpoint) size",
    "macs": r"macs?|multiply[- ]adds?|multiply[- ]accumulates?(?: operations)?|(?:scalar )?multiplications",
    "flops": r"flops?|floating[- ]point operations|(?:compute|computational) cost|compute|cost",
    "shape": r"shapes?|sizes?|dimensions?|dimensionality|dims?",
    "elements": r"elements|entries|numbers|scalars|cells",
    "params": r"(?:params?|parameters?)(?: counts?)?|weights count",
    "scale": r"scal(?:e|ing) factor|scal(?:e|ing)",
    "patches": r"patches",
    "tokens": r"tokens|sequence length",
}
OF_PARTS = ("params", "share", "flops", "macs", "bytes")
# Kinds that are one number for the whole encoder, and what may be said besides.
OF_THE_WHOLE: dict[Kind, tuple[str, ...]] = {
    "scale": ("", "attention", "score", "attention score", "dot product", "self attention", "softmax", "model"),
    "patches": ("", "image", "model", "input", "input image", "one image"),
    "tokens": ("", "enter encoder", "sequence", "model", "input", "image", "input sequence", "encoder"),
}
CELLS = ("score", "attention score", "attention weight", "attention coefficient", "attention probability", "dot product")
KEPT = r"\b(?:kv|key[- ]value) cache\b|\boptimi[sz]er states?\b"  # kept in memory: asks for bytes by itself

ASKING = (
    r"^(?:please )?(?:what(?:'s| is| are| will be| would be)?|how (?:many|much|large|big) ?(?:is|are)?|"
    + _any("which, calculate, compute, find, determine, derive, give, state, estimate, count, report, write down")
    + r")\b"
)
NUMBER = (
    r"\b(?:(?:the )?(?:total |overall |exact |approximate )*(?:number|count|amount) of|"
    + _any("how many, total, overall, in total, altogether")
    + r")\b"
)
# Words that change nothing.
EMPTY = (
    r"\b"
    + _any(
        """are there, is there, there are, are needed, is needed, are required, is required, needed, required, do we
        need, trainable, learnable, learned, learnt, must be learned, are used, used, are stored, stored, to store,
        storing, to hold, forward pass, one forward pass, a forward pass, inference, only, alone, through, are
        computed, is computed, computed, computing, to compute, calculating, including (?:all )?bias(?:es| terms)?,
        (?:for|of|in|across|over) all (?:the )?(?:attention )?heads"""
    )
    + r"\b"
)
SMALL = _any("of, in, for, the, a, an, is, are, does, do, have, has, at, with, on, by, to, from, there, it, and, inside, within")
SMALLER = _any("its, all, as, using, when, if")
HAVE = r"\b(?:does|do|will|would) (.+?) " + _any("have, has, need, needs, contain, use, require, take, occupy, hold, add") + r"\b"

LAYER = (
    r"\b(?:(?:in|of|for|per|from|inside|within|by) )?(?:just |only )?"
    r"(?:one|a|an|each|every|single|a single|each single|the first|the)? ?"
    r"(?:transformer |bert |vit )?(?:encoder )?(?:layer|block)\b(?!['’ -]?norm)(?! normali)"
)
LAYER_WORDS = r"\b(?:one|a|an|each|every|single|per|encoder|transformer|the)\b"
ALL_LAYERS = (
    r"\b(?:(?:in|of|for|across|over|from|with) )?(?:(?:all|the|all of the)(?: the)? (\d+ )?|(\d+ ))"
    r"(?:encoder |transformer )?(?:layers|blocks)\b"
)
HEAD = (
    r"\b(?:in|of|for|from|per|by) (?:just |only )?(?:one|each|every|single|a single|an individual) "
    r"(?:attention |self-attention )?head\b(?! output)"
    r"|\bper[- ](?:attention )?head\b|\bone head'?s\b|\bof an? (?:attention )?head$|\bof an attention head\b"
    r"|\b(?:one|a single|each) attention head\b"
)
TOKEN = r"\b(?:per|for (?:one|each|a|a single|every)) (?:token|position|word)\b"
MODEL = (
    r"(?<![\w-])((?:distil|modern|ro|xlm-ro|al|cam\w+)?bert\w*|electra|mpnet|minilm|t5|bart|vit|deit|dinov2|xlm-r)"
    r"((?:[- /]"
    + _any(
        r"""tiny, mini, small, medium, base, large, xlarge, xxlarge, huge, big, uncased, cased, chinese, multilingual, v\d, l?\d+,
        [btslh]/?\d*"""
    )
    + r")*)(?![\w-])"
)
WITHOUT = (
    r"\b"
    + _any(
        r"""without, excluding, excl\.?, ignoring, not counting, not including, except(?: for)?, omitting, leaving out,
        disregarding, with no, no"""
    )
    + r" ((?:"
    + _any(
        """the, any, all, and, or, bias(?:es)?, terms?, vectors?, embeddings?, norms?, layer ?norms?, layer, normali[sz]ations?,
        pooler, head, classifier, output projections?, output, w_o, positions?, positional, segments?, token, tables?, params?,
        parameters"""
    )
    + r"\b[, &]*)+)"
)
TRAINING = (
    r"\b(?:(?:for|during|in|of|to|when) )?(?:(?:one|a|the|full) )?(?:training|train|forward and backward|backward and forward)"
    r"(?: (?:step|pass|passes|iteration|state|memory))?(?: (?:with|using|under) adamw?)?\b"
    r"|\b(?:with|using|under) adamw?(?: optimi[sz]er)?\b"
)
PRECISIONS: dict[Precision, str] = {
    "float64": r"fp64|float64|double precision|64[- ]bit(?: floats?)?",
    "float32": r"fp32|float32|single precision|full precision|32[- ]bit(?: floats?)?|float",
    "bfloat16": r"bf16|bfloat16",
    "float16": r"fp16|float16|half precision|16[- ]bit(?: floats?)?|half",
    "int8": r"int8|8[- ]bit(?: integers?)?",
    "int4": r"int4|4[- ]bit(?: integers?)?",
}
BYTE_UNITS = ("mb", "mib", "gb", "gib", "kb", "kib", "tb", "tib", "mega", "giga", "kilo")
FLOP_UNITS = ("gflop", "tflop", "mflop", "gmac")
SHARE_UNITS = ("percent", "%")
COUNT_UNITS = ("million", "billion", "thousand")
UNIT = (
    r"(?:\bin |^\| )("
    + _any(
        """mb, mib, gb, gib, kb, kib, tb, tib, megabytes, gigabytes, kilobytes, millions?, billions?, thousands, gflops?, tflops?,
        mflops?, gmacs?, percent, %"""
    )
    + r")(?!\w)"
)
SYMBOL = re.compile(r"(?<![\w^])([wb])[_^]?\{?\s?(q|k|v|o|1|2|3|c|p|e|h|d|patch|vocab)\}?(?![\w^])")
