"""Quiz papers as HTML: one self-contained page that prints well, and fragments for learning platforms."""

from __future__ import annotations

import re
from collections.abc import Iterable

from glassformer.show.fragment import pieces
from glassformer.show.markup import Html, join, tags
from glassformer.show.markup import page as whole_page
from glassformer.show.quiz.page import Blank, Block, Choices, Given, Heading, Lines, Page, Text

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}
h1{font-size:1.5rem;margin-bottom:0}h2{font-size:1.1rem;margin:2rem 0 .3rem}h3{font-size:.95rem;margin:.8rem 0 .2rem}
ol{list-style:none;padding-left:0}ul{margin:.2rem 0;padding-left:1.2rem}li{margin:.15rem 0;overflow-wrap:anywhere}
.blank{border-bottom:1px solid #111;display:inline-block;min-width:14rem}.wanted{color:#555}
@page{margin:2cm}
@media print{body{max-width:none;margin:0;padding:0;font-size:11pt}h2,h3{break-after:avoid}
section:not(:has(h3)),li,.given{break-inside:avoid}}
"""
_SYMBOL = re.compile(r"""(?<![\w&;#<>"'])([A-Za-zα-ωΑ-Ω])_([A-Za-z0-9]+)(?![A-Za-z0-9_])""")


def html_page(page: Page) -> Html:
    """Return a paper as one file."""
    sections = [tags.section(html_blocks(blocks)) for blocks in page.questions]
    body = [tags.h1(inline(page.title)), tags.p(page.subtitle), sections]
    return whole_page(page.title, body, sheets=(pieces(), STYLE))


def html_blocks(blocks: Iterable[Block]) -> Html:
    """Return blocks as a fragment."""
    return join(_block(block) for block in blocks)


def inline(text: str) -> Html:
    """Return text with the indices of single letters as subscripts: W_Q, d_k."""
    words = _SYMBOL.split(" ".join(text.split()))  # text, then repeatedly a letter, its index and the text after it
    indexed = zip(words[1::3], words[2::3], words[3::3], strict=True)
    return join(words[0], ([letter, tags.sub(index), rest] for letter, index, rest in indexed))


def _block(block: Block) -> Html:
    match block:
        case Heading(text):
            return tags.h2(text)
        case Text(text):
            return tags.p(inline(text))
        case Given(name, grid):
            return tags.div(tags.span(inline(name), " ="), grid.html(), class_="given")
        case Choices(options):
            return tags.ol([tags.li(tags.b(option.letter), " ", inline(option.text)) for option in options])
        case Blank(wanted):
            room = tags.span("\u00a0", class_="blank")
            return tags.p("Answer ", tags.span("(", inline(wanted), ")", class_="wanted"), " ", room)
        case Lines(title, lines, code):
            items = [tags.code(line) if code else inline(line) for line in lines]
            return join(tags.h3(inline(title)), tags.ul([tags.li(item) for item in items]))
