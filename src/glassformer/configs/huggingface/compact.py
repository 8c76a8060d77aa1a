"""Text encoders with cheaper layers than BERT's: SqueezeBERT (groups), MobileBERT (bottlenecks), FNet (Fourier transforms)."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import POOLED, bert_classes, some
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import BERT_KEYS, LEARNED, NOT_SEQ2SEQ, same_width, tied_with_bias
from glassformer.configs.huggingface.values import Fields, value_text
from glassformer.spec.encoder_fields import MASKED_HEADS

TOKEN_CLASSES = ("ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering")
GROUP_KEYS = ("q_groups", "k_groups", "v_groups", "post_attention_groups", "intermediate_groups", "output_groups")


def beside_a_pooler(name: str, *endings: str) -> dict[str, Fields]:
    """Return BERT's classes with these endings; those whose heads read tokens store a pooler as well."""
    spare: Fields = {**POOLED, "spare_pooler": True}
    return {
        named: {**fields, **spare} if named.endswith(TOKEN_CLASSES) else fields
        for named, fields in some(bert_classes(name), *endings).items()
    }


def feature_groups(draft: Draft) -> None:
    """Read the groups of each projection; files without these keys have the defaults of the class."""
    defaults = (4, 4, 4, 1, 4, 4)
    groups = tuple(draft.config.whole(key, default) for key, default in zip(GROUP_KEYS, defaults, strict=True))
    widths = (draft.fields["d_model"],) * 4 + (draft.fields["d_ff"],) * 2
    for key, count, width in zip(GROUP_KEYS, groups, widths, strict=True):
        if draft.fields["d_model"] % count or width % count:
            other = "" if width == draft.fields["d_model"] else " and intermediate_size"
            raise draft.config.refusal(key, f"it must divide hidden_size{other}: each group has as many features as the others.")
    draft.fields["groups"] = groups


SQUEEZEBERT = Family(
    model_type="squeezebert",
    base="SqueezeBertModel",
    classes=beside_a_pooler("SqueezeBert", "Model", "MaskedLM", "SequenceClassification", "Choice", *TOKEN_CLASSES[1:]),
    keys=BERT_KEYS,
    fixed=LEARNED,
    only=NOT_SEQ2SEQ,
    adjust=(feature_groups, same_width, tied_with_bias),
)
# MobileBERT ----------------------------------------------------------------------------------------------------------


def bottleneck(draft: Draft) -> None:
    """Read the width inside each layer, and what its attention reads through the bottleneck."""
    config, fields = draft.config, draft.fields
    narrow, width = config.whole("intra_bottleneck_size", 128), fields["d_model"]
    has = config.flag("use_bottleneck", default=True)
    everything = config.flag("use_bottleneck_attention", default=False)
    shared = config.flag("key_query_shared_bottleneck", default=True)
    inner = narrow if has else width
    if config.whole("true_hidden_size", inner) != inner:
        raise config.refusal("true_hidden_size", f"it follows from other keys, and must be {inner}.")
    if inner % fields["heads"]:
        key = "intra_bottleneck_size" if has else "hidden_size"
        raise config.refusal("num_attention_heads", f"it does not divide {key} = {inner}.")
    fields["d_k"] = inner // fields["heads"]
    if not has:
        return
    if everything == shared:
        why = "a bottleneck for queries and keys would be stored but not used" if shared else "queries and keys would not fit"
        raise config.refusal("key_query_shared_bottleneck", f"with use_bottleneck_attention = {value_text(everything)}, {why}.")
    fields.update(bottleneck=narrow, bottleneck_reads="all" if everything else "keys")


def trigrams(draft: Draft) -> None:
    """Read how token embeddings become d_model wide: each with its neighbours, or by itself."""
    config, fields = draft.config, draft.fields
    three = config.flag("trigram_input", default=True)
    if not three and fields["embedding_size"] == fields["d_model"]:
        raise config.refusal("trigram_input", "with embedding_size = hidden_size, a projection would be stored but not used.")
    fields["token_kernel"] = 3 if three else 1
    if fields.get("head") in MASKED_HEADS:
        if fields["embedding_size"] > fields["d_model"]:
            raise config.refusal("embedding_size", f"the output matrix has hidden_size = {fields['d_model']} features in all.")
        fields["wide_output"] = fields["embedding_size"] < fields["d_model"]


def scaled_only(draft: Draft) -> None:
    """Read the kind of norm: gamma and beta alone, or LayerNorm, which has another eps in some places."""
    kind = draft.config.word("normalization_type", "no_norm", ("no_norm", "layer_norm"))
    draft.fields["norm_kind"] = "scale" if kind == "no_norm" else "layer"
    if kind == "layer_norm" and draft.fields["eps"] != 1e-5:
        raise draft.config.refusal("layer_norm_eps", "with layer_norm, some norms have 1e-05 in any case: give 1e-05.")


def unactivated(draft: Draft) -> None:
    """Read whether the pooler has its dense layer."""
    if not draft.config.flag("classifier_activation", default=True) and draft.fields.get("pooler") == "dense":
        draft.fields["pooler"] = "none"


MOBILEBERT = Family(
    model_type="mobilebert",
    base="MobileBertModel",
    classes=bert_classes("MobileBert"),
    keys={**BERT_KEYS, "embedding_size": Key("embedding_size", 128), "num_feedforward_networks": Key("ffn_blocks", 4)},
    fixed=LEARNED,
    only=NOT_SEQ2SEQ,
    adjust=(bottleneck, trigrams, scaled_only, unactivated, tied_with_bias),
)
# FNet ----------------------------------------------------------------------------------------------------------------


def projected(draft: Draft) -> None:
    """Read the projection after the embeddings, which are as wide as the layers."""
    draft.fields["embedding_size"] = draft.fields["d_model"]


def one_transform(draft: Draft) -> None:
    """Check the keys that choose how the transform is computed; its result is the same."""
    draft.config.flag("use_tpu_fourier_optimizations", default=False)
    draft.config.whole("tpu_short_seq_length", 512)


FNET = Family(
    model_type="fnet",
    base="FNetModel",
    classes=beside_a_pooler("FNet", ""),
    keys={
        **{key: to for key, to in BERT_KEYS.items() if key != "num_attention_heads"},
        "hidden_act": Key("activation", "gelu_new"),
    },
    fixed={**LEARNED, "mixing": "fourier"},
    inert=frozenset({"num_attention_heads"}),
    only=NOT_SEQ2SEQ,
    adjust=(projected, one_transform, tied_with_bias),
)
FAMILIES = [SQUEEZEBERT, MOBILEBERT, FNET]
