"""Funnel Transformer: blocks of layers between which the sequence is pooled."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import ACTIVATION, CHOICE, CLASSIFIED, MASKED, TAGGED
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import NOT_SEQ2SEQ, tied
from glassformer.spec.encoder_fields import ALL_BIASES

AT_FULL_LENGTH = ("Model", "ForPreTraining", "ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering")


def blocks(draft: Draft) -> None:
    """Read the blocks, how often their layers repeat, and the layers after them, which classes of whole texts leave out."""
    config, fields = draft.config, draft.fields
    sizes = config.sizes("block_sizes")
    repeats = (1,) * len(sizes) if config.get("block_repeats", None) is None else config.sizes("block_repeats")
    if len(repeats) != len(sizes):
        raise config.refusal("block_repeats", f"it must have a number for each of {len(sizes)} blocks.")
    after = config.whole("num_decoder_layers", 2, least=0)
    full = draft.model_class.removeprefix("Funnel") in AT_FULL_LENGTH
    passes = sum(size * times for size, times in zip(sizes, repeats, strict=True))
    if fields["d_model"] % 2:
        raise config.refusal("d_model", "relative positions come in pairs of a sine and a cosine: it must be even.")
    if full and not after:
        raise config.refusal("num_decoder_layers", "without layers after the blocks, --as FunnelBaseModel reads the encoder.")
    fields.update(funnel=sizes, funnel_repeats=repeats, layers=passes + (after if full else 0))
    fields["segments"] = config.whole("type_vocab_size", 3, least=3)
    if fields.get("head") == "mlm":
        fields["head_dense"] = False


FAMILIES = [
    Family(
        model_type="funnel",
        base="FunnelModel",
        classes={
            "FunnelModel": {},
            "FunnelBaseModel": {},
            "FunnelForPreTraining": {"head": "tag", "classes": 1, "head_hidden": ACTIVATION},
            "FunnelForMaskedLM": MASKED,
            "FunnelForSequenceClassification": {**CLASSIFIED, "head_hidden": "tanh"},
            "FunnelForMultipleChoice": {**CHOICE, "head_hidden": "tanh"},
            "FunnelForTokenClassification": TAGGED,
            "FunnelForQuestionAnswering": TAGGED,
        },
        keys={
            "vocab_size": Key("vocab"),
            "d_model": Key("d_model"),
            "n_head": Key("heads"),
            "d_head": Key("d_k"),
            "d_inner": Key("d_ff"),
            "hidden_act": Key("activation", "gelu_new"),
            "hidden_dropout": Key("dropout", 0.1),
            "layer_norm_eps": Key("eps", 1e-9),
        },
        fixed={"embedding_norm": True, "biases": tuple(place for place in ALL_BIASES if place != "q")},
        only={
            **NOT_SEQ2SEQ,
            "pooling_type": ("mean",),
            "attention_type": ("relative_shift",),
            "separate_cls": (True,),
            "truncate_seq": (True,),
            "pool_q_only": (True,),
        },
        synonyms={"hidden_size": "d_model", "num_attention_heads": "n_head"},
        inert=frozenset({"initializer_std", "max_position_embeddings", "rel_attn_type", "num_hidden_layers"}),
        adjust=(blocks, tied),
    )
]
