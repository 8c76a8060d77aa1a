"""Text encoders with BERT's body: BERT, RoBERTa, DistilBERT, ALBERT, ELECTRA, MPNet and their kin."""

from __future__ import annotations

from glassformer.spec.huggingface.classes import (
    ACTIVATION,
    CHOICE,
    CLASSIFIED,
    LABELS,
    MASKED,
    POOLED,
    TAGGED,
    bert_classes,
    roberta_classes,
    some,
)
from glassformer.spec.huggingface.family import Draft, Family, Key
from glassformer.spec.huggingface.values import Fields

BODY = {
    "vocab_size": Key("vocab"),
    "hidden_size": Key("d_model"),
    "num_hidden_layers": Key("layers"),
    "num_attention_heads": Key("heads"),
    "intermediate_size": Key("d_ff"),
    "hidden_act": Key("activation", "gelu"),
    "hidden_dropout_prob": Key("dropout", 0.1),
}
EPS = {"layer_norm_eps": Key("eps", 1e-12)}
PLACES = {"max_position_embeddings": Key("positions")}
SEGMENTS = {"type_vocab_size": Key("segments")}
BERT_KEYS = {**BODY, **PLACES, **SEGMENTS, **EPS}

LEARNED: Fields = {"position": "learned", "embedding_norm": True}
PRE_NORM: Fields = {"position": "learned", "norm": "pre"}

# Left over from the first BERT files: a pooler that was never built from them.
BERT_INERT = frozenset(
    "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type".split()
)
NOT_SEQ2SEQ = {"is_encoder_decoder": (False,)}


# What tables cannot say --------------------------------------------------------------------------------------------


def tied(draft: Draft) -> None:
    """Masked-token heads: the output matrix is the token table unless the file says otherwise."""
    if draft.fields.get("head") in ("mlm", "pretrain"):
        draft.fields["tie"] = draft.config.flag("tie_word_embeddings", default=True)


def tied_with_bias(draft: Draft) -> None:
    """As `tied`; untied, the second name of the output bias becomes a tensor too, which is stored and never added."""
    tied(draft)
    draft.fields["spare_bias"] = not draft.fields.get("tie", True)


def after_padding(draft: Draft) -> None:
    """RoBERTa counts positions from the row after the padding token's; the rows up to it serve no position."""
    _after(draft, draft.config.whole("pad_token_id", 1, least=0, most=1023))


def after_row_one(draft: Draft) -> None:
    """MPNet does the same, with row 1 whatever the padding token is."""
    _after(draft, 1)


def _after(draft: Draft, padding: int) -> None:
    rows = draft.fields["positions"]
    if rows < padding + 2:
        raise draft.config.refusal("max_position_embeddings", f"positions start after row {padding}, so none would be left.")
    draft.fields.update({"positions": rows - padding - 1, "position_offset": padding + 1})


def two_answers(draft: Draft) -> None:
    """DistilBERT's question answering has a start and an end, and refuses to be built with any other number of labels."""
    if draft.model_class.endswith("ForQuestionAnswering") and draft.labels() != 2:
        key = "id2label" if draft.config.get("num_labels", None) is None else "num_labels"
        raise draft.config.refusal(key, f"question answering has 2 labels, start and end, and the file says {draft.labels()}.")


def sinusoids_learned(draft: Draft) -> None:
    """DistilBERT's sinusoidal table is a starting point: it is stored and trained like a learned one."""
    draft.config.flag("sinusoidal_pos_embds", default=False)


def albert_groups(draft: Draft) -> None:
    """Each pass through a group runs all its inner layers, so more layers are applied than `num_hidden_layers` says."""
    groups = draft.config.whole("num_hidden_groups", 1)
    inner = draft.config.whole("inner_group_num", 1)
    passes = draft.fields["layers"]
    if groups > passes:
        raise draft.config.refusal(
            "num_hidden_groups", f"some of the groups would never be used by num_hidden_layers = {passes}."
        )
    draft.fields.update({"layers": passes * inner, "share_layers": groups * inner, "layer_cycle": inner})


def projected_if_narrower(draft: Draft) -> None:
    """ELECTRA projects its embeddings only where their width is not the layers'."""
    if draft.fields["embedding_size"] == draft.fields["d_model"]:
        del draft.fields["embedding_size"]


