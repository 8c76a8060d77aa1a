"""The questions and claims of the corpus: what was asked of which spec, and the expression, value or verdict that is due."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.answers.quantities import ask
from glassformer.answers.quantities.answer import plain_value
from glassformer.configs.reading import Request, request_from_words

FILE = Path(__file__).parent / "answers" / "corpus.jsonl"
HELD_OUT = "held out"


@dataclass(frozen=True)
class Row:
    """One line of the file."""

    words: str  # the question or the claim
    spec: tuple[str, ...]
    source: str
    kind: str = "refused"
    expression: str | None = None
    relation: str | None = None
    value: Any = None
    verdict: str = ""
    refused: bool = False
    codes: tuple[tuple[str, ...], ...] = field(default=())

    @property
    def asked(self) -> Request | None:
        return request_from_words(self.spec) if self.spec else None


def _row(line: str) -> Row:
    document = json.loads(line)
    known = {name: document[name] for name in Row.__dataclass_fields__ if document.get(name) is not None}
    known |= {"spec": tuple(document["spec"]), "codes": tuple(map(tuple, document.get("codes", ())))}
    return Row(words=document.get("ask", document.get("check")), **known)


def rows(kind: str) -> list[Row]:
    """All questions (`ask`) or all claims (`check`)."""
    return [_row(line) for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith(f'{{"{kind}":')]


def value_of(expression: Any, asked: Request | None) -> Any:
    return plain_value(ask(expression, asked).value)


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same: numbers to nine digits, shapes and lists item by item."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)
