"""Text encoders that attend by landmarks: Nyströmformer, whose short models attend completely and convolve values."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import ACTIVATION, CHOICE, CLASSIFIED, MASKED, TAGGED
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import BERT_KEYS, LEARNED, NOT_SEQ2SEQ, same_width, tied_with_bias


def landmarks(draft: Draft) -> None:
    """Read the landmarks, of which there are none where each position would be one; and the convolution over values."""
    config, fields = draft.config, draft.fields
    number, length = config.whole("num_landmarks", 64), config.whole("segment_means_seq_len", 64)
    if number != length:
        if length % number:
            raise config.refusal("num_landmarks", f"it must divide segment_means_seq_len = {length}.")
        fields["landmarks"] = number
    kernel = config.whole("conv_kernel_size", 65) if config.get("conv_kernel_size", 65) is not None else None
    if kernel is not None and kernel % 2 == 0:
        raise config.refusal("conv_kernel_size", "an even kernel would give one position more than there are.")
    fields.update(value_kernel=kernel, position_offset=2)


FAMILIES = [
    Family(
        model_type="nystromformer",
        base="NystromformerModel",
        classes={
            "NystromformerModel": {},
            "NystromformerForMaskedLM": MASKED,
            "NystromformerForSequenceClassification": {**CLASSIFIED, "head_hidden": ACTIVATION},
            "NystromformerForMultipleChoice": {**CHOICE, "head_hidden": "relu"},
            "NystromformerForTokenClassification": TAGGED,
            "NystromformerForQuestionAnswering": {"head": "tag", "classes": 2},
        },
        keys={**BERT_KEYS, "layer_norm_eps": Key("eps", 1e-5), "hidden_act": Key("activation", "gelu_new")},
        fixed=LEARNED,
        only={**NOT_SEQ2SEQ, "inv_coeff_init_option": (False,)},
        inert=frozenset({"inv_init_coeff_option"}),  # read only where the other one is true
        adjust=(landmarks, same_width, tied_with_bias),
    )
]
