"""How best/ and last/ are written: as transformers does where one of its classes is the encoder, elsewhere in our own layout."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from glassformer.model import Encoder
from glassformer.model.export import class_for, save
from glassformer.spec import EncoderSpec
from glassformer.spec.huggingface import FAMILIES, from_config
from glassformer.training.tokenizers import FILE as TOKENIZER
from glassformer.training.tokenizers import SPECIAL

BODY = "body"  # inside best/ and last/: a trained body in the layout that its checkpoint came in
TOKENIZER_CONFIG = "tokenizer_config.json"
# Keys of the two families that a fresh encoder may belong to; whether it does is asked of the reader of configs.
TEXT = {"vocab_size": "vocab", "max_position_embeddings": "positions", "type_vocab_size": "segments"}
IMAGE = {"image_size": "image", "patch_size": "patch", "num_channels": "channels"}
COMMON = {
    "hidden_size": "d_model",
    "num_hidden_layers": "layers",
    "num_attention_heads": "heads",
    "intermediate_size": "ffn_width",
    "layer_norm_eps": "eps",
    "hidden_act": "activation",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "dropout",
}


def publish(
    encoder: Encoder, folder: Path, labels: Sequence[str], *, start: Mapping[str, Any], beside: Path | None, trained: str
) -> None:
    """Write weights into a new folder.

    `start` is what a run knows of the checkpoint that it began with, `beside` the folder with that one's tokenizer and settings.
    Where no class of transformers is the whole encoder, and the checkpoint was one of its models, a body that was `trained`
    goes into body/.
    """
    given: Mapping[str, Any] | None = start.get("config")
    labels = _all_named(labels, encoder.spec)
    config = _labelled(_drafted(encoder.spec) if given is None else given, labels)
    model_class = class_for(encoder.spec, config)
    if model_class is not None:
        save(encoder, folder, config=config, as_class=model_class, beside=beside)
        return
    save(encoder, folder, labels=labels)
    if given is not None and trained == "all":
        bare = FAMILIES[given["model_type"]].base
        if (body := _body(encoder, given, bare)) is not None:
            save(body, folder / BODY, config=given, as_class=bare, beside=beside)


def describe_tokens(folder: Path) -> None:
    """Tell transformers how a tokenizer of ours is to be read, where a folder is in its layout and says nothing yet."""
    if (folder / "config.json").is_file() and (folder / TOKENIZER).is_file() and not (folder / TOKENIZER_CONFIG).exists():
        names = {f"{token.strip('[]').lower()}_token": token for token in SPECIAL}
        content = {"tokenizer_class": "PreTrainedTokenizerFast", **names}
        (folder / TOKENIZER_CONFIG).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _all_named(labels: Sequence[str], spec: EncoderSpec) -> list[str]:
    """A name for each output of the head, which may have some to spare: those are called what transformers calls them."""
    spare = range(len(labels), spec.classes) if labels and spec.head in ("classify", "tag") else ()
    return [*labels, *(f"LABEL_{number}" for number in spare)]


def _labelled(config: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    if not labels:
        return dict(config)
    names = {str(number): label for number, label in enumerate(labels)}
    kept = {key: value for key, value in config.items() if key not in ("num_labels", "_num_labels")}
    return kept | {"id2label": names, "label2id": {label: number for number, label in enumerate(labels)}}


def _drafted(spec: EncoderSpec) -> dict[str, Any]:
    """A config that says of BERT or of a ViT what the spec says; it may be none of the two all the same."""
    own = IMAGE if spec.reads == "image" else TEXT
    sizes = {key: getattr(spec, field) for key, field in (COMMON | own).items()}
    return {"model_type": "vit" if spec.reads == "image" else "bert", **sizes}


@torch.no_grad()
def _body(encoder: Encoder, config: Mapping[str, Any], model_class: str) -> Encoder | None:
    """The encoder without what stands on top, as the bare model of its family; None where it is no such model."""
    body = Encoder(from_config(dict(config), as_class=model_class).spec.replace(pooler="none"))
    has = dict(encoder.ledger())
    for name, view in body.ledger():
        if name not in has or has[name].shape != view.shape:
            return None
        view.copy_(has[name])
    return body
