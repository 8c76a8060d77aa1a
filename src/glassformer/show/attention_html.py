"""Attention as one self-contained HTML file: a compressed byte for each weight, and a small script that draws them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.attention import Attention
from glassformer.program.axes import Array, Floats
from glassformer.show.colours import SEQUENTIAL, SEQUENTIAL_DARK
from glassformer.show.figures import writing
from glassformer.show.grids import LINEAR_UP_TO, scale_top
from glassformer.show.markup import Html, data, script, tags
from glassformer.show.markup import page as whole_page

MOST_BYTES = 20_000_000
MOST_IN_NOTEBOOK = 4_000_000
LEVELS = (
    255,
    127,
    63,
    31,
    15,
    7,
)  # levels of a weight's square root, the finest that fits is used; 7 fit for all models that 20 MB are meant for
WORDS_AT_ONCE = 64  # tokens shown first, if there are more
LONGEST_WORD = 200  # longer tokens are cut to this many letters
SAMPLE = 6  # heads that are packed to see which levels fit

# Nothing may be loaded, whatever a token contains.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def attention_page(attention: Attention, *, most_bytes: int = MOST_BYTES) -> Html:
    """A whole page, at most `most_bytes` long."""
    grids = [[attention.grid(layer, head) for head in attention.heads] for layer in attention.layers]
    keys = attention.keys if attention.crosses else None
    return page(grids, attention.queries, attention.layers, attention.heads, keys=keys, most_bytes=most_bytes)


def save_attention_html(attention: Attention, path: str | Path) -> Path:
    """Write the page."""
    path, text = Path(path), attention_page(attention)
    with writing(path):
        path.write_text(text, encoding="utf-8")
    return path


def notebook_html(attention: Attention) -> Html:
    """The page in an iframe, so that several views in one notebook do not affect each other."""
    try:
        text = attention_page(attention, most_bytes=MOST_IN_NOTEBOOK)
    except GlassformerError as error:
        return tags.p(str(error))
    height = min(800, 340 + 40 * len(attention.queries))
    return tags.iframe(sandbox="allow-scripts", style=f"width:100%;border:0;height:{height}px", srcdoc=text)


def page(
    grids: list[list[Floats]],
    words: list[str],
    layers: tuple[int, ...],
    heads: tuple[int, ...],
    *,
    keys: list[str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> Html:
    """The page of `grids[layer][head]`, each [query, key]; `keys` are the words of the source in cross-attention."""
    words = [shown(word, limit=LONGEST_WORD) for word in words]
    document = {
        "words": words,
        "keys": None if keys is None else [shown(word, limit=LONGEST_WORD) for word in keys],
        "levels": 0,
        "linear": max(len(words), len(keys or ())) <= LINEAR_UP_TO,
        "top": max(scale_top(grid) for row in grids for grid in row),
        "light": _parts(SEQUENTIAL),
        "dark": _parts(SEQUENTIAL_DARK),
    }
    length = len(_page(document, layers, heads).encode()) + 40
    levels, packed = _packed(grids, length, most_bytes)
    return _page(document | {"levels": levels, "grids": packed}, layers, heads)


def _page(document: dict[str, Any], layers: tuple[int, ...], heads: tuple[int, ...]) -> Html:
    css, code = (
        files("glassformer.show").joinpath(f"attention_page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    words: list[str] = document["words"]
    keys: list[str] | None = document["keys"]
    chosen = f"{_counted('layer', layers)}, {_counted('head', heads)}"
    title = f"Attention: {len(words)} tokens, {chosen}"
    if keys is not None:
        title = f"Cross-attention: {len(words)} target tokens, {len(keys)} source tokens, {chosen}"
    texts = [tags.p([[tags.bdi(word), " "] for word in text]) for text in (words, keys) if text is not None]
    scale = [tags.span("weight 0"), tags.canvas(width=160, height=12, aria_hidden="true"), tags.span("1")]
    grid = tags.canvas(tabindex=0, role="img", aria_label="attention weights; arrow keys read each cell")
    body = tags.main(
        tags.h1(title),
        tags.form(_controls(document, layers, heads)),
        tags.div(scale, class_="scale"),
        tags.output(aria_live="polite"),
        tags.div(grid, class_="view"),
        tags.p(class_="note"),
        tags.noscript(tags.p("The grid is drawn by a script, which is switched off here.")),
        tags.details(tags.summary("All tokens"), texts, class_="words"),
        data(document),
        script(code),
        class_="gf-attention",
    )
    return whole_page(title, body, sheets=(css,), policy=POLICY)


def _controls(document: dict[str, Any], layers: tuple[int, ...], heads: tuple[int, ...]) -> Iterator[Html]:
    for name, numbers in (("Layer", layers), ("Head", heads)):
        options = [tags.option(str(number)) for number in numbers]
        yield tags.label(f"{name} ", tags.select(options, name=name.lower()))
    keys = document["keys"]
    sides = [("", "Tokens" if keys is None else "Target tokens", document["words"])]
    sides += [] if keys is None else [("source_", "Source tokens", keys)]
    for prefix, what, words in sides:
        count = len(words)
        for name, word, value in (("from", f"{what} from ", 0), ("to", "to ", min(count, WORDS_AT_ONCE) - 1)):
            field = tags.input(name=f"{prefix}{name}", type="number", min=0, max=count - 1, value=value)
            yield tags.label(word, field, hidden=count <= LINEAR_UP_TO)


def _counted(what: str, numbers: tuple[int, ...]) -> str:
    return f"{what} {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} {what}s"


def _packed(grids: list[list[Floats]], around: int, most_bytes: int) -> tuple[int, list[list[str]]]:
    """Every head as base64, with the finest levels that fit the size limit."""
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
    # Run lengths and Huffman codes only: for weights as small as the full search, and a hundred times as fast.
    packer = zlib.compressobj(6, zlib.DEFLATED, 15, 9, zlib.Z_RLE)
    packed = packer.compress(quantised(grid, levels).tobytes()) + packer.flush()
    return base64.b64encode(packed).decode("ascii")


def quantised(weights: Array, levels: int = LEVELS[0]) -> Array:
    """A byte for each weight: the level of its square root, so that small weights keep their differences."""
    return np.asarray(np.rint(np.sqrt(np.clip(weights, 0, 1)) * levels), dtype=np.uint8)


def _parts(stops: tuple[str, ...]) -> list[list[int]]:
    return [[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in stops]
