"""One way to ask for any quantity: `params`, `shape of weights`, `params of W_O in one layer`, `flops`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from glassformer.algebra.parts import ALIASES, PARTS
from glassformer.answers import phrases
from glassformer.answers.phrases import Kind, Precision
from glassformer.answers.wording import (
    PART_NAMES,
    PRODUCT_NAMES,
    SETTINGS,
    STORES,
    TENSOR_NAMES,
    known_names,
    looked_up,
    plain,
)
from glassformer.spec import GlassformerError, nearest, shown

MOST_CHARACTERS = 200
EDGES = " ,.:;()"
EXAMPLES = (
    "params, 'shape of weights', 'params of W_O in one layer', 'elements of head output', 'flops of ffn' or 'memory in fp16'"
)


@dataclass(frozen=True)
class Question:
    """What is asked: a kind of quantity, of which part or tensor, for one layer or head alone, and how it was written."""

    kind: Kind
    target: str | None
    one_layer: bool
    one_head: bool
    text: str
    without: tuple[str, ...] = ()
    every_layer: bool = False
    per_token: bool = False
    training: bool = False
    precision: Precision | None = None
    unit: str = ""  # that a bare number is meant in: MB, million, %
    layers: int | None = None  # that the question itself says there are
    model: str = ""  # that the question itself names


class _Words:
    """The words of a question that are not yet understood."""

    def __init__(self, text: str) -> None:
        self.rest = text

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first match, taken out; what stood on its two sides stays apart."""
        found = re.search(pattern, self.rest)
        if found:
            self.rest = " ".join(f"{self.rest[: found.start()]} | {self.rest[found.end() :]}".split())
        return found

    def left(self) -> str:
        """What is left, without the small words around it."""
        small = f"(?:{phrases.SMALL}|{phrases.SMALLER})"
        edges = rf"^(?:{small}\b[ ,:]*)+|(?:[ ,:]*\b{small})+$"
        parts = [re.sub(edges, "", part.strip(EDGES)).strip(EDGES) for part in self.rest.split("|")]
        return " ".join(part for part in parts if part)


def parse_question(text: str) -> Question:
    """Read a question; the words `of`, `in one layer`, `per head` and their kin are understood in any order."""
    asked = " ".join(text.strip().split())
    if not asked or len(asked) > MOST_CHARACTERS:
        raise GlassformerError(f"what is asked? Write {EXAMPLES}.")
    words = _Words(_plainly(asked))
    counted = bool(re.search(phrases.NUMBER, words.rest))
    model = words.take(phrases.MODEL)
    for pattern in (phrases.ASKING, phrases.NUMBER, phrases.NUMBER, phrases.EMPTY, phrases.EMPTY, phrases.EMPTY):
        words.take(pattern)
    if have := words.take(phrases.HAVE):
        words.rest += f" | of {have[1]}"
    setting = SETTINGS.get(plain(re.sub(r"\b(?:each|every|one|single)\b", "", words.left())))
    found = _width(setting, asked) if setting is not None else _scoped(words, asked, counted=counted)
    return replace(found, model="".join(re.findall(r"[a-z0-9]", model[0]))) if model else found


def _width(setting: str, asked: str) -> Question:
    return Question("width", setting, one_layer=False, one_head=False, text=asked)


