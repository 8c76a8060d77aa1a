"""The same classifier trained for 10, 30 and 50 epochs: three curves on shared axes, and overfitting named where it is.

python recipes/epochs.py
"""

from __future__ import annotations

from typing import Any

from recipe import Recipe, main

from glassformer.show.curves import curves_figure, curves_table, read_curve
from glassformer.show.terminal import show_on_terminal
from glassformer.training.data import load_data
from glassformer.training.fitting import small_spec, tokenizer_for
from glassformer.training.loop import train
from glassformer.training.runs import Run
from glassformer.training.settings import Settings


class Watch:
    """Looks on, and says a line every few seconds."""

    def __init__(self, recipe: Recipe, name: str) -> None:
        self.recipe, self.name, self.total = recipe, name, 0

    def say(self, line: str) -> None:
        self.recipe.say(line)

    def start(self, step: int, total: int) -> None:
        self.total = total - step

    def step(self, figures: dict[str, Any]) -> None:
        where = f"{self.name}: step {figures['step']}/{self.total}, epoch {figures['epoch']}"
        self.recipe.progress(lambda: f"{where}  loss {figures['loss']:.4f}")

    def epoch(self, figures: dict[str, Any]) -> None:
        pass


def cook(recipe: Recipe) -> dict[str, Any]:
    name, counts = ("digits", (1, 3, 6)) if recipe.small else ("topic", (10, 30, 50))
    data = load_data(name)
    suited = {"batch_size": 32, "lr": 3e-3} if recipe.small else {"batch_size": 64, "lr": 1e-3, "max_length": 64, "vocab": 3000}
    settings = Settings(seed=recipe.seed, **suited)
    tokenizer = tokenizer_for(data, settings)
    spec = small_spec(data, tokenizer, settings).replace(d_model=32, layers=2 if recipe.small else 1)
    curves, results = [], []
    for epochs in counts:
        folder = recipe.fresh(f"epochs-{epochs}")
        run = Run.create(folder, spec, settings.replace(epochs=epochs), tokenizer, data, source={"what": name})
        end = train(run, data, Watch(recipe, f"{epochs} epochs"))
        curves.append(read_curve(folder, name=f"{epochs} epochs"))
        results.append(curves[-1].to_dict() | {"test_accuracy": end["test"]["accuracy"], "seconds": end["seconds"]})
    show_on_terminal(curves_table(curves))
    cells = [[row["run"], f"{row['test_accuracy']:.1%}", f"{row['seconds']:.1f}"] for row in results]
    recipe.table("", ("run", "test accuracy of its best epoch", "seconds"), cells)
    recipe.picture(curves_figure(curves))
    return judged(recipe, results) | {"data": name, "spec": spec.to_dict(), "settings": settings.to_dict()}


def judged(recipe: Recipe, results: list[dict[str, Any]]) -> dict[str, Any]:
    """More epochs always improve the fit to the training rows; the question is their effect on held-out rows."""
    first, *_, last = results
    recipe.band(
        "training loss, the longest run's share of the shortest one's", last["train_loss"] / first["train_loss"], 0.0, 0.9
    )
    recipe.band("test accuracy, the longest run", last["test_accuracy"], 0.85 if recipe.small else 0.87)
    if not recipe.small:
        recipe.band("the longest run overfits (its validation loss turned)", float(last["overfits"]), 1.0)
    return {"runs": results}


if __name__ == "__main__":
    main("epochs", __doc__, cook)
