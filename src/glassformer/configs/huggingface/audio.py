"""Audio encoders: Whisper's, without its decoder."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import LABELS, without
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.seq2seq import same_layers

WHISPER_KEYS = {
    "num_mel_bins": Key("mels"),
    "max_source_positions": Key("positions", 1500),
    "d_model": Key("d_model"),
    "encoder_layers": Key("layers"),
    "encoder_attention_heads": Key("heads"),
    "encoder_ffn_dim": Key("d_ff"),
    "activation_function": Key("activation", "gelu"),
    "dropout": Key("dropout", 0.0),
}
# Keys of the decoder, of generation, of training (masked features) and of the classifier of another class. The encoder also
# stores `scale_embedding` but never uses it.
WHISPER_INERT = frozenset(
    """
    alignment_heads apply_spec_augment classifier_proj_size decoder_attention_heads decoder_ffn_dim decoder_layers
    forced_decoder_ids init_std is_multilingual lang_ids mask_feature_length mask_feature_min_masks mask_feature_prob
    mask_time_length mask_time_min_masks mask_time_prob max_target_positions median_filter_width no_timestamps_token_id
    scale_embedding use_weighted_layer_sum vocab_size
    """.split()
)


def classified(draft: Draft) -> None:
    """Read the head for classes of a sound: what it projects to, and whether it reads all layers."""
    if draft.fields.get("head") == "classify":
        draft.fields["head_projection"] = draft.config.whole("classifier_proj_size", 256)
        summed = draft.config.flag("use_weighted_layer_sum", default=False)
        draft.fields.update(layer_sum=summed, layer_sum_normed=summed and draft.fields["layers"] > 0)


FAMILIES = [
    Family(
        model_type="whisper",
        base="WhisperEncoder",
        classes={
            "WhisperEncoder": {},
            "WhisperForAudioClassification": {"head": "classify", "classes": LABELS, "head_reads": "mean"},
        },
        keys=WHISPER_KEYS,
        fixed={
            "position": "sinusoidal_stored",
            "norm": "pre",
            "eps": 1e-5,
            "biases": without("k"),
        },
        synonyms={"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"},
        inert=WHISPER_INERT,
        adjust=(same_layers, classified),
        decoder=True,
    )
]