def electra_summary(draft: Draft) -> None:
    """Multiple choice reads the first token through a summary layer that the config describes."""
    if draft.model_class.endswith("ForMultipleChoice"):
        draft.config.word("summary_type", "first", ("first",))
        if not draft.config.flag("summary_use_proj", default=True):
            raise draft.config.refusal("summary_use_proj", "a summary without its projection is not in the program.")
        if draft.config.flag("summary_proj_to_labels", default=False):
            raise draft.config.refusal("summary_proj_to_labels", "the summary and the classifier would not fit together.")
        draft.fields["head_hidden"] = draft.config.activation("summary_activation", "gelu")


def same_width(draft: Draft) -> None:
    """Some files name the embeddings' width too (TinyBERT). No class reads it, so another width would be another model."""
    width = draft.fields["d_model"]
    for key in ("emb_size", "embedding_size"):
        if draft.config.whole(key, None) not in (None, width):
            raise draft.config.refusal(key, f"embeddings have the width of hidden_size = {width} in this family.")


def read_by_a_layer(draft: Draft) -> None:
    """A relative table that all layers share is stored even where there are no layers."""
    if not draft.fields["layers"]:
        raise draft.config.refusal("num_hidden_layers", "no layer would read the relative-bias table that the model stores.")


def fixed_buckets(draft: Draft) -> None:
    """MPNet's rule always fills 32 buckets, whatever the size of its table."""
    if draft.config.whole("relative_attention_num_buckets", 32) != 32:
        raise draft.config.refusal("relative_attention_num_buckets", "MPNet's rule fills 32 buckets, whatever the table's size.")


def projected_output(draft: Draft) -> None:
    """DPR: the first token is the answer, through a projection where the config has one."""
    width = draft.config.whole("projection_dim", 0, least=0)
    if width:
        draft.fields.update({"head": "project", "classes": width})


# The families --------------------------------------------------------------------------------------------------------


def _bert(model_type: str, name: str, **changes: object) -> Family:
    settings: Fields = {
        "classes": bert_classes(name),
        "keys": BERT_KEYS,
        "fixed": LEARNED,
        "only": NOT_SEQ2SEQ,
        "inert": BERT_INERT,
        "adjust": (tied_with_bias, same_width),
        **changes,
    }
    return Family(model_type=model_type, base=next(iter(settings["classes"])), **settings)


def _roberta(model_type: str, name: str, **changes: object) -> Family:
    settings: Fields = {"classes": roberta_classes(name), "adjust": (after_padding, tied_with_bias, same_width), **changes}
    return _bert(model_type, name, **settings)


NO_DROPOUT = {"hidden_dropout_prob": Key("dropout", 0.0)}
ALBERT_KEYS = {
    **BERT_KEYS,
    **NO_DROPOUT,
    "embedding_size": Key("embedding_size"),
    "hidden_act": Key("activation", "gelu_new"),
}

DISTILBERT = Family(
    model_type="distilbert",
    base="DistilBertModel",
    classes={
        "DistilBertModel": {},
        "DistilBertForMaskedLM": MASKED,
        "DistilBertForSequenceClassification": {**CLASSIFIED, "head_hidden": "relu"},
        "DistilBertForMultipleChoice": {**CHOICE, "head_hidden": "relu"},
        "DistilBertForTokenClassification": TAGGED,
        "DistilBertForQuestionAnswering": TAGGED,
    },
    keys={
        "vocab_size": Key("vocab"),
        "dim": Key("d_model"),
        "n_layers": Key("layers"),
        "n_heads": Key("heads"),
        "hidden_dim": Key("d_ff"),
        "activation": Key("activation", "gelu"),
        "dropout": Key("dropout", 0.1),
        **PLACES,
    },
    fixed={**LEARNED, "eps": 1e-12},
    only=NOT_SEQ2SEQ,
    synonyms={"hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads"},
    inert=frozenset({"layer_norm_eps", "intermediate_size"}),
    adjust=(tied, sinusoids_learned, two_answers),
)

