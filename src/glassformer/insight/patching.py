"""Activation patching: activations of a clean text copied into the run of a corrupt one, by layer and position."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import torch
from torch import Tensor

from glassformer.arguments import one_of
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.files.texts import Text
from glassformer.insight.grid import Grid
from glassformer.insight.hooks import tapped
from glassformer.insight.targets import Given, Target, given, target
from glassformer.model.fast.inference import evaluating, every_module
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

Where = Literal["layers", "attention", "ffn"]
STEPS: dict[Where, str] = {"layers": "layers.{}.out", "attention": "layers.{}.attention.out", "ffn": "layers.{}.ffn.out"}
ROWS_AT_ONCE = 64
SAME = 1e-9  # relative to the larger number: below this, clean and corrupt are equal


@dataclass(frozen=True, repr=False)
class Patching(Viewed):
    """How much of the difference between two texts each patched value restores: 0 as corrupt, 1 as clean."""

    model: str
    of: str
    at: Where
    clean: tuple[str, ...]
    corrupt: tuple[str, ...]
    clean_value: float
    corrupt_value: float
    values: tuple[tuple[float, ...], ...]  # [depth][position]: the number after the patch
    depths: tuple[str, ...]

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        return f"<Patching of {self.of}: {len(self.depths)} depths × {len(self.clean)} positions>"

    @property
    def restored(self) -> list[list[float]]:
        """(value − corrupt) / (clean − corrupt) of each cell."""
        change = self.clean_value - self.corrupt_value
        return [[(value - self.corrupt_value) / change for value in row] for row in self.values]

    def to_dict(self) -> dict[str, Any]:
        """Return the values as a JSON document."""
        return vars(self) | {"restored": self.restored}

    def grids(self) -> list[Grid]:
        """Depths, the last on top, and positions; a position whose token differs shows both."""
        pairs = zip(self.clean, self.corrupt, strict=True)
        columns = [one if one == other else f"{one}/{other}" for one, other in pairs]
        return [Grid(f"{self.of}: restored by {self.at}", list(self.depths[::-1]), columns, self.restored[::-1], "restored")]


def patch(model: LoadedModel, clean: Text, corrupt: Text, *, of: str | None = None, at: Where = "layers") -> Patching:
    """Run the corrupt text with one activation replaced by that of the clean run: the output of a layer, or of its attention or
    feed-forward block, at one position. Both texts must have the same number of tokens.

    Without `of`, the number is the logit of the clean text's prediction minus that of the corrupt text's prediction.
    """
    one_of("at", at, get_args(Where))
    with evaluating(every_module(model.encoder)), torch.no_grad():
        one, other = given(model, clean), given(model, corrupt)
        if len(one.tokens) != len(other.tokens):
            raise GlassformerError(
                f"the clean text has {len(one.tokens)} tokens, the corrupt one {len(other.tokens)}: patching needs texts "
                "of equal length."
            )
        wanted = _wanted(model, one, other, of)
        best, worst = (float(wanted.of(model.encoder(text.ids, segments=text.segments))[0]) for text in (one, other))
        if math.isclose(best, worst, rel_tol=SAME, abs_tol=SAME):
            raise GlassformerError(f"the {wanted.label} is {best:.6g} for both texts: there is no difference to restore.")
        names = _names(model, at)
        seen: dict[str, Tensor] = {}
        kept: dict[str, Callable[[Tensor], None]] = {name: partial(seen.__setitem__, name) for name in names.values()}
        tapped(model.encoder, kept)(one.ids, segments=one.segments)
        values = tuple(_patched(model, other, wanted, name, seen[name]) for name in names.values())
    about = (path_text(model.folder.path), wanted.label, at, tuple(one.tokens), tuple(other.tokens), best, worst)
    return Patching(*about, values, tuple(names))


def _names(model: LoadedModel, at: Where) -> dict[str, str]:
    """The depths, and the step that is patched at each."""
    first = {"embeddings": "x"} if at == "layers" else {}
    if at != "layers" and model.spec.block == "attention":
        raise GlassformerError(
            f"at={at} does not fit block=attention, where a layer consists of its attention only: give at=layers."
        )
    return first | {f"layer {number}": STEPS[at].format(number) for number in range(model.spec.layers)}


def _wanted(model: LoadedModel, one: Given, other: Given, of: str | None) -> Target:
    wanted = target(model, one, of)
    if of is not None:
        return wanted
    against = target(model, other, None)
    if against.numbers == wanted.numbers:
        return wanted
    return Target(f"{wanted.label} − {against.label}", (*wanted.numbers, *against.numbers), wanted.position)


def _patched(model: LoadedModel, text: Given, wanted: Target, name: str, clean_BTD: Tensor) -> tuple[float, ...]:
    """The number with the clean value at each position in turn: one row of a batch each."""
    count, found = len(text.tokens), []
    for rows in torch.arange(count, device=clean_BTD.device).split(ROWS_AT_ONCE):
        places = rows[:, None] == torch.arange(count, device=clean_BTD.device)

        def put(value: Tensor, places: Tensor = places) -> Tensor:
            return torch.where(places[:, :, None], clean_BTD, value)

        segments = None if text.segments is None else text.segments.expand(len(rows), -1)
        found += wanted.of(tapped(model.encoder, {name: put})(text.ids.expand(len(rows), -1), segments=segments)).tolist()
    return tuple(found)
