"""Text encoders with rotary positions, norms after the residual sums and gated feed-forward blocks: NomicBERT, GTE."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import CHOICE, CLASSIFIED, MASKED, POOLED, TAGGED, bert_classes, some, without
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.rotary import ATTENTION, ROPE_KEYS, UNUSED_POSITION, gated, one_rope
from glassformer.configs.huggingface.text import BODY, EPS, NO_DROPOUT, NOT_SEQ2SEQ, tied, tied_with_bias
from glassformer.configs.huggingface.values import Fields

ROTARY: Fields = {"position": "rotary", "embedding_norm": True}


# NomicBERT: in the form of transformers, and in the published form, whose keys come from GPT-2 ------------------------

NOMIC_SYNONYMS = {
    "n_embd": "hidden_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_inner": "intermediate_size",
    "n_positions": "max_position_embeddings",
    "layer_norm_epsilon": "layer_norm_eps",
    "rotary_emb_base": "rope_theta",
    "resid_pdrop": "hidden_dropout_prob",
}
# Keys of the published form that change the computation, each with its value in all published text encoders.
NOMIC_ONLY = {
    "causal": (False,),
    "mlp_fc1_bias": (False,),
    "mlp_fc2_bias": (False,),
    "moe_every_n_layers": (0,),
    "parallel_block": (False,),
    "prenorm": (False,),
    "qkv_proj_bias": (False,),
    "rotary_emb_fraction": (1.0, 1),
    "rotary_emb_interleaved": (False,),
    "rotary_emb_scale_base": (None,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "scale_attn_weights": (True,),
    "use_rms_norm": (False,),
}
# The published code's defaults of these keys are other values than the published files', so they must be in the file.
NOMIC_REQUIRED = (
    "activation_function layer_norm_eps mlp_fc1_bias mlp_fc2_bias qkv_proj_bias rope_theta rotary_emb_fraction".split()
)
NOMIC_INERT = frozenset(
    """
    activation_function attn_pdrop auto_map dense_seq_output embd_pdrop fused_bias_fc fused_dropout_add_ln
    max_trained_positions parallel_block_tied_norm reorder_and_upcast_attn rotary_scaling_factor
    summary_activation summary_proj_to_labels summary_type summary_use_proj use_xentropy
    """.split()
)


def whole_heads(draft: Draft) -> None:
    """Round the head width down if the heads do not divide d_model, as the class does."""
    if draft.fields["d_k"] is None and draft.fields["d_model"] % draft.fields["heads"]:
        draft.fields["d_k"] = max(1, draft.fields["d_model"] // draft.fields["heads"])


def published_nomic(draft: Draft) -> None:
    """Read what the published form says in other ways: the gated block by name, and a vocabulary filled up to a multiple."""
    config = draft.config
    if "n_embd" not in config.values:
        gated(draft)
        return
    draft.fields["activation"] = config.word("activation_function", "swiglu", ("swiglu", "geglu"))
    for key in NOMIC_REQUIRED:
        config.get(key)
    if draft.model_class != "NomicBertModel":
        raise config.refusal("architectures", "of files with n_embd, only the encoder is read: --as NomicBertModel.")
    multiple = config.whole("pad_vocab_size_multiple", 1)
    if draft.fields["vocab"] % multiple:
        rows = -(-draft.fields["vocab"] // multiple) * multiple
        raise config.refusal("vocab_size", f"it must be a multiple of pad_vocab_size_multiple = {multiple}: give {rows}.")


NOMIC = Family(
    model_type="nomic_bert",
    base="NomicBertModel",
    classes={
        **some(bert_classes("NomicBert"), "MaskedLM", "SequenceClassification", "TokenClassification"),
        "NomicBertModel": {},
    },
    keys={**ROPE_KEYS, **NO_DROPOUT, "hidden_act": Key("activation", "silu"), "head_dim": Key("d_k", None)},
    fixed={**ROTARY, "biases": without(*ATTENTION, "ffn", "ffn_output")},
    only={**NOT_SEQ2SEQ, **NOMIC_ONLY},
    synonyms=NOMIC_SYNONYMS,
    inert=UNUSED_POSITION | NOMIC_INERT,
    adjust=(published_nomic, whole_heads, one_rope(1000.0), tied_with_bias),
    unsupported={"NomicBertForPreTraining": "of the published form, only the encoder is implemented"},
)

# GTE: `gte` in transformers, `new` in the published files -------------------------------------------------------------


def segments_given(draft: Draft) -> None:
    """Read the number of segments, which is 0 for none; files must give it, since the classes have other defaults."""
    draft.fields["segments"] = draft.config.whole("type_vocab_size", least=0) or None


def ntk_scaling(draft: Draft) -> None:
    """Read the angles of the published form: NTK scaling is a larger base, and angles divided by a root of the factor."""
    config, fields = draft.config, draft.fields
    fields["rotary_base"] = config.rope("rope_theta", 10_000.0)
    scaling = config.get("rope_scaling", None)
    if not scaling:
        return
    if not isinstance(scaling, dict) or scaling.get("type") != "ntk" or not set(scaling) <= {"type", "factor"}:
        raise config.refusal("rope_scaling", 'only {"type": "ntk", "factor": …} is implemented.', verb="is not supported:")
    factor = scaling.get("factor")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 < factor < 1e6:
        raise config.refusal("rope_scaling", "its factor must be a number above 1.")
    width = fields["d_model"] // fields["heads"]
    fields.update(rotary_base=fields["rotary_base"] * factor, rotary_divisor=float(factor) ** (2 / max(width, 1)))


def gte_classes(name: str, masked: Fields) -> dict[str, Fields]:
    """Return the classes of GTE; only classifiers of whole texts have the pooler."""
    return {
        f"{name}Model": {},
        f"{name}ForMaskedLM": masked,
        f"{name}ForSequenceClassification": {**POOLED, **CLASSIFIED},
        f"{name}ForTokenClassification": TAGGED,
    }


def published_gte(model_type: str, name: str, **changes: object) -> Family:
    """Return a family of the published code, of which there is a copy with other names."""
    settings: Fields = {
        "classes": {
            **gte_classes(name, MASKED),
            f"{name}ForMultipleChoice": {**POOLED, **CHOICE},
            f"{name}ForQuestionAnswering": TAGGED,
        },
        "only": {
            **NOT_SEQ2SEQ,
            "position_embedding_type": ("rope",),
            "layer_norm_type": ("layer_norm",),
            "logn_attention_scale": (False,),
        },
        "adjust": (gated, segments_given, ntk_scaling, tied),
        **changes,
    }
    return Family(model_type=model_type, base=f"{name}Model", keys=GTE_KEYS, fixed=GTE_FIXED, inert=NEW_INERT, **settings)


GTE_KEYS = {**BODY, **EPS, "max_position_embeddings": Key("positions", None)}
GTE_FIXED: Fields = {**ROTARY, "biases": without("ffn")}
NEW_INERT = frozenset(
    """
    auto_map logn_attention_clip1 matryoshka_dimensions pack_qkv rope_scaling unpad_inputs use_memory_efficient_attention
    """.split()
)

FAMILIES = [
    NOMIC,
    Family(
        model_type="gte",
        base="GteModel",
        classes=gte_classes("Gte", {**MASKED, "head_hidden": "gelu"}),
        keys=GTE_KEYS,
        fixed=GTE_FIXED,
        only=NOT_SEQ2SEQ,
        inert=UNUSED_POSITION,
        adjust=(gated, segments_given, one_rope(160_000.0), tied),
    ),
    published_gte("new", "New"),
    published_gte("gte-published", "Gte", published_as="gte", told_by="modeling_hf_alibaba_nlp_gte."),
]
