"""The certificate of a load: the verdict, the source of every parameter, and the differences between two implementations."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from glassformer.checkpoints.folder import CheckpointFolder
from glassformer.checkpoints.matching import Match
from glassformer.files.layout import Place
from glassformer.model.checkpoints.answers import Answer, Array
from glassformer.model.checkpoints.loading import unused_parts, verdict
from glassformer.spec import MASKED_HEADS
from glassformer.spec.viewed import Viewed

# The largest difference allowed, relative to the largest number of the tensor (or to 1, if that is smaller).
BOUNDS = {"float64": 1e-10, "float32": 1e-5, "original": 1e-5}

Verdict = Literal["exact", "head differs", "refused"]
LAYER = re.compile(r"layers\.(\d+)\.")


class Row(NamedTuple):
    """A parameter and the tensor that holds it."""

    parameter: str
    shape: tuple[int, ...]
    tensor: str
    stored: tuple[int, ...]
    how: str  # unchanged, transposed, or which rows


class Gap(NamedTuple):
    """The largest difference in one tensor, and the largest number in it."""

    place: str
    difference: float
    largest: float

    @property
    def relative(self) -> float:
        """The difference relative to the largest number, or to 1, if that is smaller."""
        return self.difference / max(1.0, self.largest)


class Comparison(NamedTuple):
    """Two implementations on the same input, tensor by tensor."""

    what: str
    bound: float
    gaps: tuple[Gap, ...]

    @property
    def holds(self) -> bool:
        """Whether every difference is within the bound; NaN is not."""
        return bool(self.gaps) and all(gap.relative <= self.bound for gap in self.gaps)

    @property
    def worst(self) -> float:
        """The largest difference, relative to the largest number."""
        return max((gap.relative if gap.relative == gap.relative else np.inf for gap in self.gaps), default=np.inf)


@dataclass(frozen=True)
class Certificate(Viewed):
    """The result of a load. A refused one has the reason and what does not match; others have the map and comparisons."""

    verdict: Verdict
    folder: str
    model_class: str = ""
    parameters: int = 0
    stored: str = ""  # types of the stored numbers, with the number of tensors of each
    reason: str = ""
    rows: tuple[Row, ...] = ()
    tied: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()
    checked: int = 0  # tensors whose sha256 was compared
    given: str = ""
    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether the load is correct: not refused, and every comparison within its bound."""
        return self.verdict != "refused" and all(one.holds for one in self.comparisons)

    def folded(self) -> list[Row]:
        """The map with one line for all layers that are mapped alike."""
        return starred(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        plain = {name: value for name, value in self.__dict__.items() if name not in ("rows", "comparisons")}
        comparisons = [
            {"what": one.what, "bound": one.bound, "worst": one.worst, "holds": one.holds, "gaps": _gaps(one)}
            for one in self.comparisons
        ]
        rows = [dict(zip(Row._fields, row, strict=True)) for row in self.rows]
        return {**plain, "holds": self.holds, "rows": rows, "comparisons": comparisons, "bounds": BOUNDS}


def _gaps(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {"place": gap.place, "difference": gap.difference, "largest": gap.largest, "relative": gap.relative}
        for gap in comparison.gaps
    ]


def certificate(folder: CheckpointFolder) -> Certificate:
    """The certificate of a folder that was opened, without comparisons."""
    match = folder.match
    types = Counter(folder.files.tensors[name].entry.dtype for name in {place.name for place in match.found.values()})
    return Certificate(
        verdict=verdict(folder),
        folder=str(folder.path),
        model_class=folder.model_class,
        parameters=folder.parameters,
        stored=", ".join(f"{name} ({count} tensors)" for name, count in types.most_common()),
        rows=tuple(_row(name, folder.shapes[name], place) for name, place in match.found.items()),
        tied=tuple(_tied(folder)),
        unused=tuple(unused_parts(folder)),
        fresh=folder.fresh,
        checked=len(folder.files.sums),
    )


def refused(path: str, reason: str, match: Match | None) -> Certificate:
    """The certificate of a folder that cannot be loaded, with what does not match, if that is known."""
    if match is None:
        return Certificate("refused", path, reason=reason)
    return Certificate(
        "refused",
        path,
        reason=reason,
        missing=tuple(f"{name} ({stored})" if stored != name else name for name, stored in match.missing.items()),
        unexpected=match.unexpected,
        misfits=tuple(f"{one.name} is {list(one.found)}, expected {list(one.wanted)}" for one in match.misfits),
        unused=match.unused,
    )


def _row(name: str, shape: tuple[int, ...], place: Place) -> Row:
    along = "columns" if place.axis else "rows"
    rows = "" if place.rows is None else f"{along} {place.rows[0]} to {place.rows[1] - 1}"
    rows += f" of each of {place.groups} pieces" if place.groups > 1 else ""
    turned = "transposed" if place.layout == "transposed" else ""
    inner = "channels of a pixel side by side" if place.channels > 1 else ""
    return Row(name, shape, place.name, place.shape, ", ".join(word for word in (turned, rows, inner) if word) or "as it is")


def _tied(folder: CheckpointFolder) -> list[str]:
    """Tensors of the model that have two names, there or in the file."""
    spec, said = folder.spec, []
    if spec.head in MASKED_HEADS and spec.tie:
        said.append("head.W_vocab is embeddings.E_token, transposed")
    for layer in range(spec.layers):
        owner = spec.layer_weights(layer)
        if owner != layer:
            said.append(f"layers.{layer} has the weights of layers.{owner}")
    for name, copies in folder.match.copies.items():
        said += [f"{copy.name} is an equal copy of {folder.match.found[name].name}" for copy in copies]
    return said


def compare(what: str, ours: Answer, theirs: Answer, *, bound: float, real: Array | None = None) -> Comparison:
    """Every layer and every output that both have; of padded rows, only the real tokens."""
    gaps = [
        _gap("x" if layer == 0 else f"layers.{layer - 1}.out", a, b, real)
        for layer, (a, b) in enumerate(zip(ours.hidden[:-1], theirs.hidden[:-1], strict=True))
    ]
    # Some classes of transformers store the last state before the final norm, others after it.
    last = [ours.hidden[-1], *([ours.outputs["states"]] if "states" in ours.outputs else [])]
    place = "x" if len(ours.hidden) == 1 else f"layers.{len(ours.hidden) - 2}.out"
    gaps.append(min((_gap(place, a, theirs.hidden[-1], real) for a in last), key=lambda gap: gap.difference))
    both = [name for name in ours.outputs if name in theirs.outputs]
    gaps += [_gap(name, ours.outputs[name], theirs.outputs[name].reshape(ours.outputs[name].shape), real) for name in both]
    return Comparison(what, bound, tuple(gaps))


def _gap(place: str, ours: Array, theirs: Array, real: Array | None) -> Gap:
    if real is not None and ours.ndim == 3 and ours.shape[:2] == real.shape:
        ours, theirs = ours[real], theirs[real]
    if not ours.size:
        return Gap(place, 0.0, 0.0)
    return Gap(place, float(np.abs(ours - theirs).max()), float(np.abs(theirs).max()))


def starred(rows: tuple[Row, ...]) -> list[Row]:
    """The map with one line for all layers that are mapped alike, with their number written as *."""
    found: dict[Row, None] = {}
    for row in rows:
        layer = LAYER.match(row.parameter)
        if layer:
            name = LAYER.sub("layers.*.", row.parameter)
            row = row._replace(parameter=name, tensor=re.sub(rf"(?<=\.){layer[1]}(?=\.)", "*", row.tensor, count=1))
        found[row] = None
    return list(found)
