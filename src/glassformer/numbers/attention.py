"""The attention weights of a run, by layer and head, with the words of queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.values import Values
from glassformer.program.axes import Array, Floats
from glassformer.spec import EncoderSpec, Seq2SeqSpec
from glassformer.spec.viewed import Viewed

MOST_IN_TEXT = 12  # tokens; larger grids are not printed in full
MOST_ROWS = 24  # printed lines
STRONGEST = 3  # keys printed per query if the grid is too wide
LONGEST_WORD = 10

Kind: TypeAlias = Literal["encoder", "decoder", "cross"]  # self-attention of a stack, or cross-attention from target to source


@dataclass(frozen=True, repr=False)
class Attention(Viewed):
    """Attention weights of some layers and heads: each row is a query, whose weights sum to 1 (or 0 if all keys are masked)."""

    run: Values
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    batch: int = 0
    kind: Kind | None = None  # None: the model has one stack

    @property
    def queries(self) -> list[str]:
        """The words of the queries, or the position numbers if there are none."""
        return self._words(-2)

    @property
    def words(self) -> list[str]:
        """The words of the queries, which are also those of the keys unless this is cross-attention."""
        return self.queries

    @property
    def keys(self) -> list[str]:
        """The words of the keys: of the source for cross-attention, else the same as those of the queries."""
        return self._words(-1)

    def _words(self, axis: int) -> list[str]:
        tensor = self.run.program.tensors[name_of(self.kind, self.layers[0])]
        name, length = tensor.axes[axis]
        words = self.run.words(tensor, name, self.batch)
        return [*words, *(str(place) for place in range(len(words), length))][:length]

    @property
    def spec(self) -> EncoderSpec:
        """The spec of the stack that the queries belong to."""
        return stack_spec(self.run, self.kind)

    @property
    def crosses(self) -> bool:
        """Whether queries and keys are different texts."""
        return self.kind == "cross"

    def name(self, layer: int) -> str:
        """The name of the weights of a layer."""
        return name_of(self.kind, layer)

    def grid(self, layer: int, head: int) -> Floats:
        """Return the weights [query, key] of one head."""
        layer, head = _one("layer", layer, self.spec.layers), _one("head", head, self.spec.heads)
        return self.run[self.name(layer)][self.batch, head]

    @property
    def weights(self) -> Array:
        """All selected weights: [layer, head, query, key]."""
        return np.stack([self.run[self.name(layer)][self.batch, list(self.heads)] for layer in self.layers])

    @property
    def counted(self) -> str:
        """The number of tokens as text: `5 tokens`, or `3 target tokens, 5 source tokens`."""
        if self.crosses:
            return f"{len(self.queries)} target tokens, {len(self.keys)} source tokens"
        return f"{len(self.queries)} tokens"

    @property
    def sides(self) -> str:
        """A description of rows and columns."""
        return "rows are target tokens, columns are source tokens" if self.crosses else "rows are queries, columns are keys"

    @property
    def label(self) -> str:
        """`layer 3, head 0`, `layer 3, 12 heads`, `cross-attention, 12 layers, 12 heads`."""
        what = {None: "", "cross": "cross-attention, ", "encoder": "encoder, ", "decoder": "decoder, "}[self.kind]
        layers = f"layer {self.layers[0]}" if len(self.layers) == 1 else f"{len(self.layers)} layers"
        heads = f"head {self.heads[0]}" if len(self.heads) == 1 else f"{len(self.heads)} heads"
        return f"{what}{layers}, {heads}"

    def text(self) -> str:
        """Return a small grid, the strongest keys of each query if it is wide, or one line per head if there are several."""
        if len(self.layers) > 1 or len(self.heads) > 1:
            return self._heads_text()
        return self._grid_text() if max(len(self.queries), len(self.keys)) <= MOST_IN_TEXT else self._strongest_text()

    def to_dict(self) -> dict[str, Any]:
        """Return words and weights as a JSON document."""
        return {
            **({"queries": self.queries, "keys": self.keys} if self.crosses else {"words": self.queries}),
            **({} if self.kind is None else {"kind": self.kind}),
            "layers": list(self.layers),
            "heads": list(self.heads),
            "axes": ["layer", "head", "query", "key"],
            "weights": self.weights.tolist(),
        }

    def _grid_text(self) -> str:
        words, keys = [cut(word) for word in self.queries], [cut(word) for word in self.keys]
        width = max(6, *(len(word) for word in keys))
        left = max(len(word) for word in words)
        sides = (
            "each row is a target token, each column a source token" if self.crosses else "each row is a query, each column a key"
        )
        rows = [f"{self.label}: {sides}", " " * left + "".join(f"  {word:>{width}}" for word in keys)]
        for word, row in zip(words, self.grid(self.layers[0], self.heads[0]), strict=True):
            rows.append(f"{word:<{left}}" + "".join(f"  {weight:>{width}.4f}" for weight in row))
        return "\n".join(rows)

    def _strongest_text(self) -> str:
        words, keys = [cut(word) for word in self.queries], [cut(word) for word in self.keys]
        grid = self.grid(self.layers[0], self.heads[0])
        left, number = max(len(word) for word in words), len(str(len(words) - 1))
        wide = max(len(word) for word in keys) + len(str(len(keys) - 1)) + 3
        most = "source tokens" if self.crosses else "keys"
        lines = [
            f"{self.label}: {self.counted}, each {'target token ' * self.crosses}with the {STRONGEST} {most} it attends to most"
        ]
        for place, row in enumerate(grid[:MOST_ROWS]):
            best = np.argsort(-row, kind="stable")[:STRONGEST]
            strongest = "  ".join(f"{f'{keys[key]} ({key})':<{wide}} {row[key]:.4f}" for key in best)
            lines.append(f"{place:>{number}} {words[place]:<{left}}  {strongest}".rstrip())
        if len(words) > MOST_ROWS:
            lines.append(f"… {MOST_ROWS} of {len(words)} tokens are shown; a picture shows all.")
        return "\n".join(lines)

    def _heads_text(self) -> str:
        words, keys = [cut(word) for word in self.queries], [cut(word) for word in self.keys]
        lines = [f"{self.label}: {self.counted}; the strongest weight of each head"]
        shown_heads = [(layer, head) for layer in self.layers for head in self.heads][:MOST_ROWS]
        for layer, head in shown_heads:
            grid = self.grid(layer, head)
            query, key = np.unravel_index(np.argmax(grid), grid.shape)
            lines.append(
                f"layer {layer:>2}  head {head:>2}  {grid[query, key]:.4f}  {words[query]} ({query}) → {keys[key]} ({key})"
            )
        left_out = len(self.layers) * len(self.heads) - len(shown_heads)
        return "\n".join([*lines, *([f"… and {left_out} more heads; select a layer."] if left_out else [])])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<attention: {self.label}, {self.counted}>"


def attention(
    run: Values, *, layer: int | None = None, head: int | None = None, batch: int = 0, kind: Kind | None = None
) -> Attention:
    """Return the attention of a run: one head, the heads of one layer, or all of them."""
    two = isinstance(run.program.spec, Seq2SeqSpec)
    if kind is not None and kind not in get_args(Kind):
        raise GlassformerError(f"kind={shown(kind)} is not allowed: kind is {', '.join(get_args(Kind))}.")
    if kind is not None and not two:
        raise GlassformerError(f"kind={kind} is for encoder-decoders, but this model has one stack. Leave it out.")
    if two and kind is None:
        kind = "cross"
    spec = stack_spec(run, kind)
    if not spec.layers:
        raise GlassformerError(
            f"this {'decoder' if spec.attend == 'causal' else 'encoder'} has layers=0, so there is no attention."
        )
    if not spec.attends:
        raise GlassformerError(f"this encoder has no attention: mixing={spec.mixing}.")
    layers = _chosen("layer", layer, spec.layers)
    heads = _chosen("head", head, spec.heads)
    return Attention(run, layers, heads, _one("batch", batch, run.program.sizes.batch), kind)


def stack_spec(run: Values, kind: Kind | None) -> EncoderSpec:
    """The spec of the stack that the queries belong to."""
    spec = run.program.spec
    if not isinstance(spec, Seq2SeqSpec):
        return spec
    return spec.encoder if kind == "encoder" else spec.decoder


def name_of(kind: Kind | None, layer: int) -> str:
    """The name of the attention weights of a layer."""
    stack = {None: "", "encoder": "encoder.", "decoder": "decoder.", "cross": "decoder."}[kind]
    return f"{stack}layers.{layer}.{'cross' if kind == 'cross' else 'attention'}.weights"


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
