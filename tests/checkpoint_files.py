"""Small checkpoint folders and safetensors files, good and bad, made without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.checkpoints.tensor_names import tensor_names
from glassformer.configs.huggingface import from_config
from glassformer.files.layout import to_file
from glassformer.numbers import random_weights
from glassformer.program import build

CONFIG = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "vocab_size": 31,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 16,
    "type_vocab_size": 2,
    "pad_token_id": 0,
}
WORDS = "the glass walls of an encoder let every number be seen and changed while nothing else moves at all".split()
DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "uint16": "BF16"}


def header_and_data(tensors: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The header of a file as an object, and the bytes that follow it."""
    header: dict[str, Any] = {}
    data = b""
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value).tobytes()
        header[name] = {
            "dtype": DTYPES[str(np.asarray(value).dtype)],
            "shape": list(np.shape(value)),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    return header, data


def file_bytes(header: Any, data: bytes = b"") -> bytes:
    """A file with this header, given as an object or as the text itself."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode("utf-8", "surrogatepass")
    return len(text).to_bytes(8, "little") + text + data


def write_tensors(path: Path, tensors: Mapping[str, Any]) -> None:
    path.write_bytes(file_bytes(*header_and_data(tensors)))


def tensors_of(config: dict[str, Any], *, seed: int = 0, dtype: str = "float32") -> dict[str, Any]:
    """Random weights under the names of the family's files."""
    reading = from_config(config)
    program = build(reading.spec, t=4)
    shapes = {parameter.name: parameter.tensor.shape for parameter in program.parameters}
    places = tensor_names(reading.spec, reading.family, reading.model_class, shapes)
    values = random_weights(program, seed)
    return {places[name][0].name: to_file(value, places[name][0]).astype(dtype) for name, value in values.items()}


def bert_folder(folder: Path, *, tensors: Mapping[str, Any] | None = None, **changes: Any) -> Path:
    """A folder with config.json and model.safetensors; `changes` are made to the config, not to the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes}), encoding="utf-8")
    write_tensors(folder / "model.safetensors", tensors_of(CONFIG) if tensors is None else tensors)
    return folder


def add_tokenizer(folder: Path, *, changes: dict[str, Any] | None = None) -> Path:
    """A tokenizer that knows WORDS and cuts at blanks."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(set(WORDS))]
    special = [
        {
            "id": n,
            "content": words[n],
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for n in range(4)
    ]
    document = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: number for number, word in enumerate(words)}, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps({**document, **(changes or {})}), encoding="utf-8")
    return folder


def sharded(folder: Path, **where: Any) -> Path:
    """Two files and an index; `where` changes the index."""
    bert_folder(folder)
    (folder / "model.safetensors").unlink()
    tensors = tensors_of(CONFIG)
    names = list(tensors)
    halves = {"model-00001-of-00002.safetensors": names[:20], "model-00002-of-00002.safetensors": names[20:]}
    for file, group in halves.items():
        write_tensors(folder / file, {name: tensors[name] for name in group})
    weight_map = {name: file for file, group in halves.items() for name in group} | where
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return folder
