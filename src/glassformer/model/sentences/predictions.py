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
ANSWERS = "ForQuestionAnswering"  # two logits per token, which compare tokens and not classes
LIKELY = 0.5  # a label applies from this probability on


class Prediction(NamedTuple):
    """The prediction for one input: a number per label, and the kind of these numbers."""

    kind: Kind  # classes: probabilities that sum to one; labels: one probability each; scores: the logits themselves
    values: dict[str, float]

    @property
    def label(self) -> str:
        """The label with the largest number."""
        return max(self.values, key=self.values.__getitem__)

    @property
    def probability(self) -> float:
        """The number of the top label."""
        return self.values[self.label]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
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
    """The kind of a classifier's outputs, according to its config."""
    problem = folder.aside.get("problem_type")
    if problem == "multi_label_classification":
        return "labels"
    return "scores" if problem == "regression" or folder.spec.classes == 1 else "classes"


def prediction(logits: Tensor, labels: list[str], kind: Kind) -> Prediction:
    """Return the prediction for the logits of one input, [classes]."""
    said = logits.float() if logits.element_size() < 4 else logits
    numbers = {"classes": lambda: said.softmax(-1), "labels": said.sigmoid, "scores": lambda: said}[kind]()
    return Prediction(kind, dict(zip(labels, numbers.tolist(), strict=True)))


def require_classes(spec: EncoderSpec, model_class: str) -> None:
    """Refuse a model whose head has no class names."""
    what = "its head marks where an answer begins and ends" if model_class.endswith(ANSWERS) else WHAT.get(spec.head)
    if what is not None:
        raise GlassformerError(f"{model_class} predicts no classes: {what}. Classifiers and taggers do; encode returns vectors.")
