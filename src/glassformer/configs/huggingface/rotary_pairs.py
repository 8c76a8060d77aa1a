"""Text encoders whose rotary positions turn neighbouring features together: RoFormer, NeoBERT."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import ACTIVATION, CLASSIFIED, MASKED, bert_classes, some
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import (
    BERT_INERT,
    BERT_KEYS,
    BODY,
    NOT_SEQ2SEQ,
    projected_if_narrower,
    read_by_a_layer,
    tied_with_bias,
    two_answers,
)

MULTIPLE = 8  # NeoBERT rounds its width up to a multiple of this


def narrowed(draft: Draft) -> None:
    """Read the width of NeoBERT's gated block: two thirds of the one given, so that three matrices are as large as two."""
    width = int(2 * draft.fields["d_ff"] / 3)
    if width < 1:
        raise draft.config.refusal("intermediate_size", "two thirds of it, in whole numbers, must be at least 1.")
    draft.fields["d_ff"] = -(-width // MULTIPLE) * MULTIPLE


def width_of_a_head(draft: Draft) -> None:
    """Check the head width in files that give it: the class computes it."""
    d_model, heads = draft.fields["d_model"], draft.fields["heads"]
    if draft.config.whole("dim_head", None) not in (None, d_model // heads):
        raise draft.config.refusal("dim_head", f"it must be hidden_size / num_attention_heads = {d_model // heads}.")


def untied(draft: Draft) -> None:
    """Give the head its own output matrix: the class has one whatever `tie_word_embeddings` says."""
    if draft.fields.get("head") == "mlm":
        draft.fields["tie"] = False


FAMILIES = [
    Family(
        model_type="roformer",
        base="RoFormerModel",
        classes={
            **some(bert_classes("RoFormer"), "MaskedLM", "TokenClassification", "Answering"),
            "RoFormerModel": {},
            "RoFormerForSequenceClassification": {**CLASSIFIED, "head_hidden": ACTIVATION},
        },
        keys={
            **BERT_KEYS,
            "embedding_size": Key("embedding_size", None),
            "rotary_value": Key("rotary_values", default=False),
        },
        fixed={"position": "rotary_stored", "rotary_pairs": "adjacent", "embedding_norm": True},
        only=NOT_SEQ2SEQ,
        inert=BERT_INERT | {"max_relative_positions"},  # of the authors' own code
        adjust=(projected_if_narrower, read_by_a_layer, two_answers, tied_with_bias),
        unsupported={"RoFormerForMultipleChoice": "its summary reads the last position, even where that is padding"},
    ),
    Family(
        model_type="neobert",
        base="NeoBERT",
        classes={
            "NeoBERT": {},
            "NeoBERTLMHead": {**MASKED, "head_dense": False},
            "NeoBERTForSequenceClassification": {**CLASSIFIED, "head_hidden": "tanh"},
        },
        keys={
            **{key: rule for key, rule in BODY.items() if key not in ("hidden_act", "hidden_dropout_prob")},
            "max_length": Key("positions", None),
            "norm_eps": Key("eps"),
        },
        fixed={
            "position": "rotary",
            "rotary_pairs": "adjacent",
            "norm": "pre",
            "norm_kind": "rms",
            "activation": "swiglu",
            "biases": ("head", "classes", "decoder"),
            "dropout": 0.0,
        },
        only=NOT_SEQ2SEQ,
        inert=frozenset(
            "auto_map classifier_init_range decoder_init_range embedding_init_range encoder_init_range kwargs".split()
        ),
        adjust=(narrowed, width_of_a_head, untied),
    ),
]
