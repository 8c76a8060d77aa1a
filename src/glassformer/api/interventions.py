"""The insight commands on the fast model in Python: what each part does, over data and for one text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer import arguments
from glassformer.errors import needs_torch
from glassformer.spec.checkpoint_folder import model_folder

if TYPE_CHECKING:
    from glassformer.insight.ablation import Ablation
    from glassformer.insight.saliency import Baseline, Method, Saliency
    from glassformer.insight.silencing import Kind


@needs_torch
def ablate(  # noqa: PLR0913 - one word an option of the command
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
    ffn and layer; `rows` the first so many of the part. With `folder`, finished rows are kept there, and the same call goes on
    after an interruption. The other words say how the data is read, as in `evaluate`.
    """
    from glassformer.encoding import streams
    from glassformer.encoding.jobs.identity import checkpoint_sha256
    from glassformer.insight.ablation import ablate as ablated
    from glassformer.insight.kept_rows import KeptRows
    from glassformer.insight.labelled import Labelled
    from glassformer.insight.progress import progress
    from glassformer.insight.silencing import KINDS
    from glassformer.training.data import load_data

    where = arguments.path("model", model)
    model_folder(where)
    chosen: list[Any] = [arguments.one_of("kinds", kind, KINDS) for kind in (kinds if kinds is not None else KINDS)]
    most = arguments.whole("rows", rows, least=1) if rows is not None else None
    on_bad: Any = "skip" if arguments.yes_no("skip_bad", skip_bad) else "refuse"
    found = load_data(data, text=text, label=label, resize=resize, split=split, seed=seed, on_bad=on_bad)
    loaded = streams.load_on(where, device=device, dtype=dtype, as_class=as_class)
    labelled = Labelled.of(loaded, found, part, most)
    kept = None
    if folder is not None:
        fingerprints = [one.fingerprint for one in labelled.splits]
        settings = {"model": checkpoint_sha256(where), "class": as_class, "data": fingerprints, "rows": len(labelled)}
        kept = KeptRows(arguments.path("folder", folder), settings | {"kinds": chosen, "dtype": dtype})
    with progress("rows", shown=show_progress) as told:
        return ablated(loaded, labelled, kinds=chosen, kept=kept, told=told)


@needs_torch
def saliency(  # noqa: PLR0913 - one word an option of the command
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
    completeness gap. `of` is class=LABEL or token=WORD, with `against=…` for a difference; by default what the model predicts.
    `steps=None` takes as many as bring the gap below half a percent. `baseline` is where integrated gradients start.
    """
    from glassformer.encoding import streams
    from glassformer.insight.saliency import saliency as scored

    where = arguments.path("model", model)
    model_folder(where)
    loaded = streams.load_on(where, device=device, dtype=dtype, as_class=as_class)
    return scored(loaded, text, of=of, method=method, steps=steps, baseline=baseline)
