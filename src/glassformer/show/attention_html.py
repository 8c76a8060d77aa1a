"""Attention as one HTML file that needs nothing else: a byte for each weight, packed, and a small script that draws them."""

from __future__ import annotations

import base64
import html
import json
import zlib
from importlib.resources import files
from pathlib import Path

import numpy as np

from glassformer.numbers.attention import Attention
from glassformer.program.axes import Array, Floats
from glassformer.show.colours import SEQUENTIAL, SEQUENTIAL_DARK
from glassformer.show.figures import writing
from glassformer.show.grids import LINEAR_UP_TO, scale_top
from glassformer.spec import GlassformerError, shown

MOST_BYTES = 20_000_000
MOST_IN_NOTEBOOK = 4_000_000
LEVELS = (255, 127, 63, 31, 15, 7)  # of a weight's square root: the finest that fits; 7 always fits what 20 MB are meant for
WORDS_AT_ONCE = 64  # shown first where there are more
LONGEST_WORD = 200  # letters of a token that are kept
SAMPLE = 6  # heads that are packed to see which levels fit

# Nothing may be fetched, whatever a token says.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def attention_page(attention: Attention, *, most_bytes: int = MOST_BYTES) -> str:
    """A whole page, at most `most_bytes` long."""
    grids = [[attention.grid(layer, head) for head in attention.heads] for layer in attention.layers]
    return page(grids, attention.words, attention.layers, attention.heads, most_bytes=most_bytes)


def save_attention_html(attention: Attention, path: str | Path) -> Path:
    """Write the page."""
    path, text = Path(path), attention_page(attention)
    with writing(path):
        path.write_text(text, encoding="utf-8")
    return path


def notebook_html(attention: Attention) -> str:
    """The page in a frame of its own, so that several views live in one notebook and nothing leaks out of it."""
    try:
        text = attention_page(attention, most_bytes=MOST_IN_NOTEBOOK)
    except GlassformerError as error:
        return f"<p>{html.escape(str(error))}</p>"
    height = min(800, 340 + 40 * len(attention.words))
    frame = "width:100%;border:0"
    return f'<iframe sandbox="allow-scripts" style="{frame};height:{height}px" srcdoc="{html.escape(text, quote=True)}"></iframe>'


def page(
    grids: list[list[Floats]], words: list[str], layers: tuple[int, ...], heads: tuple[int, ...], *, most_bytes: int = MOST_BYTES
) -> str:
    """The page of `grids[layer][head]`, each [query, key]."""
    words = [shown(word, limit=LONGEST_WORD) for word in words]
    linear = len(words) <= LINEAR_UP_TO
    around = _around(words, layers, heads)
    length = sum(len(part.encode()) for part in around) + 400 + sum(len(json.dumps(word)) + 1 for word in words)
    levels, packed = _packed(grids, length, most_bytes)
    data = {
        "words": words,
        "levels": levels,
        "linear": linear,
        "top": max(scale_top(grid) for row in grids for grid in row),
        "light": _parts(SEQUENTIAL),
        "dark": _parts(SEQUENTIAL_DARK),
        "grids": packed,
    }
    # "<" never stands in the data, so no token can end the script element.
    inside = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return inside.join(around)


def _around(words: list[str], layers: tuple[int, ...], heads: tuple[int, ...]) -> tuple[str, str]:
    """What comes before and after the data."""
    css, script = (
        files("glassformer.show").joinpath(f"attention_page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    last = min(len(words), WORDS_AT_ONCE) - 1
    title = f"Attention: {len(words)} tokens, {_counted('layer', layers)}, {_counted('head', heads)}"
    hidden = " hidden" if len(words) <= LINEAR_UP_TO else ""
    tokens = "".join(f"<bdi>{html.escape(word)}</bdi> " for word in words)
    before = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>{title}</title><style>{css}</style></head>
<body><main class="gf-attention"><h1>{title}</h1>
<form><label>Layer <select name="layer">{_options(layers)}</select></label>
<label>Head <select name="head">{_options(heads)}</select></label>
<label{hidden}>Tokens from <input name="from" type="number" min="0" max="{len(words) - 1}" value="0"></label>
<label{hidden}>to <input name="to" type="number" min="0" max="{len(words) - 1}" value="{last}"></label></form>
<div class="scale"><span>weight 0</span><canvas width="160" height="12" aria-hidden="true"></canvas><span>1</span></div>
<output aria-live="polite"></output>
<div class="view"><canvas tabindex="0" role="img" aria-label="attention weights; arrow keys read each cell"></canvas></div>
<p class="note"></p><noscript><p>The grid is drawn by a script, which is switched off here.</p></noscript>
<details class="words"><summary>All tokens</summary><p>{tokens}</p></details>
<script type="application/json">"""
    return before, f"</script>\n<script>{script}</script></main></body></html>\n"


def _counted(what: str, numbers: tuple[int, ...]) -> str:
    return f"{what} {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} {what}s"


def _options(numbers: tuple[int, ...]) -> str:
    return "".join(f"<option>{number}</option>" for number in numbers)


def _packed(grids: list[list[Floats]], around: int, most_bytes: int) -> tuple[int, list[list[str]]]:
    """Every head as base64, in the finest levels that fit the budget."""
    budget = most_bytes - around
    every = [grid for row in grids for grid in row]
    sample = every[:: -(-len(every) // SAMPLE)]
    for levels in LEVELS:
        if sum(len(_pack(grid, levels)) for grid in sample) * len(every) / len(sample) > 1.02 * budget:
            continue
        packed = [[_pack(grid, levels) for grid in row] for row in grids]
        if sum(len(text) + 3 for row in packed for text in row) <= budget:
            return levels, packed
    raise GlassformerError(
        f"{len(every)} heads of {len(every[0])} tokens do not fit into a page of {most_bytes / 1e6:.0f} MB. "
        "Choose a layer, or a head."
    )


def _pack(grid: Floats, levels: int) -> str:
    # Runs of zeros and a Huffman code: on weights as small as the full search, and a hundred times as fast.
    packer = zlib.compressobj(6, zlib.DEFLATED, 15, 9, zlib.Z_RLE)
    packed = packer.compress(quantised(grid, levels).tobytes()) + packer.flush()
    return base64.b64encode(packed).decode("ascii")


def quantised(weights: Array, levels: int = LEVELS[0]) -> Array:
    """A byte for each weight: the level of its square root, so that small weights keep their differences."""
    return np.asarray(np.rint(np.sqrt(np.clip(weights, 0, 1)) * levels), dtype=np.uint8)


def _parts(stops: tuple[str, ...]) -> list[list[int]]:
    return [[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in stops]
