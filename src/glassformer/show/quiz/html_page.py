"""Quiz papers as HTML: one self-contained page that prints well, and fragments for learning platforms."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from glassformer.show.matrix import BRACKETS
from glassformer.show.quiz.page import Blank, Block, Choices, Given, Heading, Lines, Page, Text

# No scripts, no requests: a paper may hold whatever a stranger wrote.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}
h1{font-size:1.5rem;margin-bottom:0}h2{font-size:1.1rem;margin:2rem 0 .3rem}h3{font-size:.95rem;margin:.8rem 0 .2rem}
ol{list-style:none;padding-left:0}ul{margin:.2rem 0;padding-left:1.2rem}li{margin:.15rem 0;overflow-wrap:anywhere}
.blank{border-bottom:1px solid #111;display:inline-block;min-width:14rem}.wanted{color:#555}
.given{display:flex;align-items:center;gap:.5rem;margin:.4rem 0}table.matrix{border-collapse:collapse}
table.matrix td{text-align:right;padding:.1rem .5rem;font-variant-numeric:tabular-nums}
table.matrix th{font-weight:400;color:#555;padding:.1rem .5rem}
%s
@page{margin:2cm}
@media print{body{max-width:none;margin:0;padding:0;font-size:11pt}h2,h3{break-after:avoid}
section:not(:has(h3)),li,.given{break-inside:avoid}}
""".replace("%s", BRACKETS)
_SYMBOL = re.compile(r"(?<![\w&;#])([A-Za-zα-ωΑ-Ω])_([A-Za-z0-9]+)(?![A-Za-z0-9_])")


def html_page(page: Page) -> str:
    """A whole paper as one file."""
    sections = "\n".join(f"<section>{html_blocks(blocks)}</section>" for blocks in page.questions)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{html.escape(page.title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{inline(page.title)}</h1>\n<p>{html.escape(page.subtitle)}</p>\n"
        f"{sections}\n</body>\n</html>\n"
    )


def html_blocks(blocks: Iterable[Block]) -> str:
    """Some blocks as a fragment."""
    return "".join(_block(block) for block in blocks)


def inline(text: str) -> str:
    """Escaped text, with the indices of single letters set low: W_Q, d_k."""
    return _SYMBOL.sub(r"\1<sub>\2</sub>", html.escape(" ".join(text.split())))


def _block(block: Block) -> str:
    match block:
        case Heading(text):
            return f"<h2>{html.escape(text)}</h2>"
        case Text(text):
            return f"<p>{inline(text)}</p>"
        case Given(name, grid):
            return f'<div class="given"><span>{inline(name)} =</span>{_quoted(grid.html())}</div>'
        case Choices(options):
            listed = "".join(f"<li><b>{option.letter}</b> {inline(option.text)}</li>" for option in options)
            return f"<ol>{listed}</ol>"
        case Blank(wanted):
            return f'<p>Answer <span class="wanted">({inline(wanted)})</span> <span class="blank">&#160;</span></p>'
        case Lines(title, lines, code):
            items = [f"<code>{html.escape(line)}</code>" if code else inline(line) for line in lines]
            return f"<h3>{inline(title)}</h3><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _quoted(fragment: str) -> str:
    """Attributes in quotes, so that XML readers take it, too."""
    return fragment.replace("<table class=matrix>", '<table class="matrix">')
