"""Text from strangers, made harmless: no control characters anywhere, and in Markdown no tag, no link and no picture."""

from __future__ import annotations

import html
import re

# What opens a tag, or makes words in brackets a link, unless a backslash before it makes it text already.
OPENS = re.compile(r"(?<!\\)((?:\\\\)*)(<|\](?=[(:]))")


def clean(text: str) -> str:
    """Without what moves a cursor, turns the writing round or hides something; lines stay lines."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)


def markdown_text(text: str) -> str:
    """One line in which Markdown finds no tag, link or picture; emphasis and formulas are left as they are."""
    flat = clean(text).replace("\n", " ")
    if len(flat) > 1 and flat.startswith("$") and flat.endswith("$"):  # a formula, which these signs would spoil
        return flat.replace("<", "{<}").replace(">", "{>}").replace("](", "]{}(").replace("]:", "]{}:")
    return OPENS.sub(lambda found: found[1] + ("&lt;" if found[2] == "<" else "\\]"), flat)


def markdown_literal(text: str) -> str:
    """Text that Markdown shows as it stands, emphasis and formulas too."""
    for sign in "\\`*_[]|$#":
        text = text.replace(sign, f"\\{sign}")
    return html.escape(text, quote=False)
