"""How a folder's texts are read: the settings of sentence-transformers and our own note, read as data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from glassformer.arguments import one_of
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import parse_json_list, read_document, read_text
from glassformer.files.texts import Context
from glassformer.files.weight_files import inside

Pool = Literal["mean", "first", "last", "max", "pooled"]

MODULES = "modules.json"
LENGTHS = ("sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json")
PROMPTS = "config_sentence_transformers.json"
READING = "reading.json"  # our own note: {"context": "word"} if a tagger was trained on each word separately
TOKENIZER_CONFIG = "tokenizer_config.json"
LONGEST = 1_000_000  # a larger model_max_length means no limit

# The names of each pooling in these files, current and former.
POOLS: dict[str, Pool] = {"mean": "mean", "cls": "first", "lasttoken": "last", "max": "max"}
OLD_KEYS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
FOLDER = re.compile(r"\d{1,3}_[A-Za-z]{1,40}")


class SentenceSettings(NamedTuple):
    """How a model reads texts and makes sentence vectors; None if the folder does not say."""

    pool: Pool | None = None
    normalise: bool | None = None
    longest: int | None = None  # tokens, special ones included
    lower: bool = False
    prompt: str = ""  # put before every text
    context: Context = "row"  # the context in which a tagger reads a word: its text, or the word alone
    obstacle: str = ""  # why sentence vectors cannot be made as the folder says: an unsupported module


def read_settings(folder: Path) -> SentenceSettings:
    """Read the settings in a model folder; without settings, all fields are None."""
    longest, lower = _length(folder)
    settings = SentenceSettings(longest=longest, lower=lower, prompt=_prompt(folder), context=_context(folder))
    if not (folder / MODULES).exists():
        return settings
    pool: Pool | None = None
    normalise, obstacle = False, ""
    for module in parse_json_list(read_text(inside(folder, MODULES, source="the model folder")), MODULES):
        kind, path = _module(module)
        if kind == "Pooling":
            pool, obstacle = _pooling(folder, path, obstacle)
        elif kind == "Normalize":
            normalise = True
        elif kind not in ("Transformer", "Dropout"):  # dropout has no effect outside training
            obstacle = obstacle or f"{MODULES} names a part {shown(kind, limit=30)}, which is not in the program"
    return settings._replace(pool=pool, normalise=normalise, obstacle=obstacle)


def _module(module: Any) -> tuple[str, str]:
    kind, path = (module.get(key) for key in ("type", "path")) if isinstance(module, dict) else (None, None)
    if not isinstance(kind, str) or not isinstance(path, str):
        raise GlassformerError(f"{MODULES}: each part has a type and a path, found {shown(module)}.")
    return kind.rpartition(".")[2], path


def _pooling(folder: Path, path: str, obstacle: str) -> tuple[Pool | None, str]:
    if not FOLDER.fullmatch(path) or (folder / path).is_symlink():
        raise GlassformerError(f'{MODULES} names a folder outside the model folder ("{shown(path)}"). Refused.')
    config = read_document(inside(folder / path, "config.json", source=MODULES))
    asked = config.get("pooling_mode", [name for key, name in OLD_KEYS.items() if config.get(key) is True])
    modes = [asked] if isinstance(asked, str) else asked
    if not isinstance(modes, list) or not modes or not all(isinstance(mode, str) for mode in modes):
        raise GlassformerError(f"{path}/config.json names no pooling: pooling_mode is one of {', '.join(POOLS)}.")
    if len(modes) > 1 or modes[0] not in POOLS:
        return None, obstacle or f"{path}/config.json pools by {shown(' and '.join(modes))}, which is not in the program"
    if config.get("include_prompt", True) is not True and _prompt(folder):
        return None, obstacle or f"{path}/config.json leaves the prompt out of the pooling, which is not in the program"
    return POOLS[modes[0]], obstacle


def _length(folder: Path) -> tuple[int | None, bool]:
    """The longest input that the model was meant for, and whether its texts are lower-cased."""
    for name in LENGTHS:
        if (folder / name).exists():
            config = read_document(inside(folder, name, source="the model folder"))
            if (found := _whole(config.get("max_seq_length"))) is not None:
                return found, config.get("do_lower_case") is True
    if (folder / TOKENIZER_CONFIG).exists():
        config = read_document(inside(folder, TOKENIZER_CONFIG, source="the model folder"))
        return _whole(config.get("model_max_length")), False
    return None, False


def _context(folder: Path) -> Context:
    if not (folder / READING).exists():
        return "row"
    said = read_document(inside(folder, READING, source="the model folder")).get("context", "row")
    return cast(Context, one_of(f"{READING}: context", said, get_args(Context)))


def note_context(folder: Path, context: Context) -> None:
    """Record the context with which words were trained. The default, the whole text, needs no note."""
    (folder / READING).unlink(missing_ok=True)  # a copy of the note of the initial checkpoint
    if context != "row":
        (folder / READING).write_text(json.dumps({"context": context}) + "\n", encoding="utf-8")


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 < value <= LONGEST else None


def _prompt(folder: Path) -> str:
    """Return the prompt to put before every text by default."""
    if not (folder / PROMPTS).exists():
        return ""
    config = read_document(inside(folder, PROMPTS, source="the model folder"))
    name, prompts = config.get("default_prompt_name"), config.get("prompts")
    if name is None:
        return ""
    if not isinstance(prompts, dict) or not isinstance(prompts.get(name), str):
        raise GlassformerError(f"{PROMPTS}: default_prompt_name = {shown(name)} is not one of its prompts.")
    return str(prompts[name])
