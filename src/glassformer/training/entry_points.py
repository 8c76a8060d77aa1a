"""The functions `train` and `resume`: from data, a model and settings to a finished run.

gf.train("digits", epochs=5)
gf.train("topic", "d_model=256 layers=4", epochs=[10, 30, 50], out="runs/topic")
gf.train("topic", "models/minilm", train_only="head")
gf.resume("runs/digits-1", lr=1e-4)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from glassformer.arguments import path, yes_no
from glassformer.configs.reading import is_there, split_words
from glassformer.errors import GlassformerError, needs_torch, shown
from glassformer.spec import EncoderSpec, field_rules
from glassformer.training.data import SETS, load_data
from glassformer.training.data.load import SHARES
from glassformer.training.data.parallel import is_plain
from glassformer.training.data.row_options import Goal
from glassformer.training.settings import Settings, epoch_counts, require_free, require_settings, setting_rules

if TYPE_CHECKING:
    from glassformer.training.keywords import FreeSettings, GivenSettings, TrainKeywords
    from glassformer.training.loggers import Callback, Logger, LogTo
    from glassformer.training.result import Trained, TrainedRuns


@overload
def train(
    data: str | Path,
    model: str | Path | EncoderSpec | Mapping[str, Any] | None = None,
    *,
    epochs: int | None = None,
    **options: Unpack[TrainKeywords],
) -> Trained: ...


@overload
def train(
    data: str | Path,
    model: str | Path | EncoderSpec | Mapping[str, Any] | None = None,
    *,
    epochs: Sequence[int],
    **options: Unpack[TrainKeywords],
) -> TrainedRuns: ...


@needs_torch
def train(  # noqa: PLR0913 - one parameter per option of the command
    data: str | Path,
    model: str | Path | EncoderSpec | Mapping[str, Any] | None = None,
    *,
    fields: Mapping[str, Any] | None = None,
    epochs: int | Sequence[int] | None = None,
    out: str | Path | None = None,
    text: str = "text",
    label: str | None = "label",
    task: Goal = "auto",
    target: str | None = None,
    resize: int | None = None,
    split: tuple[float, ...] = SHARES,
    skip_bad: bool = False,
    log_to: LogTo | Sequence[LogTo] = (),
    loggers: Sequence[Logger | Callback] = (),
    progress: bool = True,
    **settings: Unpack[GivenSettings],
) -> Trained | TrainedRuns:
    """Train a model on a built-in dataset or your own data: `gf.train("digits", epochs=5)`.

    `model` is a spec (`"bert-tiny layers=2"`), a folder with weights to start from, or None, which chooses a small one for
    the data. `fields` changes the spec. A list of `epochs` (`[10, 30, 50]`) trains one run for each. `text`, `label`, `task`,
    `target` (translations), `resize`, `split` and `skip_bad` say how the data is read (`label=None`: plain text; `text="a,b"`:
    two texts in a row). The other keywords are the settings of `glassformer train --help`. A signal saves the run.
    """
    _check_settings(settings, train)
    model, fields = _model_and_fields(model, fields)
    counts = [] if epochs is None else epoch_counts(epochs)
    Settings(**settings)  # report mistakes before reading any data
    _prepare_torch()
    from glassformer.training import running
    from glassformer.training.choosing import check_choice
    from glassformer.training.distributed.processes import from_first
    from glassformer.training.fitting import names_checkpoint, rows_for
    from glassformer.training.runs import next_name

    reporting = running.Reporting(yes_no("progress", progress), log_to, loggers)
    check_choice(settings, checkpoint=names_checkpoint(model))
    source: dict[str, Any] = {"text": text, "label": label, "task": task, "target": target, "resize": resize, "split": split}
    source |= {"on_bad": "skip" if yes_no("skip_bad", skip_bad) else "refuse", "rows_for": rows_for(model, data, target)}
    rows = load_data(data, **source)
    source |= _located(data, target)
    reporting.notes(rows.notes)
    folder = path("out", out) if out is not None else from_first(lambda: next_name(rows.name))
    running.make_above(folder)
    planned = running.plan(rows, model, fields, settings)
    if len(counts) > 1 or not isinstance(epochs, int | str | None):
        return running.train_several(planned, counts, rows, source, folder, reporting)
    return running.train_new(planned.with_epochs(counts[0]) if counts else planned, rows, source, folder, reporting)


@needs_torch
def resume(
    folder: str | Path,
    *,
    data: str | Path | None = None,
    log_to: LogTo | Sequence[LogTo] = (),
    loggers: Sequence[Logger | Callback] = (),
    progress: bool = True,
    **settings: Unpack[FreeSettings],
) -> Trained:
    """Resume a run that was stopped or killed, bit for bit as if it had never stopped: `gf.resume("runs/digits-1")`.

    Settings given here apply from the next step on. `data` is the new location of the data, if it was moved.
    """
    _check_settings(settings, resume)
    require_free(settings)
    _prepare_torch()
    from glassformer.training import running
    from glassformer.training.runs import Run

    reporting = running.Reporting(yes_no("progress", progress), log_to, loggers)
    run = Run.open(path("folder", folder))
    source = run.about["data"]["source"]
    try:
        rows = load_data(**source | ({} if data is None else {"what": data}))
    except GlassformerError as error:
        raise GlassformerError(f"cannot resume, its data cannot be read: {error} If it was moved: --data PATH.") from None
    return running.train_on(run, rows, settings, reporting)


def _check_settings(settings: Mapping[str, Any], function: Any) -> None:
    """Raise an error for a name that is not a setting; for a field of the encoder, say where to give it."""
    for name, value in settings.items():
        if name not in setting_rules() and name in field_rules() and function is train:
            raise GlassformerError(
                f"{name}={shown(value)} is a field of the encoder, not a setting: give fields={{'{name}': {shown(value)}}}."
            )
    require_settings(settings, also=[name for name in signature(function).parameters if name != "settings"])


def _model_and_fields(model: Any, given: Mapping[str, Any] | None) -> tuple[Any, dict[str, Any]]:
    """`"bert-tiny layers=2"`, or `"layers=2"` alone, as a name and fields; anything else is returned unchanged."""
    if given is not None and not isinstance(given, Mapping):
        raise GlassformerError(f"fields={shown(given)} is not allowed: fields must be a mapping, such as {{'layers': 2}}.")
    fields = dict(given or {})
    if not isinstance(model, str) or "=" not in model or is_there(model):
        return model, fields
    words = model.split()
    named = "=" not in words[0]
    ((name, written),) = split_words(words if named else ["small", *words], count=1)
    if twice := sorted(written.keys() & fields.keys()):
        raise GlassformerError(f"{shown(twice[0])} is given twice, in the model string and in fields: give it once.")
    return name if named else None, written | fields


def _located(data: str | Path, target: str | None) -> dict[str, str | None]:
    """Return the data, and a second file, in a form that holds wherever the run is resumed."""
    known = str(data) in SETS or not Path(data).exists()
    second = str(Path(target).absolute()) if target is not None and is_plain(Path(data)) else target
    return {"what": str(data) if known else str(Path(data).absolute()), "target": second}


def _prepare_torch() -> None:
    """Before torch is imported, make waiting OpenMP threads sleep instead of spin, unless the user chose a policy.

    On a busy machine, spinning made training ten times slower.
    """
    if "torch" not in sys.modules:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
