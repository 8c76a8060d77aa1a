"""Text encoders whose tokens attend within a window: Longformer."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import roberta_classes
from glassformer.configs.huggingface.family import Draft, Family
from glassformer.configs.huggingface.text import BERT_KEYS, LEARNED, NOT_SEQ2SEQ, after_padding, same_width, tied_with_bias
from glassformer.configs.huggingface.values import value_text

# The tokens with global attention by default in classes of transformers; none in the others.
GLOBAL_TOKENS = {"ForSequenceClassification": "first", "ForQuestionAnswering": "question", "ForMultipleChoice": "question"}


def window(draft: Draft) -> None:
    """Read the attention window: one number, or one for each layer, which must be the same."""
    config, layers = draft.config, draft.fields["layers"]
    given = config.get("attention_window", 512)
    windows = given if isinstance(given, list | tuple) else [given] * max(layers, 1)
    whole = all(isinstance(one, int) and not isinstance(one, bool) and 0 < one <= 10**9 for one in windows)
    if not windows or not whole or any(one % 2 for one in windows):
        raise config.refusal("attention_window", "it must be an even number, or a list of them.")
    if isinstance(given, list | tuple) and len(windows) != layers:
        raise config.refusal("attention_window", f"it must have one number for each of num_hidden_layers = {layers}.")
    if len(set(windows)) > 1:
        raise config.refusal(
            "attention_window",
            f"windows that differ ({value_text(sorted(set(windows)))}) are not implemented.",
            verb="is not supported:",
        )
    fields = {ending: tokens for ending, tokens in GLOBAL_TOKENS.items() if draft.model_class.endswith(ending)}
    draft.fields.update(window=windows[0], global_attention=next(iter(fields.values()), "stored"))


FAMILIES = [
    Family(
        model_type="longformer",
        base="LongformerModel",
        classes=roberta_classes("Longformer"),
        keys=BERT_KEYS,
        fixed=LEARNED,
        only={**NOT_SEQ2SEQ, "attention_mode": ("longformer",)},
        inert=frozenset({"onnx_export", "ignore_attention_mask"}),
        adjust=(window, after_padding, same_width, tied_with_bias),
    ),
]