def _plainly(text: str) -> str:
    """In small letters, without LaTeX's signs; symbols as `W_Q`, `q k v` as `qkv`."""
    low = re.sub(r"\\(?:text|mathrm|mathbf|operatorname)\b|[$`\"“”?!]", "", text.lower().replace("’", "'"))
    low = re.sub(r"\\top\b|ᵀ|\^\{?t\}?(?!\w)|\.t\b|\btransposed?\b", "^t", low.replace("\\", ""))
    low = re.sub(r"\bw_?\{?_?\{?i\}?\^\{?([qkv])\}?(?!\w)", r"w_\1 of each head", low)
    low = re.sub(r"\bq\s*[·*@ ]?\s*k\s?\^t", "qk^t", low)
    low = re.sub(r"\bnon-embedding (params|parameters|weights)", r"\1 without embeddings", low)
    for one, two, three in (("q", "k", "v"), ("query", "key", "value"), ("queries", "keys", "values")):
        low = re.sub(rf"\b{one}\s*[,/]?\s*{two}\s*(?:,|/|and|&|, and)?\s*{three}\b(?!\s*(?:,|and|\+|&)\s*w)", "qkv", low)
    low = re.sub(r"\((without|excluding|no|ignoring)([^)]*)\)", r" \1\2", low)
    return phrases.SYMBOL.sub(lambda found: f"{found[1]}_{found[2]}", low)


def _scoped(words: _Words, asked: str, *, counted: bool) -> Question:
    """The scope of a question first (layer, head, token, what is left out), then its kind and its target."""
    left_out = words.take(phrases.WITHOUT)
    precision = _precision(words)
    unit = words.take(phrases.UNIT)
    layers = words.take(phrases.ALL_LAYERS)
    one_head = bool(words.take(phrases.HEAD))
    one_layer = _one_layer(words)
    kind, word = _kind(words, counted=counted, unit=unit[1] if unit else "")
    if kind is None:
        near = nearest(words.left(), [*_KIND_WORDS, *known_names()])
        raise GlassformerError(f"'{shown(asked)}' is not understood.{near} Ask for {EXAMPLES}.")
    costs = kind in ("flops", "macs")
    per_token = costs and bool(words.take(phrases.TOKEN))
    training = (costs or kind == "bytes") and bool(words.take(phrases.TRAINING))
    left = words.left()
    if kind == "shape" and word.startswith("size") and (unit or looked_up(left, STORES) == "model"):
        kind = "bytes"
    if kind == "shape" and not left and one_head:
        return _width("d_k", asked)
    if kind in phrases.OF_THE_WHOLE and (one_head or one_layer or plain(left) not in phrases.OF_THE_WHOLE[kind]):
        raise GlassformerError(f"'{shown(asked)}' is not understood: {word} of what? Ask for {EXAMPLES}.")
    target = _target(kind, left, asked) if left else "layers" if layers and kind in phrases.OF_PARTS else None
    if one_head and target in ("out", "attention.out"):  # `the output of each head`
        target = "attention.mix"
    found = Question(
        kind,
        target,
        one_layer or (target or "").startswith("layers.0."),
        one_head or (target == "attention.mix" and "head" in plain(left)),
        asked,
        without=_left_out(left_out[1]) if left_out else (),
        every_layer=bool(layers),
        per_token=per_token,
        training=training,
        precision=precision,
        unit=unit[1] if unit else "",
        layers=int(layers[1] or layers[2]) if layers and (layers[1] or layers[2]) else None,
    )
    _check_fits(found, left_out[0].strip() if left_out else "")
    return found


def _check_fits(question: Question, left_out: str) -> None:
    """A precision, a unit or something left out that the kind of quantity does not have."""
    kind = question.kind
    units = {"bytes": phrases.BYTE_UNITS, "flops": phrases.FLOP_UNITS, "macs": phrases.FLOP_UNITS, "share": phrases.SHARE_UNITS}
    known = (*units.get(kind, ()), *phrases.COUNT_UNITS)
    extra = {
        question.precision or "": kind != "bytes",
        question.unit: not question.unit.startswith(known),
        left_out: kind not in ("params", "share", "bytes"),
    }
    odd = [word for word, wrong in extra.items() if word and wrong]
    if odd:
        raise GlassformerError(f"'{shown(question.text)}' is not understood: '{odd[0]}' does not go with {kind}.")


def _precision(words: _Words) -> Precision | None:
    for name, said in phrases.PRECISIONS.items():
        if words.take(rf"\b(?:(?:in|at|with|using|as) )?(?:{said})\b"):
            return name
    return None


