"""What if: replace some numbers and re-run only what depends on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from glassformer.numbers.inputs import IDS, checked_ids, numbers_in
from glassformer.numbers.run import Replaced
from glassformer.program.axes import Array
from glassformer.spec import GlassformerError, shown
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.numbers.run import Run

Change: TypeAlias = Any  # a whole tensor, or a map from cells (tuples of indices) to numbers


@dataclass(frozen=True, repr=False)
class Difference(Viewed):
    """A run before and after a change: what was changed, what was re-run, and how far each value moved."""

    before: Run
    after: Run
    changed: tuple[str, ...]
    rerun: tuple[str, ...]

    def __str__(self) -> str:
        return self.presented().text()

    def __getitem__(self, name: str) -> Array:
        """After minus before; −∞ on both sides is no difference."""
        name = self.before.named(name)
        before, after = self.before.values[name], self.after.values[name]
        if before is after:
            return np.zeros(before.shape)
        with np.errstate(invalid="ignore"):
            return np.where(before == after, 0.0, np.subtract(after, before, dtype=float))

    def __iter__(self) -> Iterator[str]:
        return iter(self.before)

    def __repr__(self) -> str:
        return f"<Difference: {shown(', '.join(self.changed))} changed, {len(self.rerun)} steps re-run>"

    @property
    def moved(self) -> dict[str, float]:
        """Name -> largest absolute difference, for every value that moved, in the order of the program."""
        sizes = {name: float(np.abs(self[name]).max(initial=0.0)) for name in (*self.changed, *self.rerun)}
        return {name: size for name, size in sizes.items() if size > 0}

    @property
    def output(self) -> Array:
        """How far the last value moved."""
        return self[self.before.program.output.name]


def what_if(run: Run, changes: Mapping[str, Change]) -> Difference:
    """Change whole tensors or single cells, and re-run what depends on them.

    A number that was set stays as it was set, whatever is changed before it, now or in a later what-if; the other cells of its
    tensor are re-run. Everything that does not depend on a change is shared with the first run.
    """
    if not isinstance(changes, Mapping):
        raise GlassformerError(f"changes are a mapping from names to new values, as in {{'x': …}}, found {shown(changes)}.")
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
    after = type(run)(run.program, values, tokens=run.tokens, replaced=replaced)
    return Difference(run, after, changed, tuple(name for name in rerun if name not in changed))


def knock_out(run: Run, layer: int, heads: int | Sequence[int]) -> Difference:
    """What if some heads of a layer contributed nothing: their mixed values set to zero."""
    _check_run(run)
    count, layers = run.program.spec.heads, run.program.spec.layers
    chosen = [heads] if isinstance(heads, int | np.integer) or not np.iterable(heads) else list(heads)
    if not _is_place(layer, layers) or not all(_is_place(head, count) for head in chosen):
        raise GlassformerError(
            f"layer {shown(layer)}, head {shown(heads)}: this encoder has layers 0 to {layers - 1} and heads 0 to {count - 1}."
        )
    name = f"layers.{layer}.attention.mix"
    batch, length = run[name].shape[:2]
    return what_if(run, {name: {(*place, int(head)): 0.0 for place in np.ndindex(batch, length) for head in chosen}})


def swap_tokens(run: Run, first: int, second: int, *, batch: int = 0) -> Difference:
    """What if two tokens (or two input vectors) changed places."""
    _check_run(run)
    name = run.program.inputs[0].name
    value = run.values[name].copy()
    length = run.program.sizes.t
    if run.program.spec.one_length or not (_is_place(first, length) and _is_place(second, length)):
        raise GlassformerError(
            f"tokens {shown(first)} and {shown(second)} cannot be swapped: "
            f"this run has tokens 0 to {length - 1} (images and sounds have none)."
        )
    if not _is_place(batch, len(value)):
        raise GlassformerError(f"batch={shown(batch)} does not exist: this run has texts 0 to {len(value) - 1}.")
    value[batch, [first, second]] = value[batch, [second, first]]
    return what_if(run, {name: value})


def _check_run(run: Any) -> None:
    if not hasattr(run, "program") or not hasattr(run, "what_if"):
        raise GlassformerError(f"a run is wanted, as gf.run(…) gives it, found {shown(type(run).__name__)}.")


def _is_place(index: Any, count: int) -> bool:
    return not isinstance(index, bool) and isinstance(index, int | np.integer) and 0 <= int(index) < count


def _changed(run: Run, name: str, change: Change) -> Array:
    value = run.values[name]
    if isinstance(change, Mapping):
        new = _with_cells(name, value, change)
    else:
        new = numbers_in(name, change)
        if new.shape != value.shape:
            raise GlassformerError(f"the new {name} has shape {list(new.shape)}, wanted {list(value.shape)}.")
    if name in IDS:
        return checked_ids(run.program, run.tensor(name), new)
    return new.astype(bool if value.dtype.kind == "b" else float)


def _set_by_hand(run: Run, name: str, change: Change) -> Replaced:
    """The cells that a change sets, beside those that an earlier one did."""
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
            raise GlassformerError(f"{name}[{shown(where)}] cannot be {shown(number)}: it holds {new.dtype} numbers.")
    return new
