"""Text encoders with BERT's body: BERT, RoBERTa, DistilBERT, ALBERT, ELECTRA, MPNet and their relatives."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import (
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
    without,
)
from glassformer.configs.huggingface.family import SIZES, Adjust, Draft, Family, Key
from glassformer.configs.huggingface.values import Fields

BODY = {
    "vocab_size": Key("vocab"),
    **SIZES,
    "hidden_act": Key("activation", "gelu"),
    "hidden_dropout_prob": Key("dropout", 0.1),
}
EPS = {"layer_norm_eps": Key("eps", 1e-12)}
PLACES = {"max_position_embeddings": Key("positions")}
SEGMENTS = {"type_vocab_size": Key("segments")}
BERT_KEYS = {**BODY, **PLACES, **SEGMENTS, **EPS}

LEARNED: Fields = {"position": "learned", "embedding_norm": True}
PRE_NORM: Fields = {"position": "learned", "norm": "pre"}

# Keys of the first BERT files that describe a pooler, which no class ever read.
BERT_INERT = frozenset(
    "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type".split()
)
NOT_SEQ2SEQ = {"is_encoder_decoder": (False,)}


# Adjustments: what the tables cannot express -------------------------------------------------------------------------


def tied_unless(*, default: bool) -> Adjust:
    """Read whether the output matrix of masked-token heads is the token table; `default` is what files without the key mean."""

    def adjust(draft: Draft) -> None:
        if draft.fields.get("head") in ("mlm", "pretrain"):
            draft.fields["tie"] = draft.config.flag("tie_word_embeddings", default=default)

    return adjust


tied = tied_unless(default=True)


def tied_with_bias(draft: Draft) -> None:
    """Like `tied`; if untied, the second name of the output bias becomes a tensor that is stored but never added."""
    tied(draft)
    draft.fields["spare_bias"] = not draft.fields.get("tie", True)


def after_padding(draft: Draft) -> None:
    """Start positions after the padding token's row, as RoBERTa does; the rows up to it are unused."""
    _after(draft, draft.config.whole("pad_token_id", 1, least=0, most=1023))


def after_row_one(draft: Draft) -> None:
    """Start positions after row 1, as MPNet does whatever the padding token is."""
    _after(draft, 1)


def _after(draft: Draft, padding: int) -> None:
    rows = draft.fields["positions"]
    if rows < padding + 2:
        raise draft.config.refusal("max_position_embeddings", f"positions start after row {padding}, so no row would be left.")
    draft.fields.update({"positions": rows - padding - 1, "position_offset": padding + 1})


def two_answers(draft: Draft) -> None:
    """Check that question answering has two labels, start and end: DistilBERT's class accepts no other number."""
    if draft.model_class.endswith("ForQuestionAnswering") and draft.labels() != 2:
        key = "id2label" if draft.config.get("num_labels", None) is None else "num_labels"
        raise draft.config.refusal(key, f"question answering needs 2 labels, start and end, found {draft.labels()}.")


def sinusoids_learned(draft: Draft) -> None:
    """Accept DistilBERT's `sinusoidal_pos_embds`: its table is only initialised with sinusoids, then stored and trained."""
    draft.config.flag("sinusoidal_pos_embds", default=False)


def albert_groups(draft: Draft) -> None:
    """Read ALBERT's groups: each pass applies all inner layers of a group, so `num_hidden_layers` counts passes."""
    groups = draft.config.whole("num_hidden_groups", 1)
    inner = draft.config.whole("inner_group_num", 1)
    passes = draft.fields["layers"]
    if groups > passes:
        raise draft.config.refusal("num_hidden_groups", f"some groups would never be used with num_hidden_layers = {passes}.")
    draft.fields.update({"layers": passes * inner, "share_layers": groups * inner, "layer_cycle": inner})


def projected_if_narrower(draft: Draft) -> None:
    """Drop the projection of the embeddings if they have the width of the layers, as ELECTRA does."""
    if draft.fields["embedding_size"] == draft.fields["d_model"]:
        del draft.fields["embedding_size"]


def electra_summary(draft: Draft) -> None:
    """Read the summary layer of multiple choice, the hidden layer of its head."""
    if draft.model_class.endswith("ForMultipleChoice"):
        draft.config.word("summary_type", "first", ("first",))
        if not draft.config.flag("summary_use_proj", default=True):
            raise draft.config.refusal("summary_use_proj", "a summary without a projection is not implemented.")
        if draft.config.flag("summary_proj_to_labels", default=False):
            raise draft.config.refusal("summary_proj_to_labels", "the summary and the classifier would not fit together.")
        draft.fields["head_hidden"] = draft.config.activation("summary_activation", "gelu")


