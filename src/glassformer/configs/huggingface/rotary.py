"""Text encoders with rotary positions: ModernBERT, EuroBERT, Jina v3."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import CHOICE, CLASSIFIED, MASKED, POOLED, TAGGED, roberta_classes, some
from glassformer.configs.huggingface.family import SIZES, Adjust, Draft, Family, Key
from glassformer.configs.huggingface.text import BERT_KEYS, BODY, NOT_SEQ2SEQ, tied, tied_unless, tied_with_bias
from glassformer.configs.huggingface.values import GATED
from glassformer.spec.encoder_fields import ALL_BIASES

ATTENTION = ("q", "k", "v", "output")
# Unused key from BERT: these families are rotary whatever its value ("absolute", "sans_pos", "rotary").
UNUSED_POSITION = frozenset({"position_embedding_type"})


def gated(draft: Draft) -> None:
    """Turn the activation into the gated feed-forward block with this activation."""
    function = draft.fields["activation"]
    if function not in GATED:
        key = "hidden_activation" if "hidden_activation" in draft.config.asked else "hidden_act"
        raise draft.config.refusal(key, f"gated blocks are implemented with {', '.join(GATED)}.")
    draft.fields["activation"] = GATED[function]


def biases(*flags: tuple[str, bool, tuple[str, ...]], always: tuple[str, ...] = ()) -> Adjust:
    """Set the biases: those in `always`, and those of each flag that is true."""

    def adjust(draft: Draft) -> None:
        groups = [group for key, default, group in flags if draft.config.flag(key, default=default)]
        places = {*always, *(place for group in groups for place in group)}
        draft.fields["biases"] = tuple(place for place in ALL_BIASES if place in places)

    return adjust


def one_rope(default: float) -> Adjust:
    """Read the base of the rotary angles, the same in all layers."""

    def adjust(draft: Draft) -> None:
        draft.fields["rotary_base"] = draft.config.rope("rope_theta", default, draft.config.get("rope_parameters", None))

    return adjust


# ModernBERT ----------------------------------------------------------------------------------------------------------


MODERNBERT_BIASES = biases(
    ("attention_bias", False, ATTENTION),
    ("mlp_bias", False, ("ffn",)),
    ("norm_bias", False, ("norm",)),
    ("classifier_bias", False, ("head",)),
    ("decoder_bias", True, ("decoder",)),
    always=("classes",),
)


def modernbert_layers(draft: Draft) -> None:
    """Read which layers are global and which local, and the base of the rotary angles of each kind."""
    layers, types = draft.fields["layers"], _layer_types(draft)
    full = [number for number, kind in enumerate(types) if kind == "full_attention"]
    parameters = draft.config.get("rope_parameters", None) or {}
    if not isinstance(parameters, dict) or not set(parameters) <= {"full_attention", "sliding_attention"}:
        raise draft.config.refusal("rope_parameters", "its keys must be full_attention and sliding_attention.")
    draft.fields["rotary_base"] = base = draft.config.rope("global_rope_theta", 160_000.0, parameters.get("full_attention"))
    own = draft.config.get("local_rope_theta", 10_000.0)
    local = base if own is None else draft.config.rope("local_rope_theta", 10_000.0, parameters.get("sliding_attention"))
    if len(full) == layers:
        return
    draft.fields.update({"window": draft.config.whole("local_attention", 128), "rotary_base_local": local})
    if full:
        every = next((n for n in range(1, layers + 1) if full == list(range(0, layers, n))), None)
        if every is None:
            raise draft.config.refusal("layer_types", "full_attention layers must be evenly spaced, starting at layer 0.")
        draft.fields["global_every"] = every


def _layer_types(draft: Draft) -> list[str]:
    layers = draft.fields["layers"]
    every = draft.config.whole("global_attn_every_n_layers", 3)
    types = draft.config.get("layer_types", None)
    if types is None:
        return ["sliding_attention" if number % every else "full_attention" for number in range(layers)]
    known = ("full_attention", "sliding_attention")
    if not isinstance(types, list) or len(types) != layers or any(kind not in known for kind in types):
        raise draft.config.refusal(
            "layer_types", f"it must name full_attention or sliding_attention for each of {layers} layers."
        )
    return types


def modernbert_head(draft: Draft) -> None:
    """Read the head: a hidden layer with its own activation, and a norm."""
    if "head" not in draft.fields:
        return
    draft.fields["head_hidden"] = draft.config.activation("classifier_activation", "gelu")
    if draft.fields["head"] != "mlm":
        draft.fields["head_norm"] = True
    if draft.fields["head"] == "classify":
        draft.fields["pool"] = {"cls": "first", "mean": "mean"}[draft.config.word("classifier_pooling", "cls", ("cls", "mean"))]


MODERNBERT = Family(
    model_type="modernbert",
    base="ModernBertModel",
    classes={
        "ModernBertModel": {},
        "ModernBertForMaskedLM": MASKED,
        "ModernBertForSequenceClassification": CLASSIFIED,
        "ModernBertForMultipleChoice": CHOICE,
        "ModernBertForTokenClassification": TAGGED,
        "ModernBertForQuestionAnswering": TAGGED,
    },
    keys={
        "vocab_size": Key("vocab"),
        **SIZES,
        "hidden_activation": Key("activation", "gelu"),
        "max_position_embeddings": Key("positions", 8192),
        "norm_eps": Key("eps", 1e-5),
        "mlp_dropout": Key("dropout", 0.0),
    },
    fixed={"position": "rotary", "embedding_norm": True, "norm": "pre", "first_norm": False},
    only=NOT_SEQ2SEQ,
    inert=UNUSED_POSITION
    | frozenset(
        """
        classifier_activation classifier_pooling deterministic_flash_attn layer_norm_eps local_attention reference_compile
        repad_logits_with_grad sparse_pred_ignore_index sparse_prediction
        """.split()
    ),
    adjust=(gated, MODERNBERT_BIASES, modernbert_layers, modernbert_head, tied),
)


# EuroBERT, Jina v3 ---------------------------------------------------------------------------------------------------


def shared_keys(draft: Draft) -> None:
    """Read the number of key/value heads (grouped-query attention)."""
    heads, shared = draft.fields["heads"], draft.config.whole("num_key_value_heads", None)
    if shared in (None, heads):
        return
    if heads % shared:
        raise draft.config.refusal("num_key_value_heads", f"it must divide num_attention_heads = {heads}.")
    draft.fields["kv_heads"] = shared


EUROBERT_BIASES = biases(
    ("attention_bias", False, ATTENTION), ("mlp_bias", False, ("ffn", "decoder")), always=("head", "classes")
)


def eurobert_pooling(draft: Draft) -> None:
    if draft.fields.get("head") == "classify":
        pooling = draft.config.word("classifier_pooling", "late", ("bos", "mean", "late"))
        draft.fields.update({"pool": "mean"} if pooling == "mean" else {"head_reads": "each"} if pooling == "late" else {})


ROPE_KEYS = {**BERT_KEYS, "max_position_embeddings": Key("positions", None)}

FAMILIES = [
    MODERNBERT,
    Family(
        model_type="eurobert",
        base="EuroBertModel",
        classes={
            "EuroBertModel": {},
            "EuroBertForMaskedLM": {**MASKED, "head_dense": False},
            "EuroBertForSequenceClassification": {**CLASSIFIED, "head_hidden": "gelu"},
            "EuroBertForTokenClassification": TAGGED,
        },
        keys={
            **{key: rule for key, rule in BODY.items() if key != "hidden_dropout_prob"},
            "hidden_act": Key("activation", "silu"),
            "head_dim": Key("d_k", None),
            "max_position_embeddings": Key("positions", None),
            "rms_norm_eps": Key("eps", 1e-5),
        },
        fixed={"position": "rotary", "norm": "pre", "norm_kind": "rms", "dropout": 0.0},
        only=NOT_SEQ2SEQ,
        synonyms={"clf_pooling": "classifier_pooling"},
        # Published files still refer to the custom code from before transformers had these classes: it computes the same.
        inert=UNUSED_POSITION | {"auto_map", "pretraining_tp", "classifier_pooling"},
        adjust=(gated, shared_keys, EUROBERT_BIASES, one_rope(10_000.0), eurobert_pooling, tied_unless(default=False)),
    ),
    Family(
        model_type="jina_embeddings_v3",
        base="JinaEmbeddingsV3Model",
        classes={
            **some(roberta_classes("JinaEmbeddingsV3"), "MaskedLM", "Classification", "Answering"),
            "JinaEmbeddingsV3Model": POOLED,
        },
        keys={**ROPE_KEYS, "layer_norm_eps": Key("eps", 1e-5)},
        fixed={"position": "rotary", "embedding_norm": True},
        only=NOT_SEQ2SEQ,
        inert=UNUSED_POSITION,
        adjust=(one_rope(20_000.0), tied_with_bias),
    ),
]
