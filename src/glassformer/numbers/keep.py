"""Keeping some layers of a run: the rest is dropped as soon as nothing needs it, weights included."""

from __future__ import annotations

from collections.abc import Callable, Collection

from glassformer.program import Parameter, Program
from glassformer.program.axes import Array, layer_of
from glassformer.spec import GlassformerError, shown


class KeptValues(dict[str, Array]):
    """The values that a run kept; asking for a dropped one says so."""

    def __missing__(self, name: str) -> Array:
        raise not_kept(name)

    def copy(self) -> KeptValues:
        return KeptValues(self)


def not_kept(name: str) -> GlassformerError:
    return GlassformerError(
        f"{shown(name)} was not kept in this run: run again with its layer among layers=…, or without layers=…."
    )


def evaluate_keeping(
    program: Program, weight: Callable[[Parameter], Array], values: dict[str, Array], layers: Collection[int]
) -> KeptValues:
    """Every step in order. Kept: the given layers, what each other layer gives, and whatever is in no layer."""
    for layer in layers:
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < program.spec.layers:
            raise GlassformerError(
                f"layers={shown(layer)} cannot be kept: this encoder has layers 0 to {program.spec.layers - 1}."
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
    """The names of all values that stay."""
    keep = {name for name in program.tensors if layer_of(name) is None}
    keep |= {f"layers.{number}.out" for number in range(program.spec.layers)}
    for step in program.steps:
        if layer_of(step.name) in layers:
            keep |= {step.name, *(tensor.name for tensor in step.inputs)}
    return keep
