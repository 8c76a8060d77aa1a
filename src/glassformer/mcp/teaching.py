"""Descriptions of the tools for assistants: the texts of descriptions.toml, with tables of quantities and parts filled in."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

Texts = dict[str, str]
FIRST = ("params", "shape", "elements", "flops", "macs", "bytes")  # the most common quantities
EVERYWHERE = ("layer", "head", "t", "batch")  # options that are explained once for all quantities


@lru_cache(maxsize=1)
def instructions() -> str:
    """Return the instructions that the server sends when a client connects."""
    return folded(_document()["instructions"])


@lru_cache(maxsize=16)
def description(tool: str) -> Texts:
    """Return the texts of one tool: `title`, `about`, and one for each argument."""
    shared = {name: folded(text) for name, text in _document()["texts"].items()}
    shared |= {"quantities": _quantities(), "parts": _parts()}
    shared["language"] = _filled(shared["language"], shared)
    return {name: folded(_filled(text, shared)) for name, text in _document()[tool].items()}


def folded(text: str) -> str:
    """Join continuation lines: a line that starts with spaces continues the previous one."""
    return re.sub(r"\n +", " ", text.strip())


def _filled(text: str, texts: Texts) -> str:
    for name, value in texts.items():
        text = text.replace(f"{{{name}}}", value)
    return text


@lru_cache(maxsize=1)
def _document() -> dict[str, Any]:
    return tomllib.loads(files("glassformer.mcp").joinpath("descriptions.toml").read_text(encoding="utf-8"))


def _quantities() -> str:
    """Return a line for each quantity: an example, its meaning and its options."""
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
