"""In which order statements can be followed, and where a function's parameters stand in its body."""

from __future__ import annotations

from collections.abc import Sequence

from glassformer.answers.shapes.nodes import Name, Node, Statement


def in_order(statements: Sequence[Statement], given: frozenset[str]) -> list[Statement]:
    """Statements in the order in which they can be followed: a name is defined before it is used."""
    waiting, found = list(statements), list[Statement]()
    targets = {statement.name.key for statement in statements if statement.name and statement.parameters is None} - given
    while waiting:
        later = targets - {statement.name.key for statement in found if statement.name}
        free = next((each for each in waiting if not names_in(each) & later - {each.name.key if each.name else ""}), waiting[0])
        waiting.remove(free)
        found.append(free)
    return found


def names_in(statement: Statement) -> set[str]:
    """The keys of the names in a statement's body."""
    keys: set[str] = set()
    inner: list[Node] = [statement.body]
    while inner:
        node = inner.pop()
        inner += node.inner
        if isinstance(node, Name):
            keys.add(node.key)
    return keys


def places(node: Node, put_in: dict[str, Node]) -> dict[Node, Node]:
    """Every place of a function's body where a parameter stands, with its argument."""
    if isinstance(node, Name):
        return {node: put_in[node.key]} if node.key in put_in else {}
    return {place: argument for inner in node.inner for place, argument in places(inner, put_in).items()}
