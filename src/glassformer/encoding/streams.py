"""Streaming inference: texts or images in, vectors or predictions out to a file, a stream or memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.arguments import yes_no
from glassformer.encoding.arrays import read_array
from glassformer.encoding.devices import device_for
from glassformer.encoding.engines.choice import Choice
from glassformer.encoding.pictures import ENDINGS, pictures_in, reading_of
from glassformer.encoding.table_texts import TableTexts, holds_table
from glassformer.encoding.tables import FORMS, Rows, check_out, require_finite, sink
from glassformer.errors import GlassformerError, listed, shown
from glassformer.files.paths import path_text
from glassformer.files.text_lines import GivenTexts, TextLines, lines_of

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

IMAGES_AT_ONCE = 256
RECORDS = FORMS[1:]  # an .npy file holds only numbers

Texts = TextLines | GivenTexts | TableTexts
Given = str | Path | Texts | Iterable[str]
OnProgress = Callable[[int], None]  # called with the number of texts done


@dataclass(frozen=True)
class Streamed:
    """The result of a stream: row counts, and the rows themselves if they were not written anywhere."""

    rows: int
    cut: int  # texts that were truncated
    left_out: int  # empty texts that were skipped
    longest: int | None  # maximum number of tokens
    out: Path | None = None
    values: Any = None  # vectors [text, d_model], or a list of predictions
    engine: Choice | None = None  # the engine, if one other than PyTorch was requested

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the path and the engine as a dict."""
        about = self.engine.to_dict() if self.engine is not None else {}
        return {"out": str(self.out), "rows": self.rows, "cut": self.cut, "left_out": self.left_out, **about}


class Window(NamedTuple):
    """Some rows of a stream."""

    table: Rows  # as written
    values: Any  # as kept in memory: an array or a list
    seen: int
    cut: int = 0


def check_target(out: Path | BinaryIO | None, *, vectors: bool) -> None:
    """Refuse an output file that cannot be written, before anything is computed."""
    if isinstance(out, Path):
        check_out(out, forms=FORMS if vectors else RECORDS)


def load_on(
    checkpoint: Path,
    *,
    device: str | None,
    dtype: str,
    as_class: str | None,
    fresh_head: bool = False,
    uses: tuple[str, ...] = ("pooler", "head"),
) -> LoadedModel:
    """Load a model, on a GPU if available; `uses` are the parts on top of the layers that the result depends on."""
    from glassformer.model import load

    model = load(checkpoint, as_class=as_class, dtype=dtype, device=device_for(device))
    require_stored(model, fresh_head=fresh_head, uses=uses)
    return model


def require_stored(model: LoadedModel, *, fresh_head: bool, uses: tuple[str, ...] = ("pooler", "head")) -> None:
    """Refuse a result that depends on random weights, which a class requested by name may have, unless it was asked for."""
    random = [name for name in model.folder.fresh if name.split(".")[0] in uses]
    if random and not yes_no("fresh_head", fresh_head):
        raise GlassformerError(
            f"{path_text(model.folder.path)} lacks {listed(random)} of {model.folder.model_class}: the result would "
            "depend on random weights. Train them first, or accept random weights with fresh_head (--fresh-head)."
        )


@contextmanager
def texts_of(given: Given, column: str | None = None) -> Iterator[Texts]:
    """Open the given texts: one, several, the lines of a file, a column of a table, or an open source."""
    table = isinstance(given, Path) and holds_table(given)
    if column is not None and not table:
        raise GlassformerError(f"column={shown(column)} is for a table (.csv, .tsv, .json, .jsonl or .parquet): leave it out.")
    if isinstance(given, Path) and table:
        yield TableTexts(given, column or "text")
    elif isinstance(given, Path):
        with lines_of(given) as lines:
            yield lines
    elif isinstance(given, Texts):
        yield given
    else:
        yield GivenTexts((given,) if isinstance(given, str) else given, "text")


def vectors(model: LoadedModel, texts: Texts, **options: Any) -> Iterator[Window]:
    """Yield a vector for each text."""
    for some in model.encode_stream(texts, name=texts.name, **options):
        require_finite(some.values, f"{texts.name(some.numbers[0])} and those after it" if some.numbers else "")
        yield Window(Rows(some.numbers, {"embedding": some.values}), some.values, some.seen, len(some.dropped))


