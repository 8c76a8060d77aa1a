"""Keeping only some layers of a run: other values and weights are freed after their last use."""

from __future__ import annotations

from collections.abc import Callable, Collection

from glassformer.errors import GlassformerError, shown
from glassformer.program import Parameter, Program
from glassformer.program.axes import Array


class KeptValues(dict[str, Array]):
    """The values kept by a run; a dropped value raises an error."""

    def __missing__(self, name: str) -> Array:
        raise not_kept(name)

    def copy(self) -> KeptValues:
        return KeptValues(self)


def not_kept(name: str) -> GlassformerError:
    return GlassformerError(f"{shown(name)} was not kept in this run: rerun with its layer in layers=…, or without layers=….")


def evaluate_keeping(
    program: Program, weight: Callable[[Parameter], Array], values: dict[str, Array], layers: Collection[int]
) -> KeptValues:
    """Evaluate the steps in order; keep the given layers, the outputs of the others, and all values outside layers."""
    for layer in layers:
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < program.spec.layers:
            raise GlassformerError(
                f"layers={shown(layer)} does not exist: this encoder has layers 0 to {program.spec.layers - 1}."
            )
    keep = names_kept(program, layers)
    parameters = {parameter.name: parameter for parameter in program.parameters}
    last_use = {tensor.name: number for number, step in enumerate(program.steps) for tensor in step.inputs}
    kept = KeptValues(values)
    for number, step in enumerate(program.steps):
        for tensor in step.inputs:
            if tensor.name not in kept:
                kept[tensor.name] = weight(parameters[tensor.name])
        kept[step.name] = step.evaluate(kept)
        for name in {step.name, *(tensor.name for tensor in step.inputs)} - keep:
            if last_use.get(name, number) <= number:
                del kept[name]
    return kept


def names_kept(program: Program, layers: Collection[int]) -> set[str]:
    """Return the names of the values to keep."""
    keep = {name for name, tensor in program.tensors.items() if tensor.hidden or tensor.block.layer is None}
    for step in program.steps:
        if step.block.layer in layers:
            keep |= {step.name, *(tensor.name for tensor in step.inputs)}
    return keep
