"""Model classes: the pooler and the head that each adds to the body of its family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassformer.configs.huggingface.values import Fields
from glassformer.spec.encoder_fields import ALL_BIASES

# Placeholders for values from the config.
LABELS: Any = "the config's number of labels"
ACTIVATION: Any = "the config's activation"

POOLED: Fields = {"pooler": "dense"}
MASKED: Fields = {"head": "mlm"}
TAGGED: Fields = {"head": "tag", "classes": LABELS}
CLASSIFIED: Fields = {"head": "classify", "classes": LABELS}
CHOICE: Fields = {"head": "classify", "classes": 1}  # one score per choice


def without(*places: str) -> tuple[str, ...]:
    """Return all biases but those of `places`."""
    return tuple(place for place in ALL_BIASES if place not in places)


def bert_classes(name: str) -> dict[str, Fields]:
    """Return the classes of BERT-like families: classifiers read the pooler; token heads have none."""
    return {
        f"{name}Model": POOLED,
        f"{name}ForPreTraining": {**POOLED, "head": "pretrain", "classes": 2},
        f"{name}ForMaskedLM": MASKED,
        f"{name}ForNextSentencePrediction": {**POOLED, "head": "classify", "classes": 2},
        f"{name}ForSequenceClassification": {**POOLED, **CLASSIFIED},
        f"{name}ForMultipleChoice": {**POOLED, **CHOICE},
        f"{name}ForTokenClassification": TAGGED,
        f"{name}ForQuestionAnswering": TAGGED,
    }


def roberta_classes(name: str) -> dict[str, Fields]:
    """Return the classes of RoBERTa-like families: the classifier has its own hidden layer instead of the pooler.

    The masked-token head uses GELU, whatever the activation of the layers.
    """
    return {
        f"{name}Model": POOLED,
        f"{name}ForMaskedLM": {**MASKED, "head_hidden": "gelu"},
        f"{name}ForSequenceClassification": {**CLASSIFIED, "head_hidden": "tanh"},
        f"{name}ForMultipleChoice": {**POOLED, **CHOICE},
        f"{name}ForTokenClassification": TAGGED,
        f"{name}ForQuestionAnswering": TAGGED,
    }


def some(classes: Mapping[str, Fields], *endings: str) -> dict[str, Fields]:
    """Return the classes whose names end in one of `endings`."""
    return {name: fields for name, fields in classes.items() if name.endswith(endings)}


# Why a class is not supported, by the end of its name; the tables of the families take precedence.
NOT_READ = {
    "ForConditionalGeneration": "it has a decoder, and only encoders are implemented for this family",
    "ForCausalLM": "it predicts the next token, so it is a decoder, and only encoders are implemented for this family",
    "LMHeadModel": "it predicts the next token, so it is a decoder, and only encoders are implemented for this family",
    "DoubleHeadsModel": "its second head is not implemented",
    "ForSemanticSegmentation": "its segmentation head is not implemented",
    "ForObjectDetection": "its detection head is not implemented",
    "ColBERT": "the width of its projection is not in the file",
    "Backbone": "a backbone returns the feature maps of several layers, which is not implemented",
}


def why_not(model_class: str, *, decoder: bool) -> str | None:
    """Return why an unknown class is not supported, if its name tells."""
    if decoder and model_class.endswith(("Model", "Generation", "Classification", "Answering", "Decoder", "LM")):
        return NOT_READ["ForConditionalGeneration"]
    return next((why for ending, why in NOT_READ.items() if model_class.endswith(ending)), None)
