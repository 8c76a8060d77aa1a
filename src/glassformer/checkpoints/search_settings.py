"""What a model's files say about the search: settings that are options here, and settings that are not implemented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Keys that change what is chosen and are not implemented, with the values that change nothing.
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,),
    "repetition_penalty": (1.0,),
    "encoder_repetition_penalty": (1.0,),
    "min_length": (0, 1),
    "min_new_tokens": (0,),
    "min_p": (0.0,),
    "top_h": (),
    "typical_p": (1.0,),
    "epsilon_cutoff": (0.0,),
    "eta_cutoff": (0.0,),
    "exponential_decay_length_penalty": (),
    "sequence_bias": (),
    "constraints": (),
    "force_words_ids": (),
    "forced_decoder_ids": ([],),
    "num_beam_groups": (1,),
    "diversity_penalty": (0.0,),
    "penalty_alpha": (0.0,),
    "renormalize_logits": (False,),
    "guidance_scale": (1.0,),
    "watermarking_config": (),
    "stop_strings": ([],),
}
SAMPLING = {"temperature": 1.0, "top_k": 50, "top_p": 1.0}  # what transformers takes where a file with do_sample has no value
NO_EFFECT = {"length_penalty": 1.0, "early_stop": False, "temperature": 1.0, "top_k": 0, "top_p": 1.0}


def not_implemented(said: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys that ask for something that is not implemented."""
    found = [key for key, neutral in NEUTRAL.items() if said.get(key) is not None and said[key] not in neutral]
    words = said.get("bad_words_ids")
    if any(not isinstance(word, list) or len(word) != 1 for word in (words if isinstance(words, list) else [])):
        found.append("bad_words_ids of several tokens")
    if said.get("early_stopping") == "never":
        found.append('early_stopping="never"')
    return tuple(found)


def suggested(said: Mapping[str, Any]) -> dict[str, Any]:
    """The search that the files ask for, as our options: beams, or sampling, or nothing (greedy)."""
    given = {key: value for key, value in said.items() if isinstance(value, int | float) and value is not True}
    if given.get("num_beams", 1) > 1:
        early = said.get("early_stopping") is True
        return {"beams": given["num_beams"], "length_penalty": given.get("length_penalty", 1.0), "early_stop": early}
    return {name: given.get(name, usual) for name, usual in SAMPLING.items()} if said.get("do_sample") is True else {}


def differing(wanted: Mapping[str, Any], used: Mapping[str, Any]) -> dict[str, Any]:
    """Which of these settings are not used; none of them where the caller asked for another kind of search."""
    beams, sampled = used["beams"] > 1, any(used[name] is not None for name in SAMPLING)
    if not beams and not sampled:
        return {name: value for name, value in wanted.items() if value != NO_EFFECT.get(name)} or dict(list(wanted.items())[:1])
    if ("beams" in wanted) != beams:
        return {}
    had = {name: NO_EFFECT.get(name) if used[name] is None else used[name] for name in wanted}
    return {name: value for name, value in wanted.items() if name != "beams" and value != had[name]}


def as_options(settings: Mapping[str, Any]) -> str:
    """Settings as options of the commands: `--beams 4 --length-penalty 0.6`."""
    words = []
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        words += [option] if value is True else [] if value is False else [option, f"{value:g}"]
    return " ".join(words)
