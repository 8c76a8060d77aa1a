"""Transformer against CNN at like parameter count: on images, and where the answer depends on two tokens far apart.

python recipes/transformer_vs_cnn.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from recipe import Recipe, descend, main, parameters
from torch import Tensor, nn
from torch.nn import functional

import glassformer as gf
from glassformer.show.curves import HUES
from glassformer.show.figures import Figure, drawn, new_figure
from glassformer.training.data import load_data
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.examples import Batch
from glassformer.training.data.prepare import prepare

LIKE = 0.02  # how far apart two counts of parameters may be


class ImageConvolutions(nn.Module):
    """The usual small CNN: three convolutions, a pooling after the first two, the mean over the image, classes."""

    def __init__(self, width: int, channels: int, classes: int) -> None:
        super().__init__()
        sizes = (channels, 16, width, width)
        self.layers = nn.ModuleList(nn.Conv2d(sizes[i], sizes[i + 1], 3, padding=1) for i in range(3))
        self.norms = nn.ModuleList(nn.BatchNorm2d(size) for size in sizes[1:])
        self.classes = nn.Linear(sizes[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        for place, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            x = functional.relu(norm(layer(x)))
            x = functional.max_pool2d(x, 2) if place < 2 else x
        return self.classes(x.mean((2, 3)))


class TokenConvolutions(nn.Module):
    """Causal convolutions with residual connections; the last token is read, as in the Transformer."""

    def __init__(self, width: int, task: FarApart, dilations: Sequence[int]) -> None:
        super().__init__()
        self.table = nn.Embedding(task.vocab, width)
        self.layers = nn.ModuleList(nn.Conv1d(width, width, task.kernel, dilation=step) for step in dilations)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in dilations)
        self.classes = nn.Linear(width, 2)
        self.field = 1 + (task.kernel - 1) * sum(dilations)  # the receptive field of the last token, including itself

    def forward(self, tokens_BT: Tensor) -> Tensor:
        x_BTD = self.table(tokens_BT)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            reach = layer.dilation[0] * (layer.kernel_size[0] - 1)
            x_BTD = x_BTD + functional.gelu(layer(functional.pad(norm(x_BTD).mT, (reach, 0))).mT)
        return self.classes(x_BTD[:, -1])


class Transformer(nn.Module):
    """An encoder, as a function from inputs to logits."""

    def __init__(self, spec: gf.EncoderSpec) -> None:
        super().__init__()
        self.encoder = gf.Encoder(spec)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.encoder(inputs).logits


def alike(make: Callable[[int], nn.Module], wanted: int) -> nn.Module:
    """The model of the width whose count of parameters comes nearest to `wanted`."""
    with torch.device("meta"):  # counted without a number of it
        width = min(range(2, 200), key=lambda width: abs(parameters(make(width)) - wanted))
    return make(width)


@dataclass(frozen=True)
class FarApart:
    """Noise, one marked token, and a last token that asks: do the two carry the same bit? Neither alone tells anything."""

    length: int
    kernel: int
    dilations: tuple[int, ...]  # of the CNN that sees everything; the plain one has the same number of layers
    noise: int = 8

    @property
    def vocab(self) -> int:
        return self.noise + 4  # a marked 0 and 1, an asking 0 and 1

    def rows(self, count: int, away: int | None = None) -> tuple[Tensor, Tensor]:
        """Tokens and labels; the two tokens are `away` from each other, or anything from 1 to length - 1."""
        tokens_BT = torch.randint(self.noise, (count, self.length))
        mark_B, ask_B = torch.randint(2, (2, count))
        away_B = torch.randint(1, self.length, (count,)) if away is None else torch.full((count,), away)
        tokens_BT[torch.arange(count), self.length - 1 - away_B] = self.noise + mark_B
        tokens_BT[:, -1] = self.noise + 2 + ask_B
        return tokens_BT, (mark_B == ask_B).long()


def far_apart(recipe: Recipe) -> dict[str, Any]:
    """Accuracy by the distance of the two tokens."""
    task = FarApart(20, 3, (1, 2, 4, 8)) if recipe.small else FarApart(64, 5, (1, 2, 4, 9))
    steps, count, d_model = (320, 400, 24) if recipe.small else (1200, 1000, 32)
    spec = gf.EncoderSpec(
        d_model=d_model,
        heads=4,
        layers=2,
        vocab=task.vocab,
        position="learned",
        positions=task.length,
        norm="pre",
        activation="gelu",
        pool="last",
        head="classify",
        classes=2,
        dropout=0.0,
    )
    wanted = gf.count(spec).total
    plain = alike(lambda width: TokenConvolutions(width, task, [1] * len(task.dilations)), wanted)
    wide = alike(lambda width: TokenConvolutions(width, task, task.dilations), wanted)
    models = {"Transformer": Transformer(spec), f"CNN, sees {plain.field}": plain, f"dilated CNN, sees {wide.field}": wide}
    places = sorted({*range(1, plain.field + 3), *range(plain.field + 3, task.length, 4), task.length - 1})
    results = {}
    for name, model in models.items():
        losses = (functional.cross_entropy(model(tokens), labels) for tokens, labels in iter(lambda: task.rows(64), None))
        model.train()
        for step, loss in enumerate(descend(model, losses, steps, lr=3e-3), 1):
            recipe.progress(lambda name=name, step=step, loss=loss: f"{name}: step {step}/{steps}  loss {loss:.4f}")
        by_distance = {away: share_right(model, *task.rows(count, away)) for away in places}
        results[name] = {"parameters": parameters(model), "field": getattr(model, "field", task.length), "accuracy": by_distance}
    reach = plain.field - 1
    for name, found in results.items():
        recipe.band(f"{name}: parameters against the Transformer's", found["parameters"] / wanted, 1 - LIKE, 1 + LIKE)
    within, beyond = (
        {
            name: mean(value for away, value in found["accuracy"].items() if (away <= reach) == near)
            for name, found in results.items()
        }
        for near in (True, False)
    )
    cells = [
        [name, f"{found['parameters']:,}", f"{found['field']}", f"{within[name]:.1%}", f"{beyond[name]:.1%}"]
        for name, found in results.items()
    ]
    title = f"do two tokens carry the same bit? {task.length} tokens, chance is 50%"
    recipe.table(title, ("", "parameters", "sees tokens", f"1 to {reach} apart", f"{reach + 1} and more"), cells)
    first, second, third = results
    low = 0.9 if recipe.small else 0.97
    recipe.band("Transformer, at its worst distance", min(results[first]["accuracy"].values()), low)
    recipe.band("CNN, mean within its field", within[second], low)
    recipe.band("CNN, mean beyond its field", beyond[second], 0.45, 0.55)
    recipe.band("dilated CNN, mean beyond the plain one's field", beyond[third], low)
    return {"length": task.length, "reach": reach, "models": results}


def images(recipe: Recipe) -> dict[str, Any]:
    """Accuracy by epoch on a built-in set, the same loop and batches for both."""
    data = load_data("digits" if recipe.small else "fashion-mnist-small")
    epochs, size = (5, 16) if recipe.small else (10, 32)
    channels, height, _ = data.train.inputs.shape
    spec = gf.EncoderSpec(
        d_model=32 if recipe.small else 64,
        heads=4,
        layers=2 if recipe.small else 3,
        image=height,
        channels=channels,
        patch=4 if recipe.small else 7,
        position="learned",
        norm="pre",
        activation="gelu",
        embedding_norm=True,
        pool="mean",
        head="classify",
        classes=len(data.labels),
        dropout=0.0,
    )
    wanted = gf.count(spec).total
    convolutions = alike(lambda width: ImageConvolutions(width, channels, len(data.labels)), wanted)
    results = {}
    for name, model in {"Transformer": Transformer(spec), "CNN": convolutions}.items():
        stream = BatchStream(prepare(data.train), batch_size=size, seed=recipe.seed)
        steps, curve = stream.steps(0), []
        losses = (loss_of(model, batch) for _ in range(epochs) for batch in stream)
        for step, _ in enumerate(descend(model, losses, steps * epochs, lr=3e-3), 1):
            if step % steps == 0:
                curve.append(right_on(model, BatchStream(prepare(data.validation), batch_size=500)))
                recipe.say(f"{data.name}, {name}: epoch {step // steps}/{epochs}  validation accuracy {curve[-1]:.1%}")
        test = right_on(model, BatchStream(prepare(data.test), batch_size=500))
        results[name] = {"parameters": parameters(model), "validation": curve, "test": test}
    cells = [[name, f"{found['parameters']:,}", f"{found['test']:.1%}"] for name, found in results.items()]
    recipe.table(f"{data.name}, {epochs} epochs", ("", "parameters", "test accuracy"), cells)
    counts = [found["parameters"] for found in results.values()]
    recipe.band(f"{data.name}: CNN's parameters against the Transformer's", counts[1] / counts[0], 1 - LIKE, 1 + LIKE)
    expected = {"Transformer": 0.8, "CNN": 0.93} if recipe.small else {"Transformer": 0.77, "CNN": 0.83}
    for name, found in results.items():
        recipe.band(f"{data.name}: {name}, test accuracy", found["test"], expected[name])
    return {"data": data.name, "models": results}


def loss_of(model: nn.Module, batch: Batch) -> Tensor:
    model.train()
    return functional.cross_entropy(model(batch.inputs), batch.labels)


def right_on(model: nn.Module, stream: BatchStream) -> float:
    """The share of right answers over a whole part."""
    counts = [(len(batch.labels), share_right(model, batch.inputs, batch.labels)) for batch in stream.batches()]
    return sum(rows * share for rows, share in counts) / sum(rows for rows, _ in counts)


@torch.no_grad()
def share_right(model: nn.Module, inputs: Tensor, labels: Tensor) -> float:
    model.eval()
    return float((model(inputs).argmax(-1) == labels).float().mean())


def mean(values: Iterator[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def cook(recipe: Recipe) -> dict[str, Any]:
    found = {"far_apart": far_apart(recipe), "images": images(recipe)}
    recipe.picture(figure(found))
    return found


@drawn
def figure(found: dict[str, Any]) -> Figure:
    """Accuracy by distance to the left, accuracy by epoch to the right."""
    picture = new_figure(9.2, 3.6, layout="constrained")
    by_distance, by_epoch = picture.subplots(1, 2, width_ratios=(3, 2))
    for place, (name, one) in enumerate(found["far_apart"]["models"].items()):
        wide = {"linewidth": 5, "alpha": 0.35} if place == 2 else {}  # it is hidden by the Transformer's line
        by_distance.plot(list(one["accuracy"]), list(one["accuracy"].values()), color=HUES[place], label=name, **wide)
    reach = found["far_apart"]["reach"]
    by_distance.axvline(reach + 0.5, color="#8a8f98", linewidth=0.8, linestyle=":")
    by_distance.annotate("the plain CNN's field ends", (reach + 0.5, 0.9), (5, 0), textcoords="offset points", fontsize=8)
    by_distance.axhline(0.5, color="#8a8f98", linewidth=0.8)
    by_distance.set_title("two tokens, far apart: accuracy by distance")
    by_distance.set_xlabel(f"distance of the two, in {found['far_apart']['length']} tokens")
    by_distance.legend(fontsize=8, loc="center right")
    for place, (name, one) in enumerate(found["images"]["models"].items()):
        epochs = range(1, len(one["validation"]) + 1)
        by_epoch.plot(epochs, one["validation"], color=HUES[place], label=f"{name}, {one['parameters']:,}")
    by_epoch.set_title(f"{found['images']['data']}: validation accuracy")
    by_epoch.set_xlabel("epoch")
    by_epoch.legend(fontsize=8, loc="lower right")
    by_distance.set_ylim(0.4, 1.03)
    for axes in (by_distance, by_epoch):
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    return picture


if __name__ == "__main__":
    main("transformer_vs_cnn", __doc__, cook)
