"""Writes best/ and last/: in the layout of transformers if one of its classes fits the encoder, else in our own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from glassformer.checkpoints.folder import LABELS
from glassformer.checkpoints.special_tokens import FILE as GENERATION
from glassformer.configs.huggingface import FAMILIES, from_config
from glassformer.files.documents import read_document
from glassformer.model import Encoder
from glassformer.model.adapters.lora import merged
from glassformer.model.adapters.peft_layout import write_adapter
from glassformer.model.checkpoints.export import class_for, save
from glassformer.spec import EncoderSpec, Seq2SeqSpec
from glassformer.training.choosing import new_blocks
from glassformer.training.drafting import drafted_body, drafted_encoder
from glassformer.training.layouts import drafted
from glassformer.training.tokenizers import FILE as TOKENIZER
from glassformer.training.tokenizers import SPECIAL, Tokenizer

ADAPTER = "adapter"  # in best/ and last/: the adapters alone, in the layout of peft
BODY = "body"  # in best/ and last/: the trained body in the layout of its original checkpoint
TOKENIZER_CONFIG = "tokenizer_config.json"


def publish(
    encoder: Encoder,
    folder: Path,
    labels: Sequence[str],
    *,
    start: Mapping[str, Any],
    beside: Path | None,
    trained: str,
    also: Mapping[str, Any] | None = None,
    tokens: Mapping[str, int] | None = None,
) -> None:
    """Write weights into a new folder; `also` is what the config says of the logits besides their names.

    `start` describes the checkpoint that the run started from, `beside` is the folder with its tokenizer and settings. If no
    class of transformers fits the whole encoder but the checkpoint was one of its models, a `trained` body is saved in body/.
    Adapters are merged into the weights, and written by themselves into adapter/.
    `tokens` are the special tokens of a model that writes, as a config names them.
    """
    given: Mapping[str, Any] | None = start.get("config")
    labels = _all_named(labels, encoder.spec)
    config = _labelled(_drafted(encoder.spec, tokens) if given is None else given, labels)
    config = {key: value for key, value in config.items() if key != "problem_type"} | dict(also or {})
    model_class = class_for(encoder.spec, config)
    whole = merged(encoder)
    body_of = _body_class(encoder.spec, given)
    if model_class is not None:
        save(whole, folder, config=config, as_class=model_class, beside=beside)
    else:
        save(whole, folder, labels=labels)
        if also:
            named = read_document(folder / LABELS) | dict(also)
            (folder / LABELS).write_text(json.dumps(named, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if body_of is not None and trained == "all" and (body := _body(whole, *body_of)) is not None:
            save(body, folder / BODY, config=body_of[0], as_class=body_of[1], beside=beside)
    if whole is not encoder and given is not None and body_of is not None:
        new = () if model_class is None else new_blocks(encoder.spec, start)
        (folder / ADAPTER).mkdir()
        kind = {"config": config, "model_class": model_class or body_of[1], "base": start["folder"]}
        write_adapter(encoder, folder / ADAPTER, **kind, new=new, labels=labels if new else ())


def describe_tokens(folder: Path) -> None:
    """Write tokenizer_config.json for our tokenizer, if a folder in the layout of transformers has none."""
    if (folder / "config.json").is_file() and (folder / TOKENIZER).is_file() and not (folder / TOKENIZER_CONFIG).exists():
        names = {f"{token.strip('[]').lower()}_token": token for token in SPECIAL}
        if (folder / GENERATION).exists():
            names |= {"bos_token": "[CLS]", "eos_token": "[SEP]"}
        content = {"tokenizer_class": "PreTrainedTokenizerFast", **names}
        (folder / TOKENIZER_CONFIG).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def written_tokens(spec: EncoderSpec, tokenizer: Tokenizer | None) -> dict[str, int]:
    """Return the special tokens of a model that writes, as a config names them; nothing for an encoder."""
    if not spec.predicts_next or tokenizer is None:
        return {}
    end, begin = tokenizer.end_id, tokenizer.cls_id
    found = {"pad_token_id": tokenizer.pad_id, "eos_token_id": end}
    found |= {} if begin is None else {"bos_token_id": begin}
    return found | ({"decoder_start_token_id": tokenizer.start_id} if isinstance(spec, Seq2SeqSpec) else {})


def describe_writing(folder: Path, tokens: Mapping[str, int]) -> None:
    """Write generation_config.json, if the folder has none: where a text begins and ends."""
    if tokens and not (folder / GENERATION).exists():
        (folder / GENERATION).write_text(json.dumps(dict(tokens), indent=1) + "\n", encoding="utf-8")


def _all_named(labels: Sequence[str], spec: EncoderSpec) -> list[str]:
    """Return a name for each output of the head; spare outputs get the default names of transformers."""
    spare = range(len(labels), spec.classes) if labels and spec.head in ("classify", "tag") else ()
    return [*labels, *(f"LABEL_{number}" for number in spare)]


def _labelled(config: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    if not labels:
        return dict(config)
    names = {str(number): label for number, label in enumerate(labels)}
    kept = {key: value for key, value in config.items() if key not in ("num_labels", "_num_labels")}
    return kept | {"id2label": names, "label2id": {label: number for number, label in enumerate(labels)}}


def _drafted(spec: EncoderSpec, tokens: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return a config of a new model, if a class of transformers is the same."""
    found = drafted(spec, tokens or {}) if spec.predicts_next else drafted_encoder(spec)
    return found or {}


def _body_class(spec: EncoderSpec, given: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], str] | None:
    """Return the config and the class of the body: those of the checkpoint, or of a new encoder without its head."""
    if spec.predicts_next:
        return None
    return drafted_body(spec) if given is None else (given, FAMILIES[given["model_type"]].base)


@torch.no_grad()
def _body(encoder: Encoder, config: Mapping[str, Any], model_class: str) -> Encoder | None:
    """Return the encoder without head and pooler as the base model of its family; None if it does not fit."""
    body = Encoder(from_config(dict(config), as_class=model_class).spec.replace(pooler="none"))
    has = dict(encoder.ledger())
    for name, view in body.ledger():
        if name not in has or has[name].shape != view.shape:
            return None
        view.copy_(has[name])
    return body
