"""Preparing a split for its task: texts as token ids, images as pixels."""

from __future__ import annotations

from typing import Any

from glassformer.arguments import require
from glassformer.errors import GlassformerError, shown
from glassformer.training.data.dataset import Split, TaskName
from glassformer.training.data.examples import Examples, Reading
from glassformer.training.data.group_rows import GroupedTexts
from glassformer.training.data.picture_rows import PictureExamples
from glassformer.training.data.text_rows import LabelledTexts, MaskedTexts, TaggedWords
from glassformer.training.data.written_rows import NextTokens, Translations
from glassformer.training.tokenizers import Tokenizer

ROWS: dict[TaskName, Any] = {
    "classify": LabelledTexts,
    "pair": LabelledTexts,
    "regress": LabelledTexts,
    "similarity": LabelledTexts,
    "multilabel": LabelledTexts,
    "image": PictureExamples,
    "tag": TaggedWords,
    "mlm": MaskedTexts,
    "causal": NextTokens,
    "translate": Translations,
    "embed": GroupedTexts,
}


def prepare(split: Split, tokenizer: Tokenizer | None = None, **reading: Any) -> Examples:
    """Prepare a split for its task: tokenize texts (for masked-token training, long texts continue in further rows), or read
    images as pixels. The keywords are the fields of `Reading`."""
    require(Split, split, "prepare expects a split, such as data.train")
    asked = Reading(**reading)
    check_fits(split.task, asked.augment, asked.context)
    if split.form.inputs == "image":
        pictures: Examples = ROWS[split.task](split, asked)
        return pictures
    if tokenizer is None:
        raise GlassformerError(f"the task {split.task} reads texts: give a tokenizer.")
    require(Tokenizer, tokenizer, "expected a tokenizer, from Tokenizer.train(texts) or Tokenizer.load(folder)")
    rows: Examples = ROWS[split.task](split, tokenizer, asked)
    return rows


def check_fits(task: TaskName, augment: str, context: str = "row") -> None:
    """Refuse an augmentation or context that does not fit the task."""
    known = ROWS[task].augments
    if augment not in known:
        raise GlassformerError(f"augment={shown(augment)} does not fit the task {task}: choose {' or '.join(known)}.")
    if context not in (("row", "word") if task == "tag" else ("row",)):
        raise GlassformerError(f"context={shown(context)} is only for tagging, but the task is {task}: leave it out.")
