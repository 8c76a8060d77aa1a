"""Model classes: the pooler and the head that a class puts on the body of its family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassformer.spec.huggingface.values import Fields

# Stand-ins for what the config decides.
LABELS: Any = "the config's number of labels"
ACTIVATION: Any = "the config's activation"

POOLED: Fields = {"pooler": "dense"}
MASKED: Fields = {"head": "mlm"}
TAGGED: Fields = {"head": "tag", "classes": LABELS}
CLASSIFIED: Fields = {"head": "classify", "classes": LABELS}
CHOICE: Fields = {"head": "classify", "classes": 1}  # one score for each choice


def bert_classes(name: str) -> dict[str, Fields]:
    """BERT and its kin: heads that classify read the pooler, heads on tokens have none."""
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
    """RoBERTa and its kin: the classifier has a hidden layer of its own instead of the pooler; GELU whatever the layers use."""
    return {
        f"{name}Model": POOLED,
        f"{name}ForMaskedLM": {**MASKED, "head_hidden": "gelu"},
        f"{name}ForSequenceClassification": {**CLASSIFIED, "head_hidden": "tanh"},
        f"{name}ForMultipleChoice": {**POOLED, **CHOICE},
        f"{name}ForTokenClassification": TAGGED,
        f"{name}ForQuestionAnswering": TAGGED,
    }


def some(classes: Mapping[str, Fields], *endings: str) -> dict[str, Fields]:
    """Those classes whose names end in one of `endings`."""
    return {name: fields for name, fields in classes.items() if name.endswith(endings)}


# Why a class is not read, by the end of its name; the families' own tables come first.
NOT_READ = {
    "ForConditionalGeneration": "it has a decoder, which is not in the program",
    "ForCausalLM": "it predicts the next token, so it is a decoder, and only encoders are read",
    "LMHeadModel": "it predicts the next token, so it is a decoder, and only encoders are read",
    "DoubleHeadsModel": "it is a decoder, and only encoders are read",
    "ForSemanticSegmentation": "its segmentation head is not in the program",
    "ForObjectDetection": "its detection head is not in the program",
    "Backbone": "a backbone hands out the feature maps of several layers, which is not in the program",
}


def why_not(model_class: str, *, decoder: bool) -> str | None:
    """Why a class that is not known is not read, where that can be told from its name."""
    if decoder and model_class.endswith(("Model", "Generation", "Classification", "Answering", "Decoder", "LM")):
        return NOT_READ["ForConditionalGeneration"]
    return next((why for ending, why in NOT_READ.items() if model_class.endswith(ending)), None)
