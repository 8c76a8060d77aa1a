"""Decoder-only models: GPT-2, OPT, GPT-NeoX, Llama, Mistral, Qwen, Gemma, Phi-3, OLMo 2."""

from __future__ import annotations

from typing import Any

from glassformer.configs.huggingface.family import SIZES, Adjust, Draft, Family, Key
from glassformer.configs.huggingface.rotary import ATTENTION, biases, gated
from glassformer.configs.huggingface.scaled_angles import unscaled
from glassformer.configs.huggingface.text import NOT_SEQ2SEQ
from glassformer.configs.huggingface.values import Config, Fields
from glassformer.errors import GlassformerError
from glassformer.spec.decoder_spec import DecoderSpec

FULL, LOCAL = "full_attention", "sliding_attention"
CAUSAL = {"is_encoder_decoder": (False,), "is_decoder": (True, False)}  # these classes mask later tokens whatever is_decoder says

# Adjustments: what the tables cannot express ---------------------------------------------------------------------------


def tied(*, default: bool, field: str = "tie") -> Adjust:
    """Read whether the logits use the token table."""

    def adjust(draft: Draft) -> None:
        draft.fields[field] = draft.config.flag("tie_word_embeddings", default=default)

    return adjust


def rope(*, base: float = 10_000.0, share: float = 1.0) -> Adjust:
    """Read the base of the rotary angles, and the share of each head's features that they rotate."""

    def adjust(draft: Draft) -> None:
        config, fields = draft.config, draft.fields
        parameters = unscaled(draft)
        if isinstance(parameters, dict) and "partial_rotary_factor" in parameters:
            part = Config(parameters, config.source).number("partial_rotary_factor", share)
            parameters = {key: value for key, value in parameters.items() if key != "partial_rotary_factor"}
        else:
            part = config.number("partial_rotary_factor", config.number("rotary_pct", share))
        config.asked.update(("partial_rotary_factor", "rotary_pct"))
        fields["rotary_base"] = config.rope("rope_theta", config.number("rotary_emb_base", base), parameters)
        head = fields.get("d_k") or fields["d_model"] // fields["heads"]
        turned = int(head * part)
        if not 0 < part <= 1 or turned < 2 or turned % 2:
            raise GlassformerError(
                f"{config.source}: partial_rotary_factor = {part:g} is not supported: it must rotate an even number of the "
                f"{head} features of a head, at least 2."
            )
        if turned != head:
            fields["rotary_width"] = turned

    return adjust


def layer_types(pattern: Any) -> Adjust:
    """Read which layers see a window only; `pattern(config, layers)` is what files without `layer_types` mean."""

    def adjust(draft: Draft) -> None:
        config, fields = draft.config, draft.fields
        layers = fields["layers"]
        types, meant = config.get("layer_types", None), pattern(config, layers)
        if types is None:
            types = meant
        if not isinstance(types, list) or len(types) != layers or any(kind not in (FULL, LOCAL) for kind in types):
            raise config.refusal("layer_types", f"it must name {FULL} or {LOCAL} for each of {layers} layers.")
        window = config.whole("sliding_window", None, least=2)
        local = [number for number, kind in enumerate(types) if kind == LOCAL]
        if not local:
            return
        if window is None:
            raise config.refusal("layer_types", f"{LOCAL} needs sliding_window.")
        fields["window"] = 2 * (window - 1)  # the last `window` tokens: this one and those at most window - 1 away
        full = [number for number in range(layers) if number not in local]
        if full:
            first = full[0]
            every = full[1] - first if len(full) > 1 else layers
            if first >= every or full != list(range(first, layers, every)):
                raise config.refusal("layer_types", f"{FULL} layers must be evenly spaced.")
            fields.update({"global_every": every, "global_offset": first})

    return adjust


def all_local(config: Config, layers: int) -> list[str]:
    return [LOCAL if config.get("sliding_window", None) is not None else FULL] * layers


def by_turns(_: Config, layers: int) -> list[str]:
    return [LOCAL if number % 2 == 0 else FULL for number in range(layers)]


def after_some(config: Config, layers: int) -> list[str]:
    """Qwen: with use_sliding_window, the layers from max_window_layers on."""
    windowed = config.flag("use_sliding_window", default=False)
    start = config.whole("max_window_layers", 28, least=0)
    return [LOCAL if windowed and number >= start else FULL for number in range(layers)]


def gpt2_scores(draft: Draft) -> None:
    if not draft.config.flag("scale_attn_weights", default=True):
        draft.fields["scale"] = "none"


def opt_body(draft: Draft) -> None:
    """Read the places of the norms, and the biases."""
    config, fields = draft.config, draft.fields
    before = config.flag("do_layer_norm_before", default=True)
    fields["norm"] = "pre" if before else "post"
    removed = config.flag("_remove_final_layer_norm", default=False)
    fields["final_norm"] = "all" if before and not removed else "none"
    width = config.whole("word_embed_proj_dim", fields["d_model"])
    if width != fields["d_model"]:
        if not fields.get("next_token", True):
            raise config.refusal("word_embed_proj_dim", "OPTModel then projects its output. --as OPTForCausalLM reads the model.")
        fields.update({"embedding_size": width, "project_first": True})
    fields["biases"] = ("q", "k", "v", "output", "ffn", "norm") if config.flag("enable_bias", default=True) else ("norm",)


