"""Datasets from the Hugging Face hub (`hf:NAME`), the only source of data that may use the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glassformer.errors import GlassformerError, shown
from glassformer.training.data.columns import Raw, columns
from glassformer.training.data.dataset import PARTS, Provenance
from glassformer.training.data.folders import PART_NAMES
from glassformer.training.data.parallel import gather_for
from glassformer.training.data.row_options import RowOptions, Tally
from glassformer.training.data.texts import Rows


def read_hub(what: str, asked: RowOptions, tally: Tally) -> tuple[dict[str, Rows], Provenance]:
    """Read the splits of a dataset of the Hugging Face hub: `hf:NAME` or `hf:NAME:CONFIG`."""
    try:
        import datasets
    except ImportError:
        raise GlassformerError(f"{shown(what)} needs the package datasets: pip install 'glassformer[data]'.") from None
    name, _, config = what.removeprefix("hf:").partition(":")
    if not name:
        raise GlassformerError("hf: needs a name, as in hf:imdb, or a name and a configuration, as in hf:glue:sst2.")
    try:
        loaded = datasets.load_dataset(name, config or None)
    except Exception as error:  # no such dataset, no network, a damaged cache: each package raises its own errors
        said = str(error) or type(error).__name__
        raise GlassformerError(f"{shown(what)} cannot be loaded: {shown(said, limit=160)}.") from None
    found = {PART_NAMES[part]: loaded[part] for part in loaded if part in PART_NAMES}
    if "train" not in found:
        raise GlassformerError(f"{shown(what)} has no part 'train'. It has {shown(', '.join(map(str, loaded)), limit=120)}.")
    parts: dict[str, Rows] = {}
    for part in (part for part in PARTS if part in found):
        if asked.label is not None and part != "train" and _hidden(found[part], asked):
            tally.add("left out: a part whose labels are all -1", part)
            continue
        raw = _rows(found[part], f"{name} {part}", asked)
        parts[part] = gather_for(raw, asked, tally, f"{what} {part}", labelled=asked.label is not None)
    info = getattr(found["train"], "info", None)
    return parts, Provenance(f"Hugging Face hub, {what.removeprefix('hf:')}", str(getattr(info, "license", "")) or "not stated")


def _rows(part: Any, name: str, asked: RowOptions) -> Iterator[Raw]:
    chosen = columns(list(part.column_names), asked, name)
    names = _label_names(part.features.get(chosen.label)) if chosen.label else None
    for number, row in enumerate(part, 1):
        text, *others = (row[column] for column in chosen.texts)
        value = row[chosen.label] if chosen.label else None
        yield Raw(f"{name} row {number}", text, _named(value, names) if names else value, others=tuple(others))


def _label_names(feature: Any) -> list[str] | None:
    """Return the label names of a label feature or a list of labels."""
    inner = getattr(feature, "feature", feature)
    names = getattr(inner, "names", None)
    return list(names) if names else None


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(one, names) for one in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None


def _hidden(part: Any, asked: RowOptions) -> bool:
    """Return whether the labels of this split are withheld: all are -1."""
    label = columns(list(part.column_names), asked, "the part").label
    return asked.task != "regress" and len(part) > 0 and all(value == -1 for value in part[label])
