"""What `encode` and `predict` do with a stream of texts: load, read, compute, write, tell how far it is and what was cut."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.cli.array_files import read_array
from glassformer.cli.image_files import ENDINGS, pictures_in, reading_of
from glassformer.cli.options import to_json
from glassformer.cli.tables_out import FORMS, Rows, check_out, sink
from glassformer.cli.text_lines import GivenTexts, TextLines, texts_from
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.paths import path_text
from glassformer.spec.weight_files import model_folder

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

IMAGES_AT_ONCE = 256
RECORDS = FORMS[1:]  # an .npy file holds numbers alone

Texts = TextLines | GivenTexts
Told = Callable[[int], None]  # takes the number of texts that are done


def stream(checkpoint: Path, rows: Callable[[Any, Texts, dict[str, Any]], Iterator[Any]], *, what: str, **options: Any) -> None:
    """Texts from where they were given, through the model, to where rows go."""
    out: Path | None = options["out"]
    model_folder(checkpoint)  # a misspelt model is said first: what else is asked for hangs on it
    _check(out, FORMS if what == "vectors" else RECORDS, as_json=options["as_json"])
    with texts_from(options["texts"], options["file"], options["stdin"]) as texts:
        model = _load(checkpoint, options)
        habits = {"truncate": options["truncate"], "empty": options["empty"], "name": texts.name}
        done, kept, cut = 0, 0, 0
        with progress(texts) as told, sink(out) as target:
            for made, window in rows(model, texts, {**habits, "batch_tokens": options["batch_tokens"]}):
                if made.numbers:
                    target.add(made)
                done, kept, cut = done + window.seen, kept + len(made.numbers), cut + len(window.dropped)
                told(done)
            if not done:
                raise GlassformerError("there are no texts: the input is empty.")
    _tell(out, {"rows": kept, "cut": cut, "left_out": done - kept}, what, model, as_json=options["as_json"])


def stream_images(checkpoint: Path, images: Path, **options: Any) -> None:
    """Pictures, or numbers from an .npy file, read a piece at a time."""
    out: Path | None = options["out"]
    model_folder(checkpoint)
    _check(out, RECORDS, as_json=options["as_json"])
    if options["texts"] or options["file"] or options["stdin"]:
        raise GlassformerError("--images and texts are both given: choose one.")
    if images.is_dir() or images.suffix.lower() in ENDINGS:
        _stream_pictures(checkpoint, images, options)
        return
    pixels = read_array(images, wanted="Pictures, a folder of them or an .npy file are wanted.")
    if pixels.ndim != 4 or pixels.dtype.kind != "f":
        raise GlassformerError(
            f"{path_text(images)} has shape {list(pixels.shape)} and type {pixels.dtype}: "
            "floats [image, channel, row, column] are wanted, scaled as the model was trained."
        )
    if not len(pixels):
        raise GlassformerError(f"there are no images: {path_text(images)} has shape {list(pixels.shape)}.")
    model = _load(checkpoint, options)
    with sink(out) as target:
        for start in range(0, len(pixels), IMAGES_AT_ONCE):
            some = np.array(pixels[start : start + IMAGES_AT_ONCE])
            if not np.isfinite(some).all():
                first = start + int(np.argmin(np.isfinite(some).all(axis=(1, 2, 3))))
                raise GlassformerError(
                    f"{path_text(images)}: image {first} has a NaN or infinite pixel. Mend it or leave it out."
                )
            target.add(rows_of(range(start, start + len(some)), model.predict(some)))
    _tell(out, {"rows": len(pixels), "cut": 0, "left_out": 0}, "predictions", model, as_json=options["as_json"])


def _stream_pictures(checkpoint: Path, images: Path, options: dict[str, Any]) -> None:
    files = pictures_in(images)
    model = _load(checkpoint, options)
    reads = reading_of(model.spec, model.folder.path)
    with sink(options["out"]) as target:
        for start in range(0, len(files), IMAGES_AT_ONCE):
            some = files[start : start + IMAGES_AT_ONCE]
            said = rows_of(range(start, start + len(some)), model.predict(reads.pixels(some)))
            target.add(Rows(said.numbers, {"file": [str(file) for file in some], **said.columns}))
    _tell(options["out"], {"rows": len(files), "cut": 0, "left_out": 0}, "predictions", model, as_json=options["as_json"])


def rows_of(numbers: Sequence[int], said: Sequence[Any]) -> Rows:
    """Predictions as rows: of an input, its label and all numbers; of a text's tokens or masks, one list."""
    if said and isinstance(said[0], list):
        what = "masks" if said[0] and hasattr(said[0][0], "guesses") else "tokens"
        return Rows(list(numbers), {what: [[token.to_dict() for token in one] for one in said]})
    told = [one.to_dict() for one in said]
    columns: dict[str, Any] = {name: [one[name] for one in told] for name in (told[0] if told else ())}
    return Rows(list(numbers), columns)


def _check(out: Path | None, forms: Sequence[str], *, as_json: bool) -> None:
    if out is not None:
        check_out(out, forms=forms)
    elif as_json:
        raise GlassformerError("the rows are JSON lines already: --json tells about a file that is written with --out.")


def _load(checkpoint: Path, options: dict[str, Any]) -> LoadedModel:
    import torch

    from glassformer.model import load

    device = options["device"] or ("cuda" if torch.cuda.is_available() else "cpu")
    if device.split(":")[0] not in ("cpu", "cuda"):
        raise GlassformerError(f"--device {shown(device)} is not known: cpu or cuda.{nearest(device, ('cpu', 'cuda'))}")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise GlassformerError(f"--device {shown(device)}: there is no GPU here. Try --device cpu.")
    return load(checkpoint, as_class=options["as_class"], dtype=options["dtype"], device=device)


def _tell(out: Path | None, counts: dict[str, int], what: str, model: LoadedModel, *, as_json: bool) -> None:
    """What was done: on standard output where the rows are in a file, and what was cut or left out on standard error."""
    notes = []
    if counts["cut"]:
        notes.append(f"cut to {model.longest:,} tokens: {counts['cut']:,} of {counts['rows']:,} texts.")
    if counts["left_out"]:
        notes.append(f"left out, because empty: {counts['left_out']:,} of {counts['rows'] + counts['left_out']:,} texts.")
    for note in notes:
        print(f"glassformer: {note}", file=sys.stderr)
    if out is not None:
        line = to_json({"out": str(out), **counts}) if as_json else f"{out}: {counts['rows']:,} {what}."
        print(line)


@contextmanager
def progress(texts: Texts) -> Iterator[Told]:
    """A bar on standard error where somebody looks at it: of the file's bytes, or, where its size is unknown, of texts."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TextColumn("{task.fields[done]:,} texts"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=texts.size, done=0)
        yield lambda done: bar.update(task, completed=texts.position, done=done)
