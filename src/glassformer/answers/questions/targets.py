"""Which part, tensor or store a question is about, in the spelling that the rooms below use."""

from __future__ import annotations

import re
from difflib import get_close_matches

from glassformer.algebra.parts import ALIASES, PARTS
from glassformer.answers.questions import phrases
from glassformer.answers.questions.glossary import PART_NAMES, PRODUCT_NAMES, STORES, TENSOR_NAMES
from glassformer.answers.questions.name_matching import looked_up, loosely, plain
from glassformer.answers.questions.phrases import Kind
from glassformer.spec import GlassformerError, shown

KIND_WORDS = """params parameters shape elements flops macs bytes memory tokens patches complexity updates dimension share
    ratio""".split()
KNOWN_WORDS = {word for kind in KIND_WORDS for word in (kind, plain(kind))} | {
    word for table in (PART_NAMES, TENSOR_NAMES, PRODUCT_NAMES, STORES) for name in table for word in name.split()
}
SHORTEST, NEAR = 5, 0.75  # letters of a word that may be a slip, and how alike the two must be
WHOLE = ("model", "network", "whole model", "transformer", "transformer model", "transformer network")
OF_ANY_PART = ("weights", "biases", "norms")  # what several parts have: alone, it is that of the whole encoder
TRAINED_STORES = ("model", "gradients", "optimizer")


# `the two weight matrices of the FFN`: how many matrices each part has, where it is said at all.
_MATRICES = re.compile(
    r"(?:all )?(?:(?P<many>both|two|2|three|3|four|4) )?(?:(?:big|large|dense|linear|weight|parameter|projection) )*matrices"
    r" (?:of|in|inside) (?:the |an? |one )?(?P<part>.+)"
)
_SO_MANY = {"ffn": ("both", "two", "2", "three", "3"), "attention": ("four", "4"), "qkv": ("three", "3")}


def among(kind: Kind, left: str) -> tuple[str, str]:
    """`bias ffn`: the biases of the feed-forward block; `two matrices of the ffn`: its weights without them."""
    if kind in ("params", "bytes") and (matrices := _MATRICES.fullmatch(left)):
        part = looked_up(matrices["part"], PART_NAMES) or ""
        if part in _SO_MANY and matrices["many"] in (None, *_SO_MANY[part]):
            return "weights", matrices["part"]
    found = re.match(r"(?:bias(?:es)?)(?: (?:terms?|vectors?))?(?: (?:of|in))? (?:the )?(.+)$", left)
    if kind not in ("params", "bytes") or found is None or looked_up(left, PART_NAMES) is not None:
        return "", left
    return "biases", found[1]


def left_out_parts(text: str) -> tuple[str, ...]:
    """The parts that `without biases and norms` names."""
    found = []
    for word in re.split(r",|&|\band\b|\bor\b", text):
        name = re.sub(r"\b(?:the|any|all)\b", "", word).strip()
        if name:
            part = "output" if name == "w_o" else looked_up(name, PART_NAMES) or ALIASES.get(name, name)
            found.append(part)
    return tuple(dict.fromkeys(found))


# `attention scores in self-attention`: whose they are is said twice.
_OF_ATTENTION = (
    r"^((?:attention |raw |query-key )*(?:scores?|weights|logits|maps?|matrix|matrices|probabilities|dot products))"
    r"(?: (?:of|in))? (?:the )?(?:multi-?head )?(?:self-?)?attention(?: layer| block| mechanism| operation)?$"
)


# What is left out, where it was not understood before: it must not be taken for what is asked for.
_LEFT_OUT = r"\b(?:without|no|not|none|never|except(?:ing)?|excluding|excl|ignoring|omitting|besides|minus|unless|neither|nor)\b"


def target_of(kind: Kind, left: str, asked: str) -> str | None:
    """The part or tensor asked for, in the spelling the rooms below use (symbols keep their capitals)."""
    if no := re.search(_LEFT_OUT, left):
        raise GlassformerError(f"'{shown(asked)}' is not understood: '{no[0]}' what? Say it as 'without biases, norms'.")
    name = re.sub(r"^(?:the|all|whole|entire|full)\s+", "", left)
    name = re.sub(_OF_ATTENTION, r"\1", name) if kind in ("shape", "elements", "bytes") else name
    if plain(name) in WHOLE or (looked_up(name, STORES) == "model" and kind in ("flops", "macs", "share", "complexity", "space")):
        return None
    if (symbol := _symbol_in(name)) is not None:
        return symbol
    if (special := _special(kind, name, asked)) is not None:
        return special
    tables = {
        "params": (PART_NAMES,), "share": (PART_NAMES,), "flops": (PRODUCT_NAMES,), "macs": (PRODUCT_NAMES,),
        "complexity": (PRODUCT_NAMES,), "space": (PRODUCT_NAMES,),
        "bytes": (STORES, TENSOR_NAMES, PART_NAMES),
    }.get(kind, (TENSOR_NAMES,))  # fmt: skip
    if kind in ("params", "share") and re.search(r"\b(?:attention|score) (?:matrix|map)$", plain(name)):
        return name  # computed, not learned: no part
    if found := next(filter(None, (looked_up(name, table) for table in tables)), None):
        return found
    if inner := _inside(name):
        return _held(kind, inner, name, asked)
    several = [part.strip() for part in re.split(r",|&|\+|\band\b", name) if part.strip()]
    if len(several) > 1 and kind in ("params", "share", "flops", "macs"):
        found_parts = [target_of(kind, part, asked) for part in several]
        return ",".join(part for part in found_parts if part)
    if kind in ("params", "share") and (name in PARTS or name in ALIASES):
        return ALIASES.get(name, name)
    return next(filter(None, (loosely(name, table) for table in tables)), None) or _as_spelled(name, asked)


