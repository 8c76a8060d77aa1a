"""A model family: how the keys of its config map to the fields of a spec, and what its classes add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from glassformer.configs.huggingface.values import REQUIRED, Config, Fields
from glassformer.spec.encoder_spec import EncoderSpec


class Key(NamedTuple):
    """The spec field that a config key maps to, and the default for files without the key."""

    field: str
    default: Any = REQUIRED
    nested: Any = REQUIRED  # the default inside another config, in which sizes may be left out

    def default_in(self, config: Config) -> Any:
        return self.nested if config.nested and self.nested is not REQUIRED else self.default


# The sizes of a layer in the words of BERT, which most families kept.
SIZES: dict[str, Key] = {
    "hidden_size": Key("d_model"),
    "num_hidden_layers": Key("layers"),
    "num_attention_heads": Key("heads"),
    "intermediate_size": Key("d_ff"),
}


class Draft(NamedTuple):
    """The argument of an `adjust` function: the config, the fields so far, and the class that is being read."""

    config: Config
    fields: Fields
    model_class: str
    labels: Callable[[], int]


Adjust = Callable[[Draft], None]


@dataclass(frozen=True, kw_only=True)
class Family:
    """One `model_type`: tables for whatever tables can express, and `adjust` functions for the rest."""

    model_type: str
    base: str  # the class of files that name none
    classes: Mapping[str, Fields]
    keys: Mapping[str, Key]
    fixed: Fields = field(default_factory=dict)  # fields that all models of the family have, whatever the config says
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # keys, each with its supported values
    synonyms: Mapping[str, str] = field(default_factory=dict)
    inert: frozenset[str] = frozenset()  # keys that do not affect the computation
    adjust: tuple[Adjust, ...] = ()
    unsupported: Mapping[str, str] = field(default_factory=dict)  # classes of the family that are refused, and why
    spec: type[EncoderSpec] = EncoderSpec  # the record that its configs become
    published_as: str | None = None  # the `model_type` of its files, if that is another family's: their class decides
    told_by: str | None = None  # with it, what the references to custom code contain decides instead of the class
    decoder: bool = False  # the models are encoder-decoders, of which only the encoder is read

    @property
    def in_files(self) -> str:
        """What `model_type` says in its files."""
        return self.published_as or self.model_type


# Keys of almost every family that change the computation unless they have one of these values.
ONLY_EVERYWHERE: Mapping[str, tuple[Any, ...]] = {
    "lora_adaptations": (None, []),
    "is_decoder": (False,),
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (None,),
    "pruned_heads": (None, {}),
    "position_embedding_type": ("absolute",),
    "per_layer_config": (None, {}),
    "rope_scaling": (None,),
    "quantization_config": (None,),
    "auto_map": (None, {}),
}

WHY = {
    "lora_adaptations": "adapters are read where auto_map names the code that has them (XLMRobertaFlashConfig).",
    "is_decoder": "decoders mask later tokens, and only encoders are implemented.",
    "add_cross_attention": "cross-attention is not implemented.",
    "pruned_heads": "layers with different numbers of heads are not implemented.",
    "position_embedding_type": "only absolute positions are implemented for this family.",
    "rope_scaling": "scaled rotary angles are not implemented.",
    "quantization_config": "quantised weights are not implemented.",
    "auto_map": "the file refers to custom code, which is never run.",
}

# Keys that do not affect what an encoder computes: bookkeeping, output format, training, generation.
INERT = frozenset(
    """
    _attn_implementation _attn_implementation_autoset _attn_implementation_internal _commit_hash _name_or_path
    _num_labels architectures attn_implementation bad_words_ids begin_suppress_tokens bos_token
    chunk_size_feed_forward cls_token custom_pipelines diversity_penalty do_sample dtype early_stopping
    encoder_no_repeat_ngram_size eos_token exponential_decay_length_penalty export_model_type finetuning_task
    gradient_checkpointing id2label is_encoder_decoder keys_to_ignore_at_inference label2id label_smoothing language
    layerdrop length_penalty mask_token max_length min_length model_max_length model_type name no_repeat_ngram_size
    num_beam_groups num_beams num_choices num_labels num_return_sequences output_attentions output_hidden_states
    output_past output_scores pad_token prefix problem_type processor_class remove_invalid_values repetition_penalty
    return_dict return_dict_in_generate sbert_ce_default_activation_function sentence_transformers sep_token
    suppress_tokens task_specific_params temperature tf_legacy_loss tie_encoder_decoder tie_weights_
    tie_word_embeddings tokenizer_class tokenizer_type top_k top_p torch_dtype torchscript transformers.js_config
    transformers_version typical_p unk_token unsloth_fixed unsloth_version use_bfloat16 use_cache xla_device
    """.split()
)
# Keys that training scripts leave in the file.
LEFT_BEHIND = frozenset(
    """
    _flash_attn_2_enabled actual_seq_length amp author base_model best_metric cache_dir class_weights data_dir dataset description
    do_lower_case epochs eval_batch_size fp16 generator_size global_step gradient_accumulation_steps label_names learning_rate
    license local_rank loss_type lr max_len max_seq_len max_seq_length max_steps metric model_name model_name_or_path n_gpu
    num_train_epochs output_mode pretrained_model_name_or_path seed task tokenizer_name train_batch_size trust_remote_code
    use_flash_attn use_sdpa_attention version vocab_file warmup_ratio warmup_steps weight_decay
    """.split()
)
INERT_PARTS = ("dropout", "initializer_", "drop_path", "layerdrop")
INERT_ENDS = ("_token_id", "_token_ids")


def is_inert(key: str, family: Family) -> bool:
    """Whether a key does not affect the computation."""
    known = key in INERT or key in LEFT_BEHIND or key in family.inert
    return known or key.endswith(INERT_ENDS) or any(part in key for part in INERT_PARTS)
