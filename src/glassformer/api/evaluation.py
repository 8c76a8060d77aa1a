"""The command `evaluate` in Python: a model against labelled data, translations or texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.arguments import path, whole, yes_no
from glassformer.checkpoints.folder import RUN, model_folder, spec_of
from glassformer.errors import GlassformerError, needs_torch
from glassformer.files.documents import read_document
from glassformer.files.paths import path_text
from glassformer.spec import DecoderSpec, Seq2SeqSpec

if TYPE_CHECKING:
    from glassformer.encoding.evaluation import Evaluation
    from glassformer.encoding.measures import Measured
    from glassformer.training.data.dataset import Dataset, RowsFor
    from glassformer.training.data.row_options import Goal

BEAMS = 4  # beam width of scored translations, as at the end of a run


@needs_torch
def evaluate(  # noqa: PLR0913 - one argument for each option of the command
    model: str | Path,
    data: str | Path | None = None,
    *,
    part: str = "test",
    text: str = "text",
    label: str = "label",
    target: str | None = None,
    resize: int | None = None,
    split: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int = 0,
    skip_bad: bool = False,
    worst: int = 10,
    batch_tokens: int | None = None,
    dtype: str = "float32",
    device: str | None = None,
    as_class: str | None = None,
    task: Goal = "auto",
    beams: int | None = None,
    max_new_tokens: int | None = None,
    max_length: int | None = None,
) -> Evaluation | Measured:
    """Evaluate a model on data: `gf.evaluate("runs/topic-1", "topic").accuracy`.

    `model` is a model folder or a run, whose best weights are used. `part` is train, validation, test, an extra part of the data
    or `all`. The other arguments define how the data is read, as in `train`: with the same arguments, `test` contains the rows
    not used for training. Without `data`, a run is evaluated on its own test data.

    The result of a classifier has accuracy and macro-F1 with 95% intervals, calibration, the confusion matrix, precision,
    recall and F1 of each label, and the `worst` mistakes, those with the highest probability. Results of other models have
    `figures`: correlations and errors of regression, F1 of multilabel models, MRR@10 and recall of embeddings, BLEU, chrF and
    loss of translations (with `beams`, by default 4, and `max_new_tokens` as in `translate`), and loss and perplexity of a
    decoder, which splits long texts into segments of `max_length` tokens.
    """
    from glassformer.training.data import load_data

    folder, worst = path("model", model), whole("worst", worst, most=10_000)
    model_folder(folder)
    reading: dict[str, Any] = {"text": text, "label": label, "target": target, "resize": resize, "split": split, "seed": seed}
    reading |= {"task": task, "on_bad": "skip" if yes_no("skip_bad", skip_bad) else "refuse"}
    kind = _kind(folder, as_class)
    _check_words(kind, target=target, beams=beams, max_new_tokens=max_new_tokens, max_length=max_length)
    rows = load_data(**_source(folder, data, reading | ({"rows_for": kind} if kind != "encoder" else {})))
    loading: dict[str, Any] = {"device": device, "dtype": dtype}
    if kind == "seq2seq":
        return _translations(folder, rows, part, worst, beams, max_new_tokens, loading, batch_tokens)
    if kind == "decoder":
        return _texts(folder, rows, part, worst, max_length, loading, batch_tokens)
    return _predictions(folder, rows, part, worst, loading | {"as_class": as_class}, batch_tokens)


def _kind(folder: Path, as_class: str | None) -> RowsFor:
    spec = None if as_class is not None else spec_of(folder)
    return "seq2seq" if isinstance(spec, Seq2SeqSpec) else "decoder" if isinstance(spec, DecoderSpec) else "encoder"


def _check_words(kind: RowsFor, **words: Any) -> None:
    """Refuse arguments that are only for another kind of model."""
    takes = {"encoder": (), "decoder": ("max_length",), "seq2seq": ("target", "beams", "max_new_tokens")}
    kinds = {"encoder": "an encoder", "decoder": "a decoder", "seq2seq": "an encoder-decoder"}
    for name, value in words.items():
        if value is not None and name not in takes[kind]:
            owner = next(one for one, names in takes.items() if name in names)
            raise GlassformerError(
                f"{name} (--{name.replace('_', '-')}) is for {kinds[owner]}, but the model is {kinds[kind]}: leave it out."
            )


def _source(folder: Path, data: str | Path | None, reading: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `load_data`: the given data, or that of the run."""
    if data is not None:
        return {"what": data, **reading}
    if not (folder / RUN).is_file():
        raise GlassformerError(
            f"no data is given, and {path_text(folder)} is not a run with its own data: name the data after the model, "
            "as in evaluate MODEL DATA."
        )
    source: dict[str, Any] = read_document(folder / RUN)["data"]["source"]
    return source


def _predictions(
    folder: Path, data: Dataset, part: str, worst: int, loading: dict[str, Any], batch_tokens: int | None
) -> Evaluation | Measured:
    from glassformer.encoding import streams
    from glassformer.encoding.evaluation import EVERY, evaluation
    from glassformer.encoding.measures import MEASURES, measured

    if part != EVERY:
        data.part(part)  # report a misspelt part before the model is loaded
    loaded = streams.load_on(folder, **loading)
    how = measured if data.task in MEASURES else evaluation
    return how(loaded, data, part, worst, batch_tokens=batch_tokens)


def _translations(
    folder: Path,
    data: Dataset,
    part: str,
    worst: int,
    beams: int | None,
    most: int | None,
    loading: dict[str, Any],
    batch_tokens: int | None,
) -> Measured:
    from glassformer.api.generation import translator_for
    from glassformer.encoding.writing import of_translations

    translator, choice = translator_for(folder, loading, beams=BEAMS if beams is None else beams, max_new_tokens=most)
    return of_translations(translator, data, part, worst, choice, batch_tokens)


def _texts(
    folder: Path,
    data: Dataset,
    part: str,
    worst: int,
    max_length: int | None,
    loading: dict[str, Any],
    batch_tokens: int | None,
) -> Measured:
    from glassformer.encoding.devices import device_for
    from glassformer.encoding.writing import of_texts
    from glassformer.model.generation.texts import TextGenerator
    from glassformer.training.runs import Run

    context = None if max_length is None else whole("max_length", max_length, least=1)
    if context is None and (folder / RUN).is_file():
        context = Run.open(folder).settings.max_length  # so that the figures equal those at the end of the run
    generator = TextGenerator(model_folder(folder), dtype=loading["dtype"], device=device_for(loading["device"]))
    return of_texts(generator, data, part, worst, context, batch_tokens)
