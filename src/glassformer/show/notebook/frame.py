"""The frame of a notebook view: one element with its own style, which reaches nothing outside it."""

from __future__ import annotations

from glassformer.show.table import STYLE, scoped
from glassformer.show.typeset import STYLE as EQUATIONS

# A notebook's theme is its own matter: text takes its colour, and lines are its text made faint.
PIECES = (
    ".pictures{display:flex;flex-wrap:wrap;gap:.8em 1.4em;align-items:flex-start}"
    "figure{margin:.3em 1em .3em 0;display:inline-block;vertical-align:top}figcaption{font-size:.85em;opacity:.75}"
    "picture{display:inline-block;line-height:0}img{image-rendering:pixelated;margin:0;max-width:none;border:1px solid #8887}"
    ".facts{display:flex;flex-wrap:wrap;gap:.3em 2em;margin:.5em 0}.facts dt{font-size:.85em;opacity:.75;font-weight:400}"
    ".facts dd{margin:0;font-weight:600}"
    ".multiples td,.multiples th{padding:1px 3px;text-align:center;font-weight:400;font-size:.85em;background:none}"
    ".scale{display:flex;align-items:center;gap:.5em;font-size:.85em;opacity:.8}"
    ".panel .grid{display:flex;width:max-content}"
    ".panel .keys{display:flex;width:max-content;margin-left:6em;height:5em;align-items:flex-end}"
    ".panel .keys span{writing-mode:vertical-rl;transform:rotate(180deg);font-size:.75em;line-height:20px;white-space:nowrap}"
    ".panel .queries{width:6em;flex:none}"
    ".panel .queries span{display:block;font-size:.75em;line-height:20px;text-align:right;padding-right:.4em;"
    "white-space:nowrap;overflow:hidden}"
    "details{margin:.1em 0 .1em 1em}summary{cursor:pointer}.leaf{margin:.1em 0 .1em 2.1em}"
    ".rule{margin:.1em 0 .2em 1.1em;opacity:.8}"
    "code{background:none;padding:0;color:inherit}.narrow{display:none}"
)


def framed(inner: str) -> str:
    """A view."""
    return f"<div class=glassformer>{STYLE}<style>{scoped(PIECES + EQUATIONS)}</style>{inner}</div>"
