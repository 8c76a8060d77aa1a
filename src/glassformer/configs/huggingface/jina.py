"""Jina's second BERT, as published with its own code: ALiBi instead of positions, gated feed-forward blocks."""

from __future__ import annotations

from typing import Any

from glassformer.configs.huggingface.classes import bert_classes, without
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import BERT_INERT, BERT_KEYS, NOT_SEQ2SEQ, same_width, tied

CODE = "jina-bert-implementation"  # the published code that these files refer to
OTHER_CODE = "jina-bert-v2-qk-post-norm"  # a second one, with the same keys and other layers


def published_code(draft: Draft) -> None:
    """Check which code the file refers to: two kinds of layers have the same keys."""
    code: Any = draft.config.get("auto_map", None)
    texts = [*code.values()] if isinstance(code, dict) else []
    named = " ".join(text for text in (*texts, draft.config.get("_name_or_path", None)) if isinstance(text, str))
    if OTHER_CODE in named:
        raise draft.config.refusal("auto_map", f"layers of {OTHER_CODE} are not implemented.", verb="is not supported:")
    if CODE not in named:
        raise draft.config.refusal(
            "auto_map",
            f"it must name {CODE}: other code has other layers with the same keys.",
            verb="is not supported:",
        )


def feed_forward(draft: Draft) -> None:
    """Read the kind of feed-forward block. The head's hidden layer has the activation of the file in any case."""
    config, fields = draft.config, draft.fields
    config.get("position_embedding_type")
    kind = config.word("feed_forward_type", "original", ("original", "reglu", "geglu"))
    if fields.get("head") in ("mlm", "pretrain"):
        fields["head_hidden"] = fields["activation"]
    if kind != "original":
        fields.update(activation=kind, biases=without("ffn"))


FAMILIES = [
    Family(
        model_type="jina_bert",
        published_as="bert",
        base="JinaBertModel",
        classes=bert_classes("JinaBert"),
        keys={**BERT_KEYS, "max_position_embeddings": Key("positions", None)},
        fixed={"position": "alibi", "embedding_norm": True},
        only={**NOT_SEQ2SEQ, "position_embedding_type": ("alibi",)},
        inert=BERT_INERT | {"auto_map", "emb_pooler"},
        adjust=(published_code, feed_forward, tied, same_width),
    )
]
