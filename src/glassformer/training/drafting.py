"""New encoders as models of published families: their configs, and the heads that the classes of transformers have."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from glassformer.configs.huggingface import FAMILIES, from_config
from glassformer.configs.huggingface.drafts import drafts
from glassformer.errors import GlassformerError
from glassformer.model.checkpoints.export import TRAINED, class_for, plainly
from glassformer.spec import EncoderSpec
from glassformer.training.tokenizers import SPECIAL

# The fields in which classes of one family differ, apart from the head itself.
HEAD = ("pooler", "pool", "head_hidden", "head_norm", "spare_bias", "tie")
PADDING = SPECIAL.index("[PAD]")  # of our tokenizer
IDS = {"pad": PADDING, "bos": SPECIAL.index("[CLS]"), "cls": SPECIAL.index("[CLS]")}
IDS |= {"eos": SPECIAL.index("[SEP]"), "sep": SPECIAL.index("[SEP]")}


def drafted_encoder(spec: EncoderSpec) -> dict[str, Any] | None:
    """Return the config of a new encoder, if a class of transformers equals it in every field."""
    return next((config for config in _with_ids(spec) if class_for(spec, config) is not None), None)


def drafted_body(spec: EncoderSpec) -> tuple[dict[str, Any], str] | None:
    """Return the config and the class of a new encoder without its head, if a class of transformers is the same."""
    for config in _with_ids(spec.replace(head="none")):
        base = FAMILIES[config["model_type"]].base
        if _body(_read(config, base)) == _body(spec):
            return config, base
    return None


def with_published_head(spec: EncoderSpec, given: Collection[str]) -> EncoderSpec:
    """Return a preset's encoder with the head that transformers has for its body, unless a `given` field says otherwise.

    Presets describe bodies. For example, RoBERTa's classifier has a hidden layer in place of a pooler.
    """
    if spec.head == "none" or spec.head not in TRAINED or any(name in given for name in HEAD):
        return spec
    for config in _with_ids(spec):
        for name in FAMILIES[config["model_type"]].classes:
            read = _read(config, name) if name.endswith(TRAINED[spec.head]) else None
            if read is not None and read.head == spec.head and _body(read) == _body(spec):
                ours, theirs = plainly(spec), plainly(read)
                return spec.replace(**{field: theirs[field] for field in HEAD if ours[field] != theirs[field]})
    return spec


def _with_ids(spec: EncoderSpec) -> list[dict[str, Any]]:
    """Return the drafts with the ids of our special tokens, without those whose positions start after another padding token."""
    if spec.reads == "image":
        return list(drafts(spec))
    ids = {f"{name}_token_id": number for name, number in IDS.items()}
    return [ids | draft for draft in drafts(spec) if draft.get("pad_token_id", PADDING) == PADDING]


def _read(config: dict[str, Any], model_class: str) -> EncoderSpec | None:
    try:
        return from_config(config, as_class=model_class, source="config").spec
    except GlassformerError:
        return None


def _body(spec: EncoderSpec | None) -> dict[str, Any] | None:
    """Return every field but those of the head, with its value."""
    if spec is None:
        return None
    return {name: value for name, value in plainly(spec).items() if name not in (*HEAD, "head", "classes")}
