"""XLM and FlauBERT: BERT's body under other names, with a table of languages that only texts with known languages use."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import CLASSIFIED, MASKED, TAGGED
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import EPS, LEARNED, NOT_SEQ2SEQ, PLACES, tied
from glassformer.configs.huggingface.values import Fields

# Ids of special tokens, languages by name, beams of one head, and settings of the program that trained the published models.
INERT = frozenset(
    """
    attention_dropout bos_index bptt clip_grad_norm embed_init_std encoder_only end_n_top eos_index group_by_size id2lang init_std
    lang2id lang_id langs lg_sampling_factor lgs mask_index max_batch_size max_vocab min_count mlm_steps pad_index same_enc_dec
    sample_alpha share_inout_emb start_n_top summary_activation summary_proj_to_labels summary_type summary_use_proj
    tokens_per_batch unk_index word_blank word_keep word_mask word_mask_keep_rand word_pred word_rand word_shuffle
    """.split()
)
UNSUPPORTED = {
    "ForQuestionAnswering": "its head searches for answers with beams",
    "ForMultipleChoice": "its classifier reads as many numbers as there are labels",
}


def body(draft: Draft) -> None:
    """Read what the keys say in other ways: a feed-forward block of four widths, its function, and the languages."""
    config, fields = draft.config, draft.fields
    fields["d_ff"] = 4 * fields["d_model"]
    fields["activation"] = "gelu" if config.flag("gelu_activation", default=True) else "relu"
    languages = config.whole("n_langs", 1)
    if config.flag("use_lang_emb", default=True) and languages > 1:
        fields["languages"] = languages


def norms(draft: Draft) -> None:
    """Read where FlauBERT's norms stand; where they stand before the sub-layers, none follows the last layer."""
    if draft.config.flag("pre_norm", default=False):
        draft.fields.update(norm="pre", final_norm="none")


def summary(draft: Draft) -> None:
    """Check that a classifier is a linear map of the first token, as in every published file."""
    if not draft.model_class.endswith("ForSequenceClassification"):
        return
    draft.config.word("summary_type", "first", ("first",))
    for key in ("summary_use_proj", "summary_proj_to_labels"):
        if not draft.config.flag(key, default=True):
            raise draft.config.refusal(key, "a summary other than a linear map to the labels is not implemented.")
    if draft.config.get("summary_activation", None):
        raise draft.config.refusal("summary_activation", "a function after the classes is not implemented.")


def _family(model_type: str, name: str, **changes: object) -> Family:
    settings: Fields = {"adjust": (body, summary, tied), **changes}
    return Family(
        model_type=model_type,
        base=f"{name}Model",
        classes={
            f"{name}Model": {},
            f"{name}WithLMHeadModel": {**MASKED, "head_dense": False},
            f"{name}ForSequenceClassification": CLASSIFIED,
            f"{name}ForTokenClassification": TAGGED,
            f"{name}ForQuestionAnsweringSimple": TAGGED,
        },
        keys={
            "vocab_size": Key("vocab"),
            "emb_dim": Key("d_model"),
            "n_layers": Key("layers"),
            "n_heads": Key("heads"),
            "dropout": Key("dropout", 0.1),
            **PLACES,
            **EPS,
        },
        fixed=LEARNED,
        only={**NOT_SEQ2SEQ, "asm": (False,), "causal": (False,), "is_encoder": (True,), "sinusoidal_embeddings": (False,)},
        synonyms={
            **{"n_words": "vocab_size", "hidden_size": "emb_dim"},
            **{"num_hidden_layers": "n_layers", "num_attention_heads": "n_heads"},
        },
        inert=INERT,
        unsupported={f"{name}{ending}": why for ending, why in UNSUPPORTED.items()},
        **settings,
    )


FAMILIES = [_family("xlm", "XLM"), _family("flaubert", "Flaubert", adjust=(body, norms, summary, tied))]
