"""What an assistant is told about each tool: the texts of descriptions.toml, filled in from the tables of the answers."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

Texts = dict[str, str]
FIRST = ("params", "shape", "elements", "flops", "macs", "bytes")  # what is asked for most
EVERYWHERE = ("layer", "head", "t", "batch")  # options that one line explains for all


@lru_cache(maxsize=1)
def instructions() -> str:
    """What the server says about itself when a client connects."""
    return folded(_document()["instructions"])


@lru_cache(maxsize=16)
def description(tool: str) -> Texts:
    """The texts of one tool: `title`, `about`, and one for each argument."""
    shared = {name: folded(text) for name, text in _document()["texts"].items()}
    shared |= {"quantities": _quantities(), "parts": _parts()}
    shared["language"] = _filled(shared["language"], shared)
    return {name: folded(_filled(text, shared)) for name, text in _document()[tool].items()}


def folded(text: str) -> str:
    """Lines as they are meant: one that starts with blanks continues the line before it."""
    return re.sub(r"\n +", " ", text.strip())


def _filled(text: str, texts: Texts) -> str:
    for name, value in texts.items():
        text = text.replace(f"{{{name}}}", value)
    return text


@lru_cache(maxsize=1)
def _document() -> dict[str, Any]:
    return tomllib.loads(files("glassformer.mcp").joinpath("descriptions.toml").read_text(encoding="utf-8"))


def _quantities() -> str:
    """A line for each name of the language: an example, its meaning and its options."""
    import glassformer.answers.quantities  # noqa: F401  registers them
    from glassformer.answers.quantities.registry import MEANINGS

    lines = []
    for one in sorted(MEANINGS.values(), key=lambda one: FIRST.index(one.name) if one.name in FIRST else len(FIRST)):
        own = ", ".join(f"{option}=" for option in one.options if option not in EVERYWHERE)
        lines.append(f"- {one.example}: {one.doc}" + (f" (options: {own})" if own else ""))
    return "\n".join(lines)


def _parts() -> str:
    from glassformer.algebra.parts import PARTS

    return " ".join(PARTS)
