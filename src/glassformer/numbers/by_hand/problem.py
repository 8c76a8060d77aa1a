"""A problem as read from its file: its kind, the given numbers, the options, and the requested results."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer import arguments
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.numbers.by_hand.entries import Entry, read_entry
from glassformer.numbers.by_hand.numbered import bare, gathered
from glassformer.numbers.by_hand.options import read_option
from glassformer.numbers.by_hand.words import COMMON, KEYS, Keys, Kind, key_of, kind_of, squashed, unknown_key
from glassformer.program.formatter import Convention

MOST_KEYS = 300
PARTS = {
    "norm_1": ("gamma", "beta"),
    "norm_2": ("gamma", "beta"),
    "norm": ("gamma", "beta"),
    "ffn": ("W_1", "b_1", "W_2", "b_2", "W_3", "b_3"),
}
TITLES: dict[Kind, str] = {
    "attention": "Attention",
    "encoder_layer": "An encoder layer",
    "softmax": "A distribution",
    "layer_norm": "LayerNorm",
    "rms_norm": "RMSNorm",
    "ffn": "Feed-forward block",
    "activation": "Activation",
    "positions": "Sinusoidal positions",
    "rotary": "Rotary positions",
    "linear": "Linear map",
    "product": "Matrix product",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """Numbers and choices by canonical name (`W_Q`, `scale`), independent of the spelling in the file. Variants by `replace`."""

    kind: Kind
    title: str
    source: str = "problem"
    convention: Convention = "rows"
    entries: Mapping[str, Entry] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    ask: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        return name in self.entries

    def option(self, name: str, default: Any = None) -> Any:
        return self.options.get(name, default)

    @property
    def left(self) -> bool:
        """Whether matrices are to the left of vectors, `W x`, rather than to the right, `x W`."""
        return bool(self.option("apply", "W x" if self.convention == "columns" else "x W") == "W x")

    def replace(self, **fields: Any) -> Problem:
        return dataclasses.replace(self, **fields)

    def choosing(self, **options: Any) -> Problem:
        """The same problem with different choices: `problem.choosing(variance="unbiased")`."""
        return self.replace(options={**self.options, **options})


def load_problem(path: str | Path) -> Problem:
    """The problem in a TOML or JSON file."""
    path = arguments.path("path", path)
    return parse_problem(read_document(path), path.name)


def parse_problem(document: Mapping[str, Any], source: str = "problem") -> Problem:
    """Read the problem in a parsed file; its claims (`claims`) are checked elsewhere."""
    arguments.require(Mapping, document, "a problem is a mapping, as in {'Q': [[1, 0]], 'K': [[1, 0]], 'V': [[2]]}")
    with errors_naming(source):
        return _parse({key: value for key, value in document.items() if key != "claims"}, source)


@contextmanager
def errors_naming(source: str) -> Iterator[None]:
    """Add the name of the file to errors raised inside."""
    try:
        yield
    except GlassformerError as error:
        text = str(error)
        raise GlassformerError(text if text.startswith(f"{source}: ") else f"{source}: {text}") from None


def _parse(document: Mapping[str, Any], source: str) -> Problem:
    if not document:
        raise GlassformerError("the problem is empty: give numbers, such as 'softmax = [1, 2, 3]', or Q, K and V.")
    if len(document) > MOST_KEYS:
        raise GlassformerError(f"the problem has {len(document):,} keys: at most {MOST_KEYS} are read.")
    kind, spelling = _kind(document)
    keys = COMMON | KEYS[kind]
    raw = _by_name(gathered(document, kind), kind, keys)
    entries: dict[str, Entry] = {}
    options: dict[str, Any] = {}
    for name, value in raw.items():
        _take(name, value, keys, entries, options)
    _defaults(kind, spelling, entries, options)
    return Problem(
        kind=kind,
        title=shown(str(raw.get("title", TITLES[kind])), limit=200),
        source=source,
        convention="rows"
        if kind == "product"
        else options.pop("convention", "rows"),  # products keep the order in which they are written
        entries=entries,
        options=options,
        ask=_asked(raw.get("ask", [])),
    )


def _kind(document: Mapping[str, Any]) -> tuple[Kind, str]:
    """The kind that is named, or that the keys show."""
    for key, value in document.items():
        if value is not None and key_of(str(key), {"kind": COMMON["kind"]}):
            return kind_of(value, field=str(key))
    plain = {bare(str(key)): value for key, value in document.items()}
    numbers = {key for key, value in plain.items() if isinstance(value, list | Mapping)}
    for word in ("softmax", "maskedsoftmax", "sparsemax", "sigmoid", "hardmax", "layernorm", "rmsnorm", "rope"):
        if word in plain and not set(plain) & {"q", "k", "wq", "wk", "x"}:
            return kind_of(word)
    for word in ("relu", "gelu", "gelutanh", "silu", "swish", "tanh"):
        if word in numbers:
            return kind_of(word)
    shapes: list[tuple[set[str], Kind]] = [
        ({"wq", "ffn"}, "encoder_layer"),
        ({"wq", "w1"}, "encoder_layer"),
        ({"x", "w1"}, "ffn"),
        ({"a", "b"}, "product"),
        ({"x", "w"}, "linear"),
        ({"x", "gamma"}, "layer_norm"),
        ({"x", "eps"}, "layer_norm"),
        ({"x", "variance"}, "layer_norm"),
    ]
    found = next((kind for wanted, kind in shapes if wanted <= set(plain)), None)
    if found is None and set(plain) & {"positions", "position", "pos", "entries"} and not set(plain) & {"wq", "q", "k"}:
        found = "positions"
    if found is None and any(key_of(key, KEYS["attention"]) in ATTENDS or key[:1] in "qk" for key in plain):
        found = "attention"
    if found is None:
        raise GlassformerError(f"kind is missing: give one of {', '.join(KEYS)}.")
    return found, found


ATTENDS = {"masked", "Q", "K", "V", "W_Q", "W_K", "W_V", "heads", "memory", "scores", "dot", "weights", "alignment"}


def _by_name(document: Mapping[str, Any], kind: Kind, keys: Keys) -> dict[str, Any]:
    found: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for word, value in document.items():
        name = word if word in keys else key_of(word, keys)
        if name == "scores" and isinstance(value, bool) and "scale" in keys:  # `scaled = false`
            name = "scale"
        if name is None:
            raise unknown_key(word, kind, keys)
        if name in found:
            raise GlassformerError(f"'{shown(spelled[name])}' and '{shown(word)}' both give {name}: write one of them.")
        found[name], spelled[name] = value, word
    return found


def _take(name: str, value: Any, keys: Keys, entries: dict[str, Entry], options: dict[str, Any]) -> None:
    """Store one key among the numbers or among the options."""
    role = keys[name][0]
    if name in ("kind", "title", "ask", "note"):
        return
    if name in PARTS and role == "choice" and isinstance(value, Mapping):
        _take_part(name, value, keys, entries, options)
    elif name in PARTS and name != "norm":
        raise GlassformerError(
            f"{name} = {shown(value)} is not allowed: expected a table, [{name}] with {', '.join(PARTS[name])}."
        )
    elif name in ("mask", "padding") and (isinstance(value, str) or (isinstance(value, Mapping) and len(value) == 1)):
        _take_mask(name, value, entries, options)
    elif name == "positions" and isinstance(value, str):
        if squashed(value) not in ("sinusoidal", "sinusoid", "sin", "none"):
            raise GlassformerError(f"positions '{shown(value)}' is not known: sinusoidal, none, or a list of positions.")
        options["positions"] = "none" if squashed(value) == "none" else "sinusoidal"
    elif role == "choice":
        options[name] = read_option(name, value)
    else:
        entries[name] = read_entry(name, value, mask=role == "mask")


def _take_part(part: str, table: Mapping[str, Any], keys: Keys, entries: dict[str, Entry], options: dict[str, Any]) -> None:
    """Read a table `[ffn]` or `[norm_1]`: its matrices become `ffn.W_1`, its options apply to the whole problem."""
    allowed: Keys = {key: keys[key] for key in (*PARTS[part], "activation", "eps", "variance", "eps_place") if key in keys}
    for word, value in table.items():
        name = key_of(word, allowed)
        if name is None:
            raise GlassformerError(f"[{part}] has no '{shown(word)}': it takes {', '.join(allowed)}.")
        if name in PARTS[part]:
            entries[f"{part}.{name}"] = read_entry(f"{part}.{name}", value)
        else:
            options[name] = read_option(name, value)
    if part.startswith("norm"):
        options.setdefault("norm", "post")


def _take_mask(name: str, value: Any, entries: dict[str, Entry], options: dict[str, Any]) -> None:
    if isinstance(value, str):
        plain = squashed(value)
        if plain not in ("causal", "lookahead", "lookaheadmask", "autoregressive", "none", "no"):
            raise GlassformerError(f"{name} '{shown(value)}' is not known: causal, none, or numbers (1 = attend, 0 = hidden).")
        options["causal"] = plain not in ("none", "no")
        return
    ((word, numbers),) = value.items()
    way = {"attend": "attend", "keep": "attend", "add": "add", "additive": "add", "hide": "hide", "hidden": "hide"}.get(
        squashed(word)
    )
    if way is None:
        entries[name] = read_entry(name, value, mask=True)
        return
    entries[name] = read_entry(name, numbers, mask=True)
    options[f"{name}_means"] = way


def _defaults(kind: Kind, spelling: str, entries: Mapping[str, Entry], options: dict[str, Any]) -> None:
    """Return the options that a kind implies: `sparsemax` is a distribution, `gelu` an activation, a layer has norms."""
    if kind == "softmax" and spelling in ("sparsemax", "sigmoid", "hardmax"):
        options.setdefault("distribution", spelling)
    if kind == "activation" and spelling != "activation":
        options.setdefault("activation", read_option("activation", spelling))
    hides = re.search("(?<!un)masked|causal", spelling) is not None  # "multi-head masked attention", but not "unmasked attention"
    if kind == "attention" and hides and not {"mask", "masked", "padding"} & set(entries):
        options.setdefault("causal", True)
    if kind == "encoder_layer":
        options.setdefault("residual", True)
        options.setdefault("norm", "post")


def _asked(value: Any) -> tuple[str, ...]:
    several = [word.strip() for word in value.split(",")] if isinstance(value, str) else value
    if not isinstance(several, list) or not all(isinstance(word, str) for word in several):
        raise GlassformerError(f'ask = {shown(value)}: expected a list of names, as in ["weights", "output"].')
    return tuple(word for word in several if word)
