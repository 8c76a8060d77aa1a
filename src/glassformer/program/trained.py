"""Programs in which only some parameters are trained, and programs with low-rank adapters (Hu et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from glassformer.program.axes import Axis, Parameter, Tensor
from glassformer.program.operations import Add, Affine, Contract
from glassformer.program.program import Program, Step
from glassformer.program.roles import Block

SUM = Add()


def partly_trained(program: Program, trains: Callable[[str], bool]) -> Program:
    """Return the program with only those parameters trained whose block name, such as `layers.0.ffn`, `trains` accepts."""
    trained = [one.name for one in program.parameters if trains(one.block.name) and not one.frozen]
    return replace(program, trained=frozenset(trained))


def with_adapters(program: Program, rank: int, symbols: Collection[str]) -> Program:
    """Return the program with an adapter for each matrix of a layer that has one of these symbols: `x W + x A B`.

    A maps the inputs of W to `rank` features, and B maps these to its outputs. Adapters are trained, and whatever was
    trained before.
    """
    matrices = {one.name for one in program.parameters if _adapted(one.block, one.tensor.symbol, symbols)}
    steps, parameters = [], {one.name: one for one in program.parameters}
    for step in program.steps:
        if not isinstance(step.operation, Affine | Contract) or step.inputs[1].name not in matrices:
            steps.append(step)
            continue
        x, weight = step.inputs[:2]
        over = tuple(axis for axis in weight.axes if axis in x.axes)
        low = Axis("rank", rank)
        down, up = (_beside(weight, letter) for letter in "AB")
        down, up = down._replace(axes=(*over, low)), up._replace(axes=(low, *(axis for axis in weight.axes if axis not in over)))
        parameters |= {one.name: Parameter(one, "weight") for one in (down, up)}
        narrow = _result(step.output, "down")._replace(axes=(*(axis for axis in x.axes if axis not in over), low))
        base, added = _result(step.output, "base"), _result(step.output, "up")
        product = Contract()
        steps += [step._replace(output=base), Step(narrow, product, (x, down)), Step(added, product, (narrow, up))]
        steps.append(Step(step.output, SUM, (base, added)))
    own = frozenset(name for name in parameters if name not in {one.name for one in program.parameters})
    return replace(program, steps=steps, parameters=list(parameters.values()), trained=own | (program.trained or frozenset()))


def _adapted(block: Block, symbol: str, symbols: Collection[str]) -> bool:
    return block.part == "layers" and block.kind in ("attention", "ffn") and symbol in symbols


def _beside(weight: Tensor, letter: str) -> Tensor:
    """A matrix of the adapter of a weight: `A_Q` of `W_Q`."""
    symbol = letter + weight.symbol[1:]
    return weight._replace(name=weight.block.tensor(symbol), symbol=symbol)


def _result(output: Tensor, word: str) -> Tensor:
    """An intermediate result of an adapted product: not a hidden state, with the role `other`."""
    return output._replace(name=f"{output.name}_{word}", symbol=f"{output.symbol}_{word}", role="other", hidden=False)