ELECTRA = _bert(
    "electra",
    "Electra",
    classes={
        "ElectraModel": {},
        "ElectraForPreTraining": {"head": "tag", "classes": 1, "head_hidden": ACTIVATION},
        "ElectraForMaskedLM": {**MASKED, "head_hidden": "gelu"},
        "ElectraForSequenceClassification": {**CLASSIFIED, "head_hidden": "gelu"},
        "ElectraForMultipleChoice": CHOICE,
        "ElectraForTokenClassification": TAGGED,
        "ElectraForQuestionAnswering": TAGGED,
    },
    keys={**BERT_KEYS, "embedding_size": Key("embedding_size")},
    inert=BERT_INERT | {"summary_type", "summary_use_proj", "summary_activation"},
    adjust=(tied, projected_if_narrower, electra_summary),
)

MPNET = _roberta(
    "mpnet",
    "MPNet",
    keys={**BODY, **PLACES, **EPS},
    fixed={**LEARNED, "position": "learned_relative"},
    inert=BERT_INERT | {"type_vocab_size"},  # left over from BERT: no class of the family has a table of segments
    adjust=(after_row_one, fixed_buckets, read_by_a_layer, tied_with_bias),
)

FAMILIES = [
    _bert("bert", "Bert"),
    _roberta("roberta", "Roberta"),
    _roberta("xlm-roberta", "XLMRoberta"),
    _roberta("camembert", "Camembert"),
    _roberta("data2vec-text", "Data2VecText"),
    _roberta(
        "ibert",
        "IBert",
        only={**NOT_SEQ2SEQ, "quant_mode": (False,), "hidden_act": ("gelu",)},
        inert=BERT_INERT | {"force_dequant"},
    ),
    _roberta("xlm-roberta-xl", "XLMRobertaXL", fixed=PRE_NORM, keys={**BERT_KEYS, "layer_norm_eps": Key("eps", 1e-5)}),
    _roberta("roberta-prelayernorm", "RobertaPreLayerNorm", fixed={**PRE_NORM, "embedding_norm": True}),
    DISTILBERT,
    _bert(
        "albert",
        "Albert",
        classes={
            **some(bert_classes("Albert"), "Model", "LM", "SequenceClassification", "Choice", "TokenClassification", "Answering"),
            "AlbertForPreTraining": {**POOLED, "head": "pretrain", "classes": LABELS},
        },
        keys=ALBERT_KEYS,
        inert=BERT_INERT | {"down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks"},
        adjust=(albert_groups, tied_with_bias),
    ),
    ELECTRA,
    MPNET,
    _bert("ernie", "Ernie", only={**NOT_SEQ2SEQ, "use_task_id": (False,)}, inert=BERT_INERT | {"task_type_vocab_size"}),
    _bert("megatron-bert", "MegatronBert", fixed=PRE_NORM),
    _bert(
        "rembert",
        "RemBert",
        classes=some(bert_classes("RemBert"), "Model", "SequenceClassification", "Choice", "TokenClassification", "Answering"),
        keys={**BERT_KEYS, **NO_DROPOUT, "input_embedding_size": Key("embedding_size")},
        inert=BERT_INERT | {"output_embedding_size", "embedding_size"},
        adjust=(),
        not_read={"RemBertForMaskedLM": "its output matrix has a width of its own, which is not in the program"},
    ),
    _bert("bert-generation", "BertGeneration", classes={"BertGenerationEncoder": {}}, keys={**BODY, **PLACES, **EPS}, adjust=()),
    _bert(
        "splinter",
        "Splinter",
        classes={"SplinterModel": {}},
        adjust=(),
        not_read=dict.fromkeys(
            ("SplinterForQuestionAnswering", "SplinterForPreTraining"),
            "its head compares tokens with question tokens, which is not in the program",
        ),
    ),
    _bert("chinese_clip_text_model", "ChineseCLIPText", classes={"ChineseCLIPTextModel": POOLED}, adjust=()),
    _bert(
        "dpr",
        "DPR",
        classes={"DPRQuestionEncoder": {}, "DPRContextEncoder": {}},
        not_read={"DPRReader": "its head scores spans and passages, which is not in the program"},
        adjust=(projected_output,),
    ),
]
