"""Loading data: a built-in dataset, a file, a folder or a dataset of the hub."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from glassformer.arguments import path
from glassformer.configs.reading import is_there
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.files.paths import is_link, no_such, path_text
from glassformer.training.data.dataset import Dataset, Provenance, RowsFor, Split
from glassformer.training.data.folders import class_members, given_parts, read_texts
from glassformer.training.data.images import read_pictures
from glassformer.training.data.parallel import gather_for, gather_pairs, is_plain, read_two
from glassformer.training.data.readers import read_table, table_kind
from glassformer.training.data.row_options import Goal, OnBad, OnLong, RowOptions, Tally
from glassformer.training.data.sets import SETS, load_set
from glassformer.training.data.splits import (
    always_one,
    check_label_column,
    check_shares,
    doubts,
    into_parts,
    label_order,
    leaks,
    numbered,
)
from glassformer.training.data.texts import Rows

SHARES = (0.8, 0.1, 0.1)


def load_data(  # noqa: PLR0913 - explicit keywords read better than an options object
    what: str | Path,
    *,
    text: str = "text",
    label: str | None = "label",
    target: str | None = None,
    rows_for: RowsFor | None = None,
    seed: int = 0,
    split: tuple[float, float, float] = SHARES,
    on_bad: OnBad = "refuse",
    on_empty: OnBad = "skip",
    on_long: OnLong = "cut",
    resize: int | tuple[int, int] | None = None,
    task: Goal = "auto",
) -> Dataset:
    """Load a dataset.

    `what` is a built-in dataset (`glassformer data` lists them), a .csv, .tsv, .json, .jsonl, .parquet, .conll or .txt file, a
    folder with one subfolder per class (texts or images), a folder with `train`, `validation` and `test` in one of these forms,
    or `hf:NAME`. `text` and `label` are columns; `label=None` means plain text. Several text columns (`"premise,hypothesis"`)
    give rows of two texts. `task` says what labels are: classes (auto, classify), numbers (regress), any number of classes
    (multilabel), or none, where texts of a row belong together (embed). Missing splits are drawn from the training rows
    with `seed`, in the shares of `split`. `rows_for="decoder"` reads the texts alone; `"seq2seq"` reads pairs: a text and its
    translation in the column `target`, or in the file `target` beside a plain text file.
    """
    asked = RowOptions(
        text=text,
        label=None if task == "embed" or rows_for == "decoder" else label,
        target=target,
        rows_for=rows_for or "encoder",
        on_bad=on_bad,
        on_empty=on_empty,
        on_long=on_long,
        resize=(resize, resize) if isinstance(resize, int) else resize,
        task=task,
    )
    shares = check_shares(split)
    _check_seed(seed)
    name = what if isinstance(what, str) else str(path("data", what))
    if name in SETS:
        return _built_in(name, shares, rows_for, task=task, text=text, label=label, resize=resize, target=target)
    tally = Tally()
    if name.startswith("hf:"):
        given, provenance = read_hub_set(name, asked, tally)
    else:
        given = _read_path(_existing(name), asked, tally)
        provenance = Provenance(name)
    if asked.resize is not None and given["train"].form.inputs != "image":
        raise GlassformerError(f"resize={shown(resize)} is only for images, but {shown(name)} contains texts: leave it out.")
    return _assembled(name, given, shares, seed, tally, provenance)


def _check_seed(seed: int) -> None:
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise GlassformerError(f"seed={shown(seed)} is not allowed: a whole number from 0.")


def _built_in(name: str, shares: tuple[float, float, float], rows_for: RowsFor | None, **options: Any) -> Dataset:
    """Load a built-in dataset; options that would change its rows are refused."""
    if shares != SHARES:
        raise GlassformerError(f"{name} is a built-in dataset with fixed splits: leave split out.")
    for option, value in options.items():
        if value != getattr(RowOptions(), option):
            raise GlassformerError(f"{name} is a built-in dataset with fixed rows: leave {option} out.")
    return suited(load_set(name), rows_for)


def read_hub_set(name: str, asked: RowOptions, tally: Tally) -> tuple[dict[str, Rows], Provenance]:
    """Read a dataset of the hub; its package is imported only here."""
    from glassformer.training.data.hub import read_hub

    return read_hub(name, asked, tally)


def _existing(name: str) -> Path:
    path = Path(name)
    try:
        path = path.expanduser()
        if name and (path.is_dir() or path.is_file()):
            return path
    except (OSError, ValueError, RuntimeError):
        pass
    looks_so = "/" in name or name == "-" or path.suffix or is_link(name) or is_there(name)
    if name and looks_so and "://" not in name:
        raise no_such(path, "file or folder", wanted="'glassformer data' lists the built-in datasets.")
    away = " Nothing is downloaded: save it first, and give the file." if "://" in name else ""
    raise GlassformerError(
        f"no such built-in dataset, file or folder: {shown(name) or 'an empty name'}.{nearest(name, SETS)}{away} "
        "'glassformer data' lists the datasets."
    )


def _read_path(path: Path, asked: RowOptions, tally: Tally) -> dict[str, Rows]:
    """Return rows by split; only `train` if the splits are not given."""
    given = given_parts(path, tally) if path.is_dir() else {}
    if not given:
        return {"train": _read_rows([path], asked, tally)}
    return {part: _read_part(part, places, asked, tally) for part, places in given.items()}


def _read_part(part: str, places: list[Path], asked: RowOptions, tally: Tally) -> Rows:
    try:
        return _read_rows(places, asked, tally)
    except GlassformerError as error:
        if part == "train" or "has no column" not in str(error):
            raise
        raise GlassformerError(
            f"{error} Or move {shown(places[0].name)} elsewhere: {part} is then drawn from the training rows."
        ) from None


def _read_rows(places: list[Path], asked: RowOptions, tally: Tally) -> Rows:
    """Read the rows of a file, of several shards, or of a folder."""
    first = places[0]
    if first.is_file():
        return _of_tables(places, asked, tally)
    kind, members = class_members(first, tally)
    if asked.rows_for == "seq2seq" or (asked.rows_for == "decoder" and kind == "image"):
        needs = "pairs of texts: a table with two columns" if asked.rows_for == "seq2seq" else "texts"
        raise GlassformerError(f"{path_text(first)} is a folder of {kind}s with classes, but this model learns from {needs}.")
    if kind == "text":
        return gather_for(read_texts(members), asked, tally, path_text(first), labelled=asked.label is not None)
    pictures, labels = read_pictures(members, asked, tally, path_text(first))
    return Rows("image", pictures, labels)


def _of_tables(places: list[Path], asked: RowOptions, tally: Tally) -> Rows:
    """Read the rows of a file, or of the shards of one."""
    name, target = path_text(places[0]), asked.target
    if asked.rows_for == "seq2seq" and is_plain(places[0]):
        if target is None or not is_there(target):
            way = "--target FILE names it" if target is None else f"there is no file {shown(target)}"
            raise GlassformerError(f"{name} is plain text: its translations are in a second file with as many lines. {way}.")
        return gather_pairs(read_two(places[0], Path(target)), asked, tally, name)
    tables: Iterable[Any] = chain.from_iterable(read_table(path, asked) for path in places)
    plain = table_kind(places[0]) == ".txt" or asked.label is None
    return gather_for(tables, asked, tally, name, labelled=not plain)


def suited(data: Dataset, rows_for: RowsFor | None) -> Dataset:
    """Return a built-in dataset as the model reads it: a decoder reads the texts of any."""
    if rows_for is None or data.form.model == rows_for:
        return data
    if rows_for == "decoder" and data.form.inputs != "image" and data.form.targets != "text":
        parts = {name: partial(_only_texts, data, name) for name in data.parts}
        return replace(data, task="causal", labels=(), parts=parts, provenance=replace(data.provenance, baseline="none"))
    kinds = {"encoder": "an encoder", "decoder": "a decoder", "seq2seq": "an encoder-decoder, such as transformer"}
    raise GlassformerError(f"{data.name} is for {kinds[data.form.model]}, and the model is {kinds[rows_for]}: choose another.")


def _only_texts(data: Dataset, name: str) -> Split:
    return Split(name, "causal", list(data.part(name).texts()), None)


def _assembled(  # turns rows into a Dataset
    name: str, given: dict[str, Rows], shares: tuple[float, float, float], seed: int, tally: Tally, provenance: Provenance
) -> Dataset:
    given = _alike(name, given)
    check_label_column(given["train"], name)
    parts, notes = into_parts(given, shares, seed)
    labels = label_order(parts, name)
    splits = {part: numbered(part, rows, labels) for part, rows in parts.items()}
    if len(given) > 1:
        notes += leaks(parts)
    notes += doubts(parts, labels)
    return Dataset(
        name=name,
        task=parts["train"].task,
        labels=labels,
        parts={part: partial(splits.__getitem__, part) for part in splits},
        provenance=provenance if provenance.baseline != "none" else replace(provenance, baseline=always_one(parts)),
        notes=(*tally.notes(), *notes),
    )


def _alike(name: str, given: dict[str, Rows]) -> dict[str, Rows]:
    """Check that all splits have the same task and image size; convert images to colour if any are."""
    train = given["train"]
    for part, rows in given.items():
        if rows.task != train.task:
            raise GlassformerError(f"{name}: train has the task {train.task}, but {part} has {rows.task}.")
    if train.form.inputs != "image":
        return given
    if len({rows.inputs.shape[0] for rows in given.values()}) > 1:
        given = {part: replace(rows, inputs=rows.inputs.in_colour()) for part, rows in given.items()}
    for part, rows in given.items():
        if rows.inputs.shape[1:] != train.inputs.shape[1:]:
            sizes = ["×".join(map(str, one.inputs.shape[1:])) for one in (train, rows)]
            side = train.inputs.shape[1]
            raise GlassformerError(
                f"{name}: images of train are {sizes[0]}, of {part} {sizes[1]} (height × width). "
                f"resize={side} (--resize {side}) resizes them."
            )
    return given
