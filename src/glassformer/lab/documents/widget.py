"""What a live view in a notebook is sent at first."""

from __future__ import annotations

from typing import TypedDict

from glassformer.show.diagram import Diagram


class AttentionFirst(TypedDict):
    """The weights of the first head, row after row, of a window of tokens."""

    label: str
    queries: list[str]
    keys: list[str]
    name: str  # of the weights, with * for the number of the layer: layers.*.attention.weights
    query_axis: str
    layers: list[int]
    heads: list[int]
    weights: list[float]
    window: int


ParameterLine = TypedDict("ParameterLine", {"name": str, "formula": str, "numbers": str, "count": float})


class EncoderFirst(TypedDict):
    """The diagram, and the parameters of each block that is closed in it."""

    label: str
    parameters: float
    diagram: Diagram
    lines: dict[str, list[ParameterLine]]
