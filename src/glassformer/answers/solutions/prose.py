"""Questions asked in prose: an encoder layer described line by line, its parameters asked for, and a number given."""

from __future__ import annotations

import re
from collections.abc import Iterator

from glassformer.answers.documents import CheckedDocument, Question

SEPARATOR = r"[ \t*$]*(?::|=|is)[ \t*$]*"
NUMBER = r"(?P<n>[0-9][0-9,_]{0,11})[ \t*$.;]*$"
# Field of a spec -> how a textbook calls it.
SETTINGS = {
    "d_model": r"(?:the )?(?:input|embedding|model|hidden) (?:dimension|size|width)(?:ality)?|d_?\{?(?:\\text\{)?model\}?\}?",
    "heads": r"(?:the )?number of (?:attention )?heads(?: in (?:the )?multi-head attention)?",
    "d_k": r"(?:the )?(?:dimension|size|width) of (?:each|one|a) head|head (?:dimension|size|width)",
    "d_ff": r"(?:the )?(?:inner )?(?:dimension|size|width) of (?:the )?feed-?[ ]?forward (?:network|layer|block)"
    r"|feed-?[ ]?forward (?:dimension|size|width)|d_?\{?(?:\\text\{)?ff\}?\}?",
}
LINES = {name: re.compile(rf"[-*• \t$]*(?:{words}){SEPARATOR}{NUMBER}", re.I) for name, words in SETTINGS.items()}
ASKED = re.compile(
    r"\b(?:number of|how many)(?: trainable| learnable)? parameters\b.{0,60}"
    r"\b(?:a |one |single |each )+(?:transformer )?encoder layer",
    re.I,
)
ALONE = re.compile(r"[ \t*$]*(?:answer|ans)?[ \t*$:.=-]*(?P<n>[0-9][0-9,_]{2,14})[ \t*$.]*$", re.I)
REACH = 30  # lines from the question to its answer


def prose_questions(document: CheckedDocument) -> Iterator[Question]:
    """Each question whose encoder is described in full right after it; where something is missing, nothing is judged."""
    lines = document.text.splitlines()
    for start, line in enumerate(lines):
        if ASKED.search(line):
            yield from _question(lines, start)


def _question(lines: list[str], start: int) -> Iterator[Question]:
    fields: dict[str, str] = {}
    for number in range(start + 1, min(len(lines), start + REACH)):
        line = lines[number].strip()
        if ASKED.search(line):
            return
        alone = ALONE.match(line)
        if alone and {"d_model", "heads", "d_ff"} <= set(fields):
            spec = ("layer", *(f"{name}={value}" for name, value in fields.items()))
            yield Question(number + 1, spec, "params", alone["n"])
            return
        for name, pattern in LINES.items():
            matched = pattern.match(line)
            if matched:
                value = matched["n"].replace(",", "").replace("_", "")
                if fields.setdefault(name, value) != value:  # said twice, differently: not certain
                    return
