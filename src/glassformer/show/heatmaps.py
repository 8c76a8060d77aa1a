"""Self-contained heat maps: a grid of weights as a small embedded PNG, one for light pages and one for dark ones."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from glassformer.errors import shown
from glassformer.numbers.attention import Attention, cut
from glassformer.program.axes import Array, Floats
from glassformer.show.colours import SEQUENTIAL, SEQUENTIAL_DARK, mixed
from glassformer.show.grids import attention_top, is_linear, pooled
from glassformer.show.markup import Attribute, Html, join, tags

LEVELS = 64  # colours of a picture
MOST_CELLS = 96  # cells per side of a panel; with more, each dot is the largest weight of its block
WORDS_UP_TO = 24  # most tokens with labels at a panel
LONGEST_WORD = 12
MOST_PANELS = 512


def png(indices: Array, stops: Sequence[str]) -> bytes:
    """A picture with a palette: `indices` [rows, columns] of LEVELS colours along `stops`."""
    rows, columns = indices.shape
    colours = bytes.fromhex("".join(mixed(tuple(stops), level / (LEVELS - 1))[1:] for level in range(LEVELS)))
    lines = np.concatenate([np.zeros((rows, 1), dtype=np.uint8), indices.astype(np.uint8)], axis=1)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)),
        (b"PLTE", colours),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    ]
    packed = [struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def heat_map(weights: Floats, label: str, *, size: int, theme: str = "both", top: float = 1.0) -> Html:
    """A grid of weights from 0 to `top`, `size` pixels wide, coloured by the weight, or by its square root if there are many."""
    place = weights / top if is_linear(weights) else np.sqrt(weights / top)
    levels = np.rint(np.clip(np.nan_to_num(place), 0, 1) * (LEVELS - 1))
    high = max(1, round(size * weights.shape[0] / weights.shape[1]))
    return _picture(levels, theme, alt=label, title=label, width=size, height=high)


def _picture(levels: Array, theme: str, **attributes: Attribute) -> Html:
    """A picture for a light page and, if `both`, one for a dark page."""
    light, dark = (
        f"data:image/png;base64,{base64.b64encode(png(levels, stops)).decode()}" for stops in (SEQUENTIAL, SEQUENTIAL_DARK)
    )
    other = tags.source(media="(prefers-color-scheme: dark)", srcset=dark) if theme == "both" else None
    return tags.picture(other, tags.img(**attributes, src=light))


def small_multiples(attention: Attention, *, theme: str = "both") -> Html:
    """Every chosen layer (down) and head (across), each a small panel."""
    size = 44 if len(attention.heads) <= 12 else 32
    head = tags.tr(tags.th(tags.span("layer / head")), [tags.th(str(number)) for number in attention.heads])
    rows, top = [], attention_top(attention)
    for layer in attention.layers[: max(1, MOST_PANELS // len(attention.heads))]:
        named = [(f"layer {layer}, head {head}", pooled(attention.grid(layer, head), MOST_CELLS)) for head in attention.heads]
        cells = [tags.td(heat_map(grid, label, size=size, theme=theme, top=top)) for label, grid in named]
        rows.append(tags.tr(tags.th(str(layer)), cells))
    left_out = len(attention.layers) - len(rows)
    table = tags.table(tags.thead(head), tags.tbody(rows), class_="multiples")
    more = tags.p(f"{left_out} more layers are not shown.") if left_out else None
    return join(tags.div(table, class_="scroll", tabindex=0, role="region", aria_label="every head"), more)


def word_panel(attention: Attention, layer: int, head: int, *, theme: str = "both", label: str = "", top: float = 1.0) -> Html:
    """One head with its words on both sides, if they are few enough to be readable."""
    grid = attention.grid(layer, head)
    words, columns = ([cut(shown(word), LONGEST_WORD) for word in side] for side in (attention.queries, attention.keys))
    name = label or f"layer {layer}, head {head}"
    caption = tags.figcaption(name)
    if max(len(words), len(columns)) > WORDS_UP_TO:
        image = heat_map(pooled(grid, 256), name, size=240, theme=theme, top=top)
        return tags.figure(image, caption, class_="panel", tabindex=0)
    cell = 20
    image = heat_map(grid, name, size=cell * len(columns), theme=theme, top=top)
    sides = (("width", columns), ("height", words))
    across, down = ([tags.span(tags.bdi(word), style=f"{side}:{cell}px") for word in some] for side, some in sides)
    keys = tags.div(across, class_="keys", aria_hidden="true")
    queries = tags.div(down, class_="queries", aria_hidden="true")
    return tags.figure(keys, tags.div(queries, image, class_="grid"), caption, class_="panel words", tabindex=0)


def scale_bar(*, linear: bool, theme: str = "both", top: float = 1.0) -> Html:
    """The colour scale from 0 to `top`, of weights or of their square roots."""
    levels = np.repeat(np.arange(LEVELS)[None, :], 6, axis=0)
    picture = _picture(levels, theme, alt="scale", width=128, height=12)
    note = "" if linear else " (coloured by its root)"
    return tags.p("weight 0 ", picture, f" {top:g}{note}", class_="scale")