def _held(kind: Kind, inner: str, name: str, asked: str) -> str | None:
    """What is spoken of as inside a part: it must be something that this part has, and no other."""
    found = target_of(kind, inner, asked)
    if found in OF_ANY_PART and kind in phrases.OF_PARTS:
        raise GlassformerError(
            f"'{shown(asked)}' is not understood: which of the {found}? Ask for those of the part, as in 'biases of the FFN'."
        )
    return found if not re.search(r"\bffn|\bmlp|\bfeed", name) or _of_ffn(found) else _as_spelled(name, asked)


def _of_ffn(target: str | None) -> bool:
    """Whether a feed-forward block has it: it has no pooler, and no queries."""
    return re.fullmatch(r"(?:[Wb]_[123],?)+|ffn.*|biases|weights|out|hidden.*|norms|nothing|x", target or "") is not None


def _inside(name: str) -> str:
    """`output of the first linear layer in the FFN`: what is spoken of, without the part that holds it; empty where none does."""
    for place in re.finditer(r" (?:of|in|inside|within) (?:the |an? )?| (?=ffn|mlp|feed)", name):
        holds = ("ffn",) if not place[0].strip() else ("ffn", "attention", "layers", "embeddings")
        if looked_up(name[place.end() :], PART_NAMES) in holds:
            return name[: place.start()]
    return ""


def _as_spelled(name: str, asked: str) -> str:
    """What no table has: a tensor's full name, or something that the rooms below do not know either."""
    if meant := _slip(name):
        raise GlassformerError(f"'{shown(asked)}' is not understood. Did you mean '{meant}'?")
    spelled = re.search(re.escape(name), asked, flags=re.I)
    return spelled[0] if spelled else name


def _slip(name: str) -> str:
    """The word for a kind of quantity that one of these words nearly is: `memry`, `shpae`."""
    words = [word for word in re.findall(r"[a-z]+", name) if len(word) >= SHORTEST and plain(word) not in KNOWN_WORDS]
    near = ((word, get_close_matches(word, KIND_WORDS, n=3, cutoff=NEAR)) for word in words)
    found = (sorted(close, key=lambda kind: sorted(kind) != sorted(word)) for word, close in near)  # first with the same letters
    return next((close[0] for close in found if close), "")


def _symbol_in(name: str) -> str | None:
    """`W_Q`, `the W_Q matrix`, `query matrix W_Q`: the symbol, where all other words only say what it is."""
    bare = re.sub(r"(?: weight)? (?:matrix|matrices|weights)$", "", name)
    if phrases.SYMBOL.fullmatch(bare):
        return _symbol(bare)
    words, _, last = bare.rpartition(" ")
    described = len(words) > 1 and (looked_up(words, PART_NAMES) or looked_up(words, TENSOR_NAMES) or words in ("matrix", "bias"))
    return _symbol(last) if described and phrases.SYMBOL.fullmatch(last) and "," not in words else None


def _special(kind: Kind, name: str, asked: str) -> str | None:
    """Queries, keys and values as tensors; a transpose; several things that training keeps."""
    if kind == "bytes" and name == "qkv" and not re.search(r"weight|matri|projection|param", asked.lower()):
        return "attention.q,attention.k,attention.v"
    if kind in ("shape", "elements") and (turned := re.fullmatch(r"([qkv])(?: matrix)? ?\^t", name)):
        return f"{turned[1]}^t"
    if kind == "shape" and name == "qkv" and not re.search(r"weight|matri|projection|param", asked.lower()):
        return "qkv"
    several = [part.strip() for part in re.split(r",|&|\+|\band\b", name) if part.strip()]
    if len(several) > 1 and kind == "bytes" and all(looked_up(part, STORES) in TRAINED_STORES for part in several):
        return ",".join(str(looked_up(part, STORES)) for part in several)
    return None


def _symbol(text: str) -> str:
    """`w_q` is `W_Q`, `b_1` is `b_1`."""
    letter, _, tail = text.partition("_")
    return f"{'W' if letter == 'w' else 'b'}_{tail.upper() if len(tail) == 1 else tail}"
