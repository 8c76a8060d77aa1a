"""What the walk is sent: its encoder, run in the page; the weights follow as arrays, by their names."""

from __future__ import annotations

from typing import TypedDict


class Walk(TypedDict):
    """A small encoder: its sizes, its pieces in the order of their numbers, and sentences to start with."""

    d_model: int
    heads: int
    layers: int
    d_ff: int
    eps: float
    parameters: int
    vocab: list[str]
    labels: list[str]
    examples: list[str]
    made: str
