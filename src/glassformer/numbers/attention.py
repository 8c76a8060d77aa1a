"""The attention weights of a run, by layer and head, with the words of queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.values import Values
from glassformer.program.axes import Array, Floats
from glassformer.spec.viewed import Viewed

MOST_IN_TEXT = 12  # tokens; larger grids are not printed in full
MOST_ROWS = 24  # printed lines
STRONGEST = 3  # keys printed per query if the grid is too wide
LONGEST_WORD = 10


@dataclass(frozen=True, repr=False)
class Attention(Viewed):
    """Attention weights of some layers and heads: each row is a query, whose weights sum to 1 (or 0 if all keys are masked)."""

    run: Values
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    batch: int = 0

    @property
    def words(self) -> list[str]:
        """The words of the input, or the position numbers if there are none."""
        length = self.run.program.sizes.t
        words = list(self.run.tokens[self.batch]) if self.run.tokens is not None else []
        return [*words, *(str(place) for place in range(len(words), length))][:length]

    def grid(self, layer: int, head: int) -> Floats:
        """Return the weights [query, key] of one head."""
        spec = self.run.program.spec
        layer, head = _one("layer", layer, spec.layers), _one("head", head, spec.heads)
        return self.run[f"layers.{layer}.attention.weights"][self.batch, head]

    @property
    def weights(self) -> Array:
        """All selected weights: [layer, head, query, key]."""
        return np.stack([self.run[f"layers.{layer}.attention.weights"][self.batch, list(self.heads)] for layer in self.layers])

    @property
    def label(self) -> str:
        """`layer 3, head 0`, `layer 3, 12 heads`, `12 layers, 12 heads`."""
        layers = f"layer {self.layers[0]}" if len(self.layers) == 1 else f"{len(self.layers)} layers"
        heads = f"head {self.heads[0]}" if len(self.heads) == 1 else f"{len(self.heads)} heads"
        return f"{layers}, {heads}"

    def text(self) -> str:
        """Return a small grid, the strongest keys of each query if it is wide, or one line per head if there are several."""
        if len(self.layers) > 1 or len(self.heads) > 1:
            return self._heads_text()
        return self._grid_text() if len(self.words) <= MOST_IN_TEXT else self._strongest_text()

    def to_dict(self) -> dict[str, Any]:
        """Return words and weights as a JSON document."""
        return {
            "words": self.words,
            "layers": list(self.layers),
            "heads": list(self.heads),
            "axes": ["layer", "head", "query", "key"],
            "weights": self.weights.tolist(),
        }

    def _grid_text(self) -> str:
        words = [cut(word) for word in self.words]
        width = max(6, *(len(word) for word in words))
        left = max(len(word) for word in words)
        rows = [
            f"{self.label}: each row is a query, each column a key",
            " " * left + "".join(f"  {word:>{width}}" for word in words),
        ]
        for word, row in zip(words, self.grid(self.layers[0], self.heads[0]), strict=True):
            rows.append(f"{word:<{left}}" + "".join(f"  {weight:>{width}.4f}" for weight in row))
        return "\n".join(rows)

    def _strongest_text(self) -> str:
        words = [cut(word) for word in self.words]
        grid = self.grid(self.layers[0], self.heads[0])
        left, number = max(len(word) for word in words), len(str(len(words) - 1))
        lines = [f"{self.label}: {len(words)} tokens, each with the {STRONGEST} keys it attends to most"]
        for place, row in enumerate(grid[:MOST_ROWS]):
            keys = np.argsort(-row, kind="stable")[:STRONGEST]
            strongest = "  ".join(f"{f'{words[key]} ({key})':<{left + number + 3}} {row[key]:.4f}" for key in keys)
            lines.append(f"{place:>{number}} {words[place]:<{left}}  {strongest}".rstrip())
        if len(words) > MOST_ROWS:
            lines.append(f"… {MOST_ROWS} of {len(words)} tokens are shown; a picture shows all.")
        return "\n".join(lines)

    def _heads_text(self) -> str:
        words = [cut(word) for word in self.words]
        lines = [f"{self.label}: {len(words)} tokens; the strongest weight of each head"]
        shown_heads = [(layer, head) for layer in self.layers for head in self.heads][:MOST_ROWS]
        for layer, head in shown_heads:
            grid = self.grid(layer, head)
            query, key = np.unravel_index(np.argmax(grid), grid.shape)
            lines.append(
                f"layer {layer:>2}  head {head:>2}  {grid[query, key]:.4f}  {words[query]} ({query}) → {words[key]} ({key})"
            )
        left_out = len(self.layers) * len(self.heads) - len(shown_heads)
        return "\n".join([*lines, *([f"… and {left_out} more heads; select a layer."] if left_out else [])])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<attention: {self.label}, {len(self.words)} tokens>"


def attention(run: Values, *, layer: int | None = None, head: int | None = None, batch: int = 0) -> Attention:
    """Return the attention of a run: one head, the heads of one layer, or all of them."""
    spec = run.program.spec
    layers = _chosen("layer", layer, spec.layers)
    heads = _chosen("head", head, spec.heads)
    batch = _one("batch", batch, run.program.sizes.batch)
    if not layers:
        raise GlassformerError("this encoder has layers=0, so there is no attention.")
    return Attention(run, layers, heads, batch)


def _chosen(what: str, index: int | None, count: int) -> tuple[int, ...]:
    return tuple(range(count)) if index is None else (_one(what, index, count),)


def _one(what: str, index: int, count: int) -> int:
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not -count <= index < count:
        counted = f"{what} 0 to {count - 1}, or -{count} to -1 counted from the end"
        raise GlassformerError(f"{what} {shown(index)} does not exist: this run has {counted}.")
    return int(index) % count


def cut(word: str, longest: int = LONGEST_WORD) -> str:
    """Return a word for a label: printable, on one line, cut to `longest` characters."""
    return shown(word, limit=longest) if len(word) <= longest else shown(word[: longest - 1], limit=longest) + "…"
