"""Words to one expression of the language, or a refusal that lists expressions which can be run as they stand."""

from __future__ import annotations

from typing import NamedTuple

from glassformer.answers.expressions.tree import Node
from glassformer.spec import GlassformerError, shown

__all__ = ["Read", "read_english"]


class Read(NamedTuple):
    expression: Node
    words: str


def read_english(text: str) -> Read:
    raise GlassformerError(f"'{shown(text)}' is not an expression. Try: glassformer ask 'params(ffn, layer=0)' bert-base")
