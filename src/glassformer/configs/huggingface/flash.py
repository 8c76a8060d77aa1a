"""XLM-RoBERTa as published by Jina, with its own code: rotary or learned positions, and adapters for several tasks."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import POOLED, roberta_classes, some
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import BERT_KEYS, NOT_SEQ2SEQ, after_padding, same_width, tied_with_bias


def places(draft: Draft) -> None:
    """Read the positions: rotary ones, or a table whose rows start after the padding token's."""
    config, fields = draft.config, draft.fields
    rotary = config.word("position_embedding_type", "absolute", ("absolute", "rotary")) == "rotary"
    base = config.number("rotary_emb_base", 10_000.0)
    if not rotary:
        fields["position"] = "learned"
        after_padding(draft)
        return
    if not base:
        raise config.refusal("rotary_emb_base", "the base of rotary angles must be a positive number.")
    fields.update(position="rotary", rotary_base=base, positions=None)


def adapters(draft: Draft) -> None:
    """Read the adapters: one for each task, which are stored, and applied only where a task is named."""
    config, tasks = draft.config, draft.config.get("lora_adaptations", None)
    rank = config.whole("lora_rank", 4)
    if tasks in (None, []):
        return
    if not isinstance(tasks, list) or not all(isinstance(task, str) for task in tasks) or len(set(tasks)) < len(tasks):
        raise config.refusal("lora_adaptations", "it must be a list of tasks.")
    if draft.model_class != "XLMRobertaModel":
        raise config.refusal(
            "lora_adaptations", "they belong to the encoder alone: --as XLMRobertaModel.", verb="is not supported:"
        )
    draft.fields["adapters"] = (len(tasks), rank)


ADAPTERS = frozenset(
    """
    auto_map emb_pooler load_trained_adapters lora_alpha lora_dropout_p lora_main_params_trainable matryoshka_dimensions
    position_embedding_type task_instructions truncate_dim use_reentrant lora_adaptations
    """.split()
)
FAMILIES = [
    Family(
        model_type="xlm-roberta-flash",
        published_as="xlm-roberta",
        told_by="XLMRobertaFlash",
        base="XLMRobertaModel",
        classes={
            **some(roberta_classes("XLMRoberta"), "ForSequenceClassification", "MaskedLM"),
            "XLMRobertaModel": POOLED,
        },
        keys={**BERT_KEYS, "layer_norm_eps": Key("eps", 1e-5)},
        fixed={"embedding_norm": True},
        only=NOT_SEQ2SEQ,
        inert=ADAPTERS,
        adjust=(places, adapters, same_width, tied_with_bias),
    )
]
