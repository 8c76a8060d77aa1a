"""What the page Train is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict

Number: TypeAlias = float | str  # what a log says: a number that JSON has not is a word
State: TypeAlias = Literal["starting", "running", "stopping", "stopped", "killed", "failed", "finished"]
Figures = TypedDict("Figures", {"loss": Number, "accuracy": Number})


class BestFigures(Figures):
    epoch: int


TestFigures = TypedDict("TestFigures", {"accuracy": Number | None})


class Progress(TypedDict):
    """How far a run is."""

    ended: bool
    steps: int | None
    step: int
    epoch: int
    last: Figures | None
    best: BestFigures | None
    test: TestFigures | None


class Row(Progress):
    """A run in the table. `title`: what the user calls it; `said`: the last line of its command; `trace`: it has weights."""

    name: str
    title: str
    archived: bool
    state: State
    said: str
    trace: bool
    data: str | None
    task: str | None
    parameters: int | None
    start: str | None
    epochs: int | None
    lr: Number | None


Rows = TypedDict("Rows", {"rows": list[Row]})
Started = TypedDict("Started", {"run": str, "row": Row | None})
StartPoint = TypedDict("StartPoint", {"kind": Literal["start"], "steps": int | None, "parameters": int | None})


class StepPoint(Figures):
    kind: Literal["step"]
    step: int
    epoch: int
    lr: Number | None
    per_second: Number | None


class EpochPoint(TypedDict):
    kind: Literal["epoch"]
    step: int
    epoch: int
    train: Figures
    validation: Figures
    seconds: Number


class EndPoint(TypedDict):
    kind: Literal["end"]
    step: int | None
    epochs: int | None
    best: BestFigures | None
    test: Number | None


Point: TypeAlias = StartPoint | StepPoint | EpochPoint | EndPoint


class Verdict(TypedDict):
    """What `glassformer curves` says of a run."""

    epochs: int
    best_accuracy: float
    best_epoch: int
    least_loss: float
    turn: int | None
    overfits: bool
    note: str


# News of a curve; `void`: all that came before is no longer true.
Points = TypedDict("Points", {"run": str, "void": bool, "points": list[Point], "verdict": Verdict | None})


class DataSet(TypedDict):
    name: str
    title: str
    task: str
    rows: dict[str, int]
    classes: int
    to_beat: float | None
    licence: str


Preset = TypedDict("Preset", {"name": str, "doc": str})
Field = TypedDict("Field", {"name": str, "doc": str, "choices": Sequence[str], "first": bool})


class Setting(TypedDict):
    name: str
    doc: str
    choices: Sequence[str]
    default: Any
    optional: bool
    first: bool
    free: bool


class Options(TypedDict):
    sets: list[DataSet]
    own: list[str]
    presets: list[Preset]
    folders: list[str]
    fields: list[Field]
    settings: list[Setting]
    runs: str
    example: str
    most_shown: int
    missing: str | None


# A row of a data set: a text, words, or an image as rows of pixels with three parts of 255.
Example = TypedDict("Example", {"label": str | list[str] | None, "input": str | list[str] | list[list[list[float]]]})


ShownTask: TypeAlias = Literal["classify", "image", "tag", "mlm", "translate"]


class Sample(TypedDict):
    task: ShownTask
    rows: dict[str, int]
    labels: list[str]
    notes: list[str]
    licence: str
    sample: list[Example]


class Overfitting(TypedDict):
    """The change of the mean validation loss from the best weights of a run to its last, with its 95% interval over rows."""

    run: str
    best_epoch: int
    last_epoch: int
    rows: int
    change: float
    low: float
    high: float


class Mistake(TypedDict):
    """A wrong prediction: its row in the part, from 1, and what was read."""

    row: int
    true: str
    predicted: str
    probability: float
    input: Any


class Mistakes(TypedDict):
    """A finished run on the test part of its data: the confusion matrix has true labels as rows."""

    run: str
    part: str
    rows: int
    accuracy: float
    low: float
    high: float
    labels: list[str]
    confusion: list[list[int]]
    task: str
    worst: list[Mistake]
