"""In words: where the tokens stand, and how that is known."""

from __future__ import annotations

from glassformer.answers.shapes.nodes import Name, Node, Transposed
from glassformer.answers.shapes.trace import Projection, Trace
from glassformer.answers.shapes.writing import written

PLACES = ("rows", "columns")


def where_tokens_are(trace: Trace) -> str | None:
    """`W_Q X sums over the rows of X, its features, so the columns of X are the tokens.`"""
    for event in trace.events:
        if not isinstance(event, Projection) or event.clash or event.data.attended is not None:
            continue
        data = stripped(event.data_node)
        if isinstance(data, Name) and data.key in trace.given:
            value = trace.given[data.key][1]
            tokens = value.tokens_axis(trace.book)
            if tokens is not None and not value.loose:
                text = written(data)
                sizes = trace.sizes(value.axes)
                blind = f" (the sizes alone, both {sizes[0]}, could not tell)" if sizes[0] == sizes[1] else ""
                return (
                    f"{written(event.node)} sums over the {PLACES[1 - tokens]} of {text}, its features, "
                    f"so the {PLACES[tokens]} of {text} are the tokens{blind}"
                )
    return where_given_tokens_are(trace)


def where_given_tokens_are(trace: Trace) -> str | None:
    """The same where no weight tells, but the sizes do."""
    for name, value in trace.given.values():
        tokens = value.tokens_axis(trace.book)
        if value.source == "data" and tokens is not None and not value.loose:
            size = trace.sizes(value.axes)[1 - tokens]
            return (
                f"the {PLACES[1 - tokens]} of {written(name)} are its features ({size}), so its {PLACES[tokens]} are the tokens"
            )
    return None


def stripped(node: Node) -> Node:
    while isinstance(node, Transposed):
        node = node.of
    return node


def sentence(text: str) -> str:
    """A capital first where the text begins with a word, and a full stop."""
    first = text.split(" ", 1)[0]
    return (text[0].upper() + text[1:] if first.isalpha() and first.islower() and len(first) > 1 else text) + "."
