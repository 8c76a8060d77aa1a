"""Input of any length: texts padded, packed or alone give the same; and what positions do on inputs longer than in training.

python recipes/variable_length.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from recipe import Recipe, descend, main
from torch import Tensor
from torch.nn import functional

import glassformer as gf
from glassformer.model.encoder import Inputs
from glassformer.model.fast.packed import Packed
from glassformer.show.curves import HUES
from glassformer.show.figures import Axes, Figure, drawn, new_figure
from glassformer.training.data import load_data
from glassformer.training.tokenizers import Tokenizer

POSITIONS = ("learned", "sinusoidal", "rotary", "none")
NOISE, MARKS = 8, 2  # tokens of the order task: some that mean nothing, and the two that are asked about


@dataclass(frozen=True)
class Size:
    """How large the experiment is."""

    trained: int  # tokens of the longest input in training
    buckets: tuple[tuple[int, int], ...]  # lengths that are tested together; some are longer
    steps: int
    rows: int  # in a bucket of the order task


@dataclass(frozen=True)
class Rows:
    """Sequences of ids with a label each."""

    ids: list[Tensor]
    labels: Tensor

    def between(self, low: int, high: int) -> Rows:
        """Those of a length."""
        places = [place for place, row in enumerate(self.ids) if low <= len(row) <= high]
        return Rows([self.ids[place] for place in places], self.labels[places])


def padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """One rectangle, and which of its tokens are real."""
    lengths = torch.tensor([len(row) for row in rows])
    tokens_BT = torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    return tokens_BT, torch.arange(tokens_BT.shape[1]) < lengths[:, None]


def packed(encoder: gf.Encoder, rows: Sequence[Tensor]) -> Tensor:
    """One row with all sequences behind each other, no padding: what a GPU's kernel for lengths that vary reads."""
    lengths = [len(row) for row in rows]
    bounds = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)
    positions = torch.cat([torch.arange(length) for length in lengths])[None]
    return encoder.run(Inputs(torch.cat(list(rows))[None], positions=positions), Packed(bounds, max(lengths))).logits


def losses(encoder: gf.Encoder, rows: Rows, size: int) -> Iterator[Tensor]:
    """Batches of mixed length, for ever."""
    while True:
        for places in torch.randperm(len(rows.ids)).split(size):
            tokens_BT, attend_BT = padded([rows.ids[place] for place in places])
            yield functional.cross_entropy(encoder(tokens_BT, attend_BT).logits, rows.labels[places])


@torch.no_grad()
def share_right(encoder: gf.Encoder, rows: Rows) -> float:
    encoder.eval()
    predicted = [encoder(*padded(rows.ids[at : at + 200])).logits.argmax(-1) for at in range(0, len(rows.ids), 200)]
    return float((torch.cat(predicted) == rows.labels).float().mean())


@torch.no_grad()
def agreement(encoder: gf.Encoder, rows: Sequence[Tensor]) -> dict[str, dict[str, float]]:
    """The same sequences one by one, padded, in buckets and packed: the largest difference of a logit, and equal answers."""
    encoder.eval()
    alone = torch.cat([encoder(row[None]).logits for row in rows])
    ways = {
        "padded": encoder(*padded(rows)).logits,
        "in buckets of like length": torch.stack(gf.encode_packed(encoder, rows, part="logits", tokens_at_once=1024)),
        "packed": packed(encoder, rows),
    }
    return {
        name: {
            "difference": float((logits - alone).abs().max()),
            "same": float((logits.argmax(-1) == alone.argmax(-1)).float().mean()),
        }
        for name, logits in ways.items()
    }


def order_rows(count: int, low: int, high: int) -> Rows:
    """Noise with two marks: which one comes first? Only positions can tell."""
    ids, labels = [], torch.randint(2, (count,))
    for label in labels.tolist():
        length = int(torch.randint(max(low, 2), high + 1, ()))
        row = torch.randint(NOISE, (length,))
        first, second = torch.randperm(length)[:2].sort().values.tolist()
        row[first], row[second] = NOISE + label, NOISE + 1 - label
        ids.append(row)
    return Rows(ids, labels)


def sentiment_rows(longest: int) -> tuple[Rows, Rows, int]:
    """Training texts that are short enough, all test texts, and the size of the vocabulary."""
    data = load_data("sentiment")
    tokenizer = Tokenizer.train(data.train.texts(), vocab=3000)
    parts = []
    for part in (data.train, data.test):
        ids = [torch.tensor(row) for row in tokenizer.encode(part.inputs)]
        parts.append(Rows(ids, torch.tensor(list(part.targets))))
    return parts[0].between(1, longest), parts[1], tokenizer.vocab


def trained(recipe: Recipe, size: Size, position: str, vocab: int, stream: Any, words: str) -> gf.Encoder:
    """A small encoder whose position table, where it has one, has rows enough for the longest test."""
    spec = gf.EncoderSpec(
        d_model=32,
        heads=4,
        layers=2,
        vocab=vocab,
        position=position,
        positions=size.buckets[-1][1] if position == "learned" else None,
        norm="pre",
        activation="gelu",
        pool="mean",
        head="classify",
        classes=2,
        dropout=0.0,
    )
    torch.manual_seed(recipe.seed)
    encoder = gf.Encoder(spec).train()
    for step, loss in enumerate(descend(encoder, stream(encoder), size.steps, lr=3e-3), 1):
        recipe.progress(lambda step=step, loss=loss: f"{words}, {position}: step {step}/{size.steps}  loss {loss:.4f}")
    return encoder


