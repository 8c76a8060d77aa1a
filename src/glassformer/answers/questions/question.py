"""What is asked, once it is understood: a kind of quantity, of which part or tensor, of how much of the encoder."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.answers.questions.phrases import Kind, Precision
from glassformer.answers.questions.stated import Stated

Change = tuple[str, int, int]  # a size, and the factor by which it is changed, as a fraction


@dataclass(frozen=True)
class Question:
    """What is asked: a kind of quantity, of which part or tensor, for one layer or head alone, and how it was written."""

    kind: Kind
    target: str | None
    one_layer: bool
    one_head: bool
    text: str
    without: tuple[str, ...] = ()
    every_layer: bool = False
    per_token: bool = False
    training: bool = False
    backward: bool = False  # the backward pass alone
    measure: Kind = "params"  # of a share, a ratio: what is compared
    over: str | None = None  # of a ratio: the part that is divided by
    among: str = ""  # only these of the target: the biases of the feed-forward block
    precision: Precision | None = None
    unit: str = ""  # that a bare number is meant in: MB, million, %
    layers: int | None = None  # that the question itself says there are
    stated: Stated = ()  # other sizes that it says
    model: str = ""  # that the question itself names
    given: tuple[tuple[str, int], ...] = ()  # numbers that only its kind has: a position and a feature, rows, epochs
    inner: Question | None = None  # of a comparison of encoders: what is asked of each
    compared: str = ""  # how: times more, percent less
    change: Change | None = None  # of one encoder, before and after
    family: tuple[str, ...] = ()  # encoders that a name in a comparison may mean, where it says no size
