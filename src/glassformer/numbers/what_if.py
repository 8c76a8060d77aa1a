"""What-if: replace some numbers and re-run only what depends on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.inputs import IDS, checked_ids, numbers_in
from glassformer.numbers.values import Replaced, Values
from glassformer.program.axes import Array
from glassformer.spec.viewed import Viewed

Change: TypeAlias = Any  # a whole tensor, or a mapping of cells (tuples of indices) to numbers
R = TypeVar("R", bound=Values)
R_co = TypeVar("R_co", bound=Values, covariant=True)


@dataclass(frozen=True, repr=False)
class Difference(Viewed, Generic[R_co]):
    """A run before and after a change: what was changed, what was re-run, and the difference of each value."""

    before: R_co
    after: R_co
    changed: tuple[str, ...]
    rerun: tuple[str, ...]

    def __str__(self) -> str:
        return self.presented().text()

    def change(self, name: str) -> Array:
        """Return the value after minus the value before; −∞ on both sides counts as 0. The value itself is `after[name]`."""
        name = self.before.named(name)
        before, after = self.before.values[name], self.after.values[name]
        if before is after:
            return np.zeros(before.shape)
        with np.errstate(invalid="ignore"):
            return np.where(before == after, 0.0, np.subtract(after, before, dtype=float))

    def __getitem__(self, name: str) -> Array:
        """Refuse: `run[name]` is a value, so `[name]` could be mistaken for the new value."""
        written = shown(repr(name))
        raise GlassformerError(
            f"a what-if holds two runs: .after[{written}] is the new value, .change({written}) the difference."
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.before)

    def __repr__(self) -> str:
        return f"<Difference: {shown(', '.join(self.changed))} changed, {len(self.rerun)} steps re-run>"

    @property
    def moved(self) -> dict[str, float]:
        """Name -> largest absolute difference, for every value that changed, in the order of the program."""
        sizes = {name: float(np.abs(self.change(name)).max(initial=0.0)) for name in (*self.changed, *self.rerun)}
        return {name: size for name, size in sizes.items() if size > 0}

    @property
    def output(self) -> Array:
        """The difference of the final output."""
        return self.change(self.before.program.output.name)


def what_if(run: R, changes: Mapping[str, Change]) -> Difference[R]:
    """Change whole tensors or single cells, and re-run what depends on them.

    A number that was set keeps its value, also in later what-ifs that change its inputs; the other cells of its tensor are
    re-run. Values that do not depend on a change are shared with the original run.
    """
    if not isinstance(changes, Mapping):
        raise GlassformerError(f"changes must be a mapping of names to new values, such as {{'x': …}}, found {shown(changes)}.")
    values = run.values.copy()
    replaced = run.replaced.copy()
    touched: dict[str, None] = {}
    for name, change in changes.items():
        name = run.named(name)
        values[name] = _changed(run, name, change)
        replaced[name] = _set_by_hand(run, name, change)
        touched[name] = None
    changed = tuple(touched)
    rerun = []
    for step in run.program.steps:
        if not any(tensor.name in touched for tensor in step.inputs):
            continue
        fresh = step.evaluate(values)
        values[step.name] = np.where(replaced[step.name].cells, values[step.name], fresh) if step.name in replaced else fresh
        touched[step.name] = None
        rerun.append(step.name)
    after = type(run)(run.program, values, tokens=run.tokens, target=run.target, replaced=replaced)
    return Difference(run, after, changed, tuple(name for name in rerun if name not in changed))


def knock_out(run: R, layer: int, heads: int | Sequence[int]) -> Difference[R]:
    """Remove some heads of a layer: their outputs (before W_O) are set to zero."""
    _check_run(run)
    count, layers = run.program.spec.heads, run.program.spec.layers
    chosen = [heads] if isinstance(heads, int | np.integer) or not np.iterable(heads) else list(heads)
    if not _is_place(layer, layers) or not all(_is_place(head, count) for head in chosen):
        raise GlassformerError(
            f"layer {shown(layer)}, head {shown(heads)} does not exist: "
            f"this encoder has layers 0 to {layers - 1} and heads 0 to {count - 1}."
        )
    name = f"layers.{layer}.attention.mix"
    batch, length = run[name].shape[:2]
    return what_if(run, {name: {(*place, int(head)): 0.0 for place in np.ndindex(batch, length) for head in chosen}})


def swap_tokens(run: R, first: int, second: int, *, batch: int = 0) -> Difference[R]:
    """Swap two tokens (or two input vectors)."""
    _check_run(run)
    name = run.program.inputs[0].name
    value = run.values[name].copy()
    length = run.program.sizes.t
    if run.program.spec.one_length or not (_is_place(first, length) and _is_place(second, length)):
        raise GlassformerError(
            f"tokens {shown(first)} and {shown(second)} cannot be swapped: "
            f"this run has tokens 0 to {length - 1} (images and audio have none)."
        )
    if not _is_place(batch, len(value)):
        raise GlassformerError(f"batch={shown(batch)} does not exist: this run has texts 0 to {len(value) - 1}.")
    value[batch, [first, second]] = value[batch, [second, first]]
    return what_if(run, {name: value})


def _check_run(run: Any) -> None:
    if not isinstance(run, Values):
        raise GlassformerError(f"expected a run, such as gf.run(…), found {shown(type(run).__name__)}.")


def _is_place(index: Any, count: int) -> bool:
    return not isinstance(index, bool) and isinstance(index, int | np.integer) and 0 <= int(index) < count


def _changed(run: Values, name: str, change: Change) -> Array:
    value = run.values[name]
    if isinstance(change, Mapping):
        new = _with_cells(name, value, change)
    else:
        new = numbers_in(name, change)
        if new.shape != value.shape:
            raise GlassformerError(f"the new {name} has shape {list(new.shape)}, expected {list(value.shape)}.")
    if name in IDS:
        return checked_ids(run.program, run.tensor(name), new)
    return new.astype(bool if value.dtype.kind == "b" else float)


def _set_by_hand(run: Values, name: str, change: Change) -> Replaced:
    """Return the cells set by a change, together with those set by earlier ones."""
    was = run.values[name]
    if not isinstance(change, Mapping):
        return Replaced(np.ones(was.shape, dtype=bool), was)
    cells = np.zeros(was.shape, dtype=bool)
    for where in change:
        cells[where] = True
    earlier = run.replaced.get(name)
    if earlier is None:
        return Replaced(cells, was)
    return Replaced(cells | earlier.cells, np.where(cells, was, earlier.was))


def _with_cells(name: str, value: Array, cells: Mapping[Any, Any]) -> Array:
    new = value.copy()
    for where, number in cells.items():
        try:
            new[where] = number
        except (IndexError, ValueError, TypeError, OverflowError):
            raise GlassformerError(f"{name}[{shown(where)}] cannot be set: its shape is {list(value.shape)}.") from None
        if new.dtype.kind in "bi" and not np.array_equal(new[where], number):
            raise GlassformerError(f"{name}[{shown(where)}] cannot be {shown(number)}: its type is {new.dtype}.")
    return new
