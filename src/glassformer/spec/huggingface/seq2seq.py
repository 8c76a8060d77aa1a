"""The encoders of encoder-decoder models: T5 and its kin, BART and its kin."""

from __future__ import annotations

from collections.abc import Mapping

from glassformer.spec.huggingface.classes import TAGGED
from glassformer.spec.huggingface.family import Adjust, Draft, Family, Key
from glassformer.spec.huggingface.values import ACTIVATIONS, GATED, Fields

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
# T5 has no biases; the classifier that transformers puts on top of it has one.
T5_BODY: Fields = {"position": "relative", "norm": "pre", "norm_kind": "rms", "biases": ("classes",), "scale": "none"}


def t5_feed_forward(default: str) -> Adjust:
    """`feed_forward_proj` names the function and the gate; the two keys derived from it win where a file holds them."""

    def adjust(draft: Draft) -> None:
        words = tuple(f"{gate}{word}" for gate in ("", "gated-") for word in ACTIVATIONS)
        project = draft.config.word("feed_forward_proj", default, words)
        # T5 v1.1 was published as "gated-gelu" and computes the tanh form.
        function = "gelu_new" if project == "gated-gelu" else project.removeprefix("gated-")
        function = draft.config.activation("dense_act_fn", function)
        if draft.config.flag("is_gated_act", default=project.startswith("gated-")):
            if function not in GATED:
                raise draft.config.refusal("feed_forward_proj", f"a gated block is in the program with {', '.join(GATED)}.")
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
    share_encoder_decoder_embeddings variant
    """.split()
)

# Old BART files serve its kin too, which lay their layers out by these keys. Today the class alone decides, so a file of
# another layout under BART's name is not BART.
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
    """`num_hidden_layers` is a second name of the encoder's layers, which old files carry beside the first."""
    layers = draft.config.whole("num_hidden_layers", None)
    if layers not in (None, draft.fields["layers"]):
        raise draft.config.refusal(
            "num_hidden_layers", f"encoder_layers = {draft.fields['layers']} means the same and disagrees."
        )


def _bart(model_type: str, name: str, *, says: Mapping[str, tuple[bool]] | None = None, **layout: object) -> Family:
    """A family of BART's kin; `says`: the old keys that its files must not contradict."""
    return Family(
        model_type=model_type,
        base=f"{name}Encoder",
        classes={f"{name}Encoder": {}},
        keys=BART_KEYS,
        fixed={"position": "learned", "eps": 1e-5, **layout},
        only=says or {},
        synonyms={"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"},
        inert=BART_INERT if says else BART_INERT | set(BART_LAYOUT),
        adjust=(scaled_embedding, same_layers),
        decoder=True,
    )


FAMILIES = [
    _t5("t5", "T5", feed_forward="relu"),
    _t5("mt5", "MT5", feed_forward="gated-gelu"),
    _t5("umt5", "UMT5", feed_forward="gated-gelu", tables="per_layer"),
    _bart("bart", "Bart", says=BART_LAYOUT, embedding_norm=True, position_offset=2),
    _bart("mbart", "MBart", embedding_norm=True, position_offset=2, norm="pre"),
    _bart("pegasus", "Pegasus", position="sinusoidal_stored", norm="pre"),
    _bart("marian", "Marian", position="sinusoidal_stored"),
    _bart("blenderbot", "Blenderbot", norm="pre"),
    _bart("blenderbot-small", "BlenderbotSmall", embedding_norm=True),
]
