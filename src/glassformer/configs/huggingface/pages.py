"""Encoders of text on a page: LayoutLM, and LayoutLMv3 without its picture."""

from __future__ import annotations

from glassformer.configs.huggingface.classes import CLASSIFIED, TAGGED
from glassformer.configs.huggingface.compact import TOKEN_CLASSES, beside_a_pooler
from glassformer.configs.huggingface.family import Draft, Family, Key
from glassformer.configs.huggingface.text import BERT_KEYS, LEARNED, NOT_SEQ2SEQ, after_padding, same_width, tied_with_bias

PLACED = {**BERT_KEYS, "max_2d_position_embeddings": Key("page", 1024)}
FEW_LABELS = 10  # from so many on, LayoutLMv3's head for tokens has a hidden layer


def sides(draft: Draft) -> None:
    """Read the widths of the vectors for the sides of a box, which are concatenated."""
    config, fields = draft.config, draft.fields
    parts = config.whole("coordinate_size", 128), config.whole("shape_size", 128)
    if 4 * parts[0] + 2 * parts[1] != fields["d_model"]:
        raise config.refusal(
            "coordinate_size", f"4 · coordinate_size + 2 · shape_size must be hidden_size = {fields['d_model']}."
        )
    fields["page_parts"] = parts


def by_distance(draft: Draft) -> None:
    """Read the biases by distance in the text, and on the page; without the first, the second is stored and not read."""
    config, fields = draft.config, draft.fields
    near, far = config.flag("has_relative_attention_bias", default=True), config.flag("has_spatial_attention_bias", default=True)
    rows, distance = config.whole("rel_pos_bins", 32, least=2), config.whole("max_rel_pos", 128)
    page = config.whole("rel_2d_pos_bins", 64, least=2), config.whole("max_rel_2d_pos", 256)
    if far and not near:
        raise config.refusal(
            "has_spatial_attention_bias", "without has_relative_attention_bias, it would be stored but not used."
        )
    if not near:
        return
    if not fields["layers"]:
        raise config.refusal("num_hidden_layers", "without layers, the stored biases would not be used.")
    for key, size, most in (("max_rel_pos", rows, distance), ("max_rel_2d_pos", *page)):
        if most <= size // 4:
            raise config.refusal(key, f"it must be above {size // 4}: smaller distances have separate buckets.")
    fields.update(position="learned_relative", relative_buckets=rows, relative_distance=distance, relative_scaled=True)
    if far:
        fields["page_relative"] = page


def picture(draft: Draft) -> None:
    """Read the size of the picture of the page, whose part of the model is stored."""
    config = draft.config
    sizes = config.whole("input_size", 224), config.whole("patch_size", 16), config.whole("num_channels", 3)
    if sizes[0] < sizes[1]:
        raise config.refusal("patch_size", f"it is larger than input_size = {sizes[0]}.")
    if config.flag("visual_embed", default=True):
        draft.fields["beside_picture"] = sizes


def answers_or_tags(draft: Draft) -> None:
    """Read the hidden layer that heads for answers and for many tags have."""
    name, fields = draft.model_class, draft.fields
    if name.endswith(("Answering", "SequenceClassification")) or (
        name.endswith("TokenClassification") and fields["classes"] >= FEW_LABELS
    ):
        fields["head_hidden"] = "tanh"


FAMILIES = [
    Family(
        model_type="layoutlm",
        base="LayoutLMModel",
        classes=beside_a_pooler("LayoutLM", "Model", "SequenceClassification", *TOKEN_CLASSES),
        keys=PLACED,
        fixed=LEARNED,
        only=NOT_SEQ2SEQ,
        adjust=(same_width, tied_with_bias),
    ),
    Family(
        model_type="layoutlmv3",
        base="LayoutLMv3Model",
        classes={
            "LayoutLMv3Model": {},
            "LayoutLMv3ForSequenceClassification": CLASSIFIED,
            "LayoutLMv3ForTokenClassification": TAGGED,
            "LayoutLMv3ForQuestionAnswering": TAGGED,
        },
        keys={**PLACED, "layer_norm_eps": Key("eps", 1e-5)},
        fixed=LEARNED,
        only={**NOT_SEQ2SEQ, "text_embed": (True,)},
        inert=frozenset({"has_visual_segment_embedding", "second_input_size"}),  # keys of the authors' own code
        adjust=(after_padding, sides, by_distance, picture, answers_or_tags),
    ),
]