def predictions(model: LoadedModel, texts: Texts, **options: Any) -> Iterator[Window]:
    """Yield the predictions of the head for each text."""
    for some in model.predict_stream(texts, name=texts.name, **options):
        yield Window(rows_of(some.numbers, some.values), some.values, some.seen, len(some.dropped))


class Images(NamedTuple):
    """Image files, or an array [image, channel, row, column] scaled as in training."""

    name: str
    files: list[Path] | None = None
    pixels: Any = None

    @classmethod
    def of(cls, given: Path | NDArray[Any]) -> Images:
        """Check the given images before a model is loaded: a file, a folder, an .npy file or an array."""
        if isinstance(given, Path) and (given.is_dir() or given.suffix.lower() in ENDINGS):
            return cls(path_text(given), files=pictures_in(given))
        if isinstance(given, Path):
            name = path_text(given)
            pixels = read_array(given, wanted="Give an image, a folder of images or an .npy file.")
        else:
            name, pixels = "images", given
        if pixels.ndim != 4 or pixels.dtype.kind != "f":
            raise GlassformerError(
                f"{name} has shape {list(pixels.shape)} and type {pixels.dtype}: "
                "expected floats [image, channel, row, column], scaled as in training."
            )
        if not len(pixels):
            raise GlassformerError(f"there are no images: {name} has shape {list(pixels.shape)}.")
        return cls(name, pixels=pixels)


def predictions_of_images(model: LoadedModel, images: Images) -> Iterator[Window]:
    """Yield the predictions of the head for images, in batches."""
    reads = reading_of(model.spec, model.folder.path) if images.files is not None else None
    count = len(images.pixels if images.files is None else images.files)
    for start in range(0, count, IMAGES_AT_ONCE):
        piece = slice(start, start + IMAGES_AT_ONCE)
        if reads is not None and images.files is not None:
            beside = {"file": [str(file) for file in images.files[piece]]}
            values = model.predict(reads.pixels(images.files[piece]))
        else:
            beside, values = {}, model.predict(_finite(np.array(images.pixels[piece]), start, images.name))
        said = rows_of(range(start, start + len(values)), values)
        yield Window(Rows(said.numbers, {**beside, **said.columns}), values, len(values))


def _finite(pixels: NDArray[Any], start: int, name: str) -> NDArray[Any]:
    if not np.isfinite(pixels).all():
        first = start + int(np.argmin(np.isfinite(pixels).all(axis=(1, 2, 3))))
        raise GlassformerError(f"{name}: image {first} has a NaN or infinite pixel. Fix it or leave it out.")
    return pixels


def send(
    windows: Iterable[Window], model: LoadedModel, out: Path | BinaryIO | None, on_progress: OnProgress = lambda _: None
) -> Streamed:
    """Write a stream to its output and count the rows; without an output, keep them in memory."""
    done = kept = cut = 0
    values: list[Any] = []
    with sink(out) if out is not None else nullcontext() as target:
        for window in windows:
            if window.table.numbers and target is not None:
                target.add(window.table)
            elif window.table.numbers:
                values.append(window.values)
            done, kept, cut = done + window.seen, kept + len(window.table.numbers), cut + window.cut
            on_progress(done)
        if not done:
            raise GlassformerError("there are no texts: the input is empty.")
    file = out if isinstance(out, Path) else None
    return Streamed(kept, cut, done - kept, model.longest, file, _together(values) if out is None else None)


def _together(values: Sequence[Any]) -> Any:
    if values and all(isinstance(some, np.ndarray) for some in values):
        return np.concatenate(values)
    return [one for some in values for one in some]


def rows_of(numbers: Sequence[int], said: Sequence[Any]) -> Rows:
    """Convert predictions to rows: label and numbers per input, or one list per text for tokens or masks."""
    if said and isinstance(said[0], list):
        what = "masks" if said[0] and hasattr(said[0][0], "guesses") else "tokens"
        return Rows(list(numbers), {what: [[token.to_dict() for token in one] for one in said]})
    told = [one.to_dict() for one in said]
    columns: dict[str, Any] = {name: [one[name] for one in told] for name in (told[0] if told else ())}
    return Rows(list(numbers), columns)


@contextmanager
def progress(texts: Texts, *, shown: bool) -> Iterator[OnProgress]:
    """Show a progress bar if standard error is a terminal: bytes of the file, or texts if its size is unknown."""
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TextColumn("{task.fields[done]:,} texts"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=texts.size, done=0)
        yield lambda done: bar.update(task, completed=texts.position, done=done)