def order_losses(encoder: gf.Encoder, longest: int) -> Iterator[Tensor]:
    """New rows at each step."""
    while True:
        rows = order_rows(64, 2, longest)
        yield functional.cross_entropy(encoder(*padded(rows.ids)).logits, rows.labels)


def cook(recipe: Recipe) -> dict[str, Any]:
    if recipe.small:
        size = Size(trained=16, buckets=((1, 8), (9, 16), (17, 32), (33, 64)), steps=200, rows=300)
    else:
        size = Size(trained=32, buckets=((1, 8), (9, 16), (17, 32), (33, 64), (65, 128)), steps=1000, rows=1000)
    texts, test, vocab = sentiment_rows(size.trained)
    kinds = POSITIONS[:2] if recipe.small else POSITIONS
    scores: dict[str, dict[str, list[float]]] = {"order": {}, "sentiment": {}}
    for position in kinds:
        reads = trained(recipe, size, position, vocab, lambda encoder: losses(encoder, texts, 32), "sentiment")
        scores["sentiment"][position] = [share_right(reads, test.between(*bucket)) for bucket in size.buckets]
        if position == "learned":
            same = agreement(reads, test.between(1, size.trained).ids[:100])
        orders = trained(recipe, size, position, NOISE + MARKS, lambda encoder: order_losses(encoder, size.trained), "order")
        torch.manual_seed(recipe.seed + 1)
        scores["order"][position] = [share_right(orders, order_rows(size.rows, *bucket)) for bucket in size.buckets]
    counts = [len(test.between(*bucket).ids) for bucket in size.buckets]
    tell(recipe, size, scores, counts, same)
    judge(recipe, size, scores, same)
    recipe.picture(figure(size, scores))
    return {"buckets": size.buckets, "trained": size.trained, "texts": counts, "accuracy": scores, "agreement": same}


def tell(recipe: Recipe, size: Size, scores: dict[str, Any], counts: list[int], same: dict[str, Any]) -> None:
    heads = [f"{low}-{high}{'' if high <= size.trained else ' (longer)'}" for low, high in size.buckets]
    titles = {
        "sentiment": f"sentiment of texts by length in tokens, trained on 1 to {size.trained}",
        "order": f"which of two marks comes first, by length, trained on 2 to {size.trained}",
    }
    for task, found in scores.items():
        rows = [[position, *(f"{share:.1%}" for share in shares)] for position, shares in found.items()]
        rows += [["texts", *map(str, counts)]] if task == "sentiment" else []
        recipe.table(titles[task], ("position", *heads), rows)
    cells = [[name, f"{one['difference']:.1e}", f"{one['same']:.0%}"] for name, one in same.items()]
    recipe.table("100 texts of mixed length, against one by one", ("", "largest difference of a logit", "same class"), cells)


def judge(recipe: Recipe, size: Size, scores: dict[str, Any], same: dict[str, Any]) -> None:
    known = [place for place, (_, high) in enumerate(size.buckets) if high <= size.trained]
    for name, one in same.items():
        recipe.band(f"{name}: largest difference of a logit", one["difference"], 0.0, 1e-4)
        recipe.band(f"{name}: the same class", one["same"], 1.0)
    for position in scores["order"]:
        if position != "none":
            worst = min(scores["order"][position][place] for place in known)
            recipe.band(f"order, {position}: worst of the lengths that were trained", worst, 0.85 if recipe.small else 0.95)
    recipe.band(
        "order, learned: the longest inputs, whose positions were never trained", scores["order"]["learned"][-1], 0.0, 0.9
    )
    recipe.band(
        "sentiment, learned: lengths that were trained", max(scores["sentiment"]["learned"][place] for place in known), 0.6
    )


@drawn
def figure(size: Size, scores: dict[str, Any]) -> Figure:
    """One line per kind of position; lengths to the right of the dotted line did not occur in training."""
    picture = new_figure(9.2, 3.4, layout="constrained")
    panels: Sequence[Axes] = picture.subplots(1, 2, sharey=True)
    titles = {"sentiment": "sentiment: words matter, order hardly", "order": "which mark comes first: only positions tell"}
    for axes, (task, found) in zip(panels, sorted(scores.items()), strict=True):
        for place, (position, shares) in enumerate(found.items()):
            axes.plot(range(len(shares)), shares, "o-", markersize=4, color=HUES[place], label=position)
        edge = sum(high <= size.trained for _, high in size.buckets) - 0.5
        axes.axvline(edge, color="#8a8f98", linewidth=0.8, linestyle=":")
        axes.text(edge + 0.05, 0.42, "longer than\nin training", fontsize=8)
        axes.axhline(0.5, color="#8a8f98", linewidth=0.8)
        axes.set_xticks(range(len(size.buckets)), [f"{low}–{high}" for low, high in size.buckets])
        axes.set_xlabel("tokens")
        axes.set_title(titles[task])
        axes.set_ylim(0.4, 1.03)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    panels[0].legend(fontsize=8, title="position")
    return picture


if __name__ == "__main__":
    main("variable_length", __doc__, cook)
