"""One way to ask for any quantity: `params`, `shape of weights`, `params of W_O in one layer`, `flops`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from glassformer.algebra.parts import ALIASES, PARTS
from glassformer.spec import GlassformerError, nearest, shown

Kind = Literal["params", "shape", "elements", "flops", "macs", "bytes", "tokens", "patches", "width"]

KINDS: dict[str, Kind] = {
    "params": "params",
    "parameters": "params",
    "parameter": "params",
    "weights count": "params",
    "shape": "shape",
    "size": "shape",
    "dimensions": "shape",
    "dimension": "shape",
    "elements": "elements",
    "entries": "elements",
    "numbers": "elements",
    "flops": "flops",
    "macs": "macs",
    "multiply-adds": "macs",
    "bytes": "bytes",
    "memory": "bytes",
    "tokens": "tokens",
    "patches": "patches",
    "sequence length": "tokens",
    "d_k": "width",
    "d_v": "width",
    "head width": "width",
    "head size": "width",
}

# What people call the tensors of a layer -> the last words of their name in the program.
TENSORS = {
    "x": "x",
    "input": "x",
    "inputs": "x",
    "q": "attention.q",
    "query": "attention.q",
    "queries": "attention.q",
    "k": "attention.k",
    "key": "attention.k",
    "keys": "attention.k",
    "v": "attention.v",
    "value": "attention.v",
    "values": "attention.v",
    "scores": "attention.scores",
    "attention scores": "attention.scores",
    "score matrix": "attention.scores",
    "weights": "attention.weights",
    "attention weights": "attention.weights",
    "attention matrix": "attention.weights",
    "attention map": "attention.weights",
    "head output": "attention.mix",
    "head outputs": "attention.mix",
    "output of a head": "attention.mix",
    "attention head output": "attention.mix",
    "mix": "attention.mix",
    "attention output": "attention.out",
    "attention out": "attention.out",
    "ffn hidden": "ffn.hidden",
    "hidden layer": "ffn.hidden",
    "ffn output": "ffn.out",
    "output": "out",
    "layer output": "out",
    "encoder output": "out",
    "logits": "logits",
    "pooled": "pooler.out",
}


@dataclass(frozen=True)
class Question:
    """What is asked: a kind of quantity, of which part or tensor, for one layer or head alone, and how it was written."""

    kind: Kind
    target: str | None
    one_layer: bool
    one_head: bool
    text: str


def parse_question(text: str) -> Question:
    """Read a question; the words `of`, `in one layer`, `per head` and their kin are understood in any order."""
    words = " ".join(text.strip().split())
    if not words or len(words) > 200:
        raise GlassformerError(
            "what is asked? Write params, 'shape of weights', 'params of W_O in one layer', 'elements of head output' or flops."
        )
    low = re.sub(r"^(?:the|number of|how many|what is the|total)\s+", "", words.lower().rstrip("?"))
    low = re.sub(r"^(?:the|number of|total)\s+", "", low)
    one_layer, low = _taken(low, r"\b(?:in|of|for|per) (?:one|a|each|single|a single)? ?(?:encoder )?layer\b")
    head_words = r"\b(?:in|of|for|per) (?:one|each|single|a single) head\b|\bper head\b|\bone head'?s\b|\bof a head$"
    one_head, low = _taken(low, head_words)
    kind_word, _, target = low.partition(" of ")
    kind_word, target = kind_word.strip(), target.strip()
    if kind_word not in KINDS:
        known = sorted(KINDS)
        raise GlassformerError(
            f"'{shown(text)}' asks for nothing that is known.{nearest(kind_word, known)} Ask for {', '.join(known[:8])}, …"
        )
    kind = KINDS[kind_word]
    if kind == "width":
        target = "d_v" if kind_word == "d_v" else "d_k"
    if target.startswith(("the ", "all ")):
        target = target[4:]
    if target in ("head output", "output of a head", "attention head output"):
        one_head = True
    return Question(kind, _target(kind, target, words) if target else None, one_layer, one_head, words)


def _taken(text: str, pattern: str) -> tuple[bool, str]:
    """Whether the pattern is there, and the text without it."""
    left = re.sub(pattern, "", text).strip()
    return left != text, " ".join(left.split())


def _target(kind: Kind, target: str, original: str) -> str:
    """The part or tensor asked for, in the spelling the rooms below use (symbols keep their capitals)."""
    spelled = re.search(re.escape(target), original, flags=re.I)
    exact = spelled[0] if spelled else target
    if kind in ("params", "flops", "macs", "bytes"):
        if re.fullmatch(r"[WbE]_?\w+", exact):
            return _symbol(exact)
        return ALIASES.get(target, target if target in PARTS else exact)
    if target in TENSORS:
        return TENSORS[target]
    return _symbol(exact) if re.fullmatch(r"[WbE]_?\w{1,12}", exact) else exact


def _symbol(text: str) -> str:
    """`W_q`, `Wq` and `WQ` are all `W_Q`; `W1` is `W_1`."""
    matched = re.fullmatch(r"([WbE])_?([A-Za-z0-9]+)", text)
    if matched is None:
        return text
    tail = matched[2]
    return f"{matched[1]}_{tail.upper() if len(tail) == 1 else tail}"
