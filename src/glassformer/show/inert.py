"""Sanitises untrusted text: no control characters, and in Markdown no tags, links or pictures."""

from __future__ import annotations

import html
import re

# What opens a tag, or makes words in brackets a link, unless a backslash before it makes it text already.
OPENS = re.compile(r"(?<!\\)((?:\\\\)*)(<|\](?=[(:]))")


def clean(text: str) -> str:
    """Remove characters that move the cursor, change the direction of writing or hide text; line breaks stay."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)


def markdown_text(text: str) -> str:
    """Return one line without Markdown tags, links and pictures; emphasis and formulas are kept."""
    flat = clean(text).replace("\n", " ")
    if len(flat) > 1 and flat.startswith("$") and flat.endswith("$"):  # a formula, which these signs would spoil
        return flat.replace("<", "{<}").replace(">", "{>}").replace("](", "]{}(").replace("]:", "]{}:")
    return OPENS.sub(lambda found: found[1] + ("&lt;" if found[2] == "<" else "\\]"), flat)


def markdown_literal(text: str) -> str:
    """Escape text so that Markdown shows it literally, including emphasis and formulas."""
    for sign in "\\`*_[]|$#":
        text = text.replace(sign, f"\\{sign}")
    return html.escape(text, quote=False)
