"""Encoders of raw audio: wav2vec 2.0, HuBERT, WavLM, UniSpeech and data2vec, which share their convolutions."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import LABELS, TAGGED, without
from glassformer.configs.huggingface.family import SIZES, Draft, Family, Key
from glassformer.configs.huggingface.text import NOT_SEQ2SEQ
from glassformer.configs.huggingface.values import Fields
from glassformer.spec.encoder_fields import ALL_BIASES, CODED_HEADS

A_SECOND = 16_000  # samples: configs say nothing of the length of a sound

KEYS = {
    **SIZES,
    "hidden_act": Key("activation", "gelu"),
    "layer_norm_eps": Key("eps", 1e-5),
    "hidden_dropout": Key("dropout", 0.1),
    "conv_dim": Key("conv_widths"),
    "conv_kernel": Key("conv_kernels"),
    "conv_stride": Key("conv_strides"),
    "num_conv_pos_embedding_groups": Key("position_groups", 16),
}
RELATIVE = {"num_buckets": Key("relative_buckets", 320), "max_bucket_distance": Key("relative_distance", 800)}
READ: Fields = {
    "mels": 1,
    "samples": A_SECOND,
    "position": "convolution",
    "feature_norm": True,
}
# Training: losses, masks over time and features, quantisation. Parts of classes that are not read: adapters, x-vectors.
INERT = frozenset(
    """
    apply_spec_augment codevector_dim contrastive_logits_temperature ctc_loss_reduction ctc_zero_infinity diversity_loss_weight
    adapter_kernel_size adapter_stride num_adapter_layers output_hidden_size
    feat_quantizer_dropout mask_channel_length mask_channel_min_space mask_channel_other mask_channel_prob mask_channel_selection
    mask_feature_length mask_feature_min_masks mask_time_length mask_time_min_masks mask_time_min_space mask_time_other
    mask_time_selection no_mask_channel_overlap no_mask_time_overlap
    num_clusters num_codevector_groups num_codevectors_per_group num_ctc_classes num_negatives proj_codevector_dim replace_prob
    tdnn_dilation tdnn_dim tdnn_kernel tokenizer_class vocab_size xvector_output_dim classifier_proj_size use_weighted_layer_sum
    freeze_feat_extract_train gradient_checkpointing
    """.split()
)
ONLY = {
    **NOT_SEQ2SEQ,
    "add_adapter": (False,),
    "conv_pos_batch_norm": (False,),
    "pooling_mode": ("mean",),  # a key of fine-tuning scripts, which the classes never read: they take the mean
    "feat_extract_activation": ("gelu", "gelu_python"),
}
UNSUPPORTED = {
    "ForXVector": "its time-delay network for speaker vectors is not implemented",
}


def convolutions(draft: Draft) -> None:
    """Read the biases and the norms of the convolutions; their number is given twice in most files."""
    number = draft.config.whole("num_feat_extract_layers", len(draft.fields["conv_widths"]), least=0)
    if number != len(draft.fields["conv_widths"]):
        raise draft.config.refusal("num_feat_extract_layers", f"conv_dim has {len(draft.fields['conv_widths'])} entries.")
    draft.fields["biases"] = ALL_BIASES if draft.config.flag("conv_bias", default=False) else without("convolution")


def norms(draft: Draft) -> None:
    """Read the places of norms: group norm in the first convolution or layer norm in all; before sub-layers or after the sums."""
    draft.fields["conv_norm"] = draft.config.word("feat_extract_norm", "group", ("group", "layer"))
    if draft.config.flag("do_stable_layer_norm", default=False):
        draft.fields.update({"norm": "pre", "final_norm": "all"})
    else:
        draft.fields["embedding_norm"] = True


def small_blocks(draft: Draft) -> None:
    """Read the small block after each layer, which layers with norms before their parts may have (MMS)."""
    width = draft.config.whole("adapter_attn_dim", None)
    if width is not None and draft.config.flag("do_stable_layer_norm", default=False):
        draft.fields["layer_adapter"] = width


def masked(draft: Draft) -> None:
    """Read whether there is a vector for masked sound: it is made only where something is ever masked."""
    time, feature = draft.config.number("mask_time_prob", 0.05), draft.config.number("mask_feature_prob", 0.0)
    draft.fields["mask_token"] = time > 0 or feature > 0


def one_positional(draft: Draft) -> None:
    draft.fields["position_kernel"] = draft.config.whole("num_conv_pos_embeddings", 128)


def feature_norm(draft: Draft) -> None:
    draft.fields["feature_norm"] = draft.config.flag("feat_proj_layer_norm", default=True)


def codes(draft: Draft) -> None:
    """Read the codes that sound is quantised to, and what a head for pre-training counts."""
    config, fields = draft.config, draft.fields
    numbers = (
        ("num_codevector_groups", 2),
        ("num_codevectors_per_group", 320),
        ("codevector_dim", 256),
        ("proj_codevector_dim", 256),
    )
    fields["codebooks"] = tuple(config.whole(key, default) for key, default in numbers)
    if fields["codebooks"][2] % fields["codebooks"][0]:
        raise config.refusal("codevector_dim", f"num_codevector_groups = {fields['codebooks'][0]} must divide it.")
    classes = {"letters_of_codes": ("num_ctc_classes", 80), "store_codes": ("num_clusters", 504)}.get(fields["head"])
    if classes is not None:
        fields["classes"] = config.whole(*classes)


def head(draft: Draft) -> None:
    """Read the head: letters by CTC, or classes of the sound or of each frame, from one state or from all added up."""
    if draft.fields.get("head") in CODED_HEADS:
        codes(draft)
    if draft.model_class.endswith("ForCTC"):
        draft.fields["classes"] = draft.config.whole("vocab_size", 32)
    if draft.model_class.endswith("ForSequenceClassification"):
        draft.fields["head_projection"] = draft.config.whole("classifier_proj_size", 256)
    if draft.model_class.endswith("Classification"):
        draft.fields["layer_sum"] = draft.config.flag("use_weighted_layer_sum", default=False)


def several_positional(draft: Draft) -> None:
    """Read data2vec's positional convolutions, one after the other, and the norm in each of the others."""
    layers = draft.config.whole("num_conv_pos_embeddings", 5, most=32)
    kernel = draft.config.whole("conv_pos_kernel_size", 19)
    draft.fields.update({"position_kernel": kernel, "position_layers": layers, "position_norm": "output"})
    draft.fields.update({"conv_norm": "layer", "embedding_norm": True})


