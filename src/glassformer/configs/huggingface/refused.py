"""Model families that are not supported yet, and what each of them needs, read from refused.toml on first use."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def refused() -> dict[str, str]:
    """Return model_type -> what is missing, in the sentence "<model_type> is not supported yet: it <this>."."""
    text = files("glassformer.configs.huggingface").joinpath("refused.toml").read_text(encoding="utf-8")
    return {model_type: why for why, types in tomllib.loads(text).items() for model_type in types}
