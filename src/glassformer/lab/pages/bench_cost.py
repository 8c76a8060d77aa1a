"""What the bench says about cost: by part, by step with its arithmetic, and against length or batch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from glassformer import algebra
from glassformer.algebra.cost import CostRow
from glassformer.algebra.memory import memory
from glassformer.algebra.notation import Notation
from glassformer.configs.reading import Request as Spec
from glassformer.lab.documents import bench as documents
from glassformer.lab.documents import picked
from glassformer.program import Program, Step, build

Along = Literal["length", "batch"]
POINTS = 12  # of a plot
MOST_BATCH = 64  # a plot against batch goes at least this far


def cost_view(asked_for: Spec, along: Along) -> documents.CostAnswer:
    """Totals, parts and memory at the sizes asked for, and what they come to along one of the sizes."""
    program = build(asked_for.spec, batch=asked_for.batch, t=asked_for.t, u=asked_for.u)
    now, training = algebra.cost(program, label=asked_for.label), algebra.cost(program, which="training")
    return {
        "convention": now.convention,
        "multiply_adds": now.multiply_adds,
        "flops": now.flops,
        "parts": part_costs(now),
        "memory": picked(documents.Memory, now.memory),
        "training": {"flops": training.flops, "memory": picked(documents.Memory, training.memory)},
        "along": along,
        "points": [_point(size, asked_for, along) for size in _sizes(program, along)],
    }


def _sizes(program: Program, along: Along) -> list[int]:
    """Where the plot has its points, the size asked for among them; images and sounds have one length only."""
    if along == "batch":
        most = max(MOST_BATCH, program.sizes.batch)
        return sorted({*(most * step // POINTS for step in range(1, POINTS + 1)), 1, program.sizes.batch} - {0})
    if program.spec.one_length:
        return []
    longest = program.spec.longest or max(program.sizes.t, 2048)
    return sorted({*(max(1, longest * step // POINTS) for step in range(1, POINTS + 1)), program.sizes.t})


def _point(size: int, asked_for: Spec, along: Along) -> documents.CostPoint:
    batch, t = (size, asked_for.t) if along == "batch" else (asked_for.batch, size)
    program = build(asked_for.spec, batch=batch, t=t, u=asked_for.u)
    forward = algebra.cost(program)
    return {
        "size": size,
        "flops": forward.flops,
        "parts": {name: row.flops for name, row in forward.parts.items()},
        "weights": forward.memory.weights,
        "activations": forward.memory.activations,
        "training": memory(program, training=True).total,
    }


def part_costs(cost: algebra.Cost) -> list[documents.CostRow]:
    """The cost of each part."""
    return [picked(documents.CostRow, row) for row in cost.parts.values()]


def step_costs(program: Program, notation: Notation, cost: algebra.Cost) -> list[documents.StepCost]:
    """The cost of each step, layers that are alike once, each with how many layers that is."""
    times = {section.layers[0]: len(section.layers) for section in notation.sections if section.layers}
    found = []
    for step, row in zip(program.steps, cost.rows, strict=True):
        layer = step.block.layer
        if row.flops and (layer is None or layer in times):
            found.append(_step(step, row, times.get(layer, 1) if layer is not None else 1))
    return found


def _step(step: Step, row: CostRow, times: int) -> documents.StepCost:
    """A product of tensors takes one multiply-add for each place of all their axes together."""
    axes: Mapping[str, int] = {axis.name: axis.size for tensor in step.inputs for axis in tensor.axes}
    product = row.multiply_adds > 0 and math.prod(axes.values()) == row.multiply_adds
    return {
        "name": step.name,
        "parts": list(row.parts),
        "times": times,
        "multiply_adds": row.multiply_adds,
        "flops": row.flops,
        "formula": " · ".join(axes) if product else None,
        "numbers": " · ".join(f"{size:,}" for size in axes.values()) if product else None,
    }
