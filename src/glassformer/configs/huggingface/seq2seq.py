"""Encoders of encoder-decoder models: T5, BART and their relatives."""

from __future__ import annotations

from collections.abc import Mapping

from glassformer.configs.huggingface.classes import TAGGED
from glassformer.configs.huggingface.family import Adjust, Draft, Family, Key
from glassformer.configs.huggingface.values import ACTIVATIONS, GATED, Fields

# T5 ------------------------------------------------------------------------------------------------------------------

T5_KEYS = {
    "vocab_size": Key("vocab"),
    "d_model": Key("d_model"),
    "d_kv": Key("d_k"),
    "d_ff": Key("d_ff"),
    "num_layers": Key("layers"),
    "num_heads": Key("heads"),
    "relative_attention_num_buckets": Key("relative_buckets", 32),
    "relative_attention_max_distance": Key("relative_distance", 128),
    "layer_norm_epsilon": Key("eps", 1e-6),
    "dropout_rate": Key("dropout", 0.1),
}
# T5 has no biases, but the classifier that transformers adds has one.
T5_BODY: Fields = {"position": "relative", "norm": "pre", "norm_kind": "rms", "biases": ("classes",), "scale": "none"}


def t5_feed_forward(default: str) -> Adjust:
    """Read the activation and the gate from `feed_forward_proj`; the two keys derived from it take precedence."""

    def adjust(draft: Draft) -> None:
        words = tuple(f"{gate}{word}" for gate in ("", "gated-") for word in ACTIVATIONS)
        project = draft.config.word("feed_forward_proj", default, words)
        # T5 v1.1 says "gated-gelu" but computes the tanh approximation.
        function = "gelu_new" if project == "gated-gelu" else project.removeprefix("gated-")
        function = draft.config.activation("dense_act_fn", function)
        if draft.config.flag("is_gated_act", default=project.startswith("gated-")):
            if function not in GATED:
                raise draft.config.refusal("feed_forward_proj", f"gated blocks are implemented with {', '.join(GATED)}.")
            function = GATED[function]
        draft.fields["activation"] = function

    return adjust


def _t5(model_type: str, name: str, *, feed_forward: str, tables: str = "shared") -> Family:
    return Family(
        model_type=model_type,
        base=f"{name}EncoderModel",
        classes={f"{name}EncoderModel": {}, f"{name}ForTokenClassification": TAGGED},
        keys=T5_KEYS,
        fixed={**T5_BODY, "relative_tables": tables},
        synonyms={
            "hidden_size": "d_model",
            "num_attention_heads": "num_heads",
            "num_hidden_layers": "num_layers",
            "head_dim": "d_kv",
        },
        inert=frozenset({"n_positions", "num_decoder_layers", "scale_decoder_outputs", "scalable_attention"}),
        adjust=(t5_feed_forward(feed_forward),),
        decoder=True,
    )


# BART ----------------------------------------------------------------------------------------------------------------

BART_KEYS = {
    "vocab_size": Key("vocab"),
    "d_model": Key("d_model"),
    "encoder_layers": Key("layers"),
    "encoder_attention_heads": Key("heads"),
    "encoder_ffn_dim": Key("d_ff"),
    "activation_function": Key("activation", "gelu"),
    "max_position_embeddings": Key("positions"),
    "dropout": Key("dropout", 0.1),
}
BART_INERT = frozenset(
    """
    add_bias_logits decoder_attention_heads decoder_ffn_dim decoder_layers decoder_vocab_size
    do_blenderbot_90_layernorm extra_pos_embeddings force_bos_token_to_be_generated init_std layernorm_variant
    replacing_rate save_step share_encoder_decoder_embeddings student_decoder_layers student_encoder_layers variant
    """.split()
)

# In old files these keys distinguish BART from its relatives. Today the class alone decides, so a BART file with another
# layout is not BART.
BART_LAYOUT: dict[str, tuple[bool]] = {
    "normalize_before": (False,),
    "normalize_embedding": (True,),
    "add_final_layer_norm": (False,),
    "static_position_embeddings": (False,),
}


def scaled_embedding(draft: Draft) -> None:
    if draft.config.flag("scale_embedding", default=False):
        draft.fields["embedding_scale"] = "sqrt_d_model"


def same_layers(draft: Draft) -> None:
    """Check that `num_hidden_layers`, a second name for `encoder_layers` in old files, agrees with it."""
    layers, of_encoder = (
        draft.config.whole("num_hidden_layers", None),
        draft.fields.get("encoder.layers", draft.fields.get("layers")),
    )
    if layers not in (None, of_encoder):
        raise draft.config.refusal(
            "num_hidden_layers", f"it contradicts encoder_layers = {of_encoder}, which has the same meaning."
        )


def _bart(model_type: str, name: str, *, only: Mapping[str, tuple[bool]] | None = None, **layout: object) -> Family:
    """Return a BART-like family; `only` are the old layout keys, with the values its files may have."""
    return Family(
        model_type=model_type,
        base=f"{name}Encoder",
        classes={f"{name}Encoder": {}},
        keys=BART_KEYS,
        fixed={"position": "learned", "eps": 1e-5, **layout},
        only=only or {},
        synonyms={"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"},
        inert=BART_INERT if only else BART_INERT | set(BART_LAYOUT),
        adjust=(scaled_embedding, same_layers),
        decoder=True,
    )


FAMILIES = [
    _t5("t5", "T5", feed_forward="relu"),
    _t5("mt5", "MT5", feed_forward="gated-gelu"),
    _t5("umt5", "UMT5", feed_forward="gated-gelu", tables="per_layer"),
    _bart("bart", "Bart", only=BART_LAYOUT, embedding_norm=True, position_offset=2),
    _bart("mbart", "MBart", embedding_norm=True, position_offset=2, norm="pre"),
    _bart("pegasus", "Pegasus", position="sinusoidal_stored", norm="pre"),
    _bart("marian", "Marian", position="sinusoidal_stored"),
    _bart("blenderbot", "Blenderbot", norm="pre"),
    _bart("blenderbot-small", "BlenderbotSmall", embedding_norm=True),
]