def neox_residual(draft: Draft) -> None:
    if draft.config.flag("use_parallel_residual", default=True):
        draft.fields["residual"] = "parallel"


def gemma_activation(draft: Draft) -> None:
    """Read the gate: both values of `hidden_act` mean the tanh form. Only transformers 4 reads `hidden_activation`."""
    config = draft.config
    config.word("hidden_act", "gelu_pytorch_tanh", ("gelu", "gelu_pytorch_tanh"))
    if config.get("hidden_activation", None) not in (None, "gelu_pytorch_tanh"):
        raise config.refusal(
            "hidden_activation",
            "transformers 4 reads it, and transformers 5 computes gelu_pytorch_tanh. Remove it for the latter.",
        )
    draft.fields["activation"] = "gelu_tanh"
    gated(draft)


def gemma2_activation(draft: Draft) -> None:
    """Read the gate from `hidden_activation`; `hidden_act` has no effect."""
    draft.config.word("hidden_act", "gelu_pytorch_tanh", ("gelu", "gelu_pytorch_tanh"))
    draft.fields["activation"] = draft.config.activation("hidden_activation", "gelu_pytorch_tanh")
    gated(draft)


def gemma2_scores(draft: Draft) -> None:
    config, fields = draft.config, draft.fields
    fields["score_divisor"] = config.whole("query_pre_attn_scalar", 256)
    for key, field, default in (("attn_logit_softcapping", "score_cap", 50.0), ("final_logit_softcapping", "logit_cap", 30.0)):
        if key not in config.values or config.values[key] is not None:
            fields[field] = config.number(key, default, least=1e-9)
        config.asked.add(key)


def key_heads(absent: int | None) -> Adjust:
    """Read the key/value heads: null means as many as heads; a file without the key has `absent`, the default of its class."""

    def adjust(draft: Draft) -> None:
        config, heads = draft.config, draft.fields["heads"]
        missing = absent is not None and "num_key_value_heads" not in config.values
        groups = absent if missing else config.whole("num_key_value_heads", None)
        if heads % (groups or heads):
            found = f"its default {groups}" if missing else "it"
            raise config.refusal("num_key_value_heads", f"{found} must divide num_attention_heads = {heads}.")
        draft.fields["kv_heads"] = groups

    return adjust


# The families ------------------------------------------------------------------------------------------------------------

BODY = {
    "vocab_size": Key("vocab"),
    **SIZES,
    "max_position_embeddings": Key("positions", 2048),
}
LLAMA_KEYS = {
    **BODY,
    "hidden_act": Key("activation", "silu"),
    "rms_norm_eps": Key("eps", 1e-6),
    "attention_dropout": Key("dropout", 0.0),
}
HEAD_DIM = {"head_dim": Key("d_k", None)}
LLAMA_BODY: Fields = {"position": "rotary", "norm": "pre", "norm_kind": "rms", "biases": (), "final_norm": "all"}
UNSUPPORTED = {
    "ForSequenceClassification": "its classifier of the last token is not implemented",
    "ForTokenClassification": "its classifier of each token is not implemented",
    "ForQuestionAnswering": "its head that marks spans is not implemented",
    "DoubleHeadsModel": "its second head is not implemented",
}


def _decoder(model_type: str, name: str, *, head: str = "ForCausalLM", **settings: Any) -> Family:
    unsupported = {f"{name}{ending}": why for ending, why in UNSUPPORTED.items()}
    return Family(
        model_type=model_type,
        base=f"{name}{head}",
        classes={f"{name}{head}": {}, f"{name}Model": {"next_token": False}},
        unsupported=unsupported,
        spec=DecoderSpec,
        **{"only": {**NOT_SEQ2SEQ, **CAUSAL}, **settings},
    )


def _llama(model_type: str, name: str, *adjust: Adjust, tie: bool = False, **settings: Any) -> Family:
    """A family with Llama's layers."""
    keys = {**LLAMA_KEYS, **settings.pop("keys", {})}
    fixed = {**LLAMA_BODY, **settings.pop("fixed", {})}
    first = settings.pop("gate", gated)
    inert = frozenset({"pretraining_tp", "rope_scaling", "is_llama_config", "max_sequence_length"}) | settings.pop(
        "inert", frozenset()
    )
    turned = settings.pop("turned", rope())
    every = (first, key_heads(settings.pop("key_heads", None)), turned, tied(default=tie), *adjust)
    return _decoder(model_type, name, keys=keys, fixed=fixed, adjust=every, inert=inert, **settings)


