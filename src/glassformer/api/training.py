"""The training commands in Python other than `train` and `resume`: learning curves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.arguments import whole, yes_no

if TYPE_CHECKING:
    from glassformer.show.notebook.learning import Curves
    from glassformer.training.data.dataset import RowsFor
    from glassformer.training.data.description import Description
    from glassformer.training.data.row_options import Goal, OnBad


def curves(*runs: str | Path) -> Curves:
    """Plot the learning curves of run folders on shared axes: `gf.curves("runs/digits-1")`."""
    from glassformer.show.notebook import learning

    return learning.curves(*runs)


def data_sets() -> list[dict[str, Any]]:
    """Return the built-in datasets: name, title, task, rows, labels, licence, source, and the accuracy of a linear model."""
    from glassformer.training.data.sets import SETS, card, labels

    return [
        {
            "name": name,
            "title": card(name).title,
            "task": built_in.task,
            "rows": card(name).rows(name),
            "labels": list(labels(name)),
            "licence": card(name).provenance.licence,
            "source": card(name).provenance.source,
            "baseline": card(name).provenance.baseline,
            "to_beat": built_in.to_beat,
        }
        for name, built_in in SETS.items()
    ]


def data(  # noqa: PLR0913 - one argument for each option of the command
    name: str | Path,
    *,
    rows: int = 5,
    text: str = "text",
    label: str | None = "label",
    target: str | None = None,
    resize: int | None = None,
    split: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int = 0,
    skip_bad: bool = False,
    task: Goal = "auto",
) -> Description:
    """Describe a dataset: `gf.data("topic", rows=3)`, `gf.data("reviews.csv", text="review", label="stars")`.

    The result has rows per part and label, lengths, and the first training rows. `label=None` means plain text; `task` is the
    type of the labels, as in `train`. Data without parts is split by `seed` into the shares `split`.
    `glassformer.training.data.load_data` returns the data itself.
    """
    from glassformer.training.data import load_data
    from glassformer.training.data.description import describe

    on_bad: OnBad = "skip" if yes_no("skip_bad", skip_bad) else "refuse"
    rows_for: RowsFor | None = "seq2seq" if target is not None else None
    found = load_data(
        name,
        text=text,
        label=label,
        target=target,
        rows_for=rows_for,
        resize=resize,
        split=split,
        seed=seed,
        on_bad=on_bad,
        task=task,
    )
    return describe(found, rows=whole("rows", rows, most=1000))
