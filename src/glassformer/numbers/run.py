"""A run: the program evaluated in float64, with every intermediate value by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.attention import Attention, Kind, attention
from glassformer.numbers.contributions.ledger import Contributions, contributions
from glassformer.numbers.contributions.rules import Rules
from glassformer.numbers.explain import Explanation, explain
from glassformer.numbers.inputs import checked_inputs
from glassformer.numbers.keep import evaluate_keeping
from glassformer.numbers.values import Values
from glassformer.numbers.what_if import Change, Difference, what_if
from glassformer.program import Parameter, Program
from glassformer.program.axes import Array


class Run(Values):
    """Every number of one forward pass, by name: `run["layers.0.attention.weights"]`."""

    def explain(self, name: str, **cell: int) -> Explanation:
        """Explain the arithmetic of one number: `run.explain("layers.0.attention.mix", t=1, head=0, d_v=3)`."""
        return explain(self, name, self.cell(name, cell))

    def contributions(self, name: str, rules: Rules | None = None, **cell: int) -> Contributions:
        """One number as a sum of contributions: `run.contributions("head.logits", **{"class": 1})`."""
        return contributions(self, name, cell, Rules() if rules is None else rules)

    def attention(
        self, *, layer: int | None = None, head: int | None = None, batch: int = 0, kind: Kind | None = None
    ) -> Attention:
        """Return the attention weights of one head, the heads of one layer, or all: `run.attention(layer=3, head=0)`.

        An encoder-decoder has three kinds: cross (from target to source, the default), encoder and decoder.
        """
        return attention(self, layer=layer, head=head, batch=batch, kind=kind)

    def what_if(self, changes: Mapping[str, Change]) -> Difference[Run]:
        """Change some numbers and re-run what depends on them."""
        return what_if(self, changes)


def run(
    program: Program,
    weights: Mapping[str, Array],
    inputs: Mapping[str, Any],
    *,
    tokens: list[list[str]] | None = None,
    target: list[list[str]] | None = None,
    layers: Collection[int] | None = None,
) -> Run:
    """Evaluate a program in float64 on weights (by parameter name) and inputs (by input name).

    Every intermediate value is kept; with `layers`, only those of the given layers and the outputs of the others.
    """
    values: dict[str, Array] = dict(checked_inputs(program, inputs)) | constants(program, weights)

    def weight(parameter: Parameter) -> Array:
        return _checked_weight(parameter, weights)

    if layers is not None:
        return Run(program, evaluate_keeping(program, weight, values, layers), tokens=tokens, target=target)
    values |= {parameter.name: weight(parameter) for parameter in program.parameters}
    evaluate(program, values)
    return Run(program, values, tokens=tokens, target=target)


def constants(program: Program, weights: Mapping[str, Array]) -> dict[str, Array]:
    """The buffers, which are not parameters: zeros unless the weights contain them."""
    found = {
        tensor.name: np.asarray(weights.get(tensor.name, np.zeros(tensor.shape)), dtype=np.float64)
        for tensor in program.constants
    }
    for tensor in program.constants:
        if found[tensor.name].shape != tensor.shape:
            raise GlassformerError(f"{tensor.name} has shape {list(found[tensor.name].shape)}, expected {list(tensor.shape)}.")
    return found


def _checked_weight(parameter: Parameter, weights: Mapping[str, Array]) -> Array:
    if parameter.name not in weights:
        raise GlassformerError(f"the weight {parameter.name} is missing: expected shape {list(parameter.tensor.shape)}.")
    value = np.asarray(weights[parameter.name], dtype=np.float64)
    if value.shape != parameter.tensor.shape:
        raise GlassformerError(
            f"the weight {parameter.name} has shape {list(value.shape)}, expected {list(parameter.tensor.shape)} "
            f"({parameter.tensor.formula})."
        )
    return value


def evaluate(program: Program, values: dict[str, Array]) -> None:
    """Evaluate the steps in order and add their results to `values`."""
    for step in program.steps:
        values[step.name] = step.evaluate(values)