def _classes(name: str, *, frames: bool, pretrain: str | None) -> dict[str, Fields]:
    by_frame: dict[str, Fields] = {f"{name}ForAudioFrameClassification": TAGGED} if frames else {}
    return {
        f"{name}Model": {},
        f"{name}ForCTC": {"head": "tag"},
        f"{name}ForSequenceClassification": {"head": "classify", "classes": LABELS, "head_reads": "mean"},
        **by_frame,
        **({f"{name}ForPreTraining": {"head": pretrain}} if pretrain else {}),
    }


def _sound(model_type: str, name: str, *, frames: bool = True, pretrain: str | None = None, **changes: object) -> Family:
    settings: Fields = {
        "keys": KEYS,
        "fixed": READ,
        "only": ONLY,
        "inert": INERT,
        "adjust": (convolutions, norms, small_blocks, masked, one_positional, head),
        "unsupported": {f"{name}{ending}": why for ending, why in UNSUPPORTED.items()},
        **changes,
    }
    return Family(
        model_type=model_type, base=f"{name}Model", classes=_classes(name, frames=frames, pretrain=pretrain), **settings
    )


WITHOUT_MASK = (convolutions, norms, small_blocks, one_positional, head)

FAMILIES = [
    _sound("wav2vec2", "Wav2Vec2", pretrain="compare_codes"),
    _sound(
        "hubert", "Hubert", frames=False, adjust=(convolutions, norms, small_blocks, masked, one_positional, feature_norm, head)
    ),
    _sound(
        "wavlm",
        "WavLM",
        keys={**KEYS, **RELATIVE},
        fixed={**READ, "position": "convolution_relative", "relative_gate": True},
        only={**ONLY, "adapter_attn_dim": (None,)},
    ),
    _sound("unispeech", "UniSpeech", frames=False, pretrain="letters_of_codes"),
    _sound(
        "unispeech-sat",
        "UniSpeechSat",
        pretrain="store_codes",
        fixed={**READ, "mask_token": True},
        adjust=WITHOUT_MASK,
        inert=INERT | {"mask_time_prob", "mask_feature_prob"},
    ),
    _sound(
        "data2vec-audio",
        "Data2VecAudio",
        adjust=(convolutions, several_positional, masked, head),
        only={**ONLY, "adapter_attn_dim": (None,)},
        inert=INERT | {"feat_extract_norm", "do_stable_layer_norm"},  # in published files, and never read
    ),
]
