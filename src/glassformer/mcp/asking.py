"""The tools `ask` and `check`: one or several expressions or relations per call, for one model or a list of sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from glassformer.errors import GlassformerError
from glassformer.mcp.folders import Folders
from glassformer.mcp.refusals import reworded
from glassformer.mcp.results import Document, fitted
from glassformer.mcp.specs import model, model_name

LINES = 16  # in a derivation
OTHERS = 6  # conventions in addition to the one used
LONG = ("rows", "total", "left_out", "spec")


def answers(folders: Folders, expression: str | list[str], spec: str) -> Document:
    """Return the answer, or the answers in order; with a list of sizes in the spec, each one is a table.

    Questions in English are not accepted, since an assistant translates them better.
    """
    from glassformer.answers import quantities
    from glassformer.answers.quantities.asking import several

    of = model(folders, spec) if spec.strip() else None
    fields, over = several(of.fields) if of is not None else ({}, {})
    asked = replace(of, fields=fields).request() if of is not None else None

    def one(text: str) -> Document:
        require_readable_models(folders, text)
        found = quantities.ask(text, asked, over=over, files=True).to_dict()  # paths are checked above
        return shortened(found if isinstance(expression, str) else brief(found))

    return each(expression, "answers", one)


def verdicts(folders: Folders, relation: str | list[str], spec: str, claim: str) -> Document:
    """Return the verdict on a relation or on a claim, or the verdicts in order."""
    from glassformer.answers.verdicts import check

    if claim and not isinstance(relation, str):
        raise GlassformerError("'claim' works with one expression only: write several relations in full, as in 'params = 110M'.")
    asked = model(folders, spec).request() if spec.strip() else None

    def one(text: str) -> Document:
        require_readable_models(folders, text, claim)
        found = check(text, asked, claim=claim or None, files=True).to_dict()
        return shortened(found if isinstance(relation, str) else brief(found))

    return each(relation, "verdicts", one)


def each(texts: str | list[str], name: str, one: Callable[[str], Document]) -> Document:
    """Return one document for one text, and a list for several, with errors in place of failed ones."""
    if isinstance(texts, str):
        return one(texts)
    found: list[Document] = []
    for text in texts:
        try:
            found.append(one(text))
        except GlassformerError as error:
            found.append({"expression": text, "error": reworded(str(error))})
    if all("error" in document for document in found):
        raise GlassformerError(" | ".join(dict.fromkeys(document["error"] for document in found)))
    return {name: found}


def shortened(answer: Document) -> Document:
    """Return an answer short enough for a conversation, with only the most common other conventions."""
    if "others" in answer:
        answer = answer | {"others": answer["others"][:OTHERS]}
    return fitted(answer, rows=LINES, way_out=": the tools 'count', 'shapes' and 'cost' list more")


def brief(answer: Document) -> Document:
    """Return one of several answers: its value and conventions, without the derivation."""
    return {
        key: value for key, value in answer.items() if key not in LONG or (key == "rows" and "value" not in answer)
    }  # a table is its rows


def require_readable_models(folders: Folders, *texts: str) -> None:
    """Raise an error for `params @ ../elsewhere`: after '@', only presets and readable files are allowed."""
    from glassformer.expressions.language import read
    from glassformer.expressions.tree import Quantity, walk

    for text in texts:
        try:
            tree = read(text)
        except GlassformerError:
            continue  # `ask` or `check` reports the error
        for node in walk(tree):
            if isinstance(node, Quantity) and node.model:
                model_name(folders, node.model.split()[0])
