"""Text encoders with cheaper layers than BERT's: SqueezeBERT, whose projections keep groups of features apart."""

from __future__ import annotations

from glassformer.spec.huggingface.classes import POOLED, bert_classes, some
from glassformer.spec.huggingface.family import Draft, Family
from glassformer.spec.huggingface.text import BERT_KEYS, LEARNED, NOT_SEQ2SEQ, same_width, tied_with_bias
from glassformer.spec.huggingface.values import Fields

TOKEN_CLASSES = ("ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering")
GROUP_KEYS = ("q_groups", "k_groups", "v_groups", "post_attention_groups", "intermediate_groups", "output_groups")


def beside_a_pooler(name: str, *endings: str) -> dict[str, Fields]:
    """Return BERT's classes with these endings; those whose heads read tokens store a pooler as well."""
    spare: Fields = {**POOLED, "spare_pooler": True}
    return {
        named: {**fields, **spare} if named.endswith(TOKEN_CLASSES) else fields
        for named, fields in some(bert_classes(name), *endings).items()
    }


def feature_groups(draft: Draft) -> None:
    """Read the groups of each projection; files without these keys have the defaults of the class."""
    defaults = (4, 4, 4, 1, 4, 4)
    groups = tuple(draft.config.whole(key, default) for key, default in zip(GROUP_KEYS, defaults, strict=True))
    widths = (draft.fields["d_model"],) * 4 + (draft.fields["d_ff"],) * 2
    for key, count, width in zip(GROUP_KEYS, groups, widths, strict=True):
        if draft.fields["d_model"] % count or width % count:
            other = "" if width == draft.fields["d_model"] else " and intermediate_size"
            raise draft.config.refusal(key, f"it must divide hidden_size{other}: each group has as many features as the others.")
    draft.fields["groups"] = groups


SQUEEZEBERT = Family(
    model_type="squeezebert",
    base="SqueezeBertModel",
    classes=beside_a_pooler("SqueezeBert", "Model", "MaskedLM", "SequenceClassification", "Choice", *TOKEN_CLASSES[1:]),
    keys=BERT_KEYS,
    fixed=LEARNED,
    only=NOT_SEQ2SEQ,
    adjust=(feature_groups, same_width, tied_with_bias),
)
FAMILIES = [SQUEEZEBERT]
