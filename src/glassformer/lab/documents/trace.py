"""What the page Trace is sent."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

from glassformer.lab.documents.cells import Door, OpenedNumber, Rest
from glassformer.show.palette import Part

Axis: TypeAlias = tuple[str, int]


class Step(TypedDict):
    """A tensor of the run. What went in has no rule; what enters a layer belongs to what comes before."""

    name: str
    stack: str
    layer: int | Literal["after"] | None
    part: Part
    axes: list[Axis]
    latex: NotRequired[str]
    kept: NotRequired[bool]
    keys: NotRequired[Literal["source", "target"]]
    entering: NotRequired[bool]


Class = TypedDict("Class", {"name": str, "place": int, "probability": float, "before": float})
Tag = TypedDict("Tag", {"name": str, "probability": float, "before": str})


class Next(TypedDict):
    """A token that may come next, and whether it is the one that does; `ends`: a text ends with it; `text`: the text with it."""

    token: str
    id: int
    probability: float
    before: float
    ends: bool
    taken: bool
    text: str


class Output(TypedDict):
    """What came out: classes, a tag for each token, or for each position the most probable tokens."""

    name: str
    axes: list[Axis]
    classes: list[Class]
    tags: list[Tag]
    next: list[list[Next]]


# A stack of layers; of an encoder-decoder there are two, else one without a name.
Stack = TypedDict("Stack", {"name": str, "layers": int, "heads": int})
# The patches of an image; `before` tokens stand in front of them.
ImageGrid = TypedDict("ImageGrid", {"grid": tuple[int, int], "patch": tuple[int, int], "before": int})


class Opened(TypedDict):
    label: str
    about: str
    parameters: int
    reads: Literal["tokens", "vectors", "image", "frames"]
    text: str
    tokens: list[str]
    before_tokens: list[str]
    target: list[str]
    before_target: list[str]
    ids: list[int]
    predicts_next: bool
    t: int
    layers: int
    heads: int
    stacks: list[Stack]
    whole: bool
    steps: list[Step]
    output: Output
    examples: list[str]
    labels: list[str]
    edits: list[str]
    moved: dict[str, float]
    image: NotRequired[ImageGrid]


NamedModel = TypedDict("NamedModel", {"name": str, "title": str, "made": str})
Models = TypedDict("Models", {"models": list[NamedModel], "first": str, "random": str, "digits": list[int], "given": list[str]})
Side = TypedDict("Side", {"axis": str, "size": int, "start": int})


class Page(TypedDict):
    """A window of a tensor; its numbers come as an array."""

    name: str
    rows: Side
    columns: Side
    fixed: dict[str, int]
    least: float
    largest: float
    window: int


# Thumbnails of heads: for each tensor of weights an array of that name; `all`: of every layer.
Heads = TypedDict("Heads", {"names": list[str], "all": bool})


class CellDocument(OpenedNumber):
    """`before` the changes, where they moved it; `was`: before it was set by hand."""

    name: str
    part: Part
    before: float | None
    was: float | None
    rule: str
    copy: str
    heads: list[float]


# What a beam search follows: its tokens, and the sum of their log-probabilities; of the best one divided by its length.
Hypothesis = TypedDict("Hypothesis", {"ids": list[int], "words": list[str], "score": float})


class Beams(TypedDict):
    """A beam search: what was kept after each token, best first, and what was written in the end."""

    width: int
    start: int
    steps: list[list[Hypothesis]]
    best: Hypothesis
    ended: bool


class LedgerLine(TypedDict):
    """One contribution: what it is, and the number."""

    id: str
    name: str
    value: float


class LedgerGroup(TypedDict):
    """The contributions of one part of a layer, largest first; `rest` sums those that are not listed."""

    name: str
    value: float
    lines: list[LedgerLine]
    rest: Rest


class LedgerDocument(TypedDict):
    """A number as a sum of contributions: total + remainder = value, up to rounding (`gap`)."""

    id: str
    label: str
    value: float
    total: float
    remainder: float
    gap: float
    rules: str
    groups: list[LedgerGroup]


class LedgerTerm(TypedDict):
    """Coefficient times a cell, which opens."""

    value: float
    coefficient: float
    cell: Door


class LineDocument(TypedDict):
    """A line of a ledger: the cells that it sums over; `constant` where a rule gives it without any."""

    id: str
    name: str
    value: float
    constant: Literal["uniform attention", "bias", "remainder"] | None
    terms: list[LedgerTerm]
    rest: Rest
