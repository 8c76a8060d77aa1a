"""DeBERTa, v2 and v3: BERT's body with disentangled attention."""

from __future__ import annotations

from typing import Any

from glassformer.configs.huggingface.classes import CHOICE, CLASSIFIED, MASKED, TAGGED, without
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import BODY, NOT_SEQ2SEQ, PLACES, read_by_a_layer, same_width, tied_with_bias
from glassformer.configs.huggingface.values import Fields

TERMS = {
    ("c2p", "p2c"): "both",
    ("c2p",): "content_to_position",
    ("p2c",): "position_to_content",
}
POOLED_CLASSES = ("ForSequenceClassification", "ForMultipleChoice")


def segments_or_none(draft: Draft) -> None:
    """Read the number of segments, which is 0 for none."""
    draft.fields["segments"] = draft.config.whole("type_vocab_size", 0, least=0) or None


def shared_distances(draft: Draft) -> None:
    """Read v2's relative attention: far distances may share rows, projections may be those of the tokens."""
    config = draft.config
    own = not config.flag("share_att_key", default=False)
    buckets = config.whole("position_buckets", -1, least=-1)
    _disentangled(draft, own=own, buckets=buckets, normed=_normed(draft))


def own_distances(draft: Draft) -> None:
    """Read v1's relative attention: each distance has its own row, and the projections are not those of the tokens."""
    _disentangled(draft, own=True, buckets=-1, normed=False)


def _disentangled(draft: Draft, *, own: bool, buckets: int, normed: bool) -> None:
    """Read the relative table, the terms that use it, and whether absolute positions are added as well."""
    config, fields = draft.config, draft.fields
    learned, terms = config.flag("position_biased_input", default=True), _terms(draft)
    distance = config.whole("max_relative_positions", -1, least=-1)
    if not config.flag("relative_attention", default=False):
        for key, given in (("pos_att_type", terms), ("norm_rel_ebd", normed)):
            if given:
                raise config.refusal(key, "it needs relative_attention = true.")
        fields["position"] = "learned" if learned else "none"
        return
    if not terms:
        raise config.refusal("pos_att_type", "with relative_attention = true, it must name c2p, p2c or both.")
    read_by_a_layer(draft)
    distance = distance if distance >= 1 else fields["positions"]
    half = buckets if buckets > 0 else distance
    if half < 2:
        key = "position_buckets" if buckets > 0 else "max_relative_positions"
        raise config.refusal(key, "it must be at least 2, since distances 0 and 1 have one row each.")
    if buckets >= distance:
        raise config.refusal(
            "position_buckets", f"it must be below the largest distance, {distance}, since large distances share buckets."
        )
    fields.update(
        position="learned_disentangled" if learned else "disentangled",
        relative_buckets=2 * half,
        relative_distance=distance,
        relative_terms=TERMS[terms],
        relative_projections="own" if own else "shared",
        relative_norm=normed,
    )


def _terms(draft: Draft) -> tuple[str, ...]:
    """Return the terms c2p and p2c, in this order, from a list or from text such as `c2p|p2c`."""
    given: Any = draft.config.get("pos_att_type", None)
    words = [word.strip() for word in given.lower().split("|")] if isinstance(given, str) else given
    if words is None or words in ([], [""]):
        return ()
    known = isinstance(words, list) and all(word in ("c2p", "p2c") for word in words)
    if not known or len(set(words)) < len(words):  # v1 scales by the length of the list
        raise draft.config.refusal("pos_att_type", "it must be a list of c2p and p2c.", verb="is not supported:")
    return tuple(sorted(set(words)))


def _normed(draft: Draft) -> bool:
    words = draft.config.get("norm_rel_ebd", "none")
    if not isinstance(words, str) or words.strip().lower() not in ("none", "layer_norm"):
        raise draft.config.unknown_word("norm_rel_ebd", words, ("none", "layer_norm"))
    return words.strip().lower() == "layer_norm"


def convolution_beside(draft: Draft) -> None:
    """Read the convolution parallel to layer 0; a kernel of 0 or less means none."""
    kernel = draft.config.whole("conv_kernel_size", 0, least=-1)
    if kernel > 0:
        draft.fields["beside_kernel"] = kernel
        draft.fields["beside_groups"] = draft.config.whole("conv_groups", 1)
        draft.fields["beside_activation"] = draft.config.activation("conv_act", "tanh")


def width_of_a_head(draft: Draft) -> None:
    """Check the head width in files that give it: the output projection expects d_model / heads."""
    width = draft.fields["d_model"] // draft.fields["heads"]
    if draft.config.whole("attention_head_size", None) not in (None, width):
        raise draft.config.refusal("attention_head_size", f"it must be hidden_size / num_attention_heads = {width}.")


def context_pooler(draft: Draft) -> None:
    """Read the activation of the dense layer through which classifiers read the first token."""
    if draft.model_class.endswith(POOLED_CLASSES):
        width = draft.fields["d_model"]
        if draft.config.whole("pooler_hidden_size", width) != width:
            raise draft.config.refusal("pooler_hidden_size", f"it must be hidden_size = {width}.")
        draft.fields["head_hidden"] = draft.config.activation("pooler_hidden_act", "gelu")


def old_prediction_head(draft: Draft) -> None:
    """Refuse `legacy = false`, which selects a head with other tensor names."""
    if draft.model_class.endswith("ForMaskedLM") and not draft.config.flag("legacy", default=True):
        raise draft.config.refusal(
            "legacy",
            "its masked-token head has other tensor names, which are not implemented. "
            f"--as {draft.model_class.removesuffix('ForMaskedLM')}Model reads the encoder.",
        )


KEYS = {**BODY, **PLACES, "layer_norm_eps": Key("eps", 1e-7)}
CLASSIFIERS = frozenset("legacy pooler_hidden_act pooler_hidden_size".split())  # keys that only one class reads
LAST = (width_of_a_head, context_pooler, old_prediction_head, tied_with_bias, same_width)


def _classes(name: str) -> dict[str, Fields]:
    return {
        f"{name}Model": {},
        f"{name}ForMaskedLM": MASKED,
        f"{name}ForSequenceClassification": CLASSIFIED,
        f"{name}ForTokenClassification": TAGGED,
        f"{name}ForQuestionAnswering": TAGGED,
    }


DEBERTA = Family(
    model_type="deberta",
    base="DebertaModel",
    classes=_classes("Deberta"),
    keys=KEYS,
    fixed={"embedding_norm": True, "biases": without("k")},
    only=NOT_SEQ2SEQ,
    inert=CLASSIFIERS | {"padding_idx"},
    adjust=(segments_or_none, own_distances, *LAST),
)
DEBERTA_V2 = Family(
    model_type="deberta-v2",
    base="DebertaV2Model",
    classes={**_classes("DebertaV2"), "DebertaV2ForMultipleChoice": CHOICE},
    keys=KEYS,
    fixed={"embedding_norm": True},
    only=NOT_SEQ2SEQ,
    inert=CLASSIFIERS | {"conv_act", "conv_groups"},
    adjust=(segments_or_none, shared_distances, convolution_beside, *LAST),
)
FAMILIES = [DEBERTA, DEBERTA_V2]
