"""Predictions of a head: classes with probabilities, multi-label results, scores, token tags."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from torch import Tensor

from glassformer.checkpoints.folder import CheckpointFolder
from glassformer.errors import GlassformerError
from glassformer.spec import EncoderSpec

Kind = Literal["classes", "labels", "scores"]
WHAT = {
    "none": "it has no head",
    "project": "its head returns vectors",
}
ANSWERS = "ForQuestionAnswering"  # two numbers a token, which compare tokens and not classes
LIKELY = 0.5  # from this probability on, a label holds


class Prediction(NamedTuple):
    """Of one input: a number for each label, and what the numbers are."""

    kind: Kind  # classes: probabilities that sum to one; labels: one probability each; scores: numbers as they are
    values: dict[str, float]

    @property
    def label(self) -> str:
        """The label with the largest number."""
        return max(self.values, key=self.values.__getitem__)

    @property
    def probability(self) -> float:
        """That label's number."""
        return self.values[self.label]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        if self.kind == "scores":
            return {"scores": self.values}
        if self.kind == "labels":
            return {"labels": [name for name, value in self.values.items() if value >= LIKELY], "probabilities": self.values}
        return {"label": self.label, "probability": self.probability, "probabilities": self.values}


class TokenPrediction(NamedTuple):
    """A token's text and its prediction."""

    token: str
    prediction: Prediction

    def to_dict(self) -> dict[str, Any]:
        said = self.prediction.to_dict()
        return {"token": self.token, **{name: value for name, value in said.items() if name != "probabilities"}}


def kind_of(folder: CheckpointFolder) -> Kind:
    """What the numbers of a classifier are, as its config says."""
    problem = folder.aside.get("problem_type")
    if problem == "multi_label_classification":
        return "labels"
    return "scores" if problem == "regression" or folder.spec.classes == 1 else "classes"


def prediction(logits: Tensor, labels: list[str], kind: Kind) -> Prediction:
    """The prediction that the numbers of one input make, [classes]."""
    said = logits.float() if logits.element_size() < 4 else logits
    numbers = {"classes": lambda: said.softmax(-1), "labels": said.sigmoid, "scores": lambda: said}[kind]()
    return Prediction(kind, dict(zip(labels, numbers.tolist(), strict=True)))


def require_classes(spec: EncoderSpec, model_class: str) -> None:
    """Refuse a model whose head names no classes."""
    what = "its head marks where an answer begins and ends" if model_class.endswith(ANSWERS) else WHAT.get(spec.head)
    if what is not None:
        raise GlassformerError(f"{model_class} predicts no classes: {what}. Classifiers and taggers do; encode returns vectors.")