def _one_layer(words: _Words) -> bool:
    """`in one layer`, `per layer`, `of the encoder layer`; the embedding layer is another thing."""
    for found in re.finditer(phrases.LAYER, words.rest):
        if re.search(phrases.LAYER_WORDS, found[0]):
            words.rest = f"{words.rest[: found.start()]} | {words.rest[found.end() :]}"
            return True
    return False


def _kind(words: _Words, *, counted: bool, unit: str) -> tuple[Kind | None, str]:
    """Which quantity, and by which word; a number of things that are a tensor's cells asks for its elements."""
    if re.search(phrases.KEPT, words.rest) and not re.search(r"flop|shape|element", words.rest):
        words.take(rf"\b(?:{phrases.KINDS['bytes']}|sizes?)\b")
        return "bytes", "memory"
    for kind, pattern in phrases.KINDS.items():
        if found := words.take(rf"(?<![\w^-])(?:{pattern})(?![\w^])"):
            return kind, found[0]
    if unit.startswith(phrases.BYTE_UNITS):
        return "bytes", unit
    if counted and plain(words.left()) in phrases.CELLS:
        return "elements", ""
    if found := words.take(r"\bweights\b"):
        return "params", found[0]
    return None, ""


def _left_out(text: str) -> tuple[str, ...]:
    found = []
    for word in re.split(r",|&|\band\b|\bor\b", text):
        name = re.sub(r"\b(?:the|any|all)\b", "", word).strip()
        if name:
            part = "output" if name == "w_o" else looked_up(name, PART_NAMES) or ALIASES.get(name, name)
            found.append(part)
    return tuple(dict.fromkeys(found))


def _target(kind: Kind, left: str, asked: str) -> str | None:
    """The part or tensor asked for, in the spelling the rooms below use (symbols keep their capitals)."""
    name = re.sub(r"^(?:the|all|whole|entire|full)\s+", "", left)
    if looked_up(name, STORES) == "model" and (
        kind in ("flops", "macs", "share") or plain(name) in ("model", "network", "whole model")
    ):
        return None
    bare = re.sub(r"(?: weight)? (?:matrix|matrices|weights)$", "", name)
    if phrases.SYMBOL.fullmatch(bare):
        return _symbol(bare)
    tables = {
        "params": (PART_NAMES,), "share": (PART_NAMES,), "flops": (PRODUCT_NAMES,), "macs": (PRODUCT_NAMES,),
        "bytes": (STORES, TENSOR_NAMES, PART_NAMES),
    }.get(kind, (TENSOR_NAMES,))  # fmt: skip
    for table in tables:
        if (found := looked_up(name, table)) is not None:
            return found
    inner, _, outer = name.partition(" of ")
    if outer and looked_up(outer, PART_NAMES) in (
        "ffn",
        "attention",
        "layers",
        "embeddings",
    ):  # `the first linear layer of the FFN`
        return _target(kind, inner, asked)
    several = [part.strip() for part in re.split(r",|&|\+|\band\b", name) if part.strip()]
    if len(several) > 1 and kind in ("params", "share", "flops", "macs"):
        found_parts = [_target(kind, part, asked) for part in several]
        return ",".join(part for part in found_parts if part)
    if kind in ("params", "share") and (name in PARTS or name in ALIASES):
        return ALIASES.get(name, name)
    spelled = re.search(re.escape(name), asked, flags=re.I)
    return spelled[0] if spelled else name


def _symbol(text: str) -> str:
    """`w_q` is `W_Q`, `b_1` is `b_1`."""
    letter, _, tail = text.partition("_")
    return f"{'W' if letter == 'w' else 'b'}_{tail.upper() if len(tail) == 1 else tail}"


_KIND_WORDS = ("params", "parameters", "shape", "elements", "flops", "macs", "bytes", "memory", "tokens", "patches", "d_k")
