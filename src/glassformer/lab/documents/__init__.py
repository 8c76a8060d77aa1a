"""What the lab sends to its pages, as records; `web/wire_types.py` makes the front end's types of them."""

from __future__ import annotations

from typing import Any, TypeVar, cast

Document = TypeVar("Document")


def picked(kind: type[Document], source: object, /, **more: Any) -> Document:
    """A document made of those attributes of `source` that its fields are named after, and of `more`."""
    names: dict[str, Any] = getattr(kind, "__annotations__", {})
    return cast(Document, {name: more[name] if name in more else getattr(source, name) for name in names})
