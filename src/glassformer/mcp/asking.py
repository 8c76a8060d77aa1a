"""Expressions and relations: one or several in a call, for one model or for a list of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from glassformer.mcp.folders import Folders
from glassformer.mcp.results import Document, fitted
from glassformer.mcp.specs import Model, model, model_name, models
from glassformer.spec import GlassformerError

LINES = 16  # of a derivation
LONG = ("rows", "total", "left_out", "spec")


def answers(folders: Folders, expression: str | list[str], spec: str) -> Document:
    """The answer, the answers in order, or a table with a row for each size."""
    from glassformer import api

    def one(text: str, of: Model | None) -> Document:
        require_readable_models(folders, text)
        found = api.ask(text, of.name, as_class=of.as_class, **of.fields) if of is not None else api.ask(text)
        return found.to_dict()

    chosen: Sequence[tuple[dict[str, str], Model | None]] = models(folders, spec) if spec.strip() else [({}, None)]
    texts = [expression] if isinstance(expression, str) else expression
    if len(chosen) > 1:
        return table(texts, [(sizes, [one(text, of) for text in texts]) for sizes, of in chosen])
    if isinstance(expression, str):
        return fitted(one(expression, chosen[0][1]), rows=LINES, way_out=": the tools 'count', 'shapes' and 'cost' list more")
    return each(expression, "answers", lambda text: fitted(brief(one(text, chosen[0][1])), rows=LINES))


def verdicts(folders: Folders, relation: str | list[str], spec: str, claim: str) -> Document:
    """The verdict on a relation or on a claim, or the verdicts in order."""
    from glassformer import api

    if claim and not isinstance(relation, str):
        raise GlassformerError("'claim' belongs to one expression: write each of several relations whole, as in 'params = 110M'.")
    of = model(folders, spec) if spec.strip() else None

    def one(text: str) -> Document:
        require_readable_models(folders, text)
        said = claim or None
        found = (
            api.check(text, of.name, claim=said, as_class=of.as_class, **of.fields)
            if of is not None
            else api.check(text, claim=said)
        )
        return fitted(found.to_dict())

    return each(relation, "verdicts", one)


def each(texts: str | list[str], name: str, one: Callable[[str], Document]) -> Document:
    """One document for one text; for several a list, in which a refusal takes the place of what it refuses."""
    if isinstance(texts, str):
        return one(texts)
    found: list[Document] = []
    for text in texts:
        try:
            found.append(one(text))
        except GlassformerError as error:
            found.append({"expression": text, "error": str(error)})
    if all("error" in document for document in found):
        raise GlassformerError(" | ".join(f"{document['expression']}: {document['error']}" for document in found))
    return {name: found}


def brief(answer: Document) -> Document:
    """One answer of several: its value and conventions, and not the derivation."""
    return {key: value for key, value in answer.items() if key not in LONG or (key == "rows" and "value" not in answer)}


def table(texts: list[str], rows: list[tuple[dict[str, str], list[Document]]]) -> Document:
    """Values by size: each row has the sizes and the value of each expression."""
    first = rows[0][1]
    return {
        "expressions": [{key: answer.get(key, "") for key in ("expression", "unit", "convention")} for answer in first],
        "rows": [
            {name: int(size) if size.isdecimal() else float(size) for name, size in sizes.items()}
            | {text: answer.get("value") for text, answer in zip(texts, found, strict=True)}
            for sizes, found in rows
        ],
    }


def require_readable_models(folders: Folders, text: str) -> None:
    """Refuse `params @ ../elsewhere`: behind '@' stands a preset, or a file of the readable folders."""
    from glassformer.answers.expressions.language import read
    from glassformer.answers.expressions.tree import Quantity

    try:
        tree = read(text)
    except GlassformerError:
        return  # whoever answers says it better
    for node in _nodes(tree):
        if isinstance(node, Quantity) and node.model:
            model_name(folders, node.model.split()[0])


def _nodes(node: Any) -> Iterator[Any]:
    """A tree's nodes, whatever fields they are in."""
    yield node
    for inner in node if isinstance(node, tuple) else vars(node).values() if hasattr(node, "__dataclass_fields__") else ():
        yield from _nodes(inner)
