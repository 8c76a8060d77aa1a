"""Names of models on the Hugging Face hub; nothing is downloaded without --download."""

from __future__ import annotations

import re

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"


def is_hub_name(word: str) -> bool:
    """Whether a word reads like `owner/model`."""
    return bool(re.fullmatch(rf"{NAME}/{NAME}", word))


def hub_hint(word: str) -> str:
    """Return how to download a model, if a word reads like a name on the hub; otherwise nothing."""
    return " To fetch it from the Hugging Face hub: --download." if is_hub_name(word) else ""
