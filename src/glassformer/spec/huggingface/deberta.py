"""DeBERTa-v2 and v3: BERT's body with disentangled attention; the family, and the names of its tensors."""

from __future__ import annotations

from typing import Any

from glassformer.spec.huggingface.classes import CHOICE, CLASSIFIED, MASKED, TAGGED
from glassformer.spec.huggingface.family import Draft, Family, Key
from glassformer.spec.huggingface.name_tables import Names, Table
from glassformer.spec.huggingface.text import BODY, NOT_SEQ2SEQ, PLACES, read_by_a_layer, same_width, tied_with_bias
from glassformer.spec.huggingface.text_names import BERT_BODY, BERT_HEADS, BERT_LAYER

TERMS = {
    ("c2p", "p2c"): "both",
    ("c2p",): "content_to_position",
    ("p2c",): "position_to_content",
}
POOLED_CLASSES = ("ForSequenceClassification", "ForMultipleChoice")


def segments_or_none(draft: Draft) -> None:
    """No token types is written as 0 of them."""
    draft.fields["segments"] = draft.config.whole("type_vocab_size", 0, least=0) or None


def disentangled(draft: Draft) -> None:
    """The relative table, what looks at it, and whether absolute positions are added to the tokens, too."""
    config, fields = draft.config, draft.fields
    learned = config.flag("position_biased_input", default=True)
    terms, normed = _terms(draft), _normed(draft)
    own = not config.flag("share_att_key", default=False)
    buckets = config.whole("position_buckets", -1, least=-1)
    distance = config.whole("max_relative_positions", -1, least=-1)
    if not config.flag("relative_attention", default=False):
        for key, given in (("pos_att_type", terms), ("norm_rel_ebd", normed)):
            if given:
                raise config.refusal(key, "relative_attention is false, so there is no table to which it could apply.")
        fields["position"] = "learned" if learned else "none"
        return
    if not terms:
        raise config.refusal("pos_att_type", "relative_attention is true, so it names c2p, p2c or both.")
    read_by_a_layer(draft)
    distance = distance if distance >= 1 else fields["positions"]
    half = buckets if buckets > 0 else distance
    if half < 2:
        key = "position_buckets" if buckets > 0 else "max_relative_positions"
        raise config.refusal(key, "distances 0 and 1 have a row each, so 2 is the least.")
    if buckets >= distance:
        raise config.refusal("position_buckets", f"far distances share buckets, so it is below the farthest, {distance}.")
    fields.update(
        position="learned_disentangled" if learned else "disentangled",
        relative_buckets=2 * half,
        relative_distance=distance,
        relative_terms=TERMS[terms],
        relative_projections="own" if own else "shared",
        relative_norm=normed,
    )


def _terms(draft: Draft) -> tuple[str, ...]:
    """c2p and p2c, in this order: a list of them, or one text with a line between them."""
    given: Any = draft.config.get("pos_att_type", None)
    words = [word.strip() for word in given.lower().split("|")] if isinstance(given, str) else given
    if words is None or words in ([], [""]):
        return ()
    if not isinstance(words, list) or any(word not in ("c2p", "p2c") for word in words):
        raise draft.config.refusal("pos_att_type", "it is a list of c2p and p2c.", verb="is not understood:")
    return tuple(sorted(set(words)))


def _normed(draft: Draft) -> bool:
    words = draft.config.get("norm_rel_ebd", "none")
    if not isinstance(words, str) or words.strip().lower() not in ("none", "layer_norm"):
        raise draft.config.unknown_word("norm_rel_ebd", words, ("none", "layer_norm"))
    return words.strip().lower() == "layer_norm"


def width_of_a_head(draft: Draft) -> None:
    """Some files give it, and the output projection takes no other than d_model / heads."""
    width = draft.fields["d_model"] // draft.fields["heads"]
    if draft.config.whole("attention_head_size", None) not in (None, width):
        raise draft.config.refusal("attention_head_size", f"a head has hidden_size / num_attention_heads = {width} features.")


def context_pooler(draft: Draft) -> None:
    """Heads that classify read the first token through a dense layer, whose function the config names."""
    if draft.model_class.endswith(POOLED_CLASSES):
        width = draft.fields["d_model"]
        if draft.config.whole("pooler_hidden_size", width) != width:
            raise draft.config.refusal("pooler_hidden_size", f"the pooler reads vectors of hidden_size = {width}.")
        draft.fields["head_hidden"] = draft.config.activation("pooler_hidden_act", "gelu")


def old_prediction_head(draft: Draft) -> None:
    """Since `legacy` was added, false stands for another head with other names."""
    if draft.model_class.endswith("ForMaskedLM") and not draft.config.flag("legacy", default=True):
        raise draft.config.refusal(
            "legacy", f"its masked-token head has other names, which are not read. --as {DEBERTA_V2.base} reads the encoder."
        )


DEBERTA_V2 = Family(
    model_type="deberta-v2",
    base="DebertaV2Model",
    classes={
        "DebertaV2Model": {},
        "DebertaV2ForMaskedLM": MASKED,
        "DebertaV2ForSequenceClassification": CLASSIFIED,
        "DebertaV2ForMultipleChoice": CHOICE,
        "DebertaV2ForTokenClassification": TAGGED,
        "DebertaV2ForQuestionAnswering": TAGGED,
    },
    keys={**BODY, **PLACES, "layer_norm_eps": Key("eps", 1e-7)},
    fixed={"embedding_norm": True},
    only={**NOT_SEQ2SEQ, "conv_kernel_size": (0, -1)},
    inert=frozenset("conv_act conv_groups legacy pooler_hidden_act pooler_hidden_size".split()),
    adjust=(
        segments_or_none,
        disentangled,
        width_of_a_head,
        context_pooler,
        old_prediction_head,
        tied_with_bias,
        same_width,
    ),
)
FAMILIES = [DEBERTA_V2]

POOLED_HEAD: Table = {"head.H": "pooler.dense", "head.C": "classifier"}
NAMES = {
    "deberta-v2": Names(
        prefixes=("deberta.",),
        body={
            **{name: stored for name, stored in BERT_BODY.items() if name != "pooler.P"},
            "layers.E_relative": "encoder.rel_embeddings.weight",
            "layers.relative_norm": "encoder.LayerNorm",
        },
        layers=(
            (
                "encoder.layer.{n}.",
                {
                    **BERT_LAYER,
                    "attention.Q": "attention.self.query_proj",
                    "attention.K": "attention.self.key_proj",
                    "attention.V": "attention.self.value_proj",
                    "attention.QR": "attention.self.pos_query_proj",
                    "attention.KR": "attention.self.pos_key_proj",
                },
            ),
        ),
        heads={
            **{ending: BERT_HEADS[ending] for ending in ("ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering")},
            **dict.fromkeys(POOLED_CLASSES, POOLED_HEAD),
        },
        # The published files hold the heads that v3 was trained with, and some a position table that is not read.
        aside=("lm_predictions.", "mask_predictions.", "deberta.embeddings.position_embeddings."),
    )
}
