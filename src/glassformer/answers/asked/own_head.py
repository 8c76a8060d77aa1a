"""Which head a question means: an MLM head, an NSP head or a classifier, and only of an encoder that has it."""

from __future__ import annotations

import re
from dataclasses import replace

from glassformer.answers.questions import Question
from glassformer.spec import EncoderSpec, GlassformerError, shown

# What the glossary calls a head -> what it is called here, and the settings of `head` that have one.
HEADS: dict[str, tuple[str, tuple[str, ...]]] = {
    "head.classify": ("classification head", ("classify", "distilled", "tag", "tag_patches")),
    "head.tag": ("head for each token", ("tag", "tag_patches")),
    "head.mlm": ("MLM head", ("mlm", "pretrain")),
    "head.nsp": ("NSP head", ("pretrain", "classify")),
}
NSP = ("W_N", "b_N")


def with_own_head(question: Question, spec: EncoderSpec) -> Question:
    """The question with the parts of this encoder's own head for the name of one."""
    meant = {name for part in (question.target, question.over, *question.without) if part for name in part.split(",")}
    for name in sorted(meant & set(HEADS)):
        question = _settled(question, name, spec)
    return question


def head_of_logits(question: Question) -> str | None:
    """The head whose logits are spoken of: one score a word of the vocabulary, or one a label for each token."""
    if question.target != "logits":
        return None
    low = question.text.lower()
    return (
        "mlm"
        if re.search(r"\bmlm\b|masked ?lm|masked[- ]language", low)
        else ("tag" if re.search(r"token ?classification|\bner\b|tagging", low) else None)
    )


def _settled(question: Question, name: str, spec: EncoderSpec) -> Question:
    said, heads = HEADS[name]
    nsp_elsewhere = name == "head.nsp" and spec.head == "classify" and spec.classes != 2
    if spec.head not in heads or nsp_elsewhere:
        raise GlassformerError(
            f"'{shown(question.text)}': this encoder has head={spec.head}, and no {said}. Write head={heads[0]}."
        )
    if spec.head != "pretrain":
        return _renamed(question, name, "head")
    if question.target != name or question.kind not in ("params", "bytes"):
        raise GlassformerError(
            f"'{shown(question.text)}': of the two heads of head=pretrain, ask for the params or the memory of one alone."
        )
    if name == "head.nsp":
        return replace(question, target=",".join(NSP))
    return replace(question, target="head", without=(*question.without, *NSP))


def _renamed(question: Question, name: str, other: str) -> Question:
    def put(text: str | None) -> str | None:
        return ",".join(other if part == name else part for part in text.split(",")) if text else text

    without = tuple(other if part == name else part for part in question.without)
    return replace(question, target=put(question.target), over=put(question.over), without=without)
