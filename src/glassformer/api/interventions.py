"""The insight commands on the PyTorch model in Python: ablate, saliency, lens, patch, probe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer import arguments
from glassformer.checkpoints.folder import model_folder
from glassformer.errors import needs_torch

if TYPE_CHECKING:
    from glassformer.insight.ablation import Ablation
    from glassformer.insight.lens import Lens
    from glassformer.insight.lens_data import LensOverData
    from glassformer.insight.patching import Patching, Where
    from glassformer.insight.probing import Probes
    from glassformer.insight.saliency import Baseline, Method, Saliency
    from glassformer.insight.silencing import Kind
    from glassformer.model import LoadedModel
    from glassformer.training.data.dataset import Dataset


@needs_torch
def ablate(  # noqa: PLR0913 - one argument for each option of the command
    model: str | Path,
    data: str | Path,
    *,
    kinds: Sequence[Kind] | None = None,
    part: str = "test",
    rows: int | None = None,
    folder: str | Path | None = None,
    text: str = "text",
    label: str = "label",
    resize: int | None = None,
    split: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int = 0,
    skip_bad: bool = False,
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
    show_progress: bool = False,
) -> Ablation:
    """Silence each head, feed-forward block and layer in turn: `gf.ablate("runs/topic-1", "topic").free()`.

    The result has the change of accuracy and loss without each part, with 95% bootstrap intervals over rows. `kinds` are head,
    ffn and layer; `rows` limits the part to its first rows. With `folder`, finished rows are saved there, and the same call
    continues after an interruption. The other arguments define how the data is read, as in `evaluate`.
    """
    from glassformer.encoding import streams
    from glassformer.encoding.jobs.identity import checkpoint_sha256
    from glassformer.insight.ablation import ablate as ablated
    from glassformer.insight.kept_rows import KeptRows
    from glassformer.insight.labelled import Labelled
    from glassformer.insight.progress import progress
    from glassformer.insight.silencing import KINDS

    where = arguments.path("model", model)
    model_folder(where)
    chosen: list[Any] = [arguments.one_of("kinds", kind, KINDS) for kind in (kinds if kinds is not None else KINDS)]
    most = arguments.whole("rows", rows, least=1) if rows is not None else None
    found = _read(data, skip_bad=skip_bad, text=text, label=label, resize=resize, split=split, seed=seed)
    loaded = streams.load_on(where, device=device, dtype=dtype, as_class=as_class)
    labelled = Labelled.of(loaded, found, part, most)
    kept = None
    if folder is not None:
        fingerprints = [one.fingerprint for one in labelled.splits]
        settings = {"model": checkpoint_sha256(where), "class": as_class, "data": fingerprints, "rows": len(labelled)}
        kept = KeptRows(arguments.path("folder", folder), settings | {"kinds": chosen, "dtype": dtype})
    with progress("rows", shown=show_progress) as on_progress:
        return ablated(loaded, labelled, kinds=chosen, kept=kept, on_progress=on_progress)


@needs_torch
def saliency(  # noqa: PLR0913 - one argument for each option of the command
    model: str | Path,
    text: str,
    *,
    of: str | None = None,
    method: Method = "integrated",
    steps: int | None = None,
    baseline: Baseline = "padding",
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
) -> Saliency:
    """Score the tokens, words and heads of a text for one logit: `gf.saliency("runs/topic-1", "Shares fell").words`.

    `method` is integrated (integrated gradients), gradient (gradient × input) or rollout (attention rollout); each comes with its
    completeness gap. `of` is class=LABEL or token=WORD, with `against=…` for a difference; by default the prediction.
    `steps=None` increases the number of steps until the gap is below half a percent. `baseline` is the starting point of
    integrated gradients.
    """
    from glassformer.insight.saliency import saliency as scored

    loaded = _loaded(model, device=device, dtype=dtype, as_class=as_class)
    return scored(loaded, text, of=of, method=method, steps=steps, baseline=baseline)


@needs_torch
def lens(
    model: str | Path,
    text: str,
    *,
    guesses: int = 5,
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
) -> Lens:
    """Logit lens: apply the head to the hidden states of each layer: `gf.lens("runs/topic-1", "Shares fell").answers`.

    The hidden states of every layer pass through the final norm (with their own statistics), the pooler and the head.
    `guesses` is the number of best classes or tokens per layer.
    """
    from glassformer.insight.lens import lens as read

    return read(_loaded(model, device=device, dtype=dtype, as_class=as_class), text, guesses=guesses)


@needs_torch
def lens_over(  # noqa: PLR0913 - one argument for each option of the command
    model: str | Path,
    data: str | Path,
    *,
    part: str = "test",
    rows: int | None = None,
    text: str = "text",
    label: str = "label",
    split: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int = 0,
    skip_bad: bool = False,
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
    show_progress: bool = False,
) -> LensOverData:
    """Logit lens on labelled data: the accuracy of each layer: `gf.lens_over("runs/topic-1", "topic").depths[3].accuracy`.

    Accuracy has a 95% interval. `rows` limits the part to its first rows; the other arguments define how the data is read,
    as in `evaluate`.
    """
    from glassformer.insight.labelled import Labelled
    from glassformer.insight.lens_data import lens_over as read
    from glassformer.insight.progress import progress

    most = arguments.whole("rows", rows, least=1) if rows is not None else None
    model_folder(arguments.path("model", model))
    found = _read(data, skip_bad=skip_bad, text=text, label=label, split=split, seed=seed)
    loaded = _loaded(model, device=device, dtype=dtype, as_class=as_class)
    with progress("rows", shown=show_progress) as on_progress:
        return read(loaded, Labelled.of(loaded, found, part, most, "lens"), on_progress=on_progress)


@needs_torch
def patch(
    model: str | Path,
    clean: str,
    corrupt: str,
    *,
    of: str | None = None,
    at: Where = "layers",
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
) -> Patching:
    """Copy activations of a clean text into the run of a corrupt one: `gf.patch(model, "Shares fell", "Leaves fell").restored`.

    One layer and position is patched at a time; `at` is layers, attention or ffn. Results are scaled: 0 is the value for the
    corrupt text, 1 that for the clean one. `of` is class=LABEL or token=WORD; by default the difference between the predictions
    for the clean and the corrupt text.
    """
    from glassformer.insight.patching import patch as patched

    return patched(_loaded(model, device=device, dtype=dtype, as_class=as_class), clean, corrupt, of=of, at=at)


@needs_torch
def probe(  # noqa: PLR0913 - one argument for each option of the command
    model: str | Path,
    data: str | Path,
    *,
    rows: int | None = None,
    text: str = "text",
    label: str = "label",
    split: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int = 0,
    skip_bad: bool = False,
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
) -> Probes:
    """Fit a linear probe on the hidden states of each layer: `gf.probe("bert", "topic").probes[3].selectivity`.

    Each probe has its accuracy on test texts and on a control task, with 95% intervals. `rows` limits the texts of each part;
    the other arguments define how the data is read, as in `evaluate`.
    """
    from glassformer.insight.probing import probe as probed

    most = arguments.whole("rows", rows, least=1) if rows is not None else None
    model_folder(arguments.path("model", model))
    found = _read(data, skip_bad=skip_bad, text=text, label=label, split=split, seed=seed)
    loaded = _loaded(model, device=device, dtype=dtype, as_class=as_class, uses=())
    return probed(loaded, found, rows=most, seed=seed)


def _read(data: str | Path, *, skip_bad: bool, **how: Any) -> Dataset:
    from glassformer.training.data import load_data

    return load_data(data, on_bad="skip" if arguments.yes_no("skip_bad", skip_bad) else "refuse", **how)


def _loaded(model: str | Path, *, uses: tuple[str, ...] = ("pooler", "head"), **options: Any) -> LoadedModel:
    from glassformer.encoding import streams

    where = arguments.path("model", model)
    model_folder(where)
    return streams.load_on(where, uses=uses, **options)
