"""What the page Bench is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from glassformer.program.formatter import Convention
from glassformer.show.diagram import Diagram
from glassformer.show.palette import Part


class FieldRule(TypedDict):
    """A field of a spec: what it is, and what it may hold."""

    name: str
    doc: str
    kind: Literal["whole", "number", "yes_no", "choice", "places", "sizes"]
    choices: Sequence[str]
    optional: bool
    least: int
    most: int


Kind: TypeAlias = Literal["encoder", "decoder", "encoder-decoder"]
Preset = TypedDict("Preset", {"name": str, "doc": str, "kind": Kind})
Fields = TypedDict("Fields", {"presets": list[Preset], "fields": list[FieldRule]})
# A pasted file as a spec.
Config = TypedDict("Config", {"spec": str, "fields": dict[str, Any]})


class LedgerLine(TypedDict):
    name: str
    part: Part
    kind: str
    times: int
    formula: str
    numbers: str
    count: float
    frozen: bool
    also: list[str]


class Slice(TypedDict):
    """A part of the ledger and what it is made of."""

    name: str
    title: str
    part: Part | None
    count: float
    parts: list[Slice]


class Block(TypedDict):
    """A block, or a step, which has an equation; `reads` names lines of the ledger."""

    name: str
    title: str
    parameters: float
    times: int
    about: str
    shape: str
    left: str
    right: str
    reads: list[str]
    blocks: list[Block]


CostRow = TypedDict("CostRow", {"name": str, "multiply_adds": float, "flops": float})


class StepCost(CostRow):
    """One step of one layer; `times` says in how many layers it stands."""

    parts: list[str]
    times: int
    formula: str | None
    numbers: str | None


Costs = TypedDict("Costs", {"parts": list[CostRow], "steps": list[StepCost]})
Memory = TypedDict("Memory", {"weights": float, "activations": float, "total": float, "assumptions": str})
Values = TypedDict("Values", {"given": dict[str, Any], "derived": dict[str, Any]})


class Derived(TypedDict):
    label: str
    values: Values
    batch: int
    t: int
    u: int | None
    longest: int | None
    reads: Literal["tokens", "image", "frames", "vectors"]
    total: float
    trainable: float
    convention: str
    multiply_adds: float
    flops: float
    memory: Memory
    parts: dict[str, float]
    lines: list[LedgerLine]
    costs: Costs
    icicle: Slice
    blocks: list[Block]
    diagram: Diagram


class ShapeRow(TypedDict):
    name: str
    role: Literal["input", "parameter", "step"]
    part: Part
    formula: str
    shape: list[int]
    one_head: list[int] | None
    elements: float


Shapes = TypedDict("Shapes", {"rows": list[ShapeRow], "left_out": int, "convention": Convention})


class CostPoint(TypedDict):
    size: int
    flops: float
    parts: dict[str, float]
    weights: float
    activations: float
    training: float


TrainingCost = TypedDict("TrainingCost", {"flops": float, "memory": Memory})


class CostAnswer(TypedDict):
    convention: str
    multiply_adds: float
    flops: float
    parts: list[CostRow]
    memory: Memory
    training: TrainingCost
    along: Literal["length", "batch"]
    points: list[CostPoint]


Equation = TypedDict("Equation", {"number": int, "name": str, "left": str, "right": str, "shape": str, "part": Part})
EquationSection = TypedDict("EquationSection", {"title": str, "equations": list[Equation]})
Equations = TypedDict("Equations", {"sections": list[EquationSection], "convention": Convention})
Side = TypedDict("Side", {"count": float, "formula": str | None, "numbers": str | None})
BridgeRow = TypedDict("BridgeRow", {"name": str, "part": Part, "left": Side, "right": Side, "difference": float})
BridgeEnd = TypedDict("BridgeEnd", {"label": str, "total": float})
FieldDifference = TypedDict("FieldDifference", {"name": str, "left": Any, "right": Any})


class Bridge(TypedDict):
    left: BridgeEnd
    right: BridgeEnd
    total: float
    unchanged: float
    fields: list[FieldDifference]
    rows: list[BridgeRow]


# A file to save.
Export = TypedDict("Export", {"name": str, "text": str})