def same_width(draft: Draft) -> None:
    """Check the width of the embeddings in files that name it (TinyBERT): the classes assume hidden_size."""
    width = draft.fields["d_model"]
    for key in ("emb_size", "embedding_size"):
        if draft.config.whole(key, None) not in (None, width):
            raise draft.config.refusal(key, f"embeddings of this family have the width hidden_size = {width}.")


def read_by_a_layer(draft: Draft) -> None:
    """Refuse a shared relative table without layers: it would be stored but never read."""
    if not draft.fields["layers"]:
        raise draft.config.refusal("num_hidden_layers", "without layers, the stored relative position table would not be used.")


def fixed_buckets(draft: Draft) -> None:
    """Check that MPNet has 32 buckets: its rule always fills 32, whatever the size of the table."""
    if draft.config.whole("relative_attention_num_buckets", 32) != 32:
        raise draft.config.refusal(
            "relative_attention_num_buckets", "MPNet always fills 32 buckets, whatever the size of its table."
        )


def wide_output(draft: Draft) -> None:
    """Read the width of RemBERT's output matrix, which is its own whatever `tie_word_embeddings` says."""
    if draft.fields.get("head") == "mlm":
        draft.fields.update({"tie": False, "head_width": draft.config.whole("output_embedding_size", 1664)})


def first_task(draft: Draft) -> None:
    """Read ERNIE's table of tasks, of which every token gets the first row."""
    if draft.config.flag("use_task_id", default=False):
        draft.fields["tasks"] = draft.config.whole("task_type_vocab_size", 3)


def projected_output(draft: Draft) -> None:
    """Read DPR's optional projection of the first token."""
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


def block_sparse(draft: Draft) -> None:
    """Read BigBird's attention: block-sparse attention is complete up to a length, and longer texts are not implemented."""
    config, fields = draft.config, draft.fields
    block, chosen = config.whole("block_size", 64), config.whole("num_random_blocks", 3, least=0)
    if config.word("attention_type", "block_sparse", ("original_full", "block_sparse")) == "block_sparse":
        fields["complete_up_to"] = (5 + 2 * chosen) * block
    if not config.flag("use_bias", default=True):
        fields["biases"] = without("q", "k", "v")
    if config.flag("rescale_embeddings", default=False):
        fields["embedding_scale"] = "sqrt_d_model"


def _beside_pooler() -> dict[str, Fields]:
    """Return BigBird's classes: heads that do not read the pooler keep it nevertheless."""
    spare: Fields = {**POOLED, "spare_pooler": True}
    return {
        **some(bert_classes("BigBird"), "Model", "PreTraining", "Choice"),
        "BigBirdForMaskedLM": {**MASKED, **spare},
        "BigBirdForTokenClassification": {**TAGGED, **spare},
        "BigBirdForQuestionAnswering": {"head": "tag", "classes": 2, "head_block": True},
        "BigBirdForSequenceClassification": {**CLASSIFIED, **POOLED, "head_reads": "first", "head_hidden": ACTIVATION},
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
    inert=BERT_INERT | {"type_vocab_size"},  # unused key from BERT: no class of the family has segments
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
    _bert(
        "ernie",
        "Ernie",
        inert=BERT_INERT | {"task_type_vocab_size", "task_id"},
        adjust=(tied_with_bias, same_width, first_task),
    ),
    _bert("megatron-bert", "MegatronBert", fixed=PRE_NORM),
    _bert(
        "rembert",
        "RemBert",
        classes=some(
            bert_classes("RemBert"), "Model", "LM", "SequenceClassification", "Choice", "TokenClassification", "Answering"
        ),
        keys={**BERT_KEYS, **NO_DROPOUT, "input_embedding_size": Key("embedding_size")},
        inert=BERT_INERT | {"output_embedding_size", "embedding_size"},
        adjust=(wide_output,),
    ),
    _bert(
        "big_bird",
        "BigBird",
        classes=_beside_pooler(),
        keys={**BERT_KEYS, "hidden_act": Key("activation", "gelu_new")},
        adjust=(block_sparse, tied_with_bias),
    ),
    _bert("bert-generation", "BertGeneration", classes={"BertGenerationEncoder": {}}, keys={**BODY, **PLACES, **EPS}, adjust=()),
    _bert(
        "splinter",
        "Splinter",
        classes={"SplinterModel": {}},
        adjust=(),
        unsupported=dict.fromkeys(
            ("SplinterForQuestionAnswering", "SplinterForPreTraining"),
            "its head compares tokens with question tokens, which is not implemented",
        ),
    ),
    _bert("chinese_clip_text_model", "ChineseCLIPText", classes={"ChineseCLIPTextModel": POOLED}, adjust=()),
    _bert(
        "dpr",
        "DPR",
        classes={"DPRQuestionEncoder": {}, "DPRContextEncoder": {}},
        unsupported={"DPRReader": "its head scores spans and passages, which is not implemented"},
        adjust=(projected_output,),
    ),
]
