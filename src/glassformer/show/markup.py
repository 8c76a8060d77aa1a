"""HTML and SVG, built from elements: every text and attribute is escaped here, and no other module writes tags.

    tags.p("5 < 6 & ", tags.b("so"), class_="note")   ->   <p class="note">5 &lt; 6 &amp; <b>so</b></p>

A child is text, markup, None or a list of these. `Html` is text that is markup already; only this module creates it, so text
that was joined by hand is escaped again instead of becoming markup. The output is also well-formed XML, so it can be used in SVG
files and on learning platforms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from html import escape as _escape
from typing import Any, TypeAlias

# Control characters, halves of surrogate pairs, and bidirectional controls.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
VOID = frozenset("br img input meta source".split())
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # also if a token or a file name contains markup


class Html(str):
    """Markup, in which text is already escaped."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
Attribute: TypeAlias = "str | float | bool | None"


def escape(text: str) -> Html:
    """Escape text; characters that hide text or change the direction of writing become question marks."""
    return Html(_escape(HIDDEN.sub("?", text)))


def join(*children: Child) -> Html:
    """Join children."""
    return Html("".join(_written(children)))


def _written(child: Child) -> Iterable[str]:
    if isinstance(child, str):
        yield child if isinstance(child, Html) else escape(child)
    elif child is not None:
        for one in child:
            yield from _written(one)


def element(tag: str, /, *children: Child, **attributes: Attribute) -> Html:
    """One element. `class_` is class, `stroke_width` is stroke-width; None and False leave an attribute out."""
    start = "".join([f"<{tag}", *(_attribute(name, value) for name, value in attributes.items())])
    return Html(f"{start}/>") if tag in VOID else Html(f"{start}>{join(*children)}</{tag}>")


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    text = "" if value is True else f"{value:g}" if isinstance(value, float) else escape(str(value))
    return f' {name.rstrip("_").replace("_", "-")}="{text}"'


class _Tags:
    """`tags.td(…)` is `element("td", …)`."""

    def __getattr__(self, tag: str) -> Callable[..., Html]:
        def made(*children: Child, **attributes: Attribute) -> Html:
            return element(tag, *children, **attributes)

        return made


tags = _Tags()


def style(*sheets: str) -> Html:
    """A trusted style sheet: it contains no user text, and characters that could close it are refused."""
    text = "".join(sheets)
    if "<" in text:
        raise ValueError("a style sheet has no '<'")
    return Html(f"<style>{text}</style>")


def script(code: str) -> Html:
    """A trusted script."""
    if "</" in code:
        raise ValueError("a script in a page has no '</'")
    return Html(f"<script>{code}</script>")


def data(document: Any) -> Html:
    """JSON for a script on the same page. It contains no "<", so no text can end the element."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return Html(f'<script type="application/json">{text}</script>')


def page(title: str, body: Child, *, sheets: Iterable[str], policy: str = POLICY, head: Child = None) -> Html:
    """A complete document that opens from disk and loads no other files."""
    meta = [
        tags.meta(charset="utf-8"),
        tags.meta(name="viewport", content="width=device-width,initial-scale=1"),
        tags.meta(http_equiv="Content-Security-Policy", content=policy),
    ]
    inside = tags.html(tags.head(meta, head, tags.title(title), style(*sheets)), tags.body(body), lang="en")
    return Html(f"<!doctype html>\n{inside}\n")
