"""Writing how a folder makes sentence vectors: the files of sentence-transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from glassformer.model.sentences.settings import LENGTHS, MODULES, OLD_KEYS, POOLS, PROMPTS, Pool

PARTS = (("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))


def write_settings(folder: Path, *, pool: Pool, width: int, longest: int) -> None:
    """Write the files that `read_settings` and sentence-transformers read: pooling, vectors of length one, longest text."""
    named = {ours: theirs for theirs, ours in POOLS.items()}[pool]
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (kind, path) in enumerate(PARTS)
    ]
    modes = {key: name == named for key, name in OLD_KEYS.items()}
    _write(folder / MODULES, modules)
    _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": width, **modes, "include_prompt": True})
    _write(folder / LENGTHS[0], {"max_seq_length": longest, "do_lower_case": False})
    _write(folder / PROMPTS, {"prompts": {}, "default_prompt_name": None, "similarity_fn_name": "cosine"})


def _write(path: Path, document: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