GPT2 = _decoder(
    "gpt2",
    "GPT2",
    head="LMHeadModel",
    keys={
        "vocab_size": Key("vocab"),
        "n_embd": Key("d_model"),
        "n_layer": Key("layers"),
        "n_head": Key("heads"),
        "n_positions": Key("positions"),
        "n_inner": Key("d_ff", None),
        "activation_function": Key("activation", "gelu_new"),
        "layer_norm_epsilon": Key("eps", 1e-5),
        "resid_pdrop": Key("dropout", 0.1),
    },
    fixed={"position": "learned", "norm": "pre", "biases": ("q", "k", "v", "output", "ffn", "norm")},
    only={**NOT_SEQ2SEQ, **CAUSAL, "scale_attn_by_inverse_layer_idx": (False,)},
    synonyms={
        "hidden_size": "n_embd",
        "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head",
        "max_position_embeddings": "n_positions",
    },
    inert=frozenset(
        """attn_pdrop embd_pdrop n_ctx n_special predict_special_tokens reorder_and_upcast_attn summary_activation
        summary_first_dropout summary_proj_to_labels summary_type summary_use_proj""".split()
    ),
    adjust=(gpt2_scores, tied(default=True)),
)
OPT = _decoder(
    "opt",
    "OPT",
    keys={
        "vocab_size": Key("vocab"),
        "hidden_size": Key("d_model"),
        "num_hidden_layers": Key("layers"),
        "num_attention_heads": Key("heads"),
        "ffn_dim": Key("d_ff"),
        "max_position_embeddings": Key("positions"),
        "activation_function": Key("activation", "relu"),
        "dropout": Key("dropout", 0.1),
    },
    fixed={"position": "learned", "position_offset": 2, "eps": 1e-5},
    only={**NOT_SEQ2SEQ, **CAUSAL, "layer_norm_elementwise_affine": (True,)},
    inert=frozenset({"init_std", "learned_embeddings"}),
    adjust=(opt_body, tied(default=True)),
)
NEOX = _decoder(
    "gpt_neox",
    "GPTNeoX",
    keys={
        **BODY,
        "hidden_act": Key("activation", "gelu"),
        "layer_norm_eps": Key("eps", 1e-5),
        "hidden_dropout": Key("dropout", 0.0),
    },
    inert=frozenset({"rope_scaling"}),
    fixed={"position": "rotary", "norm": "pre", "final_norm": "all"},
    adjust=(
        biases(("attention_bias", True, ATTENTION), always=("ffn", "norm")),
        rope(share=0.25),
        neox_residual,
        tied(default=False),
    ),
)
FAMILIES = [
    GPT2,
    OPT,
    NEOX,
    _llama("llama", "Llama", biases(("attention_bias", False, ATTENTION), ("mlp_bias", False, ("ffn",))), keys=HEAD_DIM),
    _llama("mistral", "Mistral", layer_types(all_local), keys=HEAD_DIM, key_heads=8),
    _llama("qwen2", "Qwen2", layer_types(after_some), keys=HEAD_DIM, fixed={"biases": ("q", "k", "v")}, key_heads=32),
    _llama(
        "qwen3",
        "Qwen3",
        biases(("attention_bias", False, ATTENTION)),
        layer_types(after_some),
        keys={"head_dim": Key("d_k", 128)},
        fixed={"query_key_norm": "head"},
        key_heads=32,
    ),
    _llama(
        "gemma",
        "Gemma",
        biases(("attention_bias", False, ATTENTION)),
        keys={"head_dim": Key("d_k", 256)},
        fixed={"norm_offset": True, "embedding_scale": "sqrt_d_model"},
        only={**NOT_SEQ2SEQ, **CAUSAL, "use_bidirectional_attention": (False,)},
        gate=gemma_activation,
        tie=True,
        key_heads=16,
    ),
    _llama(
        "gemma2",
        "Gemma2",
        biases(("attention_bias", False, ATTENTION)),
        gemma2_scores,
        layer_types(by_turns),
        keys={"head_dim": Key("d_k", 256)},
        fixed={"norm_offset": True, "embedding_scale": "sqrt_d_model", "output_norm": True},
        only={**NOT_SEQ2SEQ, **CAUSAL, "use_bidirectional_attention": (False,)},
        inert=frozenset({"cache_implementation", "sliding_window_size"}),
        gate=gemma2_activation,
        tie=True,
        key_heads=4,
    ),
    _llama(
        "phi3",
        "Phi3",
        layer_types(all_local),
        keys=HEAD_DIM,
        # The class is now in transformers, under the name that the files refer to.
        inert=frozenset({"auto_map", "original_max_position_embeddings", "embd_pdrop", "resid_pdrop"}),
        only={**NOT_SEQ2SEQ, **CAUSAL, "full_attn_mod": (1,), "interpolate_factor": (1,)},
    ),
    _llama(
        "olmo2",
        "Olmo2",
        biases(("attention_bias", False, ATTENTION)),
        keys={**HEAD_DIM, "rms_norm_eps": Key("eps", 1e-5)},
        fixed={"query_key_norm": "all", "input_norm": False, "output_norm": True},
    ),
]
