"""ESM-1b and ESM-2: encoders of proteins, with norms before the sub-layers and token dropout."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import POOLED, roberta_classes, some
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import BODY, EPS, NOT_SEQ2SEQ, after_padding, tied


def places(draft: Draft) -> None:
    """Read the positions: rotary, or a table whose rows start after the padding token's."""
    config = draft.config
    if config.word("position_embedding_type", "absolute", ("absolute", "rotary")) == "rotary":
        draft.fields.update(position="rotary", rotary_base=config.rope("rope_theta", 10_000.0))
        return
    config.get("max_position_embeddings")
    config.get("pad_token_id")
    draft.fields["position"] = "learned"
    after_padding(draft)


def masked_inputs(draft: Draft) -> None:
    """Read what happens to masked tokens, and whether a norm follows the embeddings; null is false for both."""
    config, fields = draft.config, draft.fields
    on = {key: config.get(key, None) is not None and config.flag(key, default=False) for key in FLAGS}
    fields["embedding_norm"] = on["emb_layer_norm_before"]
    if on["token_dropout"]:
        fields["token_dropout"] = config.whole("mask_token_id", least=0)


FLAGS = ("emb_layer_norm_before", "token_dropout")
FAMILIES = [
    Family(
        model_type="esm",
        base="EsmModel",
        classes={
            **some(roberta_classes("Esm"), "MaskedLM", "ForSequenceClassification", "TokenClassification"),
            "EsmModel": POOLED,
        },
        keys={
            **{key: rule for key, rule in BODY.items() if key != "hidden_act"},
            **EPS,
            "max_position_embeddings": Key("positions", None),
        },
        fixed={"norm": "pre", "activation": "gelu", "contact_head": True},
        only={
            **NOT_SEQ2SEQ,
            "position_embedding_type": ("absolute", "rotary"),
            "is_folding_model": (False,),
            "hidden_act": ("gelu",),
        },
        inert=frozenset({"esmfold_config", "rope_theta", "vocab_list"}),
        adjust=(places, masked_inputs, tied),
        unsupported={"EsmForProteinFolding": "its folding trunk is not implemented"},
    )
]
